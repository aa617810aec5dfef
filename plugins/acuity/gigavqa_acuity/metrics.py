"""Metrics of a model: its answers by condition as columns, accuracies over pictures, and confusions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import floor, log2

import numpy as np
from numpy.typing import NDArray

from gigavqa.evaluation.metrics.accuracy import Contrast, Strata
from gigavqa.evaluation.metrics.estimates import NO_ESTIMATE, Estimate
from gigavqa.evaluation.metrics.intervals import Floats, Indices, proportion
from gigavqa.evaluation.score_frame import CellKey, ScoreFrame
from gigavqa.evaluation.scores import Scores
from gigavqa_acuity.judging import AcuityDetails
from gigavqa_acuity.psychometric import OptotypeTrials, PsychometricCurve, fit_curve, join_trials
from gigavqa_acuity.samples import AcuitySample
from gigavqa_acuity.taxonomy import ATTRIBUTES, DIRECTIONS, Attribute

READABLE_PIXELS = 16
"""Pixels per optotype from which on a sign counts as readable: errors there are not for want of pixels."""
TILE = 256
"""Side of the tiles in the files of the drawn pictures: a region below it can lie in the wrong one as a whole."""
AnswerMask = NDArray[np.bool_]
CurvesByAttribute = Mapping[Attribute | None, PsychometricCurve]
"""By question; that of both together under None."""


@dataclass(frozen=True)
class AcuityColumns:
    """The signs of a data set as columns, in its order; pictures are numbered as they come."""

    signs: Sequence[AcuitySample]

    @cached_property
    def pictures(self) -> Indices:
        """The number of each sign's picture."""
        numbers = {name: at for at, name in enumerate(dict.fromkeys(sign.images[0] for sign in self.signs))}
        return np.array([numbers[sign.images[0]] for sign in self.signs], dtype=np.intp)

    @cached_property
    def truths(self) -> Sequence[str]:
        """The right option of each sign."""
        return [getattr(sign.optotype, sign.attribute) for sign in self.signs]

    def beside(self, step: int) -> Sequence[str]:
        """Return the right option of the same question about the picture so many further on.

        Empty where there is none.
        """
        keys = [(int(at), sign.attribute) for at, sign in zip(self.pictures, self.signs, strict=True)]
        truths = dict(zip(keys, self.truths, strict=True))
        return [truths.get((at + step, attribute), "") for at, attribute in keys]

    def sides(self) -> Floats:
        """Side of each sign's evidence region, in level-0 pixels."""
        return np.array([sign.region.width for sign in self.signs], dtype=np.float64)


AcuityBaseScores = Scores[AcuitySample, AcuityDetails]


