"""The forms of figures: how the numbers of a table become bars, lines, points or shades on axes."""

import textwrap
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gigavqa.evaluation.metrics.estimates import Estimate
from gigavqa.evaluation.metrics.intervals import Floats
from gigavqa.evaluation.tables import Column, Figure
from gigavqa.reports.writers.numbers import format_value

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MODEL_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c6bb1", "#7f7f7f")
_SHARE_COLOURS = (
    "#b2182b", "#d6604d", "#f4a582", "#92c5de", "#4393c3", "#8073ac", "#1b7837", "#dfc27d", "#35978f", "#7f7f7f",
)  # fmt: skip
_LIGHT_COLOURS = frozenset({"#f4a582", "#92c5de", "#dfc27d"})
INK = "#010203"
"""Stands for the colour of text and lines until a drawing is written."""
_ROW_BY_ROW = frozenset({"shares", "matrix"})
_HEIGHTS = {"radar": 4.6, "scatter": 3.6}
_FEWEST_FOR_A_LINE = 3


class RowEstimates(NamedTuple):
    """One row's numbers: its title and an estimate for each column that is drawn."""

    title: str
    values: tuple[Estimate, ...]


class Drawing(NamedTuple):
    """One figure with the columns and rows of numbers that it shows."""

    figure: Figure
    columns: tuple[Column, ...]
    rows: tuple[RowEstimates, ...]

    @property
    def places(self) -> tuple[str, ...]:
        """The columns' titles."""
        return tuple(column.title for column in self.columns)

    @property
    def height(self) -> float:
        """Height in inches."""
        return 1.2 + 0.4 * len(self.rows) if self.figure.form in _ROW_BY_ROW else _HEIGHTS.get(self.figure.form, 2.9)

    @property
    def projection(self) -> str | None:
        """The kind of axes that it is drawn onto."""
        return "polar" if self.figure.form == "radar" else None

    def draw(self, axes: "Axes") -> None:
        """Draw onto axes."""
        _DRAWERS[self.figure.form](axes, self)


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
    axes.axhline(0, color=INK, linewidth=0.8)
    axes.set_xticks(range(len(drawing.places)), drawing.places)
    axes.set_ylabel(drawing.figure.axis)
    _style_axes(axes)


def _whisker(axes: "Axes", x: float, estimate: Estimate) -> None:
    if estimate.low is not None and estimate.high is not None:
        axes.plot([x, x], [100 * estimate.low, 100 * estimate.high], color=INK, linewidth=0.9, alpha=0.7)


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
    _style_axes(axes)


def _radar(axes: "Axes", drawing: Drawing) -> None:
    """A spoke for each column; what lies below 0 is drawn at 0."""
    angles = np.linspace(0, 2 * np.pi, len(drawing.columns), endpoint=False)
    for number, row in enumerate(drawing.rows):
        values = np.nan_to_num(np.maximum(_axis_values(row, drawing), 0.0))
        colour = _MODEL_COLOURS[number % len(_MODEL_COLOURS)]
        axes.plot([*angles, angles[0]], [*values, values[0]], color=colour, linewidth=1.2, label=row.title)
    axes.set_xticks(angles, [textwrap.fill(place, 14) for place in drawing.places], fontsize=7)
    axes.set_ylim(0, 100)
    axes.tick_params(axis="y", labelsize=7)
    axes.spines["polar"].set_visible(False)
    _legend(axes)


def _curve(axes: "Axes", drawing: Drawing) -> None:
    places = range(len(drawing.columns))
    for number, row in enumerate(drawing.rows):
        colour = _MODEL_COLOURS[number % len(_MODEL_COLOURS)]
        axes.plot(places, _axis_values(row, drawing), color=colour, linewidth=1.2, label=row.title)
    axes.set_xticks(places, drawing.places, fontsize=7)
    axes.set_ylim(0, 100)
    axes.set_ylabel(drawing.figure.axis)
    _style_axes(axes)


