"""Idle work of a worker while nobody waits for pixels: previews, rasters for the disk, and pyramids that would pay."""

import logging
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import Counter

from gigavqa.tiling.renderer import Renderer
from gigavqa.tiling.rendering import Raster
from gigavqa.workers.previews import PreviewWriter

log = logging.getLogger(__name__)

MAX_PENDING_BYTES = 256 * 2**20  # none is dropped: decision 0007
"""Of rasters that wait for previews and for the disk before they are not put off any more."""


class _WorkerClosedError(Exception):
    """The worker ends, and with it what is not worth finishing."""


class IdleWorker:
    """One thread that works when no rendering is under way. Whatever goes wrong is counted and logged, and harms none.

    Rasters that wait for it take at most `waiting_bytes`, and one more each time that they do: from there on it works
    beside the renderings, and from twice as much on whoever brings a raster shrinks its preview, and the disk goes
    without it. `counter` counts by outcome what is kept on the disk.
    """

    def __init__(
        self,
        library: Renderer,
        counter: Counter,
        previews: PreviewWriter | None = None,
        waiting_bytes: int = MAX_PENDING_BYTES,
    ) -> None:
        self._library = library
        self._counter = counter
        self._previews = previews
        self._limit = waiting_bytes
        self._changed = threading.Condition()
        self._waiting: OrderedDict[str, Raster] = OrderedDict()
        self._bytes = 0
        self._busy = 0
        self._closed = False
        self._may_improve = False
        self._thread = threading.Thread(target=self._run, name="idle-work", daemon=True)
        self._thread.start()

    @contextmanager
    def renderings(self) -> Iterator[None]:
        """Tell that somebody waits for pixels meanwhile."""
        with self._changed:
            self._busy += 1
        try:
            yield
        finally:
            with self._changed:
                self._busy -= 1
                self._may_improve = True
                self._changed.notify_all()

    def offer(self, raster: Raster) -> None:
        """Let a raster be shown to people and kept on the disk, in time; takes no time itself unless too many wait."""
        with self._changed:
            if raster.key in self._waiting or self._closed:
                return
            if self._bytes < 2 * self._limit:
                self._waiting[raster.key] = raster
                self._bytes += raster.pixels.nbytes
                self._changed.notify_all()
                return
        self._show(raster)

    def close(self) -> None:
        """Write the previews of the rasters that wait, give up a pyramid that is being made, and end the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(self._has_work)
                raster = self._next()
                if raster is None and self._closed:
                    return
                self._may_improve = self._may_improve and raster is not None
            if raster is None:
                self._improve()
            else:
                self._show(raster)
                if not self._closed:
                    self._keep(raster)

    def _has_work(self) -> bool:
        if self._closed:
            return True
        if self._busy:
            return self._bytes > self._limit
        return bool(self._waiting) or self._may_improve

    def _next(self) -> Raster | None:
        if not self._waiting:
            return None
        _, raster = self._waiting.popitem(last=False)
        self._bytes -= raster.pixels.nbytes
        return raster

    def _show(self, raster: Raster) -> None:
        if self._previews:
            self._previews.write(raster)

    def _keep(self, raster: Raster) -> None:
        try:
            if self._library.keep(raster):
                self._counter.labels("written").inc()
        except Exception:
            self._counter.labels("failed").inc()
            log.warning("raster %s is not kept on the disk", raster.key, exc_info=True)

    def _improve(self) -> None:
        try:
            while self._library.make_due_pyramid(self._defer):
                pass
        except _WorkerClosedError:
            return
        except Exception:
            log.warning("a pyramid that would pay could not be made", exc_info=True)

    def _defer(self, written: int, total: int) -> None:
        """Wait while somebody waits for pixels; called by long work every now and then."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or not self._busy)
            if self._closed:
                raise _WorkerClosedError
