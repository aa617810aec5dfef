"""Questions about the plaza, drawn before the plaza: first the texts, then which option shall be true.

So whoever reads the texts alone learns nothing of the answers; the plaza is then drawn such that they hold.
"""

from math import gcd
from typing import NamedTuple

import numpy as np

from gigavqa.benchmarks.ultravr.taxonomy import QUADRANTS, Quadrant
from gigavqa.benchmarks.ultravr.vocabulary import CLAIM_FAMILIES, CLAIM_PATTERNS, ORDERINGS, RELATIONS
from gigavqa.benchmarks.ultravr.wording import Slots, fill, task_wording
from gigavqa.demo.draws import stream
from gigavqa.demo.records import letter_of, shuffled
from gigavqa.demo.ultravr.cctv.figures import KINDS
from gigavqa.demo.ultravr.records import RecordQuestion

_ANCHOR = "standing"
"""The kind that every comparison has on one side, and its least count."""
_ANCHOR_LEAST = 22
_BLOCK = 4
"""A count is one of so many neighbouring numbers, each as likely; a false claim of it is another one of them."""
_COMPARED = ("bicycle", "umbrella", "child", "motorcycle")
_VERIFIED = ("standing", "bicycle", "child", "umbrella")
_COUPLES = (("pink", "turquoise"), ("orange", "yellow"), ("white", "bright green"))


class CountRange(NamedTuple):
    """A count, and the least number of its block."""

    value: int
    least: int


class PlazaComparison(NamedTuple):
    """The claim on the counts of two kinds that is true."""

    question: RecordQuestion
    kinds: tuple[str, str]
    supported: str


class PlazaVerification(NamedTuple):
    """The claims on one kind that are true: its count, and the quadrant with the most or fewest."""

    question: RecordQuestion
    kind: str
    claimed: int
    region: Quadrant
    extremum: str
    true: tuple[bool, bool]

    @property
    def slots(self) -> Slots:
        """What stands in the slots of its texts."""
        return _verified_slots(self.kind, self.claimed, self.region, self.extremum)


class PlazaRelation(NamedTuple):
    """The direction from one person of a couple to the other; both are in one quadrant, which says nothing of it."""

    question: RecordQuestion
    clothing: tuple[str, str]
    quadrant: Quadrant
    position: str


class PlazaQuestions(NamedTuple):
    """All questions about one plaza, with what must be true of it; quadrants from the fewest to the most of a kind."""

    comparisons: tuple[PlazaComparison, ...]
    verifications: tuple[PlazaVerification, ...]
    relations: tuple[PlazaRelation, ...]
    counts: dict[str, CountRange]
    quadrants: dict[str, tuple[Quadrant, ...]]


def draw_questions(seed: int) -> PlazaQuestions:
    """Draw the questions of a seed; each claim, pattern and relation is right once before any is right twice."""
    rng = stream(seed, "cctv", "questions")
    counts = {_ANCHOR: _count(_ANCHOR_LEAST, rng)}
    comparisons: list[PlazaComparison] = []
    for kind, supported in zip(_COMPARED, rng.permutation(CLAIM_FAMILIES).tolist(), strict=True):
        comparison, counts[kind] = _compare(kind, counts[_ANCHOR].value, supported, rng)
        comparisons.append(comparison)
    quadrants = {kind: tuple(QUADRANTS[int(i)] for i in rng.permutation(len(QUADRANTS))) for kind in counts}
    patterns = [list(CLAIM_PATTERNS)[int(index)] for index in rng.permutation(len(CLAIM_PATTERNS))]
    verifications = tuple(
        _verify(kind, counts[kind], quadrants[kind], true, rng) for kind, true in zip(_VERIFIED, patterns, strict=True)
    )
    return PlazaQuestions(tuple(comparisons), verifications, _relate(rng), counts, quadrants)


def _count(least: int, rng: np.random.Generator) -> CountRange:
    return CountRange(least + int(rng.integers(_BLOCK)), least)