def _matrix(axes: "Axes", drawing: Drawing) -> None:
    shades = np.array([_axis_values(row, drawing) for row in drawing.rows])
    most = 100.0 if np.nanmax(np.abs(shades), initial=0.0) > 1 else 1.0
    lowest = -most if np.nanmin(shades, initial=0.0) < 0 else 0.0
    axes.imshow(shades, aspect="auto", cmap="RdBu_r" if lowest else "Reds", vmin=lowest, vmax=most)
    for number, row in enumerate(drawing.rows):
        for place, (estimate, column) in enumerate(zip(row.values, drawing.columns, strict=True)):
            dark = estimate.value is not None and abs(_axis_value(estimate, column)) > 0.6 * most
            colour = "#ffffff" if dark else "#111111"
            axes.text(place, number, format_value(estimate, column), ha="center", va="center", color=colour, fontsize=8)
    axes.set_xticks(range(len(drawing.columns)), drawing.places)
    axes.set_yticks(range(len(drawing.rows)), [textwrap.fill(row.title, 26) for row in drawing.rows])
    axes.set_xlabel(drawing.figure.axis)


def _scatter(axes: "Axes", drawing: Drawing) -> None:
    """A point a row; the diagonal, or the least-squares line of those that have both numbers where there are three.

    With a fourth column points are named beside them, since their colours say how large its numbers are.
    """
    numbers = np.array([_axis_values(row, drawing) for row in drawing.rows])
    across, up = numbers[:, 0], numbers[:, 1]
    areas = 4 * np.nan_to_num(numbers[:, 2]) + 12 if numbers.shape[1] > 2 else np.full(len(numbers), 36.0)
    if numbers.shape[1] > 3:
        _coloured(axes, drawing, numbers, areas)
    else:
        for number, row in enumerate(drawing.rows):
            colour = _MODEL_COLOURS[number % len(_MODEL_COLOURS)]
            axes.scatter(across[number], up[number], areas[number], color=colour, alpha=0.75, label=row.title)
    known = ~(np.isnan(across) | np.isnan(up))
    if drawing.figure.equals and known.any():
        both = numbers[known, :2]
        ends = np.array([both.min(), both.max()])
        axes.plot(ends, ends, color=INK, linewidth=0.9, linestyle="--")
    elif known.sum() >= _FEWEST_FOR_A_LINE and np.ptp(across[known]) > 0:
        slope, start = np.polyfit(across[known], up[known], 1)
        ends = np.array([across[known].min(), across[known].max()])
        axes.plot(ends, start + slope * ends, color=INK, linewidth=0.9, linestyle="--")
    axes.set_xlabel(drawing.columns[0].name)
    axes.set_ylabel(drawing.columns[1].name)
    _style_axes(axes)


def _coloured(axes: "Axes", drawing: Drawing, numbers: Floats, areas: Floats) -> None:
    colours = np.nan_to_num(numbers[:, 3])
    points = axes.scatter(numbers[:, 0], numbers[:, 1], areas, c=colours, cmap="viridis", alpha=0.75)
    for row, place in zip(drawing.rows, numbers, strict=True):
        if not np.isnan(place[:2]).any():
            axes.annotate(row.title, (place[0], place[1]), fontsize=7, xytext=(5, 4), textcoords="offset points")
    axes.get_figure().colorbar(points, ax=axes, label=drawing.columns[3].name)


def _axis_values(row: RowEstimates, drawing: Drawing) -> Floats:
    """Return a row's numbers as its axes count them, NaN where there is none."""
    pairs = zip(row.values, drawing.columns, strict=True)
    return np.array([np.nan if value.value is None else _axis_value(value, column) for value, column in pairs])


def _axis_value(estimate: Estimate, column: Column) -> float:
    return (1 if column.unit == "number" else 100) * (estimate.value or 0.0)


_DRAWERS: dict[str, Callable[["Axes", Drawing], None]] = {
    "bars": _bars,
    "differences": _differences,
    "shares": _shares,
    "radar": _radar,
    "curve": _curve,
    "matrix": _matrix,
    "scatter": _scatter,
}


def _style_axes(axes: "Axes") -> None:
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    _legend(axes)


def _legend(axes: "Axes") -> None:
    handles, labels = axes.get_legend_handles_labels()
    named = dict(zip(labels, handles, strict=True))
    widest = max(map(len, named), default=1)
    axes.get_figure().legend(
        named.values(), named.keys(), loc="outside upper center", ncols=max(1, min(7, 90 // (widest + 4))),
        frameon=False, fontsize=8, handlelength=1.0, columnspacing=1.2,
    )  # fmt: skip
