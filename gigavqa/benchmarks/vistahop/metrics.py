"""Metrics of one model in one setting with so many rounds: Pass@1 over repeats, calls, rounds, and why chats ended."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import nan

import numpy as np

from gigavqa.benchmarks.vistahop.asking import DIRECT
from gigavqa.benchmarks.vistahop.judging import VistaHopDetails
from gigavqa.benchmarks.vistahop.samples import VistaHopSample
from gigavqa.evaluation.metrics.clusters import bootstrap_clusters, ratio
from gigavqa.evaluation.metrics.estimates import NO_ESTIMATE, Estimate
from gigavqa.evaluation.metrics.intervals import Floats, Indices, estimate_share, proportion
from gigavqa.evaluation.score_frame import CellKey, ScoreFrame
from gigavqa.evaluation.scores import Scores

VistaHopBaseScores = Scores[VistaHopSample, VistaHopDetails]
VistaHopFrame = ScoreFrame[VistaHopDetails]
"""One row a chat."""


@dataclass(frozen=True)
class SettingScores:
    """The chats of one cell with at most `limit` rounds; 0 is a limit that nobody told."""

    place: CellKey
    limit: int
    samples: Sequence[VistaHopSample]
    chats: VistaHopFrame
    failed: int
    """Requests that failed."""

    @property
    def model(self) -> str:
        """The model."""
        return self.place.model

    @property
    def protocol(self) -> str:
        """The protocol."""
        return self.place.protocol

    @property
    def condition(self) -> str:
        """The condition."""
        return self.place.condition

    @cached_property
    def scores(self) -> Floats:
        """Mean score of each sample over its repeats."""
        return self.chats.means(len(self.samples))

    @cached_property
    def strict_scores(self) -> Floats:
        """The same where a call by which the authors' runner loses a sample makes its chat wrong."""
        scores = self.chats.column("score")
        voided = self.chats.detail("voided", bool) & ~np.isnan(scores)
        return self.chats.means(len(self.samples), np.where(voided, 0.0, scores))

    @cached_property
    def scored(self) -> VistaHopFrame:
        """The chats about questions that have a truth."""
        return self.chats.select(np.array([one.scored for one in self.samples], dtype=np.bool_)[self.chats.sample])

    def judged_by(self, judge: str) -> Floats:
        """Mean of what another judge said of each sample's chats; what it left unreadable is left out.

        So is what people said of questions that await an expert.
        """
        said = self.scored.derive(lambda one: _judgement_score(one.details, judge), float)
        return self.scored.means(len(self.samples), said)

    def said_by(self, judge: str) -> Counter[int | None]:
        """Chats about questions with a truth by what a judge said: 1, 0, -1 for what cannot be read, or None."""
        return self.scored.tally(lambda one: dict(one.details.judges).get(judge))

    def mean(self, values: Floats) -> Estimate:
        """Return the mean over chats, with the interval of a bootstrap over samples."""
        sums, counts = self.chats.sums(len(self.samples), values)
        asked = counts > 0
        if not asked.any():
            return NO_ESTIMATE
        return bootstrap_clusters([np.column_stack([sums, counts])[asked]], ratio(0, 1), int(counts.sum()))

    @property
    def calls(self) -> Estimate:
        """Counted calls of a chat."""
        return self.mean(self.chats.detail("calls", float))

    @property
    def rounds(self) -> Estimate:
        """Rounds of a chat."""
        return self.mean(self.chats.detail("rounds", float))

    @property
    def utilization(self) -> Estimate:
        """Counted calls as a share of those that the limit allows; nothing where that is not known."""
        return self.mean(self.chats.detail("calls", float) / self.limit) if self.limit else NO_ESTIMATE

    @property
    def stops(self) -> Counter[str]:
        """The number of chats by the reason for which they ended."""
        return self.chats.tally(lambda one: one.details.stop)

    @property
    def statuses(self) -> Counter[str]:
        """The number of answers by parse status."""
        return self.chats.counts("status")

    @property
    def tools(self) -> Counter[tuple[str, str]]:
        """Calls by tool and status."""
        found: Counter[tuple[str, str]] = Counter()
        for chat in self.chats.details:
            found.update({(name, status): count for name, status, count in chat.tools})
        return found

    @property
    def reuse(self) -> Estimate:
        """The share of later rounds' prompts that came from the prefix cache."""
        prompt, cached, rounds = (int(self.chats.detail(name, int).sum()) for name in ("prompt", "cached", "later"))
        return Estimate(value=cached / prompt, count=rounds) if prompt else NO_ESTIMATE

    @property
    def anchors_seen(self) -> Estimate:
        """The share of chats whose crops showed an anchor, of those that could."""
        seen = self.chats.detail("anchor", float)
        return self.mean(np.where(seen >= 0, seen, nan))

    @property
    def documents_found(self) -> Estimate:
        """The mean share of the chain's documents that were among the results."""
        return self.mean(self.chats.detail("share_found", float))


def collect_settings(scores: VistaHopBaseScores) -> list[SettingScores]:
    """Return every setting of which there are chats, in the report's order."""
    found: list[SettingScores] = []
    for cell in scores.cells:
        replies = scores.frame.of_cell(cell)
        if chats := replies.answered:
            failed = len(replies) - len(chats)
            found.append(SettingScores(cell, _round_limit(cell, chats), scores.samples, chats, failed))
    return found


def _round_limit(cell: CellKey, chats: VistaHopFrame) -> int:
    """Rounds that chats could have had; where nobody told it, those of chats that ended so, and 0 where none did."""
    if cell.rounds or cell.protocol == DIRECT:
        return cell.rounds or 1
    return max((chat.rounds for chat in chats.details if chat.stop == "rounds"), default=0)


def _judgement_score(details: VistaHopDetails, judge: str) -> float:
    said = dict(details.judges).get(judge, -1)
    return nan if said < 0 else float(said)


def pass_at_1(scores: Floats, at: Indices | None = None) -> Estimate:
    """Return the mean of samples' scores, with Wilson's interval over samples."""
    return proportion(scores if at is None else scores[at])


def estimate_gap(scores: Floats, baseline: Floats) -> Estimate:
    """Scores less a baseline's over the samples that both have, with the interval of a paired bootstrap."""
    difference = scores - baseline
    known = ~np.isnan(difference)
    sums = np.column_stack([difference, known])[known].astype(np.float64)
    return bootstrap_clusters([sums], ratio(0, 1), int(known.sum())) if len(sums) else NO_ESTIMATE


@dataclass(frozen=True)
class JudgeAgreement:
    """The agreement of two judges over the replies that both judged, with the replies that each left unreadable."""

    both: int
    same: int
    kappa: float | None
    unreadable: int

    @property
    def rate(self) -> Estimate:
        """The share of replies on which both say the same."""
        return estimate_share(self.same, self.both)


def compare_judges(pairs: Sequence[tuple[int, int]]) -> JudgeAgreement:
    """Compare two judges by what they said of the same replies: 1, 0, or -1 for nothing that could be read.

    Cohen's kappa is None where it is not defined: without replies, or where both always say the same one thing.
    """
    known = [(one, other) for one, other in pairs if one >= 0 and other >= 0]
    count = len(known)
    same = sum(one == other for one, other in known)
    if not count:
        return JudgeAgreement(0, 0, None, len(pairs))
    first, second = (sum(pair[at] for pair in known) / count for at in (0, 1))
    chance = first * second + (1 - first) * (1 - second)
    kappa = None if chance == 1 else (same / count - chance) / (1 - chance)
    return JudgeAgreement(count, same, kappa, len(pairs) - count)
