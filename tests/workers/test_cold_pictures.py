"""A picture that nobody has seen before costs one pass, and once it was seen, none."""

import asyncio
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from prometheus_client import CollectorRegistry

from gigavqa.tiling.renderer import Renderer
from gigavqa.tiling.roots import ImageRoot
from gigavqa.tiling.store import RasterStore
from gigavqa.tiling.views import View
from gigavqa.workers.idle_work import IdleWorker
from gigavqa.workers.instrumentation import Instrumentation
from gigavqa.workers.preparation import RasterPreparation
from tests.tiling.pictures import SMALL_BUDGET, textured
from tests.waiting import async_wait_until

QUADRANTS = ("pct:0,0,50,50", "pct:50,0,50,50", "pct:0,50,50,50", "pct:50,50,50,50")
VIEWS = [
    View(image="large.png", sizing="longest:512"),
    View(image="large.png"),
    *(View(image="large.png", region=region) for region in QUADRANTS),
]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data root with a large flat image."""
    folder = tmp_path_factory.mktemp("data")
    Image.fromarray(np.tile(textured(500, 500), (9, 8, 1))).save(folder / "large.png", compress_level=1)
    return folder


class Worker:
    """What of a worker has to do with pixels; its memory keeps no raster."""

    def __init__(self, data: Path, home: Path) -> None:
        self.library = Renderer(ImageRoot(data), home / "pyramids", 0, RasterStore(home / "rasters", 2**28))
        self.idle_work = IdleWorker(self.library, Instrumentation(CollectorRegistry()).kept_rasters)
        self.preparation = RasterPreparation(
            self.library, SMALL_BUDGET, limit_bytes=2**28, threads=1, idle_work=self.idle_work
        )

    async def play(self, views: list[View]) -> None:
        """Two requests for each view, all at once."""
        async with asyncio.TaskGroup() as group:
            for view in views * 2:
                group.create_task(self._ask(view))

    async def _ask(self, view: View) -> None:
        async with self.preparation.rasters([view]):
            return

    def close(self) -> None:
        """End its threads."""
        self.preparation.close()
        self.idle_work.close()


async def test_a_first_job_makes_one_pass_and_no_pyramid(data: Path, tmp_path: Path) -> None:
    """And a second one, on another worker of the machine, none: what was rendered lies on the disk."""
    first, second = Worker(data, tmp_path), Worker(data, tmp_path)
    await first.play(VIEWS)
    stats = first.library.stats()
    assert (stats.renders, stats.passes, stats.ingests) == (len(VIEWS), 1, 0)

    async def kept() -> bool:
        return len(list((tmp_path / "rasters").glob("*.raster"))) == len(VIEWS)

    await async_wait_until(kept, what="the rasters on the disk")
    await second.play(VIEWS)
    stats = second.library.stats()
    assert (stats.renders, stats.passes, stats.found) == (0, 0, len(VIEWS))
    first.close()
    second.close()


@pytest.mark.slow
async def test_ever_new_crops_make_a_pyramid_when_it_would_have_paid(data: Path, tmp_path: Path) -> None:
    """The third pass over the whole image makes it due, and further ones read the pyramid."""
    worker = Worker(data, tmp_path)
    for number in range(3):
        assert not (tmp_path / "pyramids").exists()
        await worker.play([View(image="large.png", region=f"{number},4000,500,500")])

    async def made() -> bool:
        return worker.library.stats().ingests == 1

    await async_wait_until(made, what="the pyramid")
    before = worker.library.stats().passes
    await worker.play([View(image="large.png", region=f"{number},0,3000,4500") for number in range(5)])
    assert worker.library.stats().passes == before + 5  # each reads its own tiles
    worker.close()
