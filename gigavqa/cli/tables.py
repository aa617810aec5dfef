"""Tables that are readable at any width: what does not fit is left out on purpose, and said."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from gigavqa.cli.console import err, out
from gigavqa.reports.writers.escaping import escape_controls

_GAP = 2
_NARROWEST = 8
_ROWS_AT_A_TIME = 500


@dataclass(frozen=True)
class TableColumn:
    """A column's head, and what becomes of it where the table is too wide.

    Columns leave in falling order of `leaves`; those with 0 stay, and fold where they must. `least` is set where texts
    may be cut: the column then takes the width that the others leave, and that much at least. `right` is for numbers.
    """

    name: str
    leaves: int = 0
    least: int | None = None
    right: bool = False


def print_table(columns: Sequence[TableColumn], rows: Iterable[Sequence[str | Text]], *, more: str = "") -> None:
    """Print rows of cells, one for each column; `more` says where all columns are to be had.

    `rows` are gone through twice, and a few of them are in memory at a time.
    """
    natural = [cell_len(column.name) for column in columns]
    for row in map(_escape_cells, rows):  # as wide as it is shown
        natural = [max(width, cell_len(str(cell))) for width, cell in zip(natural, row, strict=True)]
    widths = _widths(columns, natural, out.width)
    remaining, table = iter(rows), _layout(columns, widths, has_head=True)
    for number, row in enumerate(map(_escape_cells, remaining), start=1):
        # A text of somebody's own is no markup.
        table.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in map(row.__getitem__, widths)))
        if number % _ROWS_AT_A_TIME == 0:
            out.print(table, soft_wrap=False)
            table = _layout(columns, widths, has_head=False)
    if table.show_header or table.row_count:
        out.print(table, soft_wrap=False)
    if left := [column.name for at, column in enumerate(columns) if at not in widths]:
        told = f" ({more})" if more else ""
        err.print(f"not shown at {out.width} columns: {', '.join(left)}{told}", markup=False)


def _escape_cells(row: Sequence[str | Text]) -> list[str | Text]:
    return [escape_controls(cell) if isinstance(cell, str) else cell for cell in row]


def _layout(columns: Sequence[TableColumn], widths: Mapping[int, int], *, has_head: bool) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), show_header=has_head)
    for at, width in widths.items():
        column, is_cut = columns[at], columns[at].least is not None
        table.add_column(
            column.name,
            justify="right" if column.right else "left",
            overflow="ellipsis" if is_cut else "fold",
            no_wrap=is_cut,
            width=width,
        )
    return table


def _widths(columns: Sequence[TableColumn], natural: Sequence[int], space: int) -> dict[int, int]:
    """Positions and widths of the columns that are shown in `space` characters."""
    needed = [
        width if column.least is None else min(width, max(column.least, len(column.name)))
        for column, width in zip(columns, natural, strict=True)
    ]
    shown = list(range(len(columns)))
    while _total(needed, shown) > space and any(columns[at].leaves for at in shown):
        shown.remove(max(shown, key=lambda at: columns[at].leaves))
    widths = {at: needed[at] for at in shown}
    for at in shown:
        spare = space - _total(widths, shown)
        if columns[at].least is not None and spare > 0:
            widths[at] = min(natural[at], widths[at] + spare)
        elif spare < 0:
            widths[at] = max(_NARROWEST, widths[at] + spare)
    return widths


def _total(widths: Sequence[int] | dict[int, int], shown: Sequence[int]) -> int:
    return sum(widths[at] + _GAP for at in shown) - _GAP
