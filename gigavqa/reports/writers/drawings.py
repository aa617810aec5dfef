"""Figures of a report as drawings: SVG to read and PNG to paste, from the numbers of its tables.

matplotlib is imported when the first figure is drawn; its settings are global, hence the lock.
"""

import io
import re
import threading
from typing import Any, Literal

from gigavqa.evaluation.metrics.estimates import NO_ESTIMATE, Estimate
from gigavqa.evaluation.tables import Figure, Table, Value
from gigavqa.reports.report import Report
from gigavqa.reports.writers.figure_forms import INK, Drawing, RowEstimates

_SETTINGS = {"svg.fonttype": "none", "text.parse_math": False, "font.size": 9.0, "font.family": "sans-serif"}
_MATPLOTLIB_LOCK = threading.Lock()

DrawingFormat = Literal["svg", "png"]
DRAWING_FORMATS: tuple[DrawingFormat, ...] = ("svg", "png")


def list_drawings(report: Report) -> list[Drawing]:
    """Return the figures of a report that hold numbers."""
    tables = {table.name: table for table in report.tables}
    found = (_drawing(figure, tables[figure.table]) for figure in report.figures if figure.table in tables)
    return [drawing for drawing in found if drawing.rows]


def _drawing(figure: Figure, table: Table) -> Drawing:
    at = {column.key: place for place, column in enumerate(table.columns)}
    places = [at[key] for key in figure.columns]
    rows = (row for row in table.rows if not row.summary)
    return Drawing(
        figure,
        tuple(table.columns[place] for place in places),
        tuple(RowEstimates(row.title, tuple(_estimate(row.values[place]) for place in places)) for row in rows),
    )


def _estimate(value: Value) -> Estimate:
    return value if isinstance(value, Estimate) else NO_ESTIMATE


def write_drawing(drawing: Drawing, form: DrawingFormat, *, ink: str = "#1a1a1a") -> bytes:
    """Draw one figure; `ink` is the colour of text and lines. The same numbers give the same bytes."""
    import matplotlib  # noqa: PLC0415 - takes most of a second
    from matplotlib.figure import Figure as Canvas  # noqa: PLC0415

    settings: dict[str, Any] = {**_SETTINGS, "svg.hashsalt": drawing.figure.name}
    colour = INK if form == "svg" else ink
    settings |= dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), colour)
    buffer = io.BytesIO()
    with _MATPLOTLIB_LOCK, matplotlib.rc_context(settings):
        figure = Canvas(figsize=(6.4, drawing.height), layout="constrained")
        drawing.draw(figure.add_subplot(projection=drawing.projection))
        metadata = {"Date": None} if form == "svg" else {}
        figure.savefig(buffer, format=form, dpi=160, transparent=form == "svg", metadata=metadata)
    return buffer.getvalue().replace(INK.encode(), ink.encode()) if form == "svg" else buffer.getvalue()


def inline_svg(drawing: Drawing) -> str:
    """Draw one figure to stand inside a page: no XML head, ids of its own, text and lines in the page's colour."""
    svg = write_drawing(drawing, "svg", ink="currentColor").decode()
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    svg = re.sub(r'(\bid="|xlink:href="#|url\(#)', rf"\1{drawing.figure.name}-", svg)
    return svg.replace("<svg ", f'<svg role="img" aria-label="{drawing.figure.caption}" ', 1)
