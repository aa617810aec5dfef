"""The page on bringing a benchmark: its example of a crop, a metric and a table works as it stands there."""

import re
from pathlib import Path
from typing import Any

import pytest

from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.jobs import JobSpec
from gigavqa.evaluation.datasets import Dataset
from gigavqa.evaluation.expansion import expand
from gigavqa.reports.report import build_report
from gigavqa.tiling.geometry import Size
from tests.evaluation.responses import MODEL, response
from tests.reports.tables import estimates_of

PAGE = (Path(__file__).parents[2] / "docs" / "benchmarks.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    """Two piles of one picture, of the benchmark that the page prints."""
    (code,) = (block for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL) if "class Piles(" in block)
    names: dict[str, Any] = {"__name__": "piles"}
    exec(code, names)
    boxes = {"a": (10, 20, 300, 400), "b": (500, 0, 64, 64)}
    piles = (
        names["Pile"](id=name, images=("images/quay.png",), question="How many crates are there?", count=at, box=box)
        for at, (name, box) in enumerate(boxes.items(), start=3)
    )
    return Dataset("quays", names["Piles"](), "Quays", "", tuple(piles), "0" * 64)


def test_the_crop_is_shown_under_v3_alone(dataset: Dataset) -> None:
    """And the whole image under V2."""
    spec = JobSpec(dataset="quays", models=(MODEL,))
    found = expand(dataset, spec, load_catalogue(), lambda image: Size(4000, 3000))
    shown = {(one.sample_id, str(one.condition)): one.turns[0].views[0].region for _, one in found}
    assert shown == {("a", "V2"): "full", ("b", "V2"): "full", ("a", "V3"): "10,20,300,400", ("b", "V3"): "500,0,64,64"}


def test_the_metric_fills_the_table(dataset: Dataset) -> None:
    """The mean over replies; one without a number is off by all."""
    said = {("a", "V2"): "I count 5.", ("b", "V2"): "None that I see.", ("a", "V3"): "3", ("b", "V3"): "About 5"}
    replies = [
        response(name, text, condition, protocol="count", request_id=f"{name}-{condition}")
        for (name, condition), text in said.items()
    ]
    report = build_report(dataset, replies, load_catalogue())
    found = {name: one.value for name, one in estimates_of(report, "errors", model=MODEL).items()}
    assert found == {"V2": 3.0, "V3": 0.5}
