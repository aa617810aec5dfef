"""Questions about the land, drawn before the land: first the texts, then which option shall be true.

So whoever reads the texts alone learns nothing of the answers; the land is then drawn such that they hold.
"""

from typing import NamedTuple

import numpy as np

from gigavqa.benchmarks.ultravr.taxonomy import LETTERS, Quadrant
from gigavqa.benchmarks.ultravr.wording import Slots, task_wording
from gigavqa.demo.draws import stream
from gigavqa.demo.records import shuffled
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
    def slots(self) -> Slots:
        """What stands in the slots of its texts."""
        kind, (relation, opposite) = KINDS[self.kind], _directions(self.axis)
        selectors = {f"selector_{at}": side.selector for at, side in zip("ab", self.sides, strict=True)}
        regions = _regions((self.sides[0].quadrant, self.sides[1].quadrant))
        named = {"one": kind.singular, "many": kind.label, "relation": relation, "opposite": opposite}
        return {**named, **selectors, **regions}


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
    text = task_wording("rs", "comparison").question(compared_slots(regions))
    return LandComparison(RecordQuestion(text, options, answer), regions, least + rank)


def compared_slots(regions: Pair) -> Slots:
    """Return what stands in the slots of a comparison's texts."""
    conditions = {f"condition_{at}": condition(region) for at, region in zip("ab", regions, strict=True)}
    return {"many": KINDS["vehicle"].label, **_regions(regions), **conditions}


def _regions(regions: Pair) -> dict[str, str]:
    return {f"region_{at}": the(region) for at, region in zip("ab", regions, strict=True)}


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
    wording, slots = task_wording("rs", "logical_verification"), verified_slots(kind, regions, vertical=vertical)
    answer = LETTERS[((True, True), (True, False), (False, True), (False, False)).index(present)]
    question = RecordQuestion(wording.question(slots), wording.lettered(slots), answer)
    return LandVerification(question, kind, vertical, regions, present)


def verified_slots(kind: str, regions: Pair, *, vertical: bool) -> Slots:
    """Return what stands in the slots of a verification's texts."""
    label, orientation = KINDS[kind].label, "vertical" if vertical else "horizontal"
    return {"orientation": orientation, "one": label, "many": label, **_regions(regions)}


def _relate(kind: str, regions: Pair, answer: str, rng: np.random.Generator) -> LandRelation:
    """Select by an extreme along the axis that parts the quadrants, which says nothing of the other axis."""
    stacked = regions[0].split("-")[0] != regions[1].split("-")[0]
    selectors = ("topmost", "bottommost") if stacked else ("leftmost", "rightmost")
    a, b = (Extreme(selectors[int(rng.integers(2))], region) for region in regions)
    relation = LandRelation(RecordQuestion("", {}, answer), kind, (a, b))
    wording = task_wording("rs", "relational_inference")
    text, options = wording.question(relation.slots), wording.lettered(relation.slots)
    return relation._replace(question=RecordQuestion(text, options, answer))


def _directions(axis: int) -> tuple[str, str]:
    return ("north of", "south of") if axis == 1 else ("west of", "east of")
