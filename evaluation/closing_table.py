"""The table `closing`: what reading free answers finds beside what the models say when they are held to an answer.

Where both agree, the reader took from a free answer what its model means; no truth is needed for that.
"""

from collections.abc import Iterable, Iterator, Sequence

from evaluation.closing import ClosingOutcome
from evaluation.metrics.estimates import NO_ESTIMATE, Estimate
from evaluation.metrics.intervals import proportion
from evaluation.tables import Column, ColumnGroup, Row, Table, Value
from evaluation.verdicts import CellKey, ClosingTokens, RepeatScores, ScoreRow, Verdicts

_ClosingPair = tuple[ScoreRow, ClosingOutcome]
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


def closing_tables(verdicts: Verdicts) -> Iterator[Table]:
    """Yield the table, where any reply was closed: one row a cell that has such replies."""
    rows = [row for key in verdicts.cells if (row := _row(verdicts, key))]
    if rows:
        yield Table(
            name="closing",
            title="Read and closed",
            caption=_CAPTION,
            groups=_COLUMNS,
            rows=tuple(rows),
        )


def _row(verdicts: Verdicts, key: CellKey) -> Row | None:
    tallied = verdicts.cell(*key).answered
    asked: list[_ClosingPair] = [(one, one.closed) for one in tallied if one.closed]
    if not asked:
        return None
    pairs = [(one, closed) for one, closed in asked if closed.outcome != "unread"]
    scored = [(one, closed) for one, closed in pairs if verdicts.samples[one.sample].scored]
    tokens = verdicts.tally.closing.get(key, ClosingTokens())
    values: Sequence[Value] = (
        len(pairs),
        len(asked) - len(pairs),
        _mean(verdicts, ((one.sample, one.score) for one, _ in scored)),
        _mean(verdicts, ((one.sample, float(closed.outcome == "right")) for one, closed in scored)),
        _mean(verdicts, ((one.sample, float(closed.agrees)) for one, closed in pairs)),
        sum(one.score >= 1 and closed.outcome == "right" for one, closed in scored),
        sum(one.score >= 1 and closed.outcome != "right" for one, closed in scored),
        sum(not one.score >= 1 and closed.outcome == "right" for one, closed in scored),
        sum(closed.is_rescued for _, closed in pairs),
        sum(closed.outcome == "abstained" for _, closed in pairs),
        tokens.decoded,
        Estimate(value=tokens.cached / tokens.prompt, count=0) if tokens.prompt else NO_ESTIMATE,
    )
    return Row(title=str(key), keys=key.keys, values=tuple(values))


def _mean(verdicts: Verdicts, scores: Iterable[tuple[int, float]]) -> Estimate:
    """Return the mean over samples of what their replies scored, each a mean over its repeats."""
    found = RepeatScores()
    for sample, score in scores:
        found.add(sample, score)
    return proportion(found.means(len(verdicts.samples)))
