"""A report says when a prompt had more pictures than its model's family shows in full."""

import pytest

from gigavqa.catalogue.load import load_catalogue
from gigavqa.reports.report import build_report
from tests.benchmarks.ultravr.good_records import good_sample
from tests.evaluation.datasets import dataset_of
from tests.evaluation.responses import response
from tests.reports.pages import raster
from tests.reports.tables import caveats_of, values_of


@pytest.mark.parametrize(
    ("model", "num_rasters", "warned"),
    [("deepseek-vl2", 2, False), ("deepseek-vl2", 3, True), ("qwen3-vl-8b", 37, False)],
)
def test_a_crowd_of_pictures_is_told(model: str, num_rasters: int, *, warned: bool) -> None:
    """DeepSeek-VL2 crops none of three; Qwen shows each of 37 as if it were alone."""
    sample = good_sample("rs-logic")
    answer = response(sample.id, "Final answer: B", "V4", model=model, rasters=(raster(),) * num_rasters)
    report = build_report(dataset_of([sample]), [answer], load_catalogue())
    told = [warning for warning in caveats_of(report) if "1 of 1 prompts had over 2 pictures" in warning]
    assert bool(told) == warned


def test_table_1_states_the_budget_as_the_paper_counts_it() -> None:
    """Of InternVL 32768 visual tokens, although a thumbnail may make 33024 of them."""
    sample = good_sample("rs-logic")
    answer = response(sample.id, "Final answer: B", model="internvl3.5-38b", rasters=(raster(),))
    report = build_report(dataset_of([sample]), [answer], load_catalogue())
    row = values_of(report, "table1")
    assert (row["max_visual_tokens"], row["effective_resolution"]) == (32768, 5068)
