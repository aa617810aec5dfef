"""Rendering ahead: shared, bounded, and with errors that stay with those who asked."""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from PIL import Image

from gigavqa.catalogue.families.deepseek_vl2 import DeepseekVL2Budget
from gigavqa.tiling.budgets.base import VisualBudget
from gigavqa.tiling.digest import content_digest
from gigavqa.tiling.errors import ImageChangedError, ImageNotFoundError
from gigavqa.tiling.renderer import PendingRaster, Renderer, RenderWork, ViewRequest
from gigavqa.tiling.roots import ImageRoot
from gigavqa.tiling.views import View
from gigavqa.workers.preparation import RasterPreparation
from tests.waiting import async_wait_until
from tests.workers.examples import ENTRY, draw_images, image

LARGEST = 3 * 512 * 512


@pytest.fixture
def library(data: Path, tmp_path: Path) -> Renderer:
    """A library without a cache, so that each rendering counts."""
    return Renderer(ImageRoot(data), tmp_path, 0)


@pytest.fixture
def preparation(library: Renderer) -> Iterator[RasterPreparation]:
    """A preparation that holds two rasters of the largest size."""
    made = RasterPreparation(library, ENTRY.visual_budget, limit_bytes=2 * LARGEST, threads=2)
    yield made
    made.close()


async def test_requests_that_look_at_one_view_share_its_rendering(
    preparation: RasterPreparation, library: Renderer
) -> None:
    """Ten requests at once cause one rendering."""
    together = asyncio.Barrier(10)

    async def look() -> int:
        async with preparation.rasters([View(image=image(0))]) as prepared:
            await together.wait()
            return id(prepared.rasters[0].pixels)

    assert len(set(await asyncio.gather(*(look() for _ in range(10))))) == 1
    assert library.stats().renders == 1


async def test_what_is_asked_at_once_of_an_image_is_made_in_one_pass(library: Renderer) -> None:
    """By however many requests."""
    preparation = RasterPreparation(library, ENTRY.visual_budget, limit_bytes=2**28, threads=2)
    async with asyncio.TaskGroup() as group:
        for region in ("full", "0,0,400,400", "400,0,400,400", "0,200,800,400"):
            group.create_task(_look(preparation, image(0), region))
    preparation.close()
    assert (library.stats().renders, library.stats().passes) == (4, 1)


async def test_a_pass_takes_as_many_views_as_may_be_held(library: Renderer) -> None:
    """Two fit; the third makes a pass of its own."""
    preparation = RasterPreparation(library, ENTRY.visual_budget, limit_bytes=2 * LARGEST, threads=1)
    async with asyncio.TaskGroup() as group:
        for region in ("full", "0,0,780,590", "10,10,780,590"):
            group.create_task(_look(preparation, image(0), region))
    preparation.close()
    assert (library.stats().renders, library.stats().passes) == (3, 2)


async def test_images_are_rendered_in_the_order_of_their_oldest_request(library: Renderer) -> None:
    """One thread: all of the first image before anything of the second, whoever asked in between."""
    preparation = RasterPreparation(library, ENTRY.visual_budget, limit_bytes=2**28, threads=1)
    seen: list[str] = []

    async def look(name: str, region: str) -> None:
        async with preparation.rasters([View(image=name, region=region)]):
            seen.append(name)

    async with asyncio.TaskGroup() as group:
        for number, region in ((1, "full"), (0, "full"), (1, "0,0,400,400"), (0, "0,0,400,400")):
            group.create_task(look(image(number), region))
    preparation.close()
    assert seen == [image(1)] * 2 + [image(0)] * 2


async def test_rendering_goes_on_after_a_pause(preparation: RasterPreparation) -> None:
    """Whenever a request comes, though nothing waited before."""
    for number in range(40):
        await _look(preparation, image(number % 4))


async def test_what_nobody_waits_for_any_more_ends_with_the_threads(library: Renderer) -> None:
    """And another preparation of the same library makes it anew."""
    preparation = RasterPreparation(library, ENTRY.visual_budget, limit_bytes=2**28, threads=1)
    asking = [asyncio.create_task(_look(preparation, image(number))) for number in range(4)]
    await asyncio.sleep(0.02)
    preparation.close()
    for task in asking:
        task.cancel()
    await asyncio.wait(asking)
    again = RasterPreparation(library, ENTRY.visual_budget, limit_bytes=2**28, threads=1)
    for number in range(4):
        await asyncio.wait_for(_look(again, image(number)), 30)
    again.close()


async def test_rasters_come_in_the_order_of_the_views(preparation: RasterPreparation) -> None:
    """A request sees its views as it declared them."""
    views = [View(image=image(2)), View(image=image(1), region="0,0,320,320")]
    async with preparation.rasters(views) as prepared:
        assert [raster.view for raster in prepared.rasters] == views


async def test_a_view_among_others_is_another_raster_where_the_family_counts(library: Renderer) -> None:
    """DeepSeek-VL2 crops a picture alone in its prompt, and none of three: other pixels, under another key."""
    preparation = RasterPreparation(library, DeepseekVL2Budget(), limit_bytes=2**28, threads=1)
    crowd = [View(image=image(number)) for number in range(3)]
    async with preparation.rasters(crowd[:1]) as alone, preparation.rasters(crowd) as together:
        (single,), (same, *_) = alone.rasters, together.rasters
    preparation.close()
    assert single.view == same.view
    assert single.visual_tokens > same.visual_tokens == 421
    assert single.key != same.key


