"""Scores of one model under one family of protocols: rotations are joined within a repeat, repeats are averaged after.

Everything is counted by either reader: the matcher, by which the paper's numbers are, or the careful one.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import mean, stdev
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gigavqa.benchmarks.mmcr.asking import ROTATIONS
from gigavqa.benchmarks.mmcr.judging import MMCRDetails
from gigavqa.benchmarks.mmcr.samples import MMCRSample
from gigavqa.benchmarks.mmcr.taxonomy import LETTERS, QUESTION_TYPES, SOURCES
from gigavqa.evaluation.metrics.clusters import bootstrap_cluster_share, bootstrap_clusters, ratio
from gigavqa.evaluation.metrics.estimates import Estimate
from gigavqa.evaluation.metrics.intervals import Floats, Indices, estimate_share
from gigavqa.evaluation.score_frame import ScoreFrame
from gigavqa.evaluation.scores import Scores

MatcherName = Literal["matched", "careful"]
"""Whose letters count: the matcher's, or the careful reader's."""
METRICS_VERSION = "mmcr-metrics/2"
"""Version of what is counted."""
LetterCodes = NDArray[np.int8]
_UNMATCHED, _MISSING = -1, -2
_CODES = {letter: code for code, letter in enumerate(LETTERS)} | {"": _UNMATCHED}


@dataclass(frozen=True)
class MMCRColumns:
    """The data set's questions as arrays, and who belongs together."""

    all: Sequence[MMCRSample]

    @cached_property
    def truths(self) -> LetterCodes:
        """The right option of each, by number; an answer that is not known is right for nobody."""
        return np.array([_CODES[one.answer] if one.answer else _MISSING - 1 for one in self.all], dtype=np.int8)

    @cached_property
    def counts(self) -> Indices:
        """The number of options of each question, which is that of its rotations."""
        return np.array([len(one.letters) for one in self.all], dtype=np.intp)

    @cached_property
    def scored(self) -> NDArray[np.bool_]:
        """True for each question with a known answer."""
        return np.array([one.scored for one in self.all], dtype=bool)

    @cached_property
    def documents(self) -> Indices:
        """The number of each one's document."""
        numbers = {name: at for at, name in enumerate(dict.fromkeys(one.document for one in self.all))}
        return np.array([numbers[one.document] for one in self.all], dtype=np.intp)

    @cached_property
    def types(self) -> dict[str, Indices]:
        """The indices of each type's questions; all ten, in order."""
        return {kind: self._where("type", kind) for kind in QUESTION_TYPES}

    @cached_property
    def sources(self) -> dict[str, Indices]:
        """The indices of the questions that need several sources, and of those that need one."""
        return {source: self._where("source", source) for source in SOURCES}

    @cached_property
    def subjects(self) -> dict[str, Indices]:
        """The indices of each subject's questions, in order of their first appearance."""
        names = dict.fromkeys(one.subject for one in self.all)
        return {name: self._where("subject", name) for name in names}

    def _where(self, level: str, name: str) -> Indices:
        found = [at for at, one in enumerate(self.all) if one.groups[level] == name]
        return np.array(found, dtype=np.intp)

    def by_document(self, *columns: Floats) -> Floats:
        """Sums of columns by document (documents x columns); what is NaN adds nothing."""
        sums = np.zeros((int(self.documents.max(initial=-1)) + 1, len(columns)))
        for place, column in enumerate(columns):
            np.add.at(sums[:, place], self.documents, np.nan_to_num(column))
        return sums


MMCRBaseScores = Scores[MMCRSample, MMCRDetails]


