"""The score frame: one row for each judged reply, as typed columns, of which every table is a grouping."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import nan
from operator import attrgetter
from typing import Any, Generic, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from typing_extensions import TypeVar

from gigavqa.contract.jobs import Cell
from gigavqa.evaluation.closing_turns import ClosingOutcome
from gigavqa.evaluation.metrics.intervals import Floats, Indices

VerdictOutcome = Literal["right", "wrong", "partial", "abstained", "unreadable", "filtered", "failed", "unscored"]
"""What became of a reply: `unreadable` holds no single answer, `partial` earned a part of its score, `filtered` was
withheld or refused by who serves the model, `failed` is no answer of the model's, `unscored` awaits a truth or a
judge."""
DetailsT = TypeVar("DetailsT", default=None)
"""What a benchmark's reports need of a reply beyond its score: a named tuple of its own, or None."""
Mask = NDArray[np.bool_]
NO_SCORE = nan
"""The score of what has none: one object, so that equal verdicts are equal."""


class CellKey(NamedTuple):
    """The model, protocol, condition and most rounds of a cell.

    `rounds` is 0 for chats without a loop, and where nobody recorded it.
    """

    model: str
    protocol: str
    condition: str
    rounds: int = 0

    @classmethod
    def of(cls, model: str, cell: Cell) -> "CellKey":
        """Return the cell of a plan, of one model."""
        return cls(model, cell.protocol, cell.condition, cell.rounds or 0)

    @property
    def cell(self) -> Cell:
        """The cell without its model."""
        # Not validated: what others recorded may have more rounds than are asked for here.
        fields = {"protocol": self.protocol, "condition": self.condition, "rounds": self.rounds or None}
        return Cell.model_construct(**fields)  # type: ignore[arg-type]

    @property
    def how(self) -> str:
        """The cell's name for people: `search V2 n10`."""
        rounds = [f"n{self.rounds}"] if self.rounds else []
        return " ".join([self.protocol, self.condition, *rounds])

    @property
    def keys(self) -> dict[str, str]:
        """The cell's keys for programs; without rounds where there are none."""
        return {name: str(value) for name, value in self._asdict().items() if name != "rounds" or value}

    def __str__(self) -> str:
        return f"{self.model} {self.how}"


class ReplyScore(NamedTuple):
    """The score of a judged reply, one for all that are equal; `score` is NaN where there is none.

    `closing` is what its closing turn said; None where none was asked. `trait` is what the benchmark wants counted of
    it, and `details` what its report needs besides; None where that is nothing.
    """

    status: str
    outcome: VerdictOutcome
    score: float = NO_SCORE
    failure: str = ""
    empty: bool = False
    cut_off: bool = False
    overflowed: bool = False
    filtered: bool = False
    capped: bool = False
    rule: str = ""
    closing: ClosingOutcome | None = None
    trait: Any = None
    num_rasters: int = 0
    details: Any = None