def _compare(kind: str, anchor: int, supported: str, rng: np.random.Generator) -> tuple[PlazaComparison, CountRange]:
    """Draw a possible count of the kind for each claim, make the claims of them, and take the supported one's.

    The ordering's count lies close to the anchor on one side, the others' farther away on the other side, each in a
    block of its own: so any of the four claims is the only true one if its count is the real one.
    """
    side = int(rng.choice([-1, 1]))
    *others, ordering = CLAIM_FAMILIES
    blocks = {ordering: 0} | {family: 1 + int(rank) for family, rank in zip(others, rng.permutation(3), strict=True)}
    possible = {family: _count(_least(anchor, side, blocks[family]), rng) for family in CLAIM_FAMILIES}
    swapped = bool(rng.integers(2))
    kinds = (_ANCHOR, kind) if swapped else (kind, _ANCHOR)
    pairs = {f: (anchor, count.value) if swapped else (count.value, anchor) for f, count in possible.items()}
    a, b = (KINDS[name].label for name in kinds)
    claims = _claims(a, b, pairs)
    text = task_wording("cctv", "comparison").question({"a": a, "b": b})
    options, answer = shuffled(list(claims.values()), claims[supported], rng)
    return PlazaComparison(RecordQuestion(text, options, answer), kinds, supported), possible[supported]


def _least(anchor: int, side: int, block: int) -> int:
    """Least count of a block; block 0 is next to the anchor on the given side, the others on the other side."""
    direction = side if block == 0 else -side
    nearest = anchor + direction * (1 + block * _BLOCK)
    return nearest if direction > 0 else nearest - _BLOCK + 1


def _claims(a: str, b: str, pairs: dict[str, tuple[int, int]]) -> dict[str, str]:
    """Return the four claims, each as it is true of its own pair of counts."""
    (d_a, d_b), (t_a, t_b), ratio, (o_a, o_b) = (pairs[family] for family in CLAIM_FAMILIES)
    values = {"difference_claim": abs(d_a - d_b), "total_claim": t_a + t_b, "ratio_claim": reduced(*ratio)}
    texts, slots = task_wording("cctv", "comparison").options, {"a": a, "b": b}
    claims = {family: fill(texts[family], {**slots, "value": str(value)}) for family, value in values.items()}
    ordering = ORDERINGS[0 if o_a > o_b else 1]
    return {**claims, "ordering_claim": fill(texts[ordering], slots)}


def reduced(num_a: int, num_b: int) -> str:
    """Return the ratio of two counts in lowest terms, "A:B"."""
    divisor = gcd(num_a, num_b)
    return f"{num_a // divisor}:{num_b // divisor}"


def _verify(
    kind: str, count: CountRange, quadrants: tuple[Quadrant, ...], true: tuple[bool, bool], rng: np.random.Generator
) -> PlazaVerification:
    false_counts = [n for n in range(count.least, count.least + _BLOCK) if n != count.value]
    extremum, extreme = (("fewest", quadrants[0]), ("most", quadrants[-1]))[int(rng.integers(2))]
    others = [quadrant for quadrant in QUADRANTS if quadrant != extreme]
    claimed = count.value if true[0] else int(rng.choice(false_counts))
    region = extreme if true[1] else others[int(rng.integers(len(others)))]
    wording, slots = task_wording("cctv", "logical_verification"), _verified_slots(kind, claimed, region, extremum)
    options = wording.lettered(slots)
    question = RecordQuestion(wording.question(slots), options, letter_of(options, CLAIM_PATTERNS[true][1]))
    return PlazaVerification(question, kind, claimed, region, extremum, true)


def _verified_slots(kind: str, claimed: int, region: Quadrant, extremum: str) -> Slots:
    return {"bundle": KINDS[kind].label, "claimed": str(claimed), "region": region, "extremum": extremum}


def _relate(rng: np.random.Generator) -> tuple[PlazaRelation, ...]:
    """Draw each couple's quadrant, then how they stand."""
    quadrants, positions = rng.permutation(len(QUADRANTS)), rng.permutation(len(RELATIONS))
    wording, relations = task_wording("cctv", "relational_inference"), list[PlazaRelation]()
    for couple, where, how in zip(_COUPLES, quadrants.tolist(), positions.tolist(), strict=False):
        a, b = (_description(QUADRANTS[where], clothing) for clothing in couple)
        text = wording.question({"person_a": a, "person_b": b})
        options = wording.lettered({})
        question = RecordQuestion(text, options, letter_of(options, RELATIONS[how]))
        relations.append(PlazaRelation(question, couple, QUADRANTS[where], RELATIONS[how]))
    return tuple(relations)


def _description(quadrant: Quadrant, clothing: str) -> str:
    return f"the adult standing in the {quadrant} quadrant, wearing {clothing} upper clothing"
