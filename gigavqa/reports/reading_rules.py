"""By which rules answers were read: one row a cell, with the replies by rule, so that doubt is visible."""

from collections.abc import Sequence

from gigavqa.evaluation.cell_scores import CellScore
from gigavqa.evaluation.tables import Column, ColumnGroup, Row, Table

_NOTES = {
    "announced": "behind words that announce an answer",
    "box": "in a box of LaTeX or of a family's",
    "json": "under a key of JSON that announces an answer",
    "opening": "as the line, or the letter, that opens the reply",
    "verdicts": "as the one that a list of verdicts leaves",
    "affirmed": "said to be right, or to fit",
    "concluded": "behind a conclusion, a contrast or a preference",
    "only left": "as the one that is not denied",
    "last": "named last",
    "described": "named last, in passing",
    "option text": "by an option's words alone",
}
"""The rules in the order of their strength, and what they rest on."""


def rules_table(cells: Sequence[CellScore]) -> tuple[Table, ...]:
    """Count the replies of every cell by the rule that read them; no table where no reply's rule is known."""
    used = {rule for cell in cells for rule in cell.rules}
    if not used:
        return ()
    names = [*(rule for rule in _NOTES if rule in used), *sorted(used - set(_NOTES))]
    columns = tuple(
        Column(
            key=name,
            title=name,
            unit="count",
            keys={"metric": f"read_by_{name.replace(' ', '_')}"},
            note=_NOTES.get(name, ""),
        )
        for name in names
    )
    return (
        Table(
            name="reading_rules",
            title="How answers were read",
            caption="Replies of which one letter or cell was read, by the rule that read it: the surest first. "
            "Numbers, texts and steps are not among them.",
            groups=(ColumnGroup(title="Rule", columns=columns),),
            rows=tuple(
                Row(title=str(cell.key), keys=cell.key.keys, values=tuple(cell.rules.get(name, 0) for name in names))
                for cell in cells
            ),
            detail=True,
        ),
    )