class RotationScores:
    """The replies of one model to one family under one condition; arrays are repeats x samples x rotations.

    Those to questions whose answer is not known are left out of all that is counted.
    """

    def __init__(self, scores: MMCRBaseScores, questions: MMCRColumns, model: str, family: str, condition: str) -> None:
        self.model, self.family, self.condition = model, family, condition
        self.questions = questions
        self.replies = [scores.cell(model, f"{family}{k}", condition).answered for k in ROTATIONS]
        repeats = [one.by_repeat() for one in self.replies]
        self._keys = sorted(set().union(*repeats))
        shape = (len(self._keys), len(questions.all), len(ROTATIONS))
        self._codes: dict[str, LetterCodes] = {name: np.full(shape, _MISSING, np.int8) for name in MMCRDetails._fields}
        for k, by_repeat in enumerate(repeats):
            for key, found in by_repeat.items():
                self._fill(self._keys.index(key), k, self._scored(found))

    def _scored(self, replies: ScoreFrame[MMCRDetails]) -> ScoreFrame[MMCRDetails]:
        return replies.select(self.questions.scored[replies.sample])

    def _fill(self, repeat: int, rotation: int, replies: ScoreFrame[MMCRDetails]) -> None:
        for name in MMCRDetails._fields:
            letters = replies.detail(name)
            codes = np.array([_CODES[letter] for letter in letters], dtype=np.int8)
            self._codes[name][repeat, replies.sample, rotation] = codes

    @cached_property
    def _required(self) -> NDArray[np.bool_]:
        """True for each rotation that a question has (samples x rotations)."""
        required: NDArray[np.bool_] = np.arange(len(ROTATIONS)) < self.questions.counts[:, None]
        return required

    @cached_property
    def _complete(self) -> NDArray[np.bool_]:
        """In which repeats a known answer was asked for in all rotations (repeats x samples)."""
        replied = (self._codes["matched"] != _MISSING) | ~self._required
        complete: NDArray[np.bool_] = replied.all(axis=2) & self.questions.scored
        return complete

    def hits(self, reader: MatcherName = "matched") -> NDArray[np.bool_]:
        """Return which replies are right."""
        right: NDArray[np.bool_] = self._codes[reader] == self.questions.truths[:, None]
        return right

    def _circular(self, reader: MatcherName) -> Floats:
        right = (self.hits(reader) | ~self._required).all(axis=2)
        values: Floats = np.where(self._complete, right, np.nan)
        return values

    def circular(self, reader: MatcherName = "matched") -> Floats:
        """Return the headline, a value a sample.

        Right in all rotations of a repeat, averaged over repeats; else NaN.
        """
        return _mean_of_repeats(self._circular(reader))

    def plain(self, reader: MatcherName = "matched") -> Floats:
        """Right in the original order, a value a sample."""
        return self.rotation(0, reader)

    def rotation(self, k: int, reader: MatcherName = "matched") -> Floats:
        """Right in rotation k, a value a sample."""
        known = (self._codes["matched"][:, :, k] != _MISSING) & self.questions.scored
        return _mean_of_repeats(np.where(known, self.hits(reader)[:, :, k], np.nan))

    def over_rotations(self, reader: MatcherName = "matched") -> Floats:
        """Return the share of rotations that are right, a value a sample that was asked in all."""
        shares = (self.hits(reader) & self._required).sum(axis=2) / self.questions.counts
        return _mean_of_repeats(np.where(self._complete, shares, np.nan))

    def consistent(self, reader: MatcherName = "matched") -> Floats:
        """Return whether all rotations were answered by the same option's text, right or wrong.

        Unmatched agrees with none.
        """
        codes = self._codes[reader]
        texts = np.array([_wording_numbers(one) for one in self.questions.all], dtype=np.intp).reshape(-1, len(LETTERS))
        at = np.broadcast_to(np.arange(len(texts))[:, None], codes.shape)
        said = np.where(codes >= 0, texts[at, np.maximum(codes, 0)], -1)
        same = ((said == said[:, :, :1]) | ~self._required).all(axis=2) & (said[:, :, 0] >= 0)
        return _mean_of_repeats(np.where(self._complete, same, np.nan))

    @property
    def spread(self) -> str:
        """Circular accuracy over all in each repeat: mean and standard deviation; empty for a single one."""
        values = [100 * float(np.nanmean(one)) for one in self._circular("matched") if not np.isnan(one).all()]
        return f"{mean(values):.2f} ± {stdev(values):.2f} (k={len(values)})" if len(values) > 1 else ""

    @property
    def is_circular(self) -> bool:
        """Whether any question was answered in all its rotations."""
        return bool(self._complete.any())

    @property
    def left_out(self) -> list[str]:
        """Samples with replies, of which some rotation has none in some repeat."""
        replied = (self._codes["matched"] != _MISSING).any(axis=2)
        lacking = (replied & ~self._complete & self.questions.scored).any(axis=0)
        return [self.questions.all[at].id for at in np.flatnonzero(lacking)]

    @property
    def positions(self) -> Counter[str]:
        """The number of answers by letter as it was shown, over all rotations and repeats."""
        return Counter({letter: int((self._codes["shown"] == code).sum()) for letter, code in _CODES.items() if letter})

    def positions_of(self, k: int) -> Counter[str]:
        """Return the same of rotation k."""
        shown = self._codes["shown"][:, :, k]
        return Counter({letter: int((shown == code).sum()) for letter, code in _CODES.items() if letter})

    @property
    def excess(self) -> float | None:
        """By how much the commonest letter's share of the matched answers exceeds an even one, at the most."""
        matched = (self._codes["shown"] >= 0).sum(axis=(0, 2))
        total = int(matched.sum())
        if not total:
            return None
        even = {
            letter: float((matched / self.questions.counts)[self.questions.counts > at].sum())
            for at, letter in enumerate(LETTERS)
        }
        return max((self.positions[letter] - even[letter]) / total for letter in LETTERS)

    @property
    def statuses(self) -> Counter[str]:
        """The number of answers by parse status, over all rotations."""
        return sum((self.statuses_of(k) for k in ROTATIONS), Counter())

    def statuses_of(self, k: int) -> Counter[str]:
        """Return how answers to rotation k were found."""
        return self._scored(self.replies[k]).counts("status")

    @property
    def errors(self) -> list["ErrorCase"]:
        """Every wrong reply in the original order."""
        matched, careful = (self._codes[name][:, :, 0] for name in ("matched", "careful"))
        wrong = (matched != _MISSING) & (matched != self.questions.truths) & self.questions.scored
        found = np.argwhere(wrong)
        return [
            ErrorCase(self.questions.all[at].id, bool(careful[repeat, at] == self.questions.truths[at]))
            for repeat, at in found
        ]

    def agreement(self) -> Counter[str]:
        """Return how the matcher and the careful reader compare over all replies."""
        matched, careful = self._codes["matched"], self._codes["careful"]
        known = matched != _MISSING
        first, second = matched[known], careful[known]
        return Counter(
            same=int(((first == second) & (first >= 0)).sum()),
            other=int(((first != second) & (first >= 0) & (second >= 0)).sum()),
            only_matcher=int(((first >= 0) & (second < 0)).sum()),
            only_careful=int(((first < 0) & (second >= 0)).sum()),
            neither=int(((first < 0) & (second < 0)).sum()),
        )


