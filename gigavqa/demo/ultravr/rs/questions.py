"""Questions about the land, drawn before the land: first the texts, then which option shall be true.

So whoever reads the texts alone learns nothing of the answers; the land is then drawn such that they hold.
"""

from typing import NamedTuple

import numpy as np

from gigavqa.benchmarks.ultravr.taxonomy import LETTERS, Quadrant
from gigavqa.demo.draws import stream
from gigavqa.demo.records import lettered, shuffled
from gigavqa.demo.ultravr.records import RecordQuestion
from gigavqa.demo.ultravr.rs.objects import KINDS, LANDMARKS

Pair = tuple[Quadrant, Quadrant]

_COMPARED: tuple[Pair, ...] = (
    ("upper-left", "upper-right"),
    ("lower-left", "lower-right"),
    ("upper-left", "lower-left"),
)
_VERIFIED: tuple[tuple[str, Pair], ...] = (
    ("vehicle", ("upper-left", "lower-left")),
    ("court", ("lower-left", "upper-left")),
    ("ship", ("lower-right", "upper-right")),
    ("pool", ("upper-left", "lower-left")),
)
_RELATED: tuple[tuple[str, Pair], ...] = (
    ("pool", ("upper-right", "lower-right")),
    ("court", ("upper-right", "lower-right")),
    ("plane", ("lower-left", "lower-right")),
    ("tank", ("upper-left", "upper-right")),
)
"""No question's kind and quadrant is another's too: so each may have any answer."""
_LEAST, _MOST = 2, 11
"""Small vehicles parked by a landmark; any difference of up to half the range can be had from any of these counts."""


class LandComparison(NamedTuple):
    """The difference between the small vehicles by the landmarks of two quadrants."""

    question: RecordQuestion
    regions: Pair
    difference: int


class LandVerification(NamedTuple):
    """In which of two quadrants a kind lies with the given orientation."""

    question: RecordQuestion
    kind: str
    vertical: bool
    regions: Pair
    present: tuple[bool, bool]


class Extreme(NamedTuple):
    """The object of a quadrant that a relational question selects."""

    selector: str
    quadrant: Quadrant


class LandRelation(NamedTuple):
    """The relation of the extreme objects of two adjacent quadrants: the answer's letter has the paper's meaning.

    A: the first is north (or west) of the second; B: the opposite; C, D: the first, or second, quadrant has none.
    """

    question: RecordQuestion
    kind: str
    sides: tuple[Extreme, Extreme]

    @property
    def axis(self) -> int:
        """The axis across that which parts the quadrants: 1, compare y, side by side; 0, compare x, else."""
        a, b = (extreme.quadrant.split("-")[0] for extreme in self.sides)
        return 1 if a == b else 0

    @property
    def first(self) -> str:
        """The relation that option A states."""
        return _directions(self.axis)[0]


class LandQuestions(NamedTuple):
    """All questions about one land, and how many vehicles are parked by each quadrant's landmark."""

    comparisons: tuple[LandComparison, ...]
    verifications: tuple[LandVerification, ...]
    relations: tuple[LandRelation, ...]
    parked: dict[Quadrant, int]


def draw_questions(seed: int) -> LandQuestions:
    """Draw the questions of a seed; each rank, pattern and relation is right once before any is right twice."""
    rng = stream(seed, "rs", "questions")
    comparisons = tuple(
        _compare(regions, rank, rng)
        for regions, rank in zip(_COMPARED, rng.permutation(len(LETTERS)).tolist(), strict=False)
    )
    patterns = [((True, True), (True, False), (False, True), (False, False))[i] for i in rng.permutation(4).tolist()]
    verifications = tuple(
        _verify(kind, regions, present, bool(rng.integers(2)))
        for (kind, regions), present in zip(_VERIFIED, patterns, strict=True)
    )
    relations = tuple(
        _relate(kind, regions, answer, rng)
        for (kind, regions), answer in zip(_RELATED, rng.permutation(list(LETTERS)).tolist(), strict=True)
    )
    return LandQuestions(comparisons, verifications, relations, _parked(comparisons, rng))


