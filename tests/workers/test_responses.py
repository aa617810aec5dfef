"""What a response records of its rasters."""

import logging
from pathlib import Path

import pytest

from gigavqa.contract.requests import InferenceRequest, Turn
from gigavqa.contract.responses import RasterRecord, TurnResponse, Usage
from gigavqa.tiling.rendering import render
from gigavqa.tiling.views import View
from gigavqa.workers.responses import Outcome, raster_record, raster_records
from tests.tiling.pictures import SMALL_BUDGET, textured
from tests.tiling.slide_files.mirax import write_mirax
from tests.workers.examples import make_request
from tests.workers.rasters import raster_of

ONE, TWO, THREE = (View(image=f"demo/images/{number}.png") for number in (1, 2, 3))
CHAT = make_request("r", None, turns=(Turn(parts=(ONE, TWO, "How many?")), Turn(parts=("And here?", THREE))))


def outcome(request: InferenceRequest, *counted: tuple[int, ...]) -> Outcome:
    """Rasters planned with 64 visual tokens each, and turns of which the engine counted others."""
    turns = [TurnResponse(text="A", finish_reason="stop", usage=Usage(visual_tokens=counts)) for counts in counted]
    return Outcome(rasters=[raster_of(view) for view in request.views], turns=turns)


@pytest.mark.parametrize(
    ("counted", "recorded"),
    [
        (((64, 421), (64, 421, 64)), [64, 421, 64]),
        (((64, 421),), [64, 421, 64]),  # broken off before the second turn
        (((64, 64), (64, 64, 99)), [64, 64, 99]),
    ],
)
def test_the_engines_count_goes_before_the_plan(
    caplog: pytest.LogCaptureFixture, counted: tuple[tuple[int, ...], ...], recorded: list[int]
) -> None:
    """Where it differs it is recorded, and logged as a warning; what was not shown is recorded as planned."""
    with caplog.at_level(logging.WARNING):
        records = raster_records(CHAT, outcome(CHAT, *counted))
    assert [record.visual_tokens for record in records] == recorded
    assert "visual tokens" in caplog.text


@pytest.mark.parametrize("counted", [(), ((), ()), ((64, 64), (64, 64, 64)), ((1, 2, 3, 4),)])
def test_without_another_count_the_plan_is_recorded(
    caplog: pytest.LogCaptureFixture, counted: tuple[tuple[int, ...], ...]
) -> None:
    """Silently, also where an engine counts what is no raster of the chat."""
    records = raster_records(CHAT, outcome(CHAT, *counted))
    assert [record.visual_tokens for record in records] == [64, 64, 64]
    assert not caplog.text


def test_rasters_are_recorded_with_the_turn_that_showed_them() -> None:
    """In the order in which the chat shows them."""
    records = raster_records(CHAT, outcome(CHAT))
    assert [(record.turn, record.view) for record in records] == [(0, ONE), (0, TWO), (1, THREE)]


def test_the_size_of_a_slides_pixels_is_recorded(tmp_path: Path) -> None:
    """Of other images nothing is: stored responses stay what they were."""
    slide = write_mirax(tmp_path / "one.mrxs", textured(512, 512))
    raster = render(slide, View(image="one.mrxs", sizing="mpp:1"), SMALL_BUDGET)
    record = raster_record(0, raster)
    assert record.microns_per_pixel == (0.25, 0.26)
    assert RasterRecord.model_validate_json(record.model_dump_json()) == record
    assert "microns_per_pixel" not in raster_record(0, raster_of(ONE)).model_dump()
