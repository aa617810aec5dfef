"""The images under one root, and the rasters made of them: each unique raster is rendered once while it is kept."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from tiling.budgets.base import VisualBudget
from tiling.cache import RasterCache
from tiling.errors import TilingError
from tiling.ingest import ingest_pays, make_pyramid, pyramid_path
from tiling.recipes import Identity, Recipe, identify, plan_raster
from tiling.rendering import Raster, paint
from tiling.roots import ImageRoot
from tiling.views import View


@dataclass(frozen=True)
class LibraryStats:
    """Rasters rendered and served from memory and files ingested so far, and the bytes of pixels now kept."""

    renders: int
    hits: int
    bytes: int
    ingests: int


class Library:
    """Renders views of images by name. Thread-safe; threads that ask for one raster at once share one rendering."""

    def __init__(self, root: ImageRoot, pyramids: Path, cache_bytes: int) -> None:
        self._root = root
        self._pyramids = pyramids
        self._cache = RasterCache(cache_bytes)
        self._lock = threading.Lock()
        self._ingests = 0

    def render(self, view: View, budget: VisualBudget, num_images: int = 1) -> Raster:
        """Render a view, from a pyramid of the image if one was made; provenance always names the image itself.

        The view is one of `num_images` in its prompt. `pixels` is shared and read-only. Raises TilingError subclasses.
        """
        path = self._root.locate(view.image)
        with self._naming(view.image, path):
            recipe = plan_raster(_identify(path), view, budget, num_images)
            raster = self._cache.get(recipe.key, lambda: self._paint(recipe, path))
        return replace(raster, view=view, visual_tokens=recipe.plan.visual_tokens)

    def expect(self, image: str, num_views: int) -> None:
        """Ingest an image of which `num_views` views will be rendered, when that is faster; blocks until it is done."""
        path = self._root.locate(image)
        identity = _identify(path)
        if pyramid_path(identity.digest, self._pyramids).exists() or not ingest_pays(path, num_views):
            return
        if make_pyramid(path, self._pyramids):
            with self._lock:
                self._ingests += 1

    def stats(self) -> LibraryStats:
        """What was done so far."""
        return LibraryStats(self._cache.made, self._cache.hits, self._cache.bytes, self._ingests)

    @contextmanager
    def _naming(self, image: str, path: Path) -> Iterator[None]:
        # Errors become responses, whose readers have no business with where the data root lies.
        try:
            yield
        except TilingError as error:
            told = str(error).replace(str(path), image).replace(f"{self._pyramids}/", "the pyramid ")
            raise type(error)(told) from error

    def _paint(self, recipe: Recipe, path: Path) -> Raster:
        pyramid = pyramid_path(recipe.digest, self._pyramids)
        return paint(recipe, pyramid if pyramid.exists() else path)


def _identify(path: Path) -> Identity:
    stat = path.stat()
    return _identity_of(path, stat.st_size, stat.st_mtime_ns)


@lru_cache(maxsize=4096)
def _identity_of(path: Path, size_bytes: int, mtime_ns: int) -> Identity:
    """Remembered for as long as the file's size and time stay the same."""
    return identify(path)