def _compare(regions: Pair, rank: int, rng: np.random.Generator) -> LandComparison:
    """Draw four consecutive differences, of which the one of the given rank, 0 to 3, is true."""
    least = int(rng.integers(0, 3))
    options, answer = shuffled([str(least + other) for other in range(len(LETTERS))], str(least + rank), rng)
    label = KINDS["vehicle"].label
    a, b = (f"{label} in {the(region)} satisfying {condition(region)}" for region in regions)
    text = f"What is the absolute difference between the counts of {a} and {b}?"
    return LandComparison(RecordQuestion(text, options, answer), regions, least + rank)


def the(quadrant: str) -> str:
    """Name a quadrant in a sentence."""
    return f"the {quadrant} quadrant"


def condition(region: Quadrant) -> str:
    """Name the condition that the landmark of a quadrant gives."""
    return f'"{LANDMARKS[region].condition}"'


def _parked(comparisons: tuple[LandComparison, ...], rng: np.random.Generator) -> dict[Quadrant, int]:
    """Draw counts of which any two that are compared differ as they shall."""
    parked: dict[Quadrant, int] = {"upper-left": int(rng.integers(_LEAST, _MOST + 1))}
    while unknown := [c for c in comparisons if (c.regions[0] in parked) != (c.regions[1] in parked)]:
        (a, b), difference = unknown[0].regions, unknown[0].difference
        known, other = (a, b) if a in parked else (b, a)
        possible = [n for n in (parked[known] - difference, parked[known] + difference) if _LEAST <= n <= _MOST]
        parked[other] = possible[int(rng.integers(len(possible)))]
    return parked


def _verify(kind: str, regions: Pair, present: tuple[bool, bool], vertical: bool) -> LandVerification:
    label = oriented(kind, vertical=vertical)
    a, b = (the(region) for region in regions)
    patterns = {
        (True, True): f"{label} are present in both {a} and {b}",
        (True, False): f"{label} are present in {a} but not in {b}",
        (False, True): f"{label} are present in {b} but not in {a}",
        (False, False): f"{label} are absent from both {a} and {b}",
    }
    text = f"Which statement correctly describes the presence of {label} in {a} and {b}?"
    question = RecordQuestion(text, lettered(list(patterns.values())), LETTERS[list(patterns).index(present)])
    return LandVerification(question, kind, vertical, regions, present)


def oriented(kind: str, *, vertical: bool) -> str:
    """Name the objects of a kind that have the orientation."""
    return f"{'vertical' if vertical else 'horizontal'} {KINDS[kind].label}"


def _relate(kind: str, regions: Pair, answer: str, rng: np.random.Generator) -> LandRelation:
    """Select by an extreme along the axis that parts the quadrants, which says nothing of the other axis."""
    stacked = regions[0].split("-")[0] != regions[1].split("-")[0]
    selectors = ("topmost", "bottommost") if stacked else ("leftmost", "rightmost")
    a, b = (Extreme(selectors[int(rng.integers(2))], region) for region in regions)
    first, opposite = _directions(0 if stacked else 1)
    name_a, name_b = (name_of(kind, extreme) for extreme in (a, b))
    options = lettered(
        [
            f"The {name_a} is {first} the {name_b}",
            f"The {name_a} is {opposite} the {name_b}",
            f"The {a.quadrant} quadrant does not contain any {KINDS[kind].label}",
            f"The {b.quadrant} quadrant does not contain any {KINDS[kind].label}",
        ]
    )
    text = f"What is the positional relationship between the {name_a} and the {name_b}?"
    return LandRelation(RecordQuestion(text, options, answer), kind, (a, b))


def _directions(axis: int) -> tuple[str, str]:
    return ("north of", "south of") if axis == 1 else ("west of", "east of")


def name_of(kind: str, extreme: Extreme) -> str:
    """Name the selected object, without its article."""
    return f"{extreme.selector} {KINDS[kind].singular} in {the(extreme.quadrant)}"
