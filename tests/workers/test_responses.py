"""What a response records of its rasters."""

import logging

import numpy as np
import pytest

from jobs.models import TurnResponse, Usage
from tiling.geometry import Region, Size
from tiling.rendering import Raster
from tiling.views import View
from workers.responses import Outcome, raster_records


def outcome(counted: tuple[int, ...]) -> Outcome:
    """Two rasters planned with 64 visual tokens each, and a turn of which the engine counted others."""
    raster = Raster(
        pixels=np.zeros((8, 16, 3), np.uint8),
        key="key",
        view=View(image="demo/images/1.png"),
        source_size=Size(160, 80),
        source_format="png",
        region=Region(0, 0, 160, 80),
        level=0,
        downsample=1.0,
        digest="digest",
        visual_tokens=64,
    )
    turn = TurnResponse(text="A", finish_reason="stop", usage=Usage(visual_tokens=counted))
    return Outcome(rasters=(raster, raster), turns=(turn,))


def test_the_engines_count_goes_before_the_plan(caplog: pytest.LogCaptureFixture) -> None:
    """Where it differs it is recorded, and logged as a warning."""
    with caplog.at_level(logging.WARNING):
        records = raster_records(outcome((64, 421)))
    assert [record.visual_tokens for record in records] == [64, 421]
    assert "421" in caplog.text


@pytest.mark.parametrize("counted", [(), (64, 64)])
def test_without_another_count_the_plan_is_recorded(caplog: pytest.LogCaptureFixture, counted: tuple[int, ...]) -> None:
    """Silently."""
    records = raster_records(outcome(counted))
    assert [record.visual_tokens for record in records] == [64, 64]
    assert not caplog.text