@dataclass(frozen=True)
class ConditionScores:
    """The answers of a model under one condition, one entry each; failures are none."""

    key: CellKey
    chart: AcuityColumns
    base: AcuityBaseScores

    @cached_property
    def _replies(self) -> ScoreFrame[AcuityDetails]:
        answered = self.base.cell(*self.key).answered
        details = (answered.detail("meant").astype(np.str_), answered.detail("pixels", float))
        return answered.select(np.lexsort((*details, answered.repeat, answered.sample)))

    @cached_property
    def at(self) -> Indices:
        """Position of each answer's sign."""
        return self._replies.sample

    @cached_property
    def right(self) -> Floats:
        """1 for what is right, else 0."""
        return self._replies.column("score")

    @cached_property
    def pixels(self) -> Floats:
        """Pixels per optotype of what was shown; 0 where nothing was."""
        return self._replies.detail("pixels", float)

    @cached_property
    def meant(self) -> NDArray[np.str_]:
        """The option that was meant; empty where none can be read."""
        return self._replies.detail("meant").astype(np.str_)

    @property
    def unsaid(self) -> Estimate:
        """Share of those that hold no single letter."""
        return proportion((self.meant == "").astype(np.float64))

    @cached_property
    def truth(self) -> NDArray[np.str_]:
        """The right option."""
        return self.of_signs(self.chart.truths)

    @property
    def readable(self) -> AnswerMask:
        """True for answers to signs of so many pixels that they can be read."""
        return self.pixels >= READABLE_PIXELS

    @property
    def shows(self) -> bool:
        """Whether the condition shows a picture."""
        return self.key.condition != "V0"

    def of_signs(self, column: Sequence[str]) -> NDArray[np.str_]:
        """Return a column of the chart, for each answer."""
        return np.array(column, dtype=np.str_)[self.at] if len(self.at) else np.array([], dtype=np.str_)

    def about(self, attribute: Attribute) -> AnswerMask:
        """Return which answers are to this question."""
        chosen: AnswerMask = self.of_signs([sign.attribute for sign in self.chart.signs]) == attribute
        return chosen

    def trials(self, attribute: Attribute | None = None) -> OptotypeTrials:
        """Return the answers, to one question or to both, as a curve is fitted to them."""
        trials = OptotypeTrials(self.pixels, self.right, self.chart.pictures[self.at])
        return trials.where(self.about(attribute)) if attribute else trials

    @cached_property
    def curves(self) -> CurvesByAttribute:
        """The functions fitted to them."""
        return {attribute: fit_curve(self.trials(attribute)) for attribute in (None, *ATTRIBUTES)}

    def accuracy(self, chosen: AnswerMask) -> Estimate:
        """Accuracy of some of the answers."""
        return proportion(self.right[chosen])

    def shares(self, chosen: AnswerMask, hits: AnswerMask) -> Estimate:
        """Share of the hits among some of the answers."""
        return proportion(hits[chosen].astype(np.float64))

    def swapped(self, first: str, second: str) -> Estimate:
        """Of the readable signs that show either of two options, those that were taken for the other one."""
        either = self.readable & ((self.truth == first) | (self.truth == second))
        return self.shares(either, self.meant == np.where(self.truth == first, second, first))

    @cached_property
    def turns(self) -> NDArray[np.intp]:
        """By how many quarters, clockwise, an answered direction lies beyond the true one; -1 where there is none."""
        numbers: dict[str, int] = {name: number for number, name in enumerate(DIRECTIONS)}
        pairs = zip(self.meant, self.truth, strict=True)
        found = [(numbers[str(m)] - numbers[str(t)]) % 4 if m in numbers and t in numbers else -1 for m, t in pairs]
        return np.array(found, dtype=np.intp)

    def turned(self, quarters: int, *, among_wrong: bool = False) -> Estimate:
        """Share of the directions of readable signs that were answered so many quarters further, clockwise."""
        chosen = self.readable & self.about("direction") & ((self.turns > 0) if among_wrong else True)
        return self.shares(chosen, self.turns == quarters)

    def of_neighbour(self, step: int) -> Estimate:
        """Of the readable signs, the answers that are right of the picture so many further on, where it differs."""
        other = self.of_signs(self.chart.beside(step))
        return self.shares(self.readable & (other != "") & (other != self.truth), self.meant == other)


@dataclass(frozen=True)
class AcuityScores:
    """One model: its answers by condition."""

    model: str
    chart: AcuityColumns
    base: AcuityBaseScores

    @cached_property
    def conditions(self) -> Mapping[str, ConditionScores]:
        """Answers by condition, in order."""
        keys = sorted((key for key in self.base.cells if key.model == self.model), key=lambda key: key.condition)
        return {key.condition: ConditionScores(key, self.chart, self.base) for key in keys}

    @cached_property
    def shown(self) -> Sequence[ConditionScores]:
        """Those under conditions that show a picture."""
        return [answers for answers in self.conditions.values() if answers.shows]

    @cached_property
    def curves(self) -> CurvesByAttribute:
        """The functions fitted to all that was shown, whatever the condition."""
        shown = self.shown
        return {
            attribute: fit_curve(join_trials([answers.trials(attribute) for answers in shown]))
            if shown
            else PsychometricCurve(NO_ESTIMATE, "few")
            for attribute in (None, *ATTRIBUTES)
        }

    def gap(self, condition: str, less: str) -> Estimate:
        """Accuracy under a condition less that under another, paired over pictures.

        A picture's score is the mean over its signs that have both. Source: `Contrast` of `gigavqa.evaluation`.
        """
        if not {condition, less} <= self.conditions.keys():
            return NO_ESTIMATE
        scores = {name: self.base.means(*self.conditions[name].key) for name in (condition, less)}
        unknown = np.isnan(np.stack([*scores.values()])).any(axis=0)
        by_picture = {name: self._by_picture(np.where(unknown, np.nan, values)) for name, values in scores.items()}
        everywhere = np.arange(len(by_picture[less]))
        return Contrast(by_picture, Strata({"": everywhere}, {})).gap(condition, less)

    def _by_picture(self, scores: Floats) -> Floats:
        known, pictures = ~np.isnan(scores), self.chart.pictures
        number = int(pictures.max(initial=-1)) + 1
        counts = np.bincount(pictures[known], minlength=number)
        with np.errstate(invalid="ignore"):
            means: Floats = np.bincount(pictures[known], scores[known], minlength=number) / counts
        return means

    def width(self, condition: str) -> float | None:
        """Pixels in the width of the widest raster by which a condition showed the full image; None if it did not."""
        if condition not in self.conditions:
            return None
        return max(self.base.cell(*self.conditions[condition].key).traits, default=None)


def octave_of(pixels: float) -> int:
    """Number of the octave of a size: n from 2^n pixels on, and -1 below a pixel."""
    return max(-1, floor(log2(pixels))) if pixels > 0 else -1
