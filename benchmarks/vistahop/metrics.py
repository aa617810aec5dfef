"""What one model did in one setting with so many rounds: Pass@1 over repeats, calls, rounds, and why chats ended."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import nan

import numpy as np

from benchmarks.vistahop.asking import DIRECT
from benchmarks.vistahop.judging import VistaHopDetails
from benchmarks.vistahop.samples import VistaHopSample
from evaluation.metrics.clusters import bootstrap_clusters, ratio
from evaluation.metrics.estimates import NO_ESTIMATE, Estimate
from evaluation.metrics.intervals import Floats, Indices, estimate_share, proportion
from evaluation.verdicts import CellKey, Verdicts


@dataclass(frozen=True)
class ChatScore:
    """One chat: whose question by its position, whether it was right (NaN where nobody knows), what was kept of it."""

    sample: int
    score: float
    kept: VistaHopDetails


@dataclass(frozen=True)
class SettingScores:
    """The chats of one cell with at most `limit` rounds; 0 is a limit that nobody told."""

    place: CellKey
    limit: int
    samples: Sequence[VistaHopSample]
    chats: Sequence[ChatScore]

    @property
    def model(self) -> str:
        """Who was asked."""
        return self.place.model

    @property
    def protocol(self) -> str:
        """By which protocol."""
        return self.place.protocol

    @property
    def condition(self) -> str:
        """What was shown at first."""
        return self.place.condition

    def by_sample(self, value: Callable[[ChatScore], float]) -> Floats:
        """Return the mean of a value over each sample's chats, NaN where it has none, or a chat has no value."""
        sums, counts = self._sums(value)
        with np.errstate(invalid="ignore"):
            means: Floats = sums / counts
        return means

    def _sums(self, value: Callable[[ChatScore], float]) -> tuple[Floats, Floats]:
        sums, counts = np.zeros(len(self.samples)), np.zeros(len(self.samples))
        for chat in self.chats:
            found = value(chat)
            if found == found:  # noqa: PLR0124 - not NaN
                sums[chat.sample] += found
                counts[chat.sample] += 1
        return sums, counts

    @cached_property
    def scores(self) -> Floats:
        """Mean score of each sample over its repeats."""
        return self.by_sample(lambda chat: chat.score)

    @cached_property
    def strict_scores(self) -> Floats:
        """The same where a call by which the authors' runner loses a sample makes its chat wrong."""
        return self.by_sample(lambda chat: 0.0 if chat.kept.voided and chat.score == chat.score else chat.score)

    def judged_by(self, judge: str) -> Floats:
        """Mean of what another judge said of each sample's chats; what it left unreadable is left out.

        So is what people said of questions that await an expert.
        """
        return self.by_sample(lambda chat: _judgement_score(chat, judge) if self._is_scored(chat) else nan)

    def said_by(self, judge: str) -> Counter[int | None]:
        """Chats about questions with a truth by what a judge said: 1, 0, -1 for what cannot be read, or None."""
        return Counter(dict(chat.kept.judges).get(judge) for chat in self.chats if self._is_scored(chat))

    def _is_scored(self, chat: ChatScore) -> bool:
        return self.samples[chat.sample].scored

    def mean(self, value: Callable[[ChatScore], float]) -> Estimate:
        """Return the mean over chats, with the interval of a bootstrap over samples."""
        sums, counts = self._sums(value)
        asked = counts > 0
        if not asked.any():
            return NO_ESTIMATE
        return bootstrap_clusters([np.column_stack([sums, counts])[asked]], ratio(0, 1), int(counts.sum()))

    @property
    def calls(self) -> Estimate:
        """Counted calls of a chat."""
        return self.mean(lambda chat: chat.kept.calls)

    @property
    def rounds(self) -> Estimate:
        """Rounds of a chat."""
        return self.mean(lambda chat: chat.kept.rounds)

    @property
    def utilization(self) -> Estimate:
        """Counted calls as a share of those that the limit allows; nothing where that is not known."""
        if not self.limit:
            return NO_ESTIMATE
        return self.mean(lambda chat: chat.kept.calls / self.limit)

    @property
    def stops(self) -> Counter[str]:
        """Why chats ended."""
        return Counter(chat.kept.stop for chat in self.chats)

    @property
    def statuses(self) -> Counter[str]:
        """How answers were found."""
        return Counter(chat.kept.status for chat in self.chats)

    @property
    def tools(self) -> Counter[tuple[str, str]]:
        """Calls by tool and status."""
        found: Counter[tuple[str, str]] = Counter()
        for chat in self.chats:
            found.update({(name, status): count for name, status, count in chat.kept.tools})
        return found

    @property
    def reuse(self) -> Estimate:
        """The share of later rounds' prompts that came from the prefix cache."""
        prompt = sum(chat.kept.prompt for chat in self.chats)
        cached = sum(chat.kept.cached for chat in self.chats)
        rounds = sum(max(0, chat.kept.rounds - 1) for chat in self.chats)
        return Estimate(value=cached / prompt, count=rounds) if prompt else NO_ESTIMATE

    @property
    def anchors_seen(self) -> Estimate:
        """The share of chats whose crops showed an anchor, of those that could."""
        return self.mean(lambda chat: chat.kept.anchor if chat.kept.anchor >= 0 else nan)

    @property
    def documents_found(self) -> Estimate:
        """The mean share of the chain's documents that were among the results."""
        return self.mean(lambda chat: chat.kept.found / chat.kept.documents if chat.kept.documents else nan)


def collect_settings(verdicts: Verdicts) -> list[SettingScores]:
    """Return every setting of which there are chats, in the report's order."""
    samples = [sample for sample in verdicts.samples if isinstance(sample, VistaHopSample)]
    found: list[SettingScores] = []
    for cell in verdicts.cells:
        chats = [
            ChatScore(at, score, VistaHopDetails(*kept))
            for one in verdicts.cell(*cell).by_repeat().values()
            for at, score, kept in zip(one.samples, one.scores, one.kept, strict=True)
        ]
        if chats:
            found.append(SettingScores(cell, _round_limit(cell, chats), samples, chats))
    return found


def _round_limit(cell: CellKey, chats: Sequence[ChatScore]) -> int:
    """Rounds that chats could have had; where nobody told it, those of chats that ended so, and 0 where none did."""
    if cell.rounds or cell.protocol == DIRECT:
        return cell.rounds or 1
    return max((chat.kept.rounds for chat in chats if chat.kept.stop == "rounds"), default=0)


def _judgement_score(chat: ChatScore, judge: str) -> float:
    said = dict(chat.kept.judges).get(judge, -1)
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
    """How two judges agree over the replies that both judged, and how many each left unreadable."""

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
