"""The paper's own tables: gaps and means recomputed from its printed accuracies by the code that fills ours.

An accuracy printed with one decimal may lie 0.05 from its value, so that a gap of two may lie 0.1 from the printed one,
and its own rounding adds 0.05. Rows that lie further off are inconsistent in print, and are listed here.
"""

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gigavqa.benchmarks.ultravr.benchmark import UltraVR
from gigavqa.benchmarks.ultravr.report import TABLE2_GAPS, TABLE3_GAPS
from gigavqa.evaluation.metrics.accuracy import Contrast, Strata
from gigavqa.evaluation.metrics.estimates import Estimate
from gigavqa.evaluation.sample_columns import SampleColumns
from gigavqa.evaluation.tables import Column, Row, mean_row
from tests.benchmarks.ultravr.good_records import good_sample

PRINTED: dict[str, Any] = tomllib.loads((Path(__file__).parent / "paper_tables.toml").read_text())
GAPS = {"table1": {"visual": ("macro", "text_only")}, "table2": TABLE2_GAPS, "table3": TABLE3_GAPS}
ROUNDING = 0.15 + 1e-9
MEAN = "Mean"

INCONSISTENT_GAPS = {
    ("table2", "Mean", "aug"): (-4.4, -1.1),
}
"""Gaps that the printed accuracies do not give, each with what they give and what is printed."""

LEFT_OUT_OF_MEANS = {"table1": (), "table2": ("GPT-5.5",), "table3": ("GPT-5.5",)}
"""The printed means of Tables 2 and 3 are those of the ten other models, as all columns of Table 3 show."""

INCONSISTENT_MEANS = {
    ("table2", "V3"): (34.3, 33.2),
    ("table2", "V4"): (29.3, 26.0),
}
"""Means that the printed rows do not give even so, likewise."""


def printed(table: str, model: str) -> dict[str, float]:
    """Return a printed row by its columns."""
    return dict(zip(PRINTED[table]["columns"], PRINTED[table]["rows"][model], strict=True))


def gaps_of(table: str, model: str) -> dict[str, float]:
    """Compute a row's gaps, in points, by the code that fills our tables: one sample stands for a macro accuracy."""
    row = printed(table, model)
    names = [name for name in row if name not in GAPS[table]]
    strata = Strata.of(SampleColumns.of([good_sample("rs-logic")]), UltraVR.grouping)
    contrast = Contrast({name: np.array([row[name] / 100]) for name in names}, strata)
    gaps = {name: contrast.gap(*pair).value for name, pair in GAPS[table].items()}
    return {name: 100 * gap for name, gap in gaps.items() if gap is not None}


def mean_of(table: str, column: str) -> float:
    """Average a column over the models that the paper averages, by the code that fills our mean row."""
    models = [model for model in PRINTED[table]["rows"] if model not in (MEAN, *LEFT_OUT_OF_MEANS[table])]
    numbers = (Estimate(value=printed(table, model)[column], count=1) for model in models)
    mean = mean_row(tuple(Row(title="", values=(number,)) for number in numbers), (Column(key=column, title=column),))
    assert mean is not None
    (value,) = mean.values
    assert isinstance(value, Estimate)
    assert value.value is not None
    return value.value


@pytest.mark.parametrize(("table", "model"), [(table, model) for table in GAPS for model in PRINTED[table]["rows"]])
def test_our_gaps_are_what_the_printed_columns_hold(table: str, model: str) -> None:
    """Every gap of every row, but for those listed as inconsistent in print."""
    row = printed(table, model)
    for name, gap in gaps_of(table, model).items():
        if (table, model, name) not in INCONSISTENT_GAPS:
            assert gap == pytest.approx(row[name], abs=ROUNDING), name


def test_the_listed_gaps_are_inconsistent_in_print() -> None:
    """Exactly those: what the accuracies give, and what is printed."""
    found = {
        (table, model, name): (round(gap, 1), printed(table, model)[name])
        for table in GAPS
        for model in PRINTED[table]["rows"]
        for name, gap in gaps_of(table, model).items()
        if abs(gap - printed(table, model)[name]) > ROUNDING
    }

    assert found == INCONSISTENT_GAPS


def test_means_are_plain_means_but_for_those_listed() -> None:
    """The columns of accuracies, each within rounding or listed with what the rows give and what is printed."""
    found = {
        (table, column): (round(mean_of(table, column), 1), printed(table, MEAN)[column])
        for table in GAPS
        for column in PRINTED[table]["columns"]
        if column not in GAPS[table] and abs(mean_of(table, column) - printed(table, MEAN)[column]) > 0.1 + 1e-9
    }

    assert found == INCONSISTENT_MEANS
