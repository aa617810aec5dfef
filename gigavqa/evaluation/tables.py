"""Contents of a report, as data: tables of estimates, figures drawn from them, and caveats.

A benchmark builds these and knows no writer; the writers (terminal, Markdown, CSV and its like, the page) know no
benchmark.
"""

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from gigavqa.evaluation.metrics.estimates import NO_ESTIMATE, Estimate

Unit = Literal["rate", "loss", "difference", "number", "count", "text"]
"""How a column is written: a rate in percent (of a loss less is better), a difference in points with its sign, a number
as it is, a whole number, or a text."""
Value = Estimate | int | str | None


class _TableBase(BaseModel):
    model_config = ConfigDict(frozen=True)


class Column(_TableBase):
    """One column; `title` stands under its group's, `label` says the same where the column stands alone."""

    key: str = Field(description="unique in its table")
    title: str
    label: str = ""
    unit: Unit = "rate"
    keys: dict[str, str] = Field(
        default={}, description="what machines know it by: metric, protocol, condition, and names of groups"
    )
    strong: bool = False
    decimals: int = Field(default=1, ge=0, le=6, description="digits behind the point, as the benchmark's papers print")
    note: str = Field(default="", description="what the heading means, in a sentence")

    @property
    def name(self) -> str:
        """The column's name where it stands alone."""
        return self.label or self.title


class ColumnGroup(_TableBase):
    """Columns that share a heading, which may be empty."""

    title: str
    columns: tuple[Column, ...]


class Row(_TableBase):
    """One row: a value for each column of its table."""

    title: str
    keys: dict[str, str] = Field(default={}, description="what machines know it by: model, protocol, condition ...")
    values: tuple[Value, ...]
    best: tuple[str, ...] = Field(default=(), description="keys of columns whose number here is the best of its kind")
    summary: bool = Field(default=False, description="whether it sums up the other rows, as a mean over models does")


class Table(_TableBase):
    """Rows of estimates under grouped columns. `detail` marks one that only long forms show."""

    name: str
    title: str
    caption: str = ""
    groups: tuple[ColumnGroup, ...]
    rows: tuple[Row, ...] = ()
    detail: bool = False

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns in order."""
        return tuple(column for group in self.groups for column in group.columns)

    @model_validator(mode="after")
    def _rows_fill_columns(self) -> "Table":
        columns = self.columns
        if len({column.key for column in columns}) != len(columns):
            raise ValueError(f"table '{self.name}' has two columns of one key")
        for row in self.rows:
            if len(row.values) != len(columns):
                raise ValueError(
                    f"table '{self.name}': '{row.title}' has {len(row.values)} values for {len(columns)} columns"
                )
        return self


class Figure(_TableBase):
    """A drawing of some columns of a table; summary rows are left out.

    `bars` and `differences` stand side by side, `shares` are one stacked bar a row. A `radar` has a spoke and a `curve`
    a place on its axis for each column, and both have a line a row. A `matrix` shades a number by its size. A `scatter`
    sets the second column over the first, one point a row, with the least-squares line, or with the diagonal where
    `equals` tells that both count the same; a third column gives the points' areas, a fourth their colours.
    """

    name: str
    caption: str
    form: Literal["bars", "differences", "shares", "radar", "curve", "matrix", "scatter"]
    axis: str = Field(default="", description="what the numbers are, with their unit")
    table: str = Field(description="name of the table whose numbers are drawn")
    columns: tuple[str, ...] = Field(description="keys of the columns, in order")
    equals: bool = Field(default=False, description="whether a scatter's line is where both numbers are equal")
    replaces_table: bool = Field(
        default=False, description="whether a page shows it instead of its table, and folds that"
    )


class Caveat(_TableBase):
    """A warning that a reader must know before trusting a number, with its scope."""

    scope: Literal["report", "model", "cell"]
    text: str


class Contents(_TableBase):
    """All that a benchmark reports: tables in the order of reading, figures, and caveats of its own."""

    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    caveats: tuple[Caveat, ...] = ()


def mean_row(rows: tuple[Row, ...], columns: tuple[Column, ...]) -> Row | None:
    """Average rows column by column over those that have the number; None for fewer than two rows.

    Counts are of rows, and there is no interval. Only rates, losses and differences are averaged.
    """
    if len(rows) < 2:
        return None
    by_column = zip(columns, zip(*(row.values for row in rows), strict=True), strict=True)
    means = tuple(mean_estimate(values) if column.unit in _AVERAGED else None for column, values in by_column)
    return Row(title="Mean", keys={"model": "mean"}, values=means, summary=True)


_AVERAGED = frozenset({"rate", "loss", "difference"})


def mean_estimate(values: Sequence[Value]) -> Estimate:
    """Average those values that are known numbers; counts are of these, and there is no interval."""
    known = [value.value for value in values if isinstance(value, Estimate) and value.value is not None]
    return Estimate(value=sum(known) / len(known), count=len(known)) if known else NO_ESTIMATE