async def test_rendering_waits_for_room(preparation: RasterPreparation) -> None:
    """A third raster is not rendered before one of the first two is released."""
    first, second = (preparation.rasters([View(image=image(number))]) for number in (0, 1))
    await first.__aenter__()
    await second.__aenter__()
    third = asyncio.create_task(_look(preparation, image(2)))
    fourth = asyncio.create_task(_look(preparation, image(0)))
    await asyncio.wait([third, fourth], timeout=0.2)
    assert not third.done()
    await first.__aexit__(None, None, None)
    await third
    await fourth
    await second.__aexit__(None, None, None)


async def test_a_request_larger_than_the_bound_is_served_alone(preparation: RasterPreparation) -> None:
    """Four rasters are prepared although only two fit, because nothing else is held."""
    async with preparation.rasters([View(image=image(number)) for number in range(4)]) as prepared:
        assert len(prepared.rasters) == 4


async def test_an_error_does_not_keep_room(preparation: RasterPreparation) -> None:
    """Missing images can be asked for more often than rasters fit."""
    for _ in range(4):
        with pytest.raises(ImageNotFoundError):
            await _look(preparation, "demo/images/none.png")
    await _look(preparation, image(0))


async def test_a_cancelled_request_does_not_take_the_rendering_from_others(preparation: RasterPreparation) -> None:
    """One of two that wait for a view is cancelled; the other one gets it."""
    cancelled, kept = (asyncio.create_task(_look(preparation, image(3))) for _ in range(2))
    await asyncio.sleep(0)
    cancelled.cancel()
    await kept

    async def over() -> bool:
        return cancelled.done()

    await async_wait_until(over)
    assert cancelled.cancelled()


class Replaced(Renderer):
    """A library whose picture 0 is replaced so many times by one of its size, each time just before it is read."""

    def __init__(self, root: Path, times: int) -> None:
        super().__init__(ImageRoot(draw_images(root)), root / "pyramids", 0)
        self.picture, self.times = root / image(0), times

    def plan(self, looks: Sequence[ViewRequest], budget: VisualBudget) -> tuple[list[PendingRaster], list[RenderWork]]:
        """Plan, and replace what was planned for."""
        planned = super().plan(looks, budget)
        if self.times:
            self.replace()
        return planned

    def replace(self) -> None:
        """Put another picture in its place."""
        self.times -= 1
        new = self.picture.with_name("new.png")
        Image.new("RGB", (800, 600), (self.times % 256, 2, 3)).save(new)
        new.replace(self.picture)


async def test_a_picture_that_is_replaced_while_it_is_read_is_looked_at_anew(tmp_path: Path) -> None:
    """Twice: all who asked see what it is at last, by its own digest."""
    library = Replaced(tmp_path, 2)
    preparation = RasterPreparation(library, ENTRY.visual_budget, limit_bytes=2**28, threads=1)
    async with (
        preparation.rasters([View(image=image(0))]) as one,
        preparation.rasters([View(image=image(0)), View(image=image(0), region="0,0,400,400")]) as two,
    ):
        rasters = [*one.rasters, *two.rasters]
        assert {raster.digest for raster in rasters} == {content_digest(library.picture)}
        assert {tuple(raster.pixels[0, 0]) for raster in rasters} == {(0, 2, 3)}
    preparation.close()


async def test_views_of_one_request_show_one_version_of_a_picture(tmp_path: Path) -> None:
    """Though another request still holds one of them as it was before: that one keeps it."""
    library = Replaced(tmp_path, 0)
    preparation = RasterPreparation(library, ENTRY.visual_budget, limit_bytes=2**28, threads=1)
    whole, part = View(image=image(0)), View(image=image(0), region="0,0,400,400")
    async with preparation.rasters([whole]) as before:
        old = content_digest(library.picture)
        library.replace()
        library.times = 0
        async with preparation.rasters([whole, part]) as after:
            assert {raster.digest for raster in after.rasters} == {content_digest(library.picture)}
        assert {raster.digest for raster in before.rasters} == {old}
    async with asyncio.timeout(30), preparation.rasters([whole]):
        preparation.close()


async def test_a_picture_that_goes_on_changing_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After as many looks as there are pauses and one; it keeps no room from others."""
    monkeypatch.setattr("gigavqa.workers.preparation._PAUSES_SECONDS", (0.0, 0.0, 0.0))
    library = Replaced(tmp_path, 1000)
    preparation = RasterPreparation(library, ENTRY.visual_budget, limit_bytes=LARGEST, threads=1)
    with pytest.raises(ImageChangedError, match=r"demo/images/0\.png"):
        await _look(preparation, image(0))
    assert library.times == 1000 - 4
    library.times = 0
    await _look(preparation, image(1))
    preparation.close()


async def _look(preparation: RasterPreparation, name: str, region: str = "full") -> None:
    async with preparation.rasters([View(image=name, region=region)]):
        return
