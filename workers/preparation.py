"""Renders the views of claimed requests ahead of the engine, in threads, within a bound of bytes."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import NamedTuple

from jobs.models import InferenceRequest
from tiling.budgets.base import VisualBudget
from tiling.errors import TilingError
from tiling.library import Library
from tiling.rendering import Raster
from tiling.views import View
from workers.previews import Previews


@dataclass(frozen=True)
class Prepared:
    """The rasters of one request, in the order of its views, and the seconds that it waited for them."""

    rasters: tuple[Raster, ...]
    seconds: float


class _Look(NamedTuple):
    """A view in a prompt of `num_images`: 1 for families to which their number makes no difference."""

    view: View
    num_images: int


@dataclass
class _Shared:
    rendering: asyncio.Task[Raster]
    reserved: int
    users: int = 0


class Preparation:
    """Rasters for requests: each view is held once however many requests look at it, and all together in bounds."""

    def __init__(
        self,
        library: Library,
        budget: VisualBudget,
        *,
        limit_bytes: int,
        threads: int,
        previews: Previews | None = None,
    ) -> None:
        self._library = library
        self._previews = previews
        self._budget = budget
        self._limit = limit_bytes
        self._largest = 3 * budget.max_raster_pixels
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="render")
        self._held: dict[_Look, _Shared] = {}
        self._reserved = 0
        self._queue = asyncio.Lock()
        self._freed = asyncio.Event()

    async def expect(self, requests: Iterable[InferenceRequest]) -> None:
        """Let the library ingest the flat images that these requests look at often enough."""
        views = {view for request in requests for view in request.views}
        loop = asyncio.get_running_loop()
        for image, num_views in Counter(view.image for view in views).items():
            try:
                await loop.run_in_executor(self._threads, self._library.expect, image, num_views)
            except TilingError:
                continue  # each request that looks at it will meet the error and name it

    @asynccontextmanager
    async def rasters(self, views: Sequence[View]) -> AsyncIterator[Prepared]:
        """Hold the rasters of one request. Raises TilingError subclasses.

        Waits, first come first served, until they fit beside what other requests hold.
        """
        num_images = len(views) if self._budget.counts_images else 1
        looks = [_Look(view, num_images) for view in views]
        shared = await self._acquire(looks)
        try:
            started = time.monotonic()
            # Shielded: others may wait for the same rendering when this request is cancelled.
            rasters = [await asyncio.shield(entry.rendering) for entry in shared]
            yield Prepared(tuple(rasters), time.monotonic() - started)
        finally:
            self._release(looks)

    def close(self) -> None:
        """Let running renderings finish and end the threads."""
        self._threads.shutdown(wait=True, cancel_futures=True)

    async def _acquire(self, looks: Sequence[_Look]) -> list[_Shared]:
        async with self._queue:
            while self._reserved and self._reserved + self._needed(looks) > self._limit:
                self._freed.clear()
                await self._freed.wait()
            return [self._hold(look) for look in looks]

    def _needed(self, looks: Sequence[_Look]) -> int:
        return self._largest * len({look for look in looks if look not in self._held})

    def _hold(self, look: _Look) -> _Shared:
        if look not in self._held:
            self._held[look] = _Shared(asyncio.create_task(self._render(look)), self._largest)
            self._reserved += self._largest
        entry = self._held[look]
        entry.users += 1
        return entry

    async def _render(self, look: _Look) -> Raster:
        loop = asyncio.get_running_loop()
        raster = await loop.run_in_executor(self._threads, self._render_now, look)
        self._resize(self._held[look], raster.pixels.nbytes)
        return raster

    def _render_now(self, look: _Look) -> Raster:
        raster = self._library.render(look.view, self._budget, look.num_images)
        if self._previews:
            self._previews.offer(raster)
        return raster

    def _release(self, looks: Sequence[_Look]) -> None:
        for look in looks:
            entry = self._held[look]
            entry.users -= 1
            if entry.users == 0:
                del self._held[look]
                entry.rendering.cancel()
                entry.rendering.add_done_callback(_retrieve)
                self._resize(entry, 0)

    def _resize(self, entry: _Shared, num_bytes: int) -> None:
        self._reserved += num_bytes - entry.reserved
        entry.reserved = num_bytes
        self._freed.set()


def _retrieve(task: asyncio.Task[Raster]) -> None:
    """Look at the error of a rendering that nobody waits for any more, lest asyncio complains."""
    if not task.cancelled():
        task.exception()
