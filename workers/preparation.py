"""Renders the views of claimed requests ahead of the engine, in threads, within a bound of bytes."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from functools import partial

from gigavqa.tiling.budgets.base import VisualBudget
from gigavqa.tiling.decode_threads import lower_priority
from gigavqa.tiling.errors import ImageChangedError
from gigavqa.tiling.renderer import PendingRaster, Renderer, ViewRequest
from gigavqa.tiling.rendering import Raster
from gigavqa.tiling.roots import UPLOAD_PREFIX
from gigavqa.tiling.views import View
from gigavqa.workers.idle_work import IdleWorker

_BATCHING_SECONDS = 0.01
"""The requests of one claim come within some milliseconds, and what they look at is to be planned together."""

_PAUSES_SECONDS = (0.0, 0.1, 0.3, 1.0, 3.0)
"""Before each further look at a picture that was replaced while it was being read."""


@dataclass(frozen=True)
class RequestRasters:
    """The rasters of one request, in the order of its views, and the seconds that it waited for them.

    All views of one picture are of one version of its file.
    """

    rasters: tuple[Raster, ...]
    seconds: float


@dataclass
class _RasterEntry:
    raster: "asyncio.Future[Raster]"
    reserved: int
    users: int = 0


class RasterPreparation:
    """Rasters for requests: each view is held once however many requests look at it, and all together in bounds.

    Images are rendered in the order of their oldest request, as many at once as there are threads; what is held by then
    of an image is rendered together. What the threads leave over goes to `idle_work`. Before a raster is there, the
    largest that the budget may make counts, or with `measured` what will be made.
    """

    def __init__(
        self,
        library: Renderer,
        budget: VisualBudget,
        *,
        limit_bytes: int,
        threads: int,
        idle_work: IdleWorker | None = None,
        measured: bool = False,
    ) -> None:
        self._library = library
        self._measured = measured
        self._idle_work = idle_work
        self._budget = budget
        self._limit = limit_bytes
        self._largest = 3 * budget.max_raster_pixels
        self._num_threads = threads
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="render", initializer=lower_priority)
        self._held: dict[ViewRequest, _RasterEntry] = {}
        self._reserved = 0
        self._queue = asyncio.Lock()
        self._freed = asyncio.Event()
        self._waiting: dict[str, list[ViewRequest]] = {}
        self._renderers: set[asyncio.Task[None] | None] = set()
        self._closed = False

    @asynccontextmanager
    async def rasters(self, views: Sequence[View], *, urgent: bool = False) -> AsyncIterator[RequestRasters]:
        """Hold the rasters of one request. Raises TilingError subclasses.

        Waits, first come first served, until they fit beside what other requests hold. What is urgent is begun at once,
        whatever others may come to look at of the same image. A picture that is replaced meanwhile is looked at anew;
        one that goes on changing raises ImageChangedError.
        """
        num_images = len(views) if self._budget.counts_images else 1
        looks = [ViewRequest(view, num_images) for view in views]
        sizes = await self._sizes(looks)
        started: float | None = None
        for pause in (*_PAUSES_SECONDS, None):
            async with self._holding(looks, sizes, urgent) as shared:
                started = started or time.monotonic()
                try:
                    rasters = await _await_one_version(shared)
                except ImageChangedError:
                    if pause is None:
                        raise
                    self._forget(looks, shared)
                else:
                    yield RequestRasters(rasters, time.monotonic() - started)
                    return
            await asyncio.sleep(pause)

    def close(self) -> None:
        """Break off what is being rendered, and end the threads."""
        self._closed = True
        self._threads.shutdown(wait=True)

    async def _sizes(self, looks: Sequence[ViewRequest]) -> Mapping[ViewRequest, int]:
        """Bytes to reserve for each."""
        if not (self._measured and looks):
            return dict.fromkeys(looks, self._largest)
        wanted = list(dict.fromkeys(looks))
        measure = partial(self._library.measure, wanted, self._budget)
        return dict(zip(wanted, await asyncio.get_running_loop().run_in_executor(None, measure), strict=True))

    @asynccontextmanager
    async def _holding(
        self, looks: Sequence[ViewRequest], sizes: Mapping[ViewRequest, int], urgent: bool
    ) -> AsyncIterator[Sequence[_RasterEntry]]:
        shared = await self._acquire(looks, sizes, urgent)
        try:
            yield shared
        finally:
            self._release(looks, shared)

    async def _acquire(
        self, looks: Sequence[ViewRequest], sizes: Mapping[ViewRequest, int], urgent: bool
    ) -> list[_RasterEntry]:
        async with self._queue:
            while self._reserved and self._reserved + self._needed(looks, sizes) > self._limit:
                self._freed.clear()
                await self._freed.wait()
            return [self._hold(look, sizes[look], urgent) for look in looks]

    def _needed(self, looks: Sequence[ViewRequest], sizes: Mapping[ViewRequest, int]) -> int:
        return sum(sizes[look] for look in {look for look in looks if look not in self._held})

    def _hold(self, look: ViewRequest, num_bytes: int, urgent: bool) -> _RasterEntry:
        if look not in self._held:
            self._held[look] = _RasterEntry(asyncio.get_running_loop().create_future(), num_bytes)
            self._reserved += num_bytes
            self._await(look, urgent)
        entry = self._held[look]
        entry.users += 1
        return entry

    def _await(self, look: ViewRequest, urgent: bool = False) -> None:
        others = self._waiting.setdefault(look.view.image, [])
        others.append(look)
        if len(others) == 1 and len(self._renderers) < self._num_threads:
            renderer = asyncio.create_task(self._render_waiting(urgent), name="renderer")
            self._renderers.add(renderer)

    async def _render_waiting(self, urgent: bool) -> None:
        """Render image after image, until none waits."""
        try:
            await asyncio.sleep(0 if urgent else _BATCHING_SECONDS)
            while self._waiting and not self._closed:
                looks = [look for look in self._waiting.pop(next(iter(self._waiting))) if self._is_wanted(look)]
                with self._idle_work.renderings() if self._idle_work else nullcontext():
                    await self._render(looks, urgent)
        finally:
            self._renderers.discard(asyncio.current_task())

    async def _render(self, looks: Sequence[ViewRequest], urgent: bool) -> None:
        loop = asyncio.get_running_loop()
        # Its own threads give way to all else; what is in memory is there before they come to it.
        threads = None if urgent else self._threads
        try:
            awaited, work = await loop.run_in_executor(threads, self._library.plan, looks, self._budget)
        except Exception as error:  # noqa: BLE001 - handed on to everyone who waits
            for look in looks:
                self._deliver(look, None, error)
            return
        for each in awaited:
            each.raster.add_done_callback(partial(self._arrived, loop, each))

        def is_wanted() -> bool:
            return not self._closed and any(map(self._is_wanted, looks))

        if self._closed:
            for make in work:
                make(is_wanted)
        else:
            await asyncio.gather(*(loop.run_in_executor(self._threads, make, is_wanted) for make in work))

    def _arrived(self, loop: asyncio.AbstractEventLoop, awaited: PendingRaster, future: "Future[Raster]") -> None:
        """Pass on what became of a raster; called in the thread that made it."""
        error = future.exception()
        raster = None if error else awaited.result()
        if raster and self._idle_work and not raster.view.image.startswith(UPLOAD_PREFIX):
            self._idle_work.offer(raster)
        if not self._closed:
            loop.call_soon_threadsafe(self._deliver, awaited.look, raster, error)

    def _deliver(self, look: ViewRequest, raster: Raster | None, error: BaseException | None) -> None:
        if not self._is_wanted(look):
            return
        entry = self._held[look]
        if raster:
            entry.raster.set_result(raster)
            self._resize(entry, raster.pixels.nbytes)
        elif isinstance(error, CancelledError):
            self._await(look)  # others, of whom none was left, began to make it
        elif error:
            entry.raster.set_exception(error)
            entry.raster.exception()  # looked at, lest asyncio complains when nobody waits for it any more

    def _is_wanted(self, look: ViewRequest) -> bool:
        entry = self._held.get(look)
        return entry is not None and not entry.raster.done()

    def _forget(self, looks: Sequence[ViewRequest], shared: Sequence[_RasterEntry]) -> None:
        """Let whoever holds these looks from now on see them anew; what is under way is nobody's past yet."""
        for look, entry in zip(looks, shared, strict=True):
            if entry.raster.done() and self._held.get(look) is entry:
                del self._held[look]

    def _release(self, looks: Sequence[ViewRequest], shared: Sequence[_RasterEntry]) -> None:
        for look, entry in zip(looks, shared, strict=True):
            entry.users -= 1
            if entry.users == 0:
                if self._held.get(look) is entry:
                    del self._held[look]
                entry.raster.cancel()
                self._resize(entry, 0)

    def _resize(self, entry: _RasterEntry, num_bytes: int) -> None:
        self._reserved += num_bytes - entry.reserved
        entry.reserved = num_bytes
        self._freed.set()


async def _await_one_version(shared: Sequence[_RasterEntry]) -> tuple[Raster, ...]:
    # Shielded: others may wait for the same raster when this request is cancelled.
    rasters = tuple([await asyncio.shield(entry.raster) for entry in shared])
    digests: dict[str, str] = {}
    for raster in rasters:
        if digests.setdefault(raster.view.image, raster.digest) != raster.digest:
            raise ImageChangedError(f"image '{raster.view.image}' was replaced between two views of it")
    return rasters
