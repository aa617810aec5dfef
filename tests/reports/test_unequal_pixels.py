"""A report says where what it compares was shown with different numbers of pixels: such a difference is of both."""

from itertools import permutations

import pytest

from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.responses import RasterRecord, Response
from gigavqa.reports.report import build_report
from gigavqa.tiling.geometry import Size
from tests.benchmarks.ultravr.good_records import good_sample
from tests.evaluation.datasets import dataset_of
from tests.evaluation.responses import response
from tests.reports.pages import raster
from tests.reports.tables import caveats_of

SAMPLE = good_sample("rs-logic")
SMALL, LARGE = Size(640, 352), Size(1280, 704)


def shown(size: Size, sizing: str = "native") -> RasterRecord:
    """The whole picture at a size."""
    one = raster()
    return one.model_copy(update={"raster_size": size, "view": one.view.model_copy(update={"sizing": sizing})})


def asked(condition: str, *rasters: RasterRecord, protocol: str = "S0", model: str = "qwen3-vl-8b") -> Response:
    """An answer to the one sample."""
    request = f"{protocol}{condition}{model}{len(rasters)}{rasters[0].raster_size}"
    return response(
        SAMPLE.id, "Final answer: B", condition, model=model, protocol=protocol, rasters=rasters, request_id=request
    )


def told(*responses: Response) -> list[str]:
    """What a report says of pixels."""
    report = build_report(dataset_of([SAMPLE]), responses, load_catalogue())
    return [text for text in caveats_of(report) if "numbers of pixels" in text or "thumbnails" in text]


UNEQUAL = [
    (asked("V2", shown(SMALL)), asked("V2", shown(LARGE), protocol="S1")),
    (asked("V2", shown(LARGE)), asked("V4", shown(SMALL), raster("q", "0,0,600,400"))),
    (asked("V1", shown(SMALL, "longest:640")), asked("V1", shown(LARGE, "longest:1280"), protocol="S1")),
]


@pytest.mark.parametrize("responses", UNEQUAL, ids=["budgets", "a crowd", "thumbnails"])
def test_one_picture_at_two_sizes_is_told_with_both_and_their_cells(responses: tuple[Response, ...]) -> None:
    """In whatever order they come."""
    for order in permutations(responses):
        (text, *_) = [one for one in told(*order) if "numbers of pixels" in one]
        assert "640 x 352 (S0" in text or "640 x 352 (S" in text
        assert "1280 x 704 (S" in text
        assert text == next(one for one in told(*responses) if "numbers of pixels" in one)


def test_of_several_places_one_is_told_and_the_others_are_counted() -> None:
    """With one there are no others."""
    crop = raster("q", "0,0,600,400")
    larger = crop.model_copy(update={"raster_size": LARGE})
    (one, *_) = told(asked("V2", shown(SMALL)), asked("V2", shown(LARGE), protocol="S1"))
    (several, *_) = told(asked("V4", shown(SMALL), crop), asked("V4", shown(LARGE), larger, protocol="S1"))
    assert "other;" not in one
    assert ", and 1 other; by" in several


def test_what_a_condition_is_about_is_not_told() -> None:
    """A thumbnail is smaller than the full picture, a crop another place, and models have budgets of their own."""
    full, small = asked("V2", shown(LARGE)), asked("V1", shown(SMALL, "longest:640"))
    local = asked("V3", raster("q", "0,0,600,400"))
    other = asked("V2", shown(SMALL), model="internvl3.5-8b")
    assert told(full, small, local, other) == []


def test_thumbnails_of_different_sizes_are_told_between_models() -> None:
    """Whose rasters of one thumbnail may differ, but not the thumbnails."""
    one = asked("V1", shown(SMALL, "longest:640"))
    other = asked("V1", shown(LARGE, "longest:1280"), model="internvl3.5-8b")
    (text,) = told(one, other)
    assert "longest:1280 by internvl3.5-8b; longest:640 by qwen3-vl-8b" in text
