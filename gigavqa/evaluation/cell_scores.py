"""Scores every cell: accuracies, counts, parse statuses, and what was left out. As records, and as a table."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from statistics import mean, stdev
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from gigavqa.evaluation.metrics.accuracy import (
    Contrast,
    Grouping,
    Strata,
    group_accuracies,
    overall_accuracy,
    subgroup_accuracies,
)
from gigavqa.evaluation.metrics.estimates import NO_ESTIMATE, Estimate
from gigavqa.evaluation.metrics.intervals import Floats, Indices, estimate_share
from gigavqa.evaluation.score_frame import CellKey, ScoreFrame, VerdictOutcome
from gigavqa.evaluation.scores import AnyScores
from gigavqa.evaluation.tables import Column, ColumnGroup, Row, Table, Value

LISTED_SAMPLES = 100
_SEVERAL = 2
AWAITING_EXPERT = "the answer awaits an expert"
NO_RESPONSE = "no response"
UNJUDGED = "no verdict of the judge that could be read"
UNKNOWN_SAMPLE = "the data set has no such sample"


class _CellBase(BaseModel):
    model_config = ConfigDict(frozen=True)


class GroupScore(_CellBase):
    """Accuracy of one group of samples and of its subgroups."""

    overall: Estimate
    subgroups: dict[str, Estimate] = {}


class Exclusion(_CellBase):
    """Requests that no accuracy counts, and why; `samples` lists at most the first hundred samples."""

    reason: str
    count: int
    samples: tuple[str, ...]


class RepeatSpread(_CellBase):
    """Accuracy of each repeat; their mean is pass@1, and equals the cell's accuracy where no response is missing."""

    values: tuple[float, ...] = Field(description="accuracy of each repeat over the samples that it has, in order")
    mean: float
    deviation: float = Field(description="standard deviation over repeats, with n - 1")


class CellScore(_CellBase):
    """Everything that is counted of one model under one protocol and condition, with so many rounds at most."""

    model: str
    protocol: str
    condition: str
    rounds: int | None = Field(default=None, description="most answers of a chat with a loop; null for other chats")
    accuracy: Estimate = Field(description="over all samples; the mean over groups where the benchmark balances them")
    groups: dict[str, GroupScore]
    absent_groups: tuple[str, ...] = Field(description="groups of the benchmark that the accuracy leaves out")
    abstention: Estimate = Field(description="over responses, not samples")
    unreadable: Estimate = Field(
        default=NO_ESTIMATE,
        description="share of the responses without a single clear answer that do not abstain either",
    )
    statuses: dict[str, int] = Field(description="how answers were found, by parse status")
    rules: dict[str, int] = Field(default={}, description="by which rule those of which one answer was read were read")
    expected: int = Field(description="requests that should have a response")
    answered: int = Field(description="requests that did not fail, and are judged")
    cut_off: int = Field(description="answers that end where their output tokens, or the server's own limit, ended")
    capped: int = Field(default=0, description="those of them that the server's own limit ended, before the job's")
    overflowed: int = Field(
        default=0,
        description="chats that outgrew the context by what the model wrote; without an answer they are wrong",
    )
    filtered: int = Field(
        default=0, description="replies that who serves the model withheld or refused, in whole or in part; wrong there"
    )
    empty: int = Field(
        default=0, description="replies that end, in whole or in part, before a token was written; scored as they are"
    )
    duplicates: int = Field(description="further copies of a response, which count nothing")
    excluded: tuple[Exclusion, ...]
    repeats: RepeatSpread | None = Field(default=None, description="accuracy of each repeat; None for a single one")

    @property
    def key(self) -> CellKey:
        """The key of the cell."""
        return CellKey(self.model, self.protocol, self.condition, self.rounds or 0)


def score_cells(scores: AnyScores, grouping: Grouping, strata: Strata) -> tuple[CellScore, ...]:
    """Score all cells in the report's order."""
    return tuple(_score_cell(key, scores, grouping, strata) for key in scores.cells)


def group_scores(scores: Floats, strata: Strata) -> dict[str, GroupScore]:
    """Accuracies of every group that has samples, with its subgroups."""
    subgroups = subgroup_accuracies(scores, strata)
    return {
        group: GroupScore(
            overall=overall, subgroups={name: one for (of, name), one in subgroups.items() if of == group}
        )
        for group, overall in group_accuracies(scores, strata).items()
    }


def outcome_rate(frame: ScoreFrame[Any], outcome: VerdictOutcome) -> Estimate:
    """Share of the responses that came out so, of those that did not fail."""
    outcomes = frame.answered.counts("outcome")
    return estimate_share(outcomes[outcome], outcomes.total())


def _score_cell(key: CellKey, scores: AnyScores, grouping: Grouping, strata: Strata) -> CellScore:
    frame = scores.frame.of_cell(key)
    answered = frame.answered
    means = answered.means(len(scores.samples))
    groups = group_scores(means, strata)
    present = {group for group, score in groups.items() if score.overall.value is not None}
    return CellScore(
        **{**key._asdict(), "rounds": key.rounds or None},
        accuracy=Contrast({"cell": means}, strata).accuracy("cell"),
        groups=groups,
        absent_groups=tuple(group for group in grouping.known if grouping.balanced and group not in present),
        abstention=outcome_rate(answered, "abstained"),
        unreadable=outcome_rate(answered, "unreadable"),
        statuses=dict(sorted(answered.counts("status").items())),
        rules=dict(sorted((rule, count) for rule, count in answered.counts("rule").items() if rule)),
        expected=int(scores.asked[key].sum()) if key in scores.asked else 0,
        answered=len(answered),
        cut_off=answered.counts("cut_off")[True],
        capped=answered.counts("capped")[True],
        overflowed=answered.counts("overflowed")[True],
        filtered=answered.counts("filtered")[True],
        empty=answered.counts("empty")[True],
        duplicates=scores.duplicates.get(key, 0),
        excluded=tuple(_exclusions(key, scores)),
        repeats=_spread_of_repeats([one.means(len(means)) for one in answered.by_repeat().values()], strata),
    )


