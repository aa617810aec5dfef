"""Previews show what the model saw, once a raster, and harm nothing."""

import io
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PIL import Image
from prometheus_client import CollectorRegistry

from gigavqa.store.previews import PreviewStore
from gigavqa.tiling.renderer import Renderer
from gigavqa.tiling.rendering import Raster
from gigavqa.tiling.roots import ImageRoot
from gigavqa.tiling.views import View
from gigavqa.workers.idle_work import IdleWorker
from gigavqa.workers.instrumentation import Instrumentation
from gigavqa.workers.preparation import RasterPreparation
from gigavqa.workers.previews import PreviewWriter
from tests.waiting import async_wait_until
from tests.workers.examples import ENTRY, image


class Booth:
    """Previews into a folder, and their counters."""

    def __init__(self, uri: str, library: Renderer) -> None:
        self.store = PreviewStore(uri)
        self.registry = CollectorRegistry()
        instruments = Instrumentation(self.registry)
        self.previews = PreviewWriter(self.store, instruments.previews)
        self.idle_work = IdleWorker(library, instruments.kept_rasters, self.previews)

    def count(self, outcome: str) -> float:
        """How many previews had the outcome."""
        return self.registry.get_sample_value("gigavqa_worker_previews_total", {"outcome": outcome}) or 0.0


@pytest.fixture
def library(data: Path, tmp_path: Path) -> Renderer:
    """The library of the example images."""
    return Renderer(ImageRoot(data), tmp_path, 0)


@pytest.fixture
def open_booth(tmp_path: Path, library: Renderer) -> Iterator[Callable[[], Booth]]:
    """Opens booths over one folder, one after the other."""
    booths: list[Booth] = []

    def make() -> Booth:
        booths.append(Booth(str(tmp_path / "results"), library))
        return booths[-1]

    yield make
    for booth in booths:
        booth.idle_work.close()


@pytest.fixture
def raster(library: Renderer) -> Raster:
    """A raster of an example image."""
    return library.render(View(image=image(0)), ENTRY.visual_budget)


def test_a_preview_looks_like_the_raster(open_booth: Callable[[], Booth], raster: Raster) -> None:
    """A JPEG of at most 640 pixels a side and the raster's proportions."""
    booth = open_booth()
    booth.idle_work.offer(raster)
    booth.idle_work.close()
    jpeg = booth.store.read(raster.key)
    assert jpeg is not None
    with Image.open(io.BytesIO(jpeg)) as shown:
        height, width = raster.pixels.shape[:2]
        assert shown.format == "JPEG"
        assert max(shown.size) == min(640, max(width, height))
        assert shown.width / shown.height == pytest.approx(width / height, rel=0.02)


def test_a_raster_is_written_once(open_booth: Callable[[], Booth], raster: Raster) -> None:
    """However often it is offered, and by whichever worker."""
    first, second = open_booth(), open_booth()
    for _ in range(3):
        first.idle_work.offer(raster)
    first.idle_work.close()
    second.idle_work.offer(raster)
    second.idle_work.close()
    assert (first.count("written"), second.count("known"), second.count("written")) == (1, 1, 0)


async def test_a_store_that_fails_harms_no_request(library: Renderer, tmp_path: Path) -> None:
    """The folder is a file: the raster is served all the same, and the failure counted."""
    (tmp_path / "results").write_text("in the way")
    booth = Booth(str(tmp_path / "results"), library)

    async def failed() -> bool:
        return booth.count("failed") == 1

    preparation = RasterPreparation(
        library,
        ENTRY.visual_budget,
        limit_bytes=2**24,
        threads=1,
        idle_work=booth.idle_work,
    )
    async with preparation.rasters([View(image=image(1))]) as prepared:
        assert prepared.rasters[0].pixels.size
    await async_wait_until(failed)
    preparation.close()
    booth.idle_work.close()


def test_what_is_no_key_has_no_preview(open_booth: Callable[[], Booth]) -> None:
    """A key from a file of responses is never taken for a path."""
    store = open_booth().store
    assert store.read("../../secret") is None
    assert store.read("0" * 32) is None