@dataclass(frozen=True, eq=False)
class ScoreFrame(Generic[DetailsT]):
    """Judged replies, one row each, in the order of cell, job, repeat, sample and score.

    That order does not depend on the one in which they came, and so does no digit of a sum. What replies have in common
    stands once in `scores`; `cell`, `job` and `score` are numbers in their lists, `sample` is a position in the data
    set.
    """

    cells: Sequence[CellKey]
    jobs: Sequence[str]
    scores: Sequence[ReplyScore]
    cell: Indices
    job: Indices
    repeat: Indices
    sample: Indices
    score: Indices

    @classmethod
    def of(
        cls,
        cells: Sequence[CellKey],
        jobs: Sequence[str],
        scores: Sequence[ReplyScore],
        rows: Sequence[Sequence[int]],
    ) -> "ScoreFrame[DetailsT]":
        """Make a frame of five columns of numbers, in any order: cell, job, repeat, sample and score."""
        columns = [np.asarray(column, dtype=np.intp) for column in rows]
        for at, names in enumerate((cells, jobs)):
            columns[at] = _ranks(names)[columns[at]]
        order = np.lexsort(columns[3::-1])
        columns = [column[order] for column in columns]
        if len(order) and (alike := _alike_neighbours(columns[:4])).any():
            order = np.lexsort([_ranks_of(scores, columns[4], alike), *columns[3::-1]])
            columns = [column[order] for column in columns]
        return cls(sorted(cells), sorted(jobs), scores, *columns)

    def __len__(self) -> int:
        return len(self.cell)

    def __iter__(self) -> Iterator[tuple[CellKey, str, int, int, ReplyScore]]:
        """Yield each row: its cell, job, repeat, the sample's position, and its score."""
        columns = (self.cell, self.job, self.repeat, self.sample, self.score)
        for cell, job, repeat, sample, score in zip(*(column.tolist() for column in columns), strict=True):
            yield self.cells[cell], self.jobs[job], repeat, sample, self.scores[score]

    def select(self, chosen: Mask | Indices | slice) -> "ScoreFrame[DetailsT]":
        """Return some of the rows, by a mask, their numbers or a slice, in the order that they have."""
        columns = (column[chosen] for column in (self.cell, self.job, self.repeat, self.sample, self.score))
        return ScoreFrame(self.cells, self.jobs, self.scores, *columns)

    def where(self, **wanted: Hashable) -> "ScoreFrame[DetailsT]":
        """Return the rows whose columns have these values: `where(condition="V2", outcome="right")`."""
        chosen = np.ones(len(self), dtype=np.bool_)
        for name, value in wanted.items():
            chosen &= self.column(name) == value
        return self.select(chosen)

    def of_cell(self, key: CellKey) -> "ScoreFrame[DetailsT]":
        """Return the rows of one cell; none where it was not asked."""
        found = self._cells.get(key)
        return self.select(slice(0)) if found is None else found

    @cached_property
    def _cells(self) -> dict[CellKey, "ScoreFrame[DetailsT]"]:
        ends = np.searchsorted(self.cell, np.arange(len(self.cells) + 1)).tolist()
        spans = zip(self.cells, ends, ends[1:], strict=False)
        return {cell: self.select(slice(first, end)) for cell, first, end in spans}

    @cached_property
    def answered(self) -> "ScoreFrame[DetailsT]":
        """The replies that did not fail."""
        return self.select(self.column("failure") == "")

    @cached_property
    def detailed(self) -> "ScoreFrame[DetailsT]":
        """The replies of which the benchmark keeps details."""
        return self.select(self.derive(lambda one: one.details is not None, bool))

    @cached_property
    def _used(self) -> tuple[list[ReplyScore], Indices]:
        """The scores that rows have, each once, and the number of each row's among them."""
        numbers, rows = np.unique(self.score, return_inverse=True)
        return [self.scores[at] for at in numbers.tolist()], rows

    def derive(self, function: Callable[[ReplyScore], Any], kind: type = object) -> NDArray[Any]:
        """Work a column out of each distinct score, once; of `kind` bool, int, float or anything else."""
        used, rows = self._used
        return _column([function(one) for one in used], kind)[rows]

    def column(self, name: str) -> NDArray[Any]:
        """Return a column by its name: a part of the cell, `job`, `repeat`, `sample`, or what a score holds.

        Numbers and truths are typed; all else are objects. Raises AttributeError for a name that no column has.
        """
        if name in ("repeat", "sample"):
            return np.asarray(getattr(self, name))
        if name == "job":
            return _column(self.jobs, str)[self.job]
        if name in CellKey._fields:
            return _column([getattr(cell, name) for cell in self.cells], CellKey.__annotations__[name])[self.cell]
        return self.derive(attrgetter(name), ReplyScore.__annotations__.get(name, object))

    def detail(self, name: str, kind: type = object) -> NDArray[Any]:
        """Return a column of the benchmark's own details, which all rows must have."""
        return self.derive(lambda one: getattr(one.details, name), kind)

    @property
    def details(self) -> Iterator[DetailsT]:
        """The details of each row."""
        used, rows = self._used
        return (used[at].details for at in rows.tolist())

    def counts(self, name: str) -> Counter[Any]:
        """Return how many rows have each value of a column."""
        if name not in ReplyScore._fields:
            return Counter(self.column(name).tolist())
        return self.tally(attrgetter(name))

    def tally(self, function: Callable[[ReplyScore], Hashable]) -> Counter[Any]:
        """Return how many rows have each value that a function finds in their scores."""
        used, rows = self._used
        found: Counter[Any] = Counter()
        for one, count in zip(used, np.bincount(rows, minlength=len(used)).tolist(), strict=True):
            found[function(one)] += count
        return found

    @property
    def traits(self) -> Counter[Any]:
        """The traits of replies that the benchmark counts, with the number of each."""
        found = self.counts("trait")
        del found[None]
        return found

    def by_repeat(self) -> dict[tuple[str, int], "ScoreFrame[DetailsT]"]:
        """Return the rows of each repeat of each job, by job and repeat, in that order."""
        pairs = np.stack([self.job, self.repeat])
        return {
            (self.jobs[job], repeat): self.select((self.job == job) & (self.repeat == repeat))
            for job, repeat in np.unique(pairs, axis=1).T.tolist()
        }

    def sums(self, num_samples: int, values: Floats | None = None) -> tuple[Floats, Floats]:
        """Return the sum of a value over each sample's rows, by default their score, and of how many; NaN is none."""
        values = np.asarray(self.column("score") if values is None else values, dtype=np.float64)
        known = ~np.isnan(values)
        samples, values = self.sample[known], values[known]
        order = np.lexsort((values, samples))  # jobs and repeats have names, of which no digit may depend
        total = np.bincount(samples[order], values[order], minlength=num_samples)
        count = np.bincount(samples, minlength=num_samples)
        return total.astype(np.float64), count.astype(np.float64)

    def means(self, num_samples: int, values: Floats | None = None) -> Floats:
        """Return the mean of a value over each sample's rows, by default their score; NaN where there is none."""
        total, count = self.sums(num_samples, values)
        with np.errstate(invalid="ignore"):
            mean: Floats = total / count
        return mean


_DTYPES: Mapping[Any, Any] = {bool: np.bool_, int: np.int64, float: np.float64}


def _column(values: Sequence[Any], kind: Any) -> NDArray[Any]:
    column = np.empty(len(values), dtype=_DTYPES.get(kind, object))
    column[:] = values if kind in _DTYPES else np.fromiter(values, dtype=object, count=len(values))
    return column


def _ranks(values: Sequence[Any]) -> Indices:
    """Return the place of each value among all in order."""
    ranks = np.empty(len(values), dtype=np.intp)
    ranks[sorted(range(len(values)), key=values.__getitem__)] = np.arange(len(values))
    return ranks


def _alike_neighbours(columns: Sequence[Indices]) -> Mask:
    """Return which rows are like the next one or the one before."""
    same = np.logical_and.reduce([column[1:] == column[:-1] for column in columns])
    alike: Mask = np.append(same, False) | np.insert(same, 0, False)
    return alike


def _ranks_of(scores: Sequence[ReplyScore], numbers: Indices, chosen: Mask) -> Indices:
    """Return what the chosen rows are ordered by where nothing else tells them apart, their whole scores; else 0."""
    found = np.unique(numbers[chosen]).tolist()
    ranks = np.zeros(len(scores), dtype=np.intp)
    ranks[sorted(found, key=lambda at: repr(scores[at]))] = np.arange(len(found))
    return np.where(chosen, ranks[numbers], 0)
