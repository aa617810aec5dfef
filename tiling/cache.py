"""Rasters kept in memory: each is made once however many threads ask, and the oldest leave for space."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future

from tiling.rendering import Raster


class RasterCache:
    """Thread-safe map from raster key to raster, at most `capacity` bytes of pixels, least recently used out first."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._lock = threading.Lock()
        self._rasters: OrderedDict[str, Raster] = OrderedDict()
        self._underway: dict[str, Future[Raster]] = {}
        self.bytes = 0
        self.made = 0
        self.hits = 0

    def get(self, key: str, make: Callable[[], Raster]) -> Raster:
        """Return the raster called `key`, making it if nobody has or is; what `make` raises reaches all who wait."""
        with self._lock:
            if raster := self._rasters.get(key):
                self._rasters.move_to_end(key)
                self.hits += 1
                return raster
            future = self._underway.get(key)
            is_mine = future is None
            if future is None:
                future = self._underway[key] = Future()
            else:
                self.hits += 1
        if is_mine:
            self._make(key, make, future)
        return future.result()

    def _make(self, key: str, make: Callable[[], Raster], future: "Future[Raster]") -> None:
        try:
            raster = make()
        except BaseException as error:  # noqa: BLE001 - handed on to everyone who waits, this thread included
            with self._lock:
                del self._underway[key]
            future.set_exception(error)
            return
        with self._lock:
            del self._underway[key]
            self.made += 1
            self._keep(key, raster)
        future.set_result(raster)

    def _keep(self, key: str, raster: Raster) -> None:
        if raster.pixels.nbytes > self._capacity:
            return
        self._rasters[key] = raster
        self.bytes += raster.pixels.nbytes
        while self.bytes > self._capacity:
            _, oldest = self._rasters.popitem(last=False)
            self.bytes -= oldest.pixels.nbytes