@dataclass(frozen=True)
class ErrorCase:
    """A wrong reply in the original order, and whether the careful reader finds the right letter in it."""

    sample: str
    is_matching: bool


def _wording_numbers(question: MMCRSample) -> list[int]:
    """Return a number for the wording of each option: that of the first option with the same wording."""
    wordings = list((question.options or {}).values())
    return [wordings.index(text) for text in wordings] + [-1] * (len(LETTERS) - len(wordings))


def _mean_of_repeats(values: Floats) -> Floats:
    """Mean over repeats that have a value."""
    known = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        means: Floats = np.where(known, values, 0.0).sum(axis=0) / known.sum(axis=0)
    return means


def estimate_accuracy(values: Floats, questions: MMCRColumns, at: Indices | None = None) -> Estimate:
    """Return the mean of values of samples, nothing where none is known.

    Questions about one document are one cluster.
    """
    if at is not None:
        values = np.where(np.isin(np.arange(len(values)), at), values, np.nan)
    known = ~np.isnan(values)
    return bootstrap_cluster_share([questions.by_document(values, known.astype(float))], int(known.sum()))


def estimate_source_gap(values: Floats, questions: MMCRColumns) -> Estimate:
    """Accuracy of questions with several sources less that of those with one, in a bootstrap over documents."""
    cross = np.zeros(len(values), dtype=bool)
    cross[questions.sources["cross"]] = True
    known = ~np.isnan(values)
    columns = (np.where(cross, values, 0), known & cross, np.where(cross, 0, values), known & ~cross)
    sums = questions.by_document(*(np.asarray(column, dtype=np.float64) for column in columns))
    first, second = ratio(0, 1), ratio(2, 3)
    return bootstrap_clusters([sums], lambda drawn: first(drawn) - second(drawn), int(known.sum()))


def estimate_paired_gap(
    values: Floats, baseline: Floats, questions: MMCRColumns, at: Indices | None = None
) -> Estimate:
    """Values less a baseline's, over the samples that both have, in a bootstrap over documents."""
    difference = values - baseline
    if at is not None:
        kept = np.full(len(values), np.nan)
        kept[at] = difference[at]
        difference = kept
    known = ~np.isnan(difference)
    sums = questions.by_document(difference, known.astype(float))
    return bootstrap_clusters([sums], ratio(0, 1), int(known.sum()))


def estimate_shares(counts: Mapping[str, int], names: Iterable[str]) -> list[Estimate]:
    """Return the share of each name in the sum of all counts."""
    total = sum(counts.values())
    return [estimate_share(counts.get(name, 0), total) for name in names]
