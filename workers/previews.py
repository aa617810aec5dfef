"""Makes a small JPEG of every raster that is shown to the model, once, and beside everything else."""

import io
import logging
import threading
from concurrent.futures import ThreadPoolExecutor

from PIL import Image
from prometheus_client import Counter

from jobs.previews import PreviewStore
from tiling.rendering import Raster

log = logging.getLogger(__name__)

_LONGEST = 640
_QUALITY = 80
_WAITING = 64
"""Shrunken rasters that may wait for the store, 1.2 MB each; further ones go without a preview."""


class Previews:
    """Writes previews in a thread of its own; whatever goes wrong is counted and logged, and harms no request."""

    def __init__(self, store: PreviewStore, counter: Counter) -> None:
        self._store = store
        self._counter = counter
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="previews")
        self._lock = threading.Lock()
        self._known: set[int] = set()
        self._waiting = 0

    def offer(self, raster: Raster) -> None:
        """Shrink a raster that was not offered before, and let its preview be written; takes some milliseconds."""
        if not self._take(raster.key):
            return
        small = _shrink(raster)
        try:
            self._thread.submit(self._write, raster.key, small)
        except RuntimeError:  # closed meanwhile
            self._count("dropped")

    def close(self) -> None:
        """Write what waits, and end the thread."""
        self._thread.shutdown(wait=True)

    def _take(self, key: str) -> bool:
        number = hash(key)  # eight bytes each, for as long as the worker lives
        with self._lock:
            if number in self._known:
                return False
            if self._waiting >= _WAITING:
                self._count("dropped")
                return False
            self._known.add(number)
            self._waiting += 1
            return True

    def _write(self, key: str, small: Image.Image) -> None:
        try:
            if self._store.exists(key):
                self._count("known")
                return
            self._store.write(key, _encode(small))
            self._count("written")
        except Exception:
            self._count("failed")
            log.warning("no preview of raster %s", key, exc_info=True)
        finally:
            with self._lock:
                self._waiting -= 1

    def _count(self, outcome: str) -> None:
        self._counter.labels(outcome).inc()


def _shrink(raster: Raster) -> Image.Image:
    image = Image.fromarray(raster.pixels)
    factor = max(1, -(-max(image.size) // (2 * _LONGEST)))
    image = image.reduce(factor)  # by whole pixels first: the cheap part of the way
    image.thumbnail((_LONGEST, _LONGEST), Image.Resampling.BICUBIC)
    return image


def _encode(image: Image.Image) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=_QUALITY, optimize=True)
    return buffer.getvalue()
