"""Sums behind the metrics: sums over the questions of each picture, one matrix a repeat (equations 1 to 4)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat

import numpy as np

from gigavqa.benchmarks.atombench.judging import AnswerOutcome, points_of
from gigavqa.benchmarks.atombench.repeats import KINDS, AnswerPair, AtomRepeat
from gigavqa.benchmarks.atombench.samples import AtomSample
from gigavqa.benchmarks.atombench.taxonomy import WEIGHTS
from gigavqa.evaluation.metrics.intervals import Floats, Indices

SUPPORT_THRESHOLD = 75
"""Percent of its clues that a picture's conclusion needs, strictly more (equation 2)."""
THRESHOLDS = tuple(range(0, 101, 5))
"""Where the support curve stands, in percent; at 100 all clues must be right."""
RULES = ("any", "each", "all", "location")
"""Which conclusion of a picture counts: any of its questions, each by itself, all, or the first about the location."""
DEFAULT_RULE = "any"


@dataclass(frozen=True)
class ImageGroups:
    """The questions of a data set by picture; a question's position is that in `samples`."""

    samples: Sequence[AtomSample]

    @cached_property
    def rows(self) -> Mapping[str, int]:
        """The number of each place, in the order in which they come."""
        return {place: row for row, place in enumerate(dict.fromkeys(sample.place for sample in self.samples))}

    @cached_property
    def row_of(self) -> Indices:
        """The number of each question's place."""
        return np.array([self.rows[sample.place] for sample in self.samples], dtype=np.intp)

    @cached_property
    def is_clue(self) -> Sequence[bool]:
        """True for each question about a clue."""
        return [sample.level == "clue" for sample in self.samples]

    @cached_property
    def locations(self) -> frozenset[int]:
        """The first question about the location of each place that has a known answer."""
        first: dict[str, int] = {}
        for at, sample in enumerate(self.samples):
            if sample.kind == "location" and sample.scored:
                first.setdefault(sample.place, at)
        return frozenset(first.values())

    def summed(self, questions: Indices, values: Iterable[float]) -> Floats:
        """Add values of questions by place."""
        weights = np.fromiter(values, dtype=np.float64, count=len(questions))
        sums: Floats = np.bincount(self.row_of[questions], weights, len(self.rows)).astype(np.float64)
        return sums


ImageSums = Mapping[str, Floats]
"""Sums by name, each one number a place."""


def sum_repeat(trial: AtomRepeat, pictures: ImageGroups) -> ImageSums:
    """Add up a repeat: questions, points and right answers of either level, support under every rule, and pairs."""
    clues = {at: outcome for at, outcome in trial.first.items() if pictures.is_clue[at]}
    conclusions = {at: outcome for at, outcome in trial.first.items() if not pictures.is_clue[at]}
    table = {**_sum_level("clue", clues, pictures), **_sum_level("conclusion", conclusions, pictures)}
    table |= _sum_support(table, conclusions, pictures)
    return {**table, **sum_pairs(trial.pairs, pictures)}


def sum_label(trial: AtomRepeat, pictures: ImageGroups, label: str, name: object) -> ImageSums:
    """Add up the direct answers to the clue questions with a label: how many, their points, and the right ones."""
    found = {at: outcome for at, outcome in trial.first.items() if getattr(pictures.samples[at], label) == name}
    return _sum_level("clue", found, pictures)


def _sum_level(name: str, outcomes: Mapping[int, AnswerOutcome], pictures: ImageGroups) -> dict[str, Floats]:
    questions, samples = _positions(outcomes), pictures.samples
    points = (points_of(outcome, samples[at].num_options) for at, outcome in outcomes.items())
    return {
        name: pictures.summed(questions, repeat(1.0)),
        f"{name} points": pictures.summed(questions, points),
        f"{name} right": pictures.summed(questions, (outcome == "right" for outcome in outcomes.values())),
    }


def _positions(questions: Iterable[int]) -> Indices:
    return np.array(list(questions), dtype=np.intp)


def _sum_support(
    table: ImageSums, conclusions: Mapping[int, AnswerOutcome], pictures: ImageGroups
) -> dict[str, Floats]:
    """Under each rule: instances that have both levels, those whose conclusion is right, and those that are supported.

    Support counts right clues over all clues of the picture, never penalized, in whole numbers so that no threshold
    is missed by a rounding error.
    """
    clues, right = table["clue"], 100 * table["clue right"]
    supported = {
        threshold: (right > threshold * clues) if threshold < 100 else (clues > 0) & (right == 100 * clues)
        for threshold in (*THRESHOLDS, SUPPORT_THRESHOLD)
    }
    found: dict[str, Floats] = {}
    for rule, (asked, concluded) in _instances(table, conclusions, pictures).items():
        found[rule] = np.where(clues > 0, asked, 0.0)
        found[f"{rule} right"] = np.where(clues > 0, concluded, 0.0)
        for threshold, is_supported in supported.items():
            found[f"{rule} above {threshold}"] = np.where(is_supported, found[f"{rule} right"], 0.0)
    return found


def _instances(
    table: ImageSums, conclusions: Mapping[int, AnswerOutcome], pictures: ImageGroups
) -> dict[str, tuple[Floats, Floats]]:
    """By rule, how many conclusions of each picture count, and how many of them are right."""
    asked, right = table["conclusion"], table["conclusion right"]
    some = (asked > 0).astype(float)
    located = {at: outcome for at, outcome in conclusions.items() if at in pictures.locations}
    return {
        "any": (some, (right > 0).astype(float)),
        "each": (asked, right),
        "all": (some, ((asked > 0) & (right == asked)).astype(float)),
        "location": (
            pictures.summed(_positions(located), repeat(1.0)),
            pictures.summed(_positions(located), (outcome == "right" for outcome in located.values())),
        ),
    }


def sum_pairs(found: Mapping[int, AnswerPair], pictures: ImageGroups) -> dict[str, Floats]:
    """Add up pairs: those of each kind, those with a difficulty, and by its weight all and those that end right."""
    questions, pairs = _positions(found), found.values()
    weights = [WEIGHTS.get(str(pictures.samples[at].difficulty), 0) for at in found]
    right = (weight * (pair.final == "right") for weight, pair in zip(weights, pairs, strict=True))
    return {
        **{kind: pictures.summed(questions, (pair.kind == kind for pair in pairs)) for kind in KINDS},
        "weighed": pictures.summed(questions, (weight > 0 for weight in weights)),
        "weight": pictures.summed(questions, weights),
        "weight right": pictures.summed(questions, right),
    }
