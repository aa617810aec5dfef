"""What nobody waits for is done when nobody waits for anything else, and it is done."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from prometheus_client import CollectorRegistry

from gigavqa.store.previews import PreviewStore
from gigavqa.tiling.renderer import Renderer
from gigavqa.tiling.rendering import Raster
from gigavqa.tiling.roots import ImageRoot
from gigavqa.tiling.store import RasterStore
from gigavqa.tiling.views import View
from gigavqa.workers.idle_work import IdleWorker
from gigavqa.workers.instrumentation import Instrumentation
from gigavqa.workers.previews import PreviewWriter
from tests.tiling.pictures import SMALL_BUDGET, textured
from tests.waiting import wait_until


class Desk:
    """A leisure over a large flat image, and what it leaves behind."""

    def __init__(self, folder: Path, data: Path, waiting_bytes: int) -> None:
        self.folder = folder
        self.library = Renderer(ImageRoot(data), folder / "pyramids", 2**28, RasterStore(folder / "rasters", 2**28))
        instruments = Instrumentation(CollectorRegistry())
        previews = PreviewWriter(PreviewStore(str(folder / "results")), instruments.previews)
        self.idle_work = IdleWorker(self.library, instruments.kept_rasters, previews, waiting_bytes)

    def crop(self, index: int) -> Raster:
        """A crop at the bottom of the image, which takes a pass over all of it."""
        return self.library.render(View(image="large.png", region=f"{index},4000,500,500"), SMALL_BUDGET)

    def names(self, *folders: str) -> set[str]:
        """What lies in a folder, by raster key."""
        return {path.stem for path in self.folder.joinpath(*folders).glob("*")}

    @property
    def pyramids(self) -> int:
        """Pyramids that were made."""
        return len(list((self.folder / "pyramids").glob("*.tif")))


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A large flat image."""
    path = tmp_path_factory.mktemp("image") / "large.png"
    Image.fromarray(np.tile(textured(500, 500), (9, 8, 1))).save(path, compress_level=1)
    return path


@pytest.fixture
def open_desk(tmp_path: Path, image: Path) -> Iterator[Callable[..., Desk]]:
    """Opens a desk whose leisure may hold so many bytes of rasters."""
    desks: list[Desk] = []

    def make(waiting_bytes: int = 2**28) -> Desk:
        desks.append(Desk(tmp_path, image.parent, waiting_bytes))
        return desks[-1]

    yield make
    for desk in desks:
        desk.idle_work.close()


@pytest.mark.slow
def test_nothing_is_done_while_somebody_waits_for_pixels(open_desk: Callable[..., Desk]) -> None:
    """Previews, rasters for the disk and a pyramid that would pay come when the last rendering is over."""
    desk = open_desk()
    with desk.idle_work.renderings():
        with desk.idle_work.renderings():
            rasters = [desk.crop(index) for index in range(3)]
            for raster in rasters:
                desk.idle_work.offer(raster)
        assert not desk.names("results", "_previews") | desk.names("rasters")
        assert desk.pyramids == 0
    keys = {raster.key for raster in rasters}
    wait_until(lambda: desk.names("results", "_previews") == keys, what="the previews")
    wait_until(lambda: desk.names("rasters") == keys, what="the rasters")
    wait_until(lambda: desk.pyramids == 1, what="the pyramid")
    wait_until(lambda: desk.library.stats().ingests == 1, what="the count of pyramids")


def test_rasters_that_wait_are_bounded(open_desk: Callable[..., Desk]) -> None:
    """Beyond the bound they are done although somebody waits, and beyond twice of it their previews are at once."""
    desk = open_desk(waiting_bytes=0)
    with desk.idle_work.renderings():
        raster = desk.crop(0)
        desk.idle_work.offer(raster)
        assert desk.names("results", "_previews") == {raster.key}


def test_a_little_more_than_the_bound_is_done_beside_the_renderings(open_desk: Callable[..., Desk]) -> None:
    """Until it is within bounds again."""
    desk = open_desk(waiting_bytes=500_000)  # a raster has 691,200
    with desk.idle_work.renderings():
        raster = desk.crop(0)
        desk.idle_work.offer(raster)
        wait_until(lambda: desk.names("rasters") == {raster.key}, what="the raster")


def test_previews_of_rasters_that_wait_are_written_at_the_end(open_desk: Callable[..., Desk]) -> None:
    """A worker that is told to end leaves none out."""
    desk = open_desk()
    with desk.idle_work.renderings():
        rasters = [desk.crop(index) for index in range(2)]
        for raster in rasters:
            desk.idle_work.offer(raster)
        desk.idle_work.close()
    assert desk.names("results", "_previews") == {raster.key for raster in rasters}
    assert not desk.names("rasters")


@pytest.mark.slow
def test_a_pyramid_stands_back_when_somebody_waits_and_goes_on_after(open_desk: Callable[..., Desk]) -> None:
    """Rendering begins amid its making."""
    desk = open_desk()
    begun, rendering, steps = threading.Event(), threading.Event(), []
    defer = desk.idle_work._defer

    def watched(written: int, total: int) -> None:
        steps.append(written)
        begun.set()
        rendering.wait(30)
        defer(written, total)

    desk.idle_work._defer = watched  # type: ignore[method-assign]
    with desk.idle_work.renderings():
        for index in range(3):
            desk.crop(index)
    assert begun.wait(30)
    with desk.idle_work.renderings():
        rendering.set()
        desk.crop(3)
        assert (len(steps), desk.pyramids) == (1, 0)
    wait_until(lambda: desk.pyramids == 1, what="the pyramid")


def test_a_pyramid_is_given_up_at_the_end(open_desk: Callable[..., Desk]) -> None:
    """It leaves nothing."""
    desk = open_desk()
    begun = threading.Event()
    defer = desk.idle_work._defer

    def watched(written: int, total: int) -> None:
        begun.set()
        wait_until(lambda: desk.idle_work._closed, what="the end")
        defer(written, total)

    desk.idle_work._defer = watched  # type: ignore[method-assign]
    with desk.idle_work.renderings():
        for index in range(3):
            desk.crop(index)
    assert begun.wait(30)
    desk.idle_work.close()
    assert {path.suffix for path in (desk.folder / "pyramids").iterdir()} == {".lock"}
