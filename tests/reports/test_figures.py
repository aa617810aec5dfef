"""Every form of figure is drawn from its table, and writers say numbers as their columns want them."""

import io
from itertools import pairwise
from typing import get_args

import pytest
from matplotlib.figure import Figure as Canvas
from PIL import Image

from gigavqa.evaluation.metrics.estimates import NO_ESTIMATE, Estimate
from gigavqa.evaluation.tables import Column, ColumnGroup, Figure, Row, Table
from gigavqa.reports.report import Report
from gigavqa.reports.writers.drawings import list_drawings, write_drawing
from gigavqa.reports.writers.markdown import render_markdown
from gigavqa.reports.writers.numbers import format_full

FORMS = get_args(Figure.model_fields["form"].annotation)


def table() -> Table:
    """Four rows of three numbers, one of them unknown and one below 0."""
    columns = (
        Column(key="a", title="first", decimals=2),
        Column(key="b", title="second", unit="difference", decimals=2),
        Column(key="c", title="third", unit="number", decimals=3),
    )
    values = ((0.25, 0.1, 1.5), (0.5, -0.2, 2.0), (1.0, 0.3, 0.125), (None, 0.0, 3.0))
    rows = tuple(
        Row(title=f"row {at}", values=tuple(map(estimate, row)), best=("a",) if row[0] == 1 else ())
        for at, row in enumerate(values)
    )
    return Table(name="numbers", title="Numbers", groups=(ColumnGroup(title="", columns=columns),), rows=rows)


def report_of(*figures: Figure) -> Report:
    """A report of the table and figures of it."""
    return Report(
        benchmark="quiz", title="Quiz", dataset="quiz", dataset_digest="0", samples=8, awaiting_expert=(), versions={},
        tables=(table(),), figures=figures, cells=(), caveats=(), provenance=(),
    )  # fmt: skip


def estimate(value: float | None) -> Estimate:
    """A number with its interval."""
    return NO_ESTIMATE if value is None else Estimate(value=value, count=8, low=value - 0.1, high=value + 0.1)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_drawn(form: str) -> None:
    """Something stands on the canvas, and the same every time."""
    figure = Figure.model_validate(
        {"name": form, "caption": form, "form": form, "axis": "%", "table": "numbers", "columns": ("a", "b", "c")}
    )
    (drawing,) = list_drawings(report_of(figure))
    png = write_drawing(drawing, "png")
    low, high = Image.open(io.BytesIO(png)).convert("L").getextrema()
    assert low < high
    assert png == write_drawing(drawing, "png")
    assert b"row 2" in write_drawing(drawing, "svg")


def test_no_bar_hides_another() -> None:
    """However many rows there are, their bars stand beside each other."""
    figure = Figure(name="bars", caption="", form="bars", axis="%", table="numbers", columns=("a", "b", "c"))
    (drawing,) = list_drawings(report_of(figure))
    axes = Canvas().add_subplot()
    drawing.draw(axes)
    spans = sorted((bar.get_x(), bar.get_x() + bar.get_width()) for bar in axes.patches)
    assert len(spans) == 11
    assert all(end <= begin for (_, end), (begin, _) in pairwise(spans))


def test_numbers_are_written_as_their_columns_want_them() -> None:
    """Percent, points with their sign, and plain numbers, each with its own decimals."""
    first, second, third = table().columns
    assert format_full(estimate(0.25), first) == "25.00 [15.00, 35.00] n=8"
    assert format_full(estimate(0.1), second) == "+10.00 [0.00, 20.00] n=8"
    assert format_full(estimate(1.5), third) == "1.500 [1.400, 1.600] n=8"


def test_the_best_of_its_kind_is_marked() -> None:
    """Bold in Markdown."""
    text = render_markdown(report_of())
    assert "**100.00 [90.00, 110.00] n=8**" in text
    assert text.count("**100") == 1


@pytest.mark.parametrize(("value", "told"), [(-1e-9, "+0.00"), (1e-9, "+0.00"), (-0.005, "-0.50"), (0.005, "+0.50")])
def test_what_rounds_to_nothing_is_not_below_it(value: float, told: str) -> None:
    """A sum of floating numbers may end a hair below nought."""
    column = Column(key="gain", title="gain", unit="difference", decimals=2)
    assert format_full(Estimate(value=value, count=0), column) == told
