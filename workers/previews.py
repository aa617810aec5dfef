"""Makes a small JPEG of every raster that is shown to the model, once."""

import io
import logging
import threading

from PIL import Image
from prometheus_client import Counter

from gigavqa.store.previews import PreviewStore
from gigavqa.tiling.rendering import Raster

log = logging.getLogger(__name__)

_LONGEST = 640
_QUALITY = 80


class PreviewWriter:
    """Writes previews; whatever goes wrong is counted and logged, and harms no request. Thread-safe."""

    def __init__(self, store: PreviewStore, counter: Counter) -> None:
        self._store = store
        self._counter = counter
        self._lock = threading.Lock()
        self._known: set[int] = set()
        self._told = ""

    def write(self, raster: Raster) -> None:
        """Write the preview of a raster, unless it was written before; blocks for some ten milliseconds."""
        number = hash(raster.key)  # eight bytes each, for as long as the worker lives
        with self._lock:
            if number in self._known:
                return
            self._known.add(number)
        try:
            if self._store.exists(raster.key):
                self._count("known")
                return
            self._store.write(raster.key, _encode(_shrink(raster)))
            self._count("written")
        except OSError as error:
            self._count("failed")
            self._tell(str(error))
        except Exception:
            self._count("failed")
            log.warning("no preview of raster %s", raster.key, exc_info=True)

    def _tell(self, fault: str) -> None:
        """Say once why the results store takes none."""
        if fault != self._told:
            self._told = fault
            log.warning("previews are not kept: %s", fault)

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
