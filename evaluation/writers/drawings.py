"""Figures of a report as drawings: SVG to read and PNG to paste, from the numbers of its tables.

matplotlib is imported when the first figure is drawn; its settings are global, hence the lock.
"""

import io
import re
import textwrap
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from evaluation.metrics.estimates import NOTHING, Estimate
from evaluation.report import Report
from evaluation.tables import Figure, Table, Value

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MODEL_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c6bb1", "#7f7f7f")
_SHARE_COLOURS = ("#b2182b", "#d6604d", "#f4a582", "#92c5de", "#4393c3", "#8073ac", "#1b7837")
_LIGHT_COLOURS = frozenset({"#f4a582", "#92c5de"})
_SETTINGS = {"svg.fonttype": "none", "text.parse_math": False, "font.size": 9.0, "font.family": "sans-serif"}
_INK = "#010203"
"""Stands for the colour of text and lines until a drawing is written."""
_DRAWING = threading.Lock()

Form = Literal["svg", "png"]
FORMS: tuple[Form, ...] = ("svg", "png")


class Bars(NamedTuple):
    """One row's bars: its title and an estimate for each place on the axis."""

    title: str
    values: tuple[Estimate, ...]


class Drawing(NamedTuple):
    """One figure with the numbers it shows: a series of bars a row, and the names of their places."""

    figure: Figure
    places: tuple[str, ...]
    rows: tuple[Bars, ...]

    @property
    def height(self) -> float:
        """Height in inches."""
        return 1.2 + 0.4 * len(self.rows) if self.figure.form == "shares" else 2.9

    def draw(self, axes: "Axes") -> None:
        """Draw onto axes."""
        _DRAWERS[self.figure.form](axes, self)


def drawings(report: Report) -> list[Drawing]:
    """Return the figures of a report that hold numbers."""
    tables = {table.name: table for table in report.tables}
    found = (_drawing(figure, tables[figure.table]) for figure in report.figures if figure.table in tables)
    return [drawing for drawing in found if drawing.rows]


def _drawing(figure: Figure, table: Table) -> Drawing:
    at = {column.key: (place, column.title) for place, column in enumerate(table.columns)}
    rows = (row for row in table.rows if not row.summary)
    return Drawing(
        figure,
        tuple(at[key][1] for key in figure.columns),
        tuple(Bars(row.title, tuple(_estimate(row.values[at[key][0]]) for key in figure.columns)) for row in rows),
    )


def _estimate(value: Value) -> Estimate:
    return value if isinstance(value, Estimate) else NOTHING


def write_drawing(drawing: Drawing, form: Form, *, ink: str = "#1a1a1a") -> bytes:
    """Draw one figure; `ink` is the colour of text and lines. The same numbers give the same bytes."""
    import matplotlib  # noqa: PLC0415 - takes most of a second
    from matplotlib.figure import Figure as Canvas  # noqa: PLC0415

    settings: dict[str, Any] = {**_SETTINGS, "svg.hashsalt": drawing.figure.name}
    colour = _INK if form == "svg" else ink
    settings |= dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), colour)
    buffer = io.BytesIO()
    with _DRAWING, matplotlib.rc_context(settings):
        figure = Canvas(figsize=(6.4, drawing.height), layout="constrained")
        drawing.draw(figure.add_subplot())
        metadata = {"Date": None} if form == "svg" else {}
        figure.savefig(buffer, format=form, dpi=160, transparent=form == "svg", metadata=metadata)
    return buffer.getvalue().replace(_INK.encode(), ink.encode()) if form == "svg" else buffer.getvalue()


def inline_svg(drawing: Drawing) -> str:
    """Draw one figure to stand inside a page: no XML head, ids of its own, text and lines in the page's colour."""
    svg = write_drawing(drawing, "svg", ink="currentColor").decode()
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    svg = re.sub(r'(\bid="|xlink:href="#|url\(#)', rf"\1{drawing.figure.name}-", svg)
    return svg.replace("<svg ", f'<svg role="img" aria-label="{drawing.figure.caption}" ', 1)


def _differences(axes: "Axes", drawing: Drawing) -> None:
    _grouped(axes, drawing)
    low, high = axes.get_ylim()
    axes.set_ylim(min(low, -5), max(high, 5))


def _bars(axes: "Axes", drawing: Drawing) -> None:
    _grouped(axes, drawing)
    axes.set_ylim(0, 100)


def _grouped(axes: "Axes", drawing: Drawing) -> None:
    rows = drawing.rows
    width = min(0.4, 0.8 / len(rows))
    for number, row in enumerate(rows):
        for place, estimate in enumerate(row.values):
            if estimate.value is None:
                continue
            x = place + (number - (len(rows) - 1) / 2) * width
            colour = _MODEL_COLOURS[number % len(_MODEL_COLOURS)]
            axes.bar(x, 100 * estimate.value, width * 0.92, color=colour, label=row.title)
            _whisker(axes, x, estimate)
    axes.axhline(0, color=_INK, linewidth=0.8)
    axes.set_xticks(range(len(drawing.places)), drawing.places)
    axes.set_ylabel(drawing.figure.axis)
    _tidy(axes)


def _whisker(axes: "Axes", x: float, estimate: Estimate) -> None:
    if estimate.low is not None and estimate.high is not None:
        axes.plot([x, x], [100 * estimate.low, 100 * estimate.high], color=_INK, linewidth=0.9, alpha=0.7)


def _shares(axes: "Axes", drawing: Drawing) -> None:
    for number, row in enumerate(drawing.rows):
        left = 0.0
        for place, (name, estimate) in enumerate(zip(drawing.places, row.values, strict=True)):
            colour = _SHARE_COLOURS[place % len(_SHARE_COLOURS)]
            share = 100 * (estimate.value or 0.0)
            axes.barh(number, share, 0.62, left=left, color=colour, label=name)
            if share >= 6:
                text = "#111111" if colour in _LIGHT_COLOURS else "#ffffff"
                axes.text(left + share / 2, number, f"{share:.0f}", ha="center", va="center", color=text, fontsize=8)
            left += share
    axes.set_yticks(range(len(drawing.rows)), [textwrap.fill(row.title, 26) for row in drawing.rows])
    axes.invert_yaxis()
    axes.set_xlim(0, 100)
    _tidy(axes)


_DRAWERS: dict[str, Callable[["Axes", Drawing], None]] = {
    "bars": _bars,
    "differences": _differences,
    "shares": _shares,
}


def _tidy(axes: "Axes") -> None:
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    handles, labels = axes.get_legend_handles_labels()
    named = dict(zip(labels, handles, strict=True))
    widest = max(map(len, named), default=1)
    axes.get_figure().legend(
        named.values(), named.keys(), loc="outside upper center", ncols=max(1, min(7, 90 // (widest + 4))),
        frameon=False, fontsize=8, handlelength=1.0, columnspacing=1.2,
    )  # fmt: skip
