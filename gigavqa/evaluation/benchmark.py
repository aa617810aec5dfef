"""The interface of every benchmark.

A benchmark is a plugin: its samples, plans, chats, judging and tables, behind this interface; what it offers beyond,
its class line names (`capabilities`). An installed package brings one by the entry point group `gigavqa.benchmarks`;
`docs/benchmarks.md` shows one of twenty lines.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic

from gigavqa.contract.jobs import Cell
from gigavqa.contract.requests import Condition
from gigavqa.evaluation.chats import (
    CONDITIONS,
    FORCED,
    LOCAL_CONDITIONS,
    SOURCE_CONDITIONS,
    TEXT_CONDITIONS,
    Chat,
    Scene,
    SizeOf,
)
from gigavqa.evaluation.defaults import accuracy_contents, option_judge, plain_fields
from gigavqa.evaluation.metrics.accuracy import Grouping
from gigavqa.evaluation.record_context import RecordContext
from gigavqa.evaluation.records import Record
from gigavqa.evaluation.score_frame import DetailsT
from gigavqa.evaluation.scores import SampleT, Scores
from gigavqa.evaluation.tables import Contents
from gigavqa.evaluation.verdicts import ReplyJudge

__all__ = [
    "CONDITIONS",
    "FORCED",
    "LOCAL_CONDITIONS",
    "SOURCE_CONDITIONS",
    "TEXT_CONDITIONS",
    "Benchmark",
    "Chat",
    "Finding",
    "RecordContext",
    "Scene",
    "SizeOf",
    "check_each",
    "cross_plan",
]


@dataclass(frozen=True)
class Finding:
    """A finding on a sample by itself or beside others: an error keeps it from being asked, a warning not.

    `of_many` tells that it is of a group of samples, such as those about one document, of which this is the first.
    """

    sample: str
    text: str
    is_error: bool = False
    of_many: bool = False


class Benchmark(ABC, Generic[SampleT, DetailsT]):
    """One benchmark, as the core sees it. A benchmark keeps no state, so that one object serves all threads."""

    name: str
    """How data sets name it in `dataset.toml`."""
    title: str
    sample_type: type[SampleT]
    """What the fields that `read` yields are checked by."""
    details_type: type[DetailsT] | None = None
    """The named tuple of what its verdicts keep for its report; None where they keep nothing."""
    plans: Mapping[str, tuple[Cell, ...]]
    """Named cells; the first plan is what is asked when a job names none."""
    protocols: Mapping[str, str]
    """What a sample can be asked by, with a few words on each."""
    conditions: Sequence[Condition] = CONDITIONS
    grouping: Grouping = Grouping()

    def read(self, record: Record, origin: RecordContext) -> Iterator[dict[str, Any]]:
        """Yield the fields of each sample in one record; raises ValueError where its value is no record at all.

        By default a record is one sample, and its keys are the sample's own fields. In place of a field that cannot be
        read a `FieldFault` says why (`read_field`), so that what is wrong with others is told beside it.
        """
        return plain_fields(record, self.sample_type, origin.stem, origin.images)

    def check(self, samples: Sequence[SampleT], place_of: Callable[[str], str]) -> Iterator[Finding]:
        """Say what is wrong with samples that have been read, each by itself and between them.

        `place_of` tells file and line of a sample by its id.
        """
        return iter(())

    @abstractmethod
    def ask(self, sample: SampleT, cell: Cell, scene: Scene) -> Chat:
        """Ask a sample in a cell. Raises EvidenceMissingError where its evidence cannot be shown."""

    def judge(self, sample: SampleT) -> ReplyJudge[DetailsT]:
        """Make a sample ready to judge any number of replies to it; by default by the letter that a reply ends with."""
        return option_judge(sample)

    def report(self, scores: Scores[SampleT, DetailsT]) -> Contents:
        """Fill the benchmark's tables and figures, and say what a reader must know besides the core's own caveats.

        By default, accuracies by model, protocol and condition, over all samples and by group.
        """
        return accuracy_contents(scores, self.grouping)


def check_each(samples: Iterable[SampleT], rules: Callable[[SampleT], Iterable[str]]) -> Iterator[Finding]:
    """Yield a warning for every sentence that `rules` says of a sample by itself."""
    return (Finding(sample.id, text) for sample in samples for text in rules(sample))


def cross_plan(protocols: str, conditions: str) -> tuple[Cell, ...]:
    """Return every protocol under every condition, both as lists of names with spaces between."""
    pairs = ((protocol, condition) for protocol in protocols.split() for condition in conditions.split())
    return tuple(Cell.model_validate({"protocol": one, "condition": other}) for one, other in pairs)