def _spread_of_repeats(repeats: Sequence[Floats], strata: Strata) -> RepeatSpread | None:
    if len(repeats) < _SEVERAL:
        return None
    values = [value for scores in repeats if (value := overall_accuracy(scores, strata)) is not None]
    if len(values) < _SEVERAL:
        return None
    return RepeatSpread(values=tuple(values), mean=mean(values), deviation=stdev(values))


def _exclusions(key: CellKey, scores: AnyScores) -> Iterator[Exclusion]:
    samples, frame = scores.samples, scores.frame.of_cell(key)
    answered, asked = frame.answered, scores.asked.get(key, np.zeros(len(samples), dtype=np.intp))
    missing = asked - _counts_of(scores, frame)
    unscored = np.where(scores.scored, 0, _counts_of(scores, answered))
    unjudged = _counts_of(scores, answered.where(outcome="unscored")) - unscored
    reasons = {NO_RESPONSE: missing, AWAITING_EXPERT: unscored}
    reasons |= {UNJUDGED: unjudged} if scores.judges else {}
    failures = sorted(failure for failure in frame.counts("failure") if failure)
    reasons |= {f"failed: {failure}": _counts_of(scores, frame.where(failure=failure)) for failure in failures}
    for reason, counts in reasons.items():
        if total := int(counts.clip(0).sum()):
            yield _exclusion(reason, total, (samples[at].id for at in np.flatnonzero(counts > 0).tolist()))
    if unknown := scores.unknown.get(key):
        yield _exclusion(UNKNOWN_SAMPLE, unknown.total(), sorted(unknown))


def _counts_of(scores: AnyScores, frame: ScoreFrame[Any]) -> Indices:
    """Return how many of the rows are of each sample."""
    return np.bincount(frame.sample, minlength=len(scores.samples))


def _exclusion(reason: str, count: int, samples: Iterable[str]) -> Exclusion:
    return Exclusion(reason=reason, count=count, samples=tuple(islice(samples, LISTED_SAMPLES)))


def cells_table(cells: Sequence[CellScore], grouping: Grouping) -> Table:
    """Return what the numbers rest on: one row a cell, with counts, statuses, and the accuracy of every group."""
    places = list(
        dict.fromkeys(
            (group, name)
            for cell in cells
            for group, score in cell.groups.items()
            for name in (*score.subgroups, "")
            if group
        )
    )
    return Table(
        name="cells",
        title="What the numbers rest on",
        caption="Accuracies in % with 95 % intervals; statuses count how answers were found.",
        groups=(
            ColumnGroup(title="Requests", columns=_COUNTS),
            ColumnGroup(title="Accuracy", columns=tuple(_overall_columns(grouping))),
            *(
                ColumnGroup(
                    title=group, columns=tuple(_column(grouping, *place) for place in places if place[0] == group)
                )
                for group in dict.fromkeys(group for group, _ in places)
            ),
        ),
        rows=tuple(
            Row(title=str(cell.key), keys=cell.key.keys, values=tuple(_row_values(cell, places))) for cell in cells
        ),
        detail=True,
    )


_COUNTS = (
    Column(key="answered", title="answered", unit="count", keys={"metric": "answered"}),
    Column(key="expected", title="expected", unit="count", keys={"metric": "expected"}),
    Column(key="repeats", title="over repeats", unit="text"),
    Column(key="statuses", title="parse statuses", unit="text"),
)


def _overall_columns(grouping: Grouping) -> Iterator[Column]:
    name = "macro" if grouping.balanced else "all"
    yield Column(
        key="accuracy", title=name, keys={"metric": f"{'macro_' if grouping.balanced else ''}accuracy"}, strong=True
    )
    yield Column(key="abstention", title="abstains", keys={"metric": "abstention_rate"})
    yield Column(key="unreadable", title="unreadable", unit="loss", keys={"metric": "unreadable_rate"})


def _column(grouping: Grouping, group: str, name: str) -> Column:
    keys = {level: part for level, part in zip(grouping.levels, (group, name), strict=False) if part}
    return Column(
        key=f"{group}/{name}" if name else group,
        title=name or "all",
        label=f"{group} {name or 'all'}",
        keys={**keys, "metric": "accuracy"},
        strong=not name,
    )


def _row_values(cell: CellScore, places: Sequence[tuple[str, str]]) -> Iterator[Value]:
    yield cell.answered
    yield cell.expected
    spread = cell.repeats
    yield f"{100 * spread.mean:.1f} ± {100 * spread.deviation:.1f} (k={len(spread.values)})" if spread else None
    yield ", ".join(f"{status} {count}" for status, count in cell.statuses.items())
    yield cell.accuracy
    yield cell.abstention
    yield cell.unreadable
    for group, name in places:
        score = cell.groups.get(group)
        yield NO_ESTIMATE if score is None else score.subgroups.get(name, NO_ESTIMATE) if name else score.overall
