"""Judges replies one by one as they stream past, and keeps of each no more than its verdict."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from benchmarks.ultravr.protocols.registry import TELLS_EXAMPLES
from benchmarks.ultravr.steps.readings import StepStatus
from catalogue.entry import CatalogueEntry
from evaluation.datasets import Dataset
from evaluation.judging import JudgedStep, Judges
from evaluation.metrics.intervals import Floats
from evaluation.replies import Provenance, Reply


class CellKey(NamedTuple):
    """Which model was asked how, and what it was shown."""

    model: str
    protocol: str
    condition: str


class StepMark(NamedTuple):
    """What a step's answer was worth. `f1` is 0 for formats that hold no list; equal marks are kept once."""

    status: StepStatus
    correct: bool
    f1: float
    converted: bool


class Verdict(NamedTuple):
    """What a reply was worth.

    Ordered, so that of two copies the same one counts in whatever order they come: an answer before a failure, then
    the earlier one. `steps` holds a mark for each step that could be judged, in the sample's order.
    """

    failure: str
    created: float
    sample: int
    status: str
    correct: bool
    cut_off: bool
    overflowed: bool = False
    repeat: int = 0
    steps: tuple[StepMark, ...] = ()


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
        """Verdicts on replies that did not fail."""
        return [verdict for verdict in self.verdicts.values() if not verdict.failure]

    def correctness(self, num_samples: int) -> Floats:
        """Mean correctness of each sample over its repeats, NaN where every reply failed."""
        return _means(self.answered, num_samples)

    def repeats(self, num_samples: int) -> list[Floats]:
        """The correctness of each sample in each repeat of each job, by job and repeat."""
        rounds: dict[tuple[str, int], list[Verdict]] = {}
        for (job_id, _), verdict in self.verdicts.items():
            if not verdict.failure:
                rounds.setdefault((job_id, verdict.repeat), []).append(verdict)
        return [_means(rounds[key], num_samples) for key in sorted(rounds)]


def _means(verdicts: Sequence[Verdict], num_samples: int) -> Floats:
    right, asked = np.zeros(num_samples), np.zeros(num_samples)
    positions = np.fromiter((verdict.sample for verdict in verdicts), dtype=np.intp, count=len(verdicts))
    np.add.at(asked, positions, 1)
    np.add.at(right, positions, np.fromiter((verdict.correct for verdict in verdicts), dtype=np.float64))
    with np.errstate(invalid="ignore"):
        mean: Floats = right / asked
    return mean


class Tally:
    """Verdicts of all cells over one data set."""

    def __init__(self, dataset: Dataset, replies: Iterable[Reply], catalogue: Mapping[str, CatalogueEntry]) -> None:
        self.dataset = dataset
        self.cells: dict[CellKey, CellTally] = defaultdict(CellTally)
        self.provenance: dict[str, Counter[Provenance]] = defaultdict(Counter)
        self.prompts: dict[tuple[str, str], set[str]] = defaultdict(set)
        self.examples: dict[CellKey, Counter[int]] = defaultdict(Counter)
        self.digests: dict[tuple[int, str], set[str]] = defaultdict(set)
        """Content digests of the pictures that samples showed, by the sample's position and the picture's name."""
        self.num_rasters: dict[CellKey, Counter[int]] = defaultdict(Counter)
        self.judges = Judges(dataset, catalogue)
        self._positions = {sample.id: position for position, sample in enumerate(dataset.samples)}
        self._marks: dict[StepMark, StepMark] = {}
        for reply in replies:
            self._add(reply)

    def _add(self, reply: Reply) -> None:
        key = CellKey(reply.model, reply.protocol, reply.condition)
        cell = self.cells[key]
        if reply.examples is not None and reply.protocol in TELLS_EXAMPLES:
            self.examples[key][reply.examples] += 1
        self.num_rasters[key][len(reply.rasters)] += 1
        self.provenance[reply.model][reply.provenance] += 1
        if version := reply.provenance.prompt_version:
            self.prompts[reply.model, reply.protocol].add(version)
        position = self._positions.get(reply.sample_id)
        if position is None:
            cell.unknown[reply.sample_id] += 1
        else:
            cell.add(reply.identity, self._judge(reply, position))
            for raster in reply.rasters:
                self.digests[position, raster.view.image].add(raster.digest)

    def _judge(self, reply: Reply, position: int) -> Verdict:
        judged = self.judges.judge(reply, position)
        if judged is None:
            failure = reply.failure or "Failure"
            return Verdict(failure, reply.created, position, "", correct=False, cut_off=False, repeat=reply.repeat)
        return Verdict(
            failure="",
            created=reply.created,
            sample=position,
            status=judged.final.status,
            correct=judged.correct,
            cut_off=reply.cut_off,
            overflowed=reply.overflowed,
            repeat=reply.repeat,
            steps=tuple(map(self._mark, judged.steps)),
        )

    def _mark(self, judged: JudgedStep) -> StepMark:
        verdict = judged.verdict
        mark = StepMark(verdict.status, verdict.correct, verdict.f1 or 0.0, verdict.converted)
        return self._marks.setdefault(mark, mark)
