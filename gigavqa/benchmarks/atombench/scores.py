"""One model's answers, added up: what every table and figure takes its numbers from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gigavqa.benchmarks.atombench import metrics
from gigavqa.benchmarks.atombench.repeats import AtomBaseScores, AtomRepeat, collect_chat_repeats, collect_repeats
from gigavqa.benchmarks.atombench.sums import (
    DEFAULT_RULE,
    SUPPORT_THRESHOLD,
    ImageGroups,
    ImageSums,
    sum_label,
    sum_repeat,
)
from gigavqa.benchmarks.atombench.taxonomy import DIMENSION_OF, DOMAINS
from gigavqa.evaluation.metrics.estimates import NO_ESTIMATE, Estimate

GROUPS = ("private", "open", "open thinking")
"""How the paper sorts models."""


@dataclass(frozen=True)
class AtomScores:
    """The repeats of one model under one condition."""

    base: AtomBaseScores
    pictures: ImageGroups
    model: str
    condition: str

    @cached_property
    def trials(self) -> Sequence[AtomRepeat]:
        """Its repeats."""
        return collect_repeats(self.base, self.model, self.condition)

    @cached_property
    def chats(self) -> Sequence[AtomRepeat]:
        """Its repeats of first and final answers in one chat."""
        return collect_chat_repeats(self.base, self.model, self.condition)

    @cached_property
    def tables(self) -> Sequence[ImageSums]:
        """The sums of each repeat."""
        return [sum_repeat(trial, self.pictures) for trial in self.trials]

    def where(self, label: str, name: object) -> Sequence[ImageSums]:
        """Return the sums of each repeat over the clue questions with a label."""
        if (label, name) not in self._labelled:
            self._labelled[label, name] = [sum_label(trial, self.pictures, label, name) for trial in self.trials]
        return self._labelled[label, name]

    @cached_property
    def _labelled(self) -> dict[tuple[str, object], Sequence[ImageSums]]:
        return {}

    @cached_property
    def domains(self) -> Mapping[str, Estimate]:
        """CLQ_Acc of the clue questions of each domain, and of each dimension."""
        names = [("dimension", name) for name in DOMAINS] + [("domain", name) for name in DIMENSION_OF]
        return {
            name: metrics.estimate_metric(self.where(label, name), metrics.clue_accuracy, "clue")
            for label, name in names
        }

    def share(self, label: str, name: object, *, wrong: bool = False) -> Estimate:
        """Share of right answers to the questions with a label, or of those that are not right."""
        return metrics.estimate_share(self.where(label, name), "clue right", "clue", wrong=wrong)

    @property
    def title(self) -> str:
        """The name in tables."""
        return self.base.title_of(self.model)

    @property
    def group(self) -> str:
        """The group of models that it belongs to; empty where the catalogue does not say."""
        entry = self.base.catalogue.get(self.model)
        return (entry.access if entry else None) or ""

    @property
    def base_model(self) -> str | None:
        """The language model that it is built on."""
        entry = self.base.catalogue.get(self.model)
        return entry.base_model if entry else None

    @property
    def billions(self) -> float | None:
        """The number of parameters, in billions."""
        entry = self.base.catalogue.get(self.model)
        return entry.billions if entry else None

    @cached_property
    def clues(self) -> Estimate:
        """CLQ_Acc."""
        return self._of(metrics.clue_accuracy, "clue")

    @cached_property
    def conclusions(self) -> Estimate:
        """CoLQ_Acc."""
        return self._of(metrics.conclusion_accuracy, "conclusion")

    @cached_property
    def spread(self) -> Estimate:
        """ECS."""
        parts = metrics.conclusion_accuracy, metrics.clue_accuracy
        return metrics.estimate_of_means(self.tables, parts, np.subtract, "clue", "conclusion")

    @cached_property
    def consistency(self) -> Estimate:
        """RCS under the default rule."""
        return self.consistency_by(DEFAULT_RULE)

    @cached_property
    def hallucination(self) -> Estimate:
        """HI under the default rule."""
        return self.hallucination_by(DEFAULT_RULE)

    @cached_property
    def resistance(self) -> Estimate:
        """RRS."""
        return self._of(metrics.resistance, "weighed")

    @cached_property
    def average(self) -> Estimate:
        """Avg."""
        return metrics.estimate_of_means(self.tables, metrics.AVERAGED, metrics.combine_average, DEFAULT_RULE)

    @cached_property
    def correction(self) -> Estimate:
        """Error-correction rate."""
        return self._of(metrics.correction, "corrected", "rigid")

    def consistency_by(self, rule: str, threshold: int = SUPPORT_THRESHOLD) -> Estimate:
        """RCS under a rule; above another threshold, a place of the support curve."""
        return self._of(metrics.reasoning_consistency(rule, threshold), rule)

    def hallucination_by(self, rule: str) -> Estimate:
        """HI under a rule."""
        return self._of(metrics.hallucination(rule), f"{rule} right")

    def concluded_by(self, rule: str) -> Estimate:
        """Share of instances whose conclusion is right."""
        return self._of(metrics.conclusion_rate(rule), rule)

    @cached_property
    def area(self) -> Estimate:
        """Area under the support curve."""
        return self._of(metrics.support_area, DEFAULT_RULE)

    def raw(self, level: str) -> Estimate:
        """Share of right answers to the questions of a level."""
        return metrics.estimate_share(self.tables, f"{level} right", level)

    def _of(self, formula: metrics.SumFormula, *counted: str) -> Estimate:
        return metrics.estimate_metric(self.tables, formula, *counted)


def complement(estimate: Estimate) -> Estimate:
    """One less a rate, with its interval turned round."""
    if estimate.value is None:
        return NO_ESTIMATE
    low = None if estimate.high is None else 1 - estimate.high
    high = None if estimate.low is None else 1 - estimate.low
    return Estimate(value=1 - estimate.value, count=estimate.count, low=low, high=high)
