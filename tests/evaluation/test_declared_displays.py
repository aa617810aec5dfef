"""What a data set declares of how its images are shown goes into every request, and a job may say otherwise."""

from pathlib import Path
from typing import Any

import pytest

from gigavqa.contract.jobs import JobSpec
from gigavqa.contract.requests import InferenceRequest
from gigavqa.evaluation.datasets import Dataset, load_dataset
from gigavqa.evaluation.errors import DatasetInvalidError, OptionsInvalidError
from gigavqa.evaluation.expansion import expand
from gigavqa.tiling.displays.display_rules import show_below
from gigavqa.tiling.geometry import Size
from tests.benchmarks.ultravr.good_records import GOOD
from tests.evaluation.folders import write_dataset
from tests.evaluation.test_expansion import CATALOGUE, DEMO

_WINDOW, _BANDS = "stretch=range:-160:240", "bands=4,3,2 stretch=percentile:2:98"


def declared(folder: Path, show: str) -> Path:
    """All good records as a data set whose settings end so."""
    made = write_dataset(folder / "tiny", *GOOD.values())
    with (made / "dataset.toml").open("a", encoding="utf-8") as settings:
        settings.write(f"\n{show}\n")
    return made


def requests(dataset: Dataset, **spec: Any) -> list[InferenceRequest]:
    """Expand a job over images of 1000 x 600 pixels."""
    job = JobSpec.model_validate({"dataset": "tiny", "models": [DEMO], "plan": "ultravr", **spec})
    return [request for _, request in expand(dataset, job, CATALOGUE, lambda _: Size(1000, 600))]


def shows(asked: list[InferenceRequest]) -> set[str]:
    """How the images of all views are shown."""
    return {view.show for request in asked for view in request.views}


def test_one_display_is_that_of_every_view(tmp_path: Path) -> None:
    """Under every condition: thumbnails, full images and local evidence."""
    asked = requests(load_dataset(declared(tmp_path, 'show = "window=40:400"')))
    assert shows(asked) == {_WINDOW}
    assert {request.condition for request in asked if request.views} == {"V1", "V2", "V3", "V4"}


def test_the_first_pattern_that_fits_an_image_counts(tmp_path: Path) -> None:
    """And whatever fits none is shown as it is."""
    table = f'[show]\n"images/*.nothing" = "stretch=minmax"\n"images/*" = "{_BANDS}"\n"*" = "window=40:400"'
    dataset = load_dataset(declared(tmp_path, table))
    assert dataset.show_of("tiny/images/a.tif") == _BANDS
    assert dataset.show_of("tiny/other/a.tif") == _WINDOW
    assert show_below(tmp_path, "tiny/images/a.tif") == _BANDS
    assert show_below(tmp_path, "elsewhere/images/a.tif") == ""


def test_a_job_may_show_all_images_in_another_way(tmp_path: Path) -> None:
    """In place of what the data set declares, or where it declares nothing."""
    plain = load_dataset(write_dataset(tmp_path / "plain" / "tiny", *GOOD.values()))
    assert shows(requests(plain)) == {""}
    for dataset in (plain, load_dataset(declared(tmp_path, 'show = "window=40:400"'))):
        assert shows(requests(dataset, options={"show": "gamma=2;bands=1"})) == {"bands=1 gamma=2"}


def test_requests_of_images_that_are_shown_as_they_are_stay_what_they_were(tmp_path: Path) -> None:
    """No word of displays is in them, so that older jobs and workers know them."""
    asked = requests(load_dataset(write_dataset(tmp_path / "tiny", *GOOD.values())))
    assert '"show"' not in "".join(request.model_dump_json() for request in asked)


@pytest.mark.parametrize(
    ("show", "told"),
    [
        ('show = "windw=40:400"', "did you mean 'window'"),
        ("show = 3", "must be one display, or a table"),
        ('[show]\n"*" = 3', "must be one display, or a table"),
    ],
)
def test_what_is_no_display_is_told_by_file(tmp_path: Path, show: str, told: str) -> None:
    """Before anything is asked."""
    with pytest.raises(DatasetInvalidError) as refused:
        load_dataset(declared(tmp_path, show))
    (problem,) = refused.value.problems
    assert problem.file == "dataset.toml" and told in problem.message


def test_a_job_whose_display_is_none_is_refused(tmp_path: Path) -> None:
    """By the option's name."""
    with pytest.raises(OptionsInvalidError, match=r"options\.show: .*'contrast' is none of bands"):
        requests(load_dataset(write_dataset(tmp_path / "tiny", *GOOD.values())), options={"show": "contrast=2"})
