"""Figure 2 of the paper as drawings: SVG to read and PNG to paste, from the numbers of a report.

matplotlib is imported when the first figure is drawn; its settings are global, hence the lock.
"""

import io
import re
import textwrap
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from evaluation.metrics.estimates import NOTHING, Estimate
from evaluation.reporting.models import Figure2

if TYPE_CHECKING:
    from matplotlib.axes import Axes

OPERATIONS = ("GND", "PER", "QUA", "INT", "INF")
OUTCOMES = (*OPERATIONS, "Final", "NoErr")
_MODEL_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c6bb1", "#7f7f7f")
_OUTCOME_COLOURS = ("#b2182b", "#d6604d", "#f4a582", "#92c5de", "#4393c3", "#8073ac", "#1b7837")
_SETTINGS = {"svg.fonttype": "none", "text.parse_math": False, "font.size": 9.0, "font.family": "sans-serif"}
_INK = "#010203"
"""Stands for the colour of text and lines until a drawing is written."""
_DRAWING = threading.Lock()

Form = Literal["svg", "png"]
FORMS: tuple[Form, ...] = ("svg", "png")


class Bars(NamedTuple):
    """One model's bars: a title and an estimate for each place on the axis."""

    title: str
    values: dict[str, Estimate]


class Drawing(NamedTuple):
    """One figure: its name, what it shows in a sentence, and how it is drawn onto axes."""

    name: str
    caption: str
    height: float
    draw: Callable[["Axes"], None]


def drawings(figure: Figure2) -> list[Drawing]:
    """Return the parts of Figure 2 that hold numbers."""
    parts = []
    if figure.a:
        rows = [Bars(row.title, _named(row.deltas)) for row in figure.a]
        caption = "Figure 2a. Relative operation difficulty under S2: step error less the model's mean."
        parts.append(Drawing("figure2a", caption, 2.9, lambda axes: _differences(axes, rows)))
    if figure.b:
        rows_b = [Bars(row.title, _named(row.operations)) for row in figure.b]
        caption = "Figure 2b. Operation recoverability under S5: step accuracy behind ground-truth steps."
        parts.append(Drawing("figure2b", caption, 2.9, lambda axes: _accuracies(axes, rows_b)))
    if figure.c:
        rows_c = [Bars(row.title, _named(row.outcomes)) for row in figure.c]
        caption = "Figure 2c. Where S4 trajectories fail first: share of trajectories in %."
        height = 1.2 + 0.4 * len(rows_c)
        parts.append(Drawing("figure2c", caption, height, lambda axes: _stacked(axes, rows_c)))
    return parts


def _named(values: Mapping[Any, Estimate]) -> dict[str, Estimate]:
    return {str(name): value for name, value in values.items()}


def write_drawing(drawing: Drawing, form: Form, *, ink: str = "#1a1a1a") -> bytes:
    """Draw one figure; `ink` is the colour of text and lines. The same numbers give the same bytes."""
    import matplotlib  # noqa: PLC0415 - takes most of a second
    from matplotlib.figure import Figure  # noqa: PLC0415

    settings: dict[str, Any] = {**_SETTINGS, "svg.hashsalt": drawing.name}
    colour = _INK if form == "svg" else ink
    settings |= dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), colour)
    buffer = io.BytesIO()
    with _DRAWING, matplotlib.rc_context(settings):
        figure = Figure(figsize=(6.4, drawing.height), layout="constrained")
        drawing.draw(figure.add_subplot())
        metadata = {"Date": None} if form == "svg" else {}
        figure.savefig(buffer, format=form, dpi=160, transparent=form == "svg", metadata=metadata)
    return buffer.getvalue().replace(_INK.encode(), ink.encode()) if form == "svg" else buffer.getvalue()


def inline_svg(drawing: Drawing) -> str:
    """Draw one figure to stand inside a page: no XML head, ids of its own, text and lines in the page's colour."""
    svg = write_drawing(drawing, "svg", ink="currentColor").decode()
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    svg = re.sub(r'(\bid="|xlink:href="#|url\(#)', rf"\1{drawing.name}-", svg)
    return svg.replace("<svg ", f'<svg role="img" aria-label="{drawing.caption}" ', 1)


def _differences(axes: "Axes", rows: Sequence[Bars]) -> None:
    _grouped(axes, rows, "Δ step error (points)")
    low, high = axes.get_ylim()
    axes.set_ylim(min(low, -5), max(high, 5))


def _accuracies(axes: "Axes", rows: Sequence[Bars]) -> None:
    _grouped(axes, rows, "step accuracy (%)")
    axes.set_ylim(0, 100)


def _grouped(axes: "Axes", rows: Sequence[Bars], label: str) -> None:
    width = min(0.4, 0.8 / len(rows))
    for number, row in enumerate(rows):
        for place, operation in enumerate(OPERATIONS):
            estimate = row.values.get(operation, NOTHING)
            if estimate.value is None:
                continue
            x = place + (number - (len(rows) - 1) / 2) * width
            colour = _MODEL_COLOURS[number % len(_MODEL_COLOURS)]
            axes.bar(x, 100 * estimate.value, width * 0.92, color=colour, label=row.title)
            _whisker(axes, x, estimate)
    axes.axhline(0, color=_INK, linewidth=0.8)
    axes.set_xticks(range(len(OPERATIONS)), OPERATIONS)
    axes.set_ylabel(label)
    _tidy(axes)


def _whisker(axes: "Axes", x: float, estimate: Estimate) -> None:
    if estimate.low is not None and estimate.high is not None:
        axes.plot([x, x], [100 * estimate.low, 100 * estimate.high], color=_INK, linewidth=0.9, alpha=0.7)


def _stacked(axes: "Axes", rows: Sequence[Bars]) -> None:
    for number, row in enumerate(rows):
        left = 0.0
        for outcome, colour in zip(OUTCOMES, _OUTCOME_COLOURS, strict=True):
            share = 100 * (row.values.get(outcome, NOTHING).value or 0.0)
            axes.barh(number, share, 0.62, left=left, color=colour, label=outcome)
            if share >= 6:
                text = "#ffffff" if outcome not in ("QUA", "INT") else "#111111"
                axes.text(left + share / 2, number, f"{share:.0f}", ha="center", va="center", color=text, fontsize=8)
            left += share
    axes.set_yticks(range(len(rows)), [textwrap.fill(row.title, 26) for row in rows])
    axes.invert_yaxis()
    axes.set_xlim(0, 100)
    _tidy(axes)


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
