"""Rasters kept in memory: each is made once however many threads ask, and the oldest leave for space."""

import threading
from collections import OrderedDict
from concurrent.futures import Future

from gigavqa.tiling.rendering import Raster


class RasterCache:
    """Thread-safe map from raster key to raster, at most `capacity` bytes of pixels, least recently used out first."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._lock = threading.Lock()
        self._rasters: OrderedDict[str, Raster] = OrderedDict()
        self._underway: dict[str, Future[Raster]] = {}
        self.bytes = 0
        self.hits = 0

    def claim(self, key: str) -> tuple["Future[Raster]", bool]:
        """Return the raster called `key`, now or later, and whether it is the caller's to make.

        Whoever is told so must `fulfil` it or `fail` it: others wait.
        """
        with self._lock:
            if raster := self._rasters.get(key):
                self._rasters.move_to_end(key)
                self.hits += 1
                future: Future[Raster] = Future()
                future.set_result(raster)
                return future, False
            if underway := self._underway.get(key):
                self.hits += 1
                return underway, False
            self._underway[key] = Future()
            return self._underway[key], True

    def fulfil(self, raster: Raster) -> None:
        """Hand a raster to all who wait for it, and keep it."""
        with self._lock:
            future = self._underway.pop(raster.key)
            self._keep(raster)
        future.set_result(raster)

    def fail(self, key: str, error: BaseException) -> None:
        """Let everybody who waits for a raster know why there is none; the next one who asks makes it."""
        with self._lock:
            future = self._underway.pop(key)
        future.set_exception(error)

    def _keep(self, raster: Raster) -> None:
        if raster.pixels.nbytes > self._capacity:
            return
        self._rasters[raster.key] = raster
        self.bytes += raster.pixels.nbytes
        while self.bytes > self._capacity:
            _, oldest = self._rasters.popitem(last=False)
            self.bytes -= oldest.pixels.nbytes
