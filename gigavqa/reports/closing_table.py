"""The table `closing`: what reading free answers finds beside what the models say when they are held to an answer.

Where both agree, the reader took from a free answer what its model means; no truth is needed for that.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gigavqa.evaluation.closing_turns import ClosingOutcome
from gigavqa.evaluation.metrics.estimates import NO_ESTIMATE, Estimate
from gigavqa.evaluation.metrics.intervals import proportion
from gigavqa.evaluation.score_frame import CellKey, Mask, ScoreFrame
from gigavqa.evaluation.scores import AnyScores
from gigavqa.evaluation.tables import Column, ColumnGroup, Row, Table, Value
from gigavqa.evaluation.tally import ClosingTokens

_CAPTION = (
    "In %, of the replies that have both: the free answer as it was read, by which all other tables count, and the "
    "answer of the closing turn. They agree where both are the same, or both none. A closing turn is `unread` that "
    "failed, was cut off, or is of another form."
)
_COLUMNS = (
    ColumnGroup(
        title="Replies",
        columns=(
            Column(key="closed", title="closed", unit="count", keys={"metric": "closed"}),
            Column(key="unread", title="unread", unit="count", keys={"metric": "closing_unread"}),
        ),
    ),
    ColumnGroup(
        title="Accuracy",
        columns=(
            Column(key="reader", title="reader", label="accuracy by the reader", keys={"metric": "accuracy"}),
            Column(key="closing", title="closing", label="accuracy by closing", keys={"metric": "closing_accuracy"}),
        ),
    ),
    ColumnGroup(
        title="Both",
        columns=(
            Column(key="agree", title="agree", keys={"metric": "closing_agreement"}, strong=True),
            Column(key="both", title="both right", unit="count", keys={"metric": "closing_both_right"}),
            Column(key="only_reader", title="only reader", unit="count", keys={"metric": "closing_only_reader_right"}),
            Column(key="only_closing", title="only closing", unit="count", keys={"metric": "closing_only_right"}),
            Column(
                key="rescued",
                title="reader none",
                unit="count",
                keys={"metric": "closing_reader_none"},
                note="the reader found no single answer, and the closing turn has one",
            ),
            Column(
                key="abstained",
                title="closing none",
                unit="count",
                keys={"metric": "closing_none"},
                note="the closing turn says that there is no answer",
            ),
        ),
    ),
    ColumnGroup(
        title="Cost",
        columns=(
            Column(
                key="tokens", title="tokens", unit="count", keys={"metric": "closing_tokens"}, note="decoded, in all"
            ),
            Column(
                key="cached",
                title="from cache",
                keys={"metric": "closing_cached"},
                note="share of the tokens of closing prompts that came from the prefix cache",
            ),
        ),
    ),
)


def closing_tables(scores: AnyScores, tokens: Mapping[CellKey, ClosingTokens]) -> Iterator[Table]:
    """Yield the table, where any reply was closed: one row a cell that has such replies, with what they took."""
    rows = [row for key in scores.cells if (row := _row(scores, key, tokens.get(key, ClosingTokens())))]
    if rows:
        yield Table(
            name="closing",
            title="Read and closed",
            caption=_CAPTION,
            groups=_COLUMNS,
            rows=tuple(rows),
        )


def _row(scores: AnyScores, key: CellKey, tokens: ClosingTokens) -> Row | None:
    answered = scores.frame.of_cell(key).answered
    asked = answered.select(answered.derive(lambda one: one.closing is not None, bool))
    if not len(asked):
        return None
    closed = asked.select(_of_closing(asked, lambda one: one.outcome != "unread"))
    scored = closed.select(scores.scored[closed.sample])
    read_right, closed_right = scored.column("score") >= 1, _of_closing(scored, lambda one: one.outcome == "right")
    values: Sequence[Value] = (
        len(closed),
        len(asked) - len(closed),
        proportion(scored.means(len(scores.samples))),
        proportion(scored.means(len(scores.samples), closed_right.astype(np.float64))),
        proportion(closed.means(len(scores.samples), _of_closing(closed, lambda one: one.agrees).astype(np.float64))),
        int((read_right & closed_right).sum()),
        int((read_right & ~closed_right).sum()),
        int((~read_right & closed_right).sum()),
        int(_of_closing(closed, lambda one: one.is_rescued).sum()),
        int(_of_closing(closed, lambda one: one.outcome == "abstained").sum()),
        tokens.decoded,
        Estimate(value=tokens.cached / tokens.prompt, count=0) if tokens.prompt else NO_ESTIMATE,
    )
    return Row(title=str(key), keys=key.keys, values=tuple(values))


def _of_closing(frame: ScoreFrame[Any], told: Callable[[ClosingOutcome], bool]) -> Mask:
    """Return of which rows something holds by what their closing turn said."""
    return frame.derive(lambda one: one.closing is not None and told(one.closing), bool)
