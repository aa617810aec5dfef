"""Judges replies one by one as they stream past, and keeps of each no more than its verdict."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from evaluation.datasets import Dataset
from evaluation.metrics.intervals import Floats
from evaluation.replies import Provenance, Reply
from evaluation.ultravr.answers import parse_answer


class CellKey(NamedTuple):
    """Which model was asked how, and what it was shown."""

    model: str
    protocol: str
    condition: str


class Verdict(NamedTuple):
    """What a reply was worth.

    Ordered, so that of two copies the same one counts in whatever order they come: an answer before a failure, then
    the earlier one.
    """

    failure: str
    created: str
    sample: int
    status: str
    correct: bool
    cut_off: bool


@dataclass
class CellTally:
    """The verdicts of one cell by the identity of the reply."""

    verdicts: dict[tuple[str, str], Verdict] = field(default_factory=dict)
    duplicates: int = 0
    unknown: Counter[str] = field(default_factory=Counter)

    def add(self, identity: tuple[str, str], verdict: Verdict) -> None:
        """Count a verdict once."""
        known = self.verdicts.get(identity)
        self.duplicates += known is not None
        self.verdicts[identity] = verdict if known is None else min(known, verdict)

    @property
    def answered(self) -> list[Verdict]:
        """Verdicts on replies that have a text."""
        return [verdict for verdict in self.verdicts.values() if not verdict.failure]

    def correctness(self, num_samples: int) -> Floats:
        """Mean correctness of each sample over its repeats, NaN where no reply has a text."""
        right, asked = np.zeros(num_samples), np.zeros(num_samples)
        verdicts = self.answered
        positions = np.fromiter((verdict.sample for verdict in verdicts), dtype=np.intp, count=len(verdicts))
        np.add.at(asked, positions, 1)
        np.add.at(right, positions, np.fromiter((verdict.correct for verdict in verdicts), dtype=np.float64))
        with np.errstate(invalid="ignore"):
            mean: Floats = right / asked
        return mean


class Tally:
    """Verdicts of all cells over one data set."""

    def __init__(self, dataset: Dataset, replies: Iterable[Reply]) -> None:
        self.dataset = dataset
        self.cells: dict[CellKey, CellTally] = {}
        self.provenance: dict[str, Counter[Provenance]] = {}
        self._positions = {sample.id: position for position, sample in enumerate(dataset.samples)}
        for reply in replies:
            self._add(reply)

    def _add(self, reply: Reply) -> None:
        cell = self.cells.setdefault(CellKey(reply.model, reply.protocol, reply.condition), CellTally())
        self.provenance.setdefault(reply.model, Counter())[reply.provenance] += 1
        position = self._positions.get(reply.sample_id)
        if position is None:
            cell.unknown[reply.sample_id] += 1
        else:
            cell.add(reply.identity, self._judge(reply, position))

    def _judge(self, reply: Reply, position: int) -> Verdict:
        if reply.text is None:
            return Verdict(reply.failure or "Failure", reply.created, position, "", correct=False, cut_off=False)
        sample = self.dataset.samples[position]
        parsed = parse_answer(reply.text, sample.options)
        correct = sample.scored and parsed.value == sample.answer
        return Verdict("", reply.created, position, parsed.status, correct, reply.cut_off)
