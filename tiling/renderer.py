"""The images under one root, and the rasters made of them: each unique raster is rendered once while it is kept."""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from gigavqa.tiling.budgets.base import VisualBudget
from gigavqa.tiling.cache import RasterCache
from gigavqa.tiling.errors import ImageChangedError, TilingError
from gigavqa.tiling.file_facts import cached_identity, name_image_in_errors
from gigavqa.tiling.geometry import Size
from gigavqa.tiling.ingest import PassCosts, ShownImage, find_render_sources, make_pyramid
from gigavqa.tiling.levels import LARGE_PIXELS, ReadPlan
from gigavqa.tiling.opening import remote_stats
from gigavqa.tiling.passes import RecipePixels, RenderPass, plan_passes
from gigavqa.tiling.pyramid import OnProgress
from gigavqa.tiling.recipes import Recipe, plan_raster
from gigavqa.tiling.remote.images import RemoteStats
from gigavqa.tiling.rendering import Raster, blank_raster, make_raster, mask_raster
from gigavqa.tiling.roots import ImageRoot
from gigavqa.tiling.store import RasterStore
from gigavqa.tiling.views import View

_SMALL_RASTER_FACTOR = 16
"""Of a picture with so many times its pixels a raster is kept, however small the picture is."""
IsWanted = Callable[[], bool]


class ViewRequest(NamedTuple):
    """A view in a prompt of `num_images`: 1 for families to which their number makes no difference."""

    view: View
    num_images: int = 1


class PendingRaster(NamedTuple):
    """A raster that is there, or will be."""

    look: ViewRequest
    visual_tokens: int
    raster: "Future[Raster]"

    def result(self) -> Raster:
        """Wait for the raster; `pixels` is shared and read-only. Raises TilingError subclasses, and CancelledError."""
        return replace(self.raster.result(), view=self.look.view, visual_tokens=self.visual_tokens)


OnPass = Callable[[str, int, float], None]
"""Is told of each pass over a file: its format, the level that was decoded, and seconds."""

RenderWork = Callable[[IsWanted], None]
"""Makes some rasters, unless nobody wants them any more: their futures then raise CancelledError. Raises nothing."""


@dataclass(frozen=True)
class RendererStats:
    """Counters of a renderer since it was made, and the bytes of pixels that it keeps now.

    Rasters rendered, passes over files that rendered them, rasters served from memory and from the disk, flat images
    made into pyramids, and what the process fetched of images elsewhere.
    """

    renders: int
    passes: int
    hits: int
    found: int
    bytes: int
    ingests: int
    remote: RemoteStats


class Renderer:
    """Renders views of images by name. Thread-safe; whoever asks for one raster at once shares one rendering.

    A raster shows one version of its image, the one that its digest names; where the file does not stay the same for so
    long, there is none but an ImageChangedError, and whoever asks again sees the file as it is then.

    Rasters of large images, and small ones of any, are looked for in `store`, too, where `keep` puts them.
    """

    def __init__(
        self,
        root: ImageRoot,
        pyramids: Path,
        cache_bytes: int,
        store: RasterStore | None = None,
        on_pass: OnPass = lambda *_: None,
    ) -> None:
        self._on_pass = on_pass
        self._root = root
        self._pyramids = pyramids
        self._cache = RasterCache(cache_bytes)
        self._store = store
        self._ledger = PassCosts()
        self._lock = threading.Lock()
        self._renders = self._passes = self._found = self._ingests = 0

    def render(self, view: View, budget: VisualBudget, num_images: int = 1) -> Raster:
        """Render a view, from a pyramid of the image if one was made; provenance always names the image itself.

        The view is one of `num_images` in its prompt. `pixels` is shared and read-only. Raises TilingError subclasses.
        """
        (awaited,), work = self.plan([ViewRequest(view, num_images)], budget)
        for each in work:
            each(lambda: True)
        return awaited.result()

    def plan(self, looks: Sequence[ViewRequest], budget: VisualBudget) -> tuple[list[PendingRaster], list[RenderWork]]:
        """Return what these looks will see, in their order, and the work that must be done for it, in whatever threads.

        Reads headers, and rasters that lie on the disk. All views of a flat image that are asked for together are made
        in one pass over its pixels. What is wrong with a view, its future raises.
        """
        awaited: list[PendingRaster] = []
        to_make: dict[ShownImage, list[Recipe]] = {}
        for look in looks:
            try:
                path = self._root.locate(look.view.image, look.view.pin)
                with name_image_in_errors(look.view.image, path, self._pyramids):
                    recipe = self._recipe(path, look, budget)
            except Exception as error:  # noqa: BLE001 - handed on to whoever waits
                awaited.append(PendingRaster(look, 0, _failed_future(error)))
                continue
            future = self._claim(ShownImage(path, recipe.tone), recipe, to_make)
            awaited.append(PendingRaster(look, recipe.plan.visual_tokens, future))
        return awaited, [work for image, recipes in to_make.items() for work in self._plan_work(image, recipes)]

    def measure(self, looks: Sequence[ViewRequest], budget: VisualBudget) -> list[int]:
        """Bytes of the rasters that these looks will see; 0 for what cannot be rendered. Reads headers, and blocks."""
        return [self._bytes_of(look, budget) for look in looks]

    def keep(self, raster: Raster) -> bool:
        """Put a raster into the store, if it costs more to make than to read; returns whether it was written.

        Blocks. Raises OSError where the disk takes nothing.
        """
        if self._store is None or not _is_worth_keeping(raster.source_size, raster.pixels.size // 3):
            return False
        if raster.view.mask:  # made anew of the raster without, which is kept
            return False
        return self._store.put(raster)

    def make_due_pyramid(self, progress: OnProgress | None = None) -> bool:
        """Make the pyramid of a flat image whose passes have cost as much by now; returns whether one was due.

        Blocks until it is made; `progress` may raise to give it up. What another process is making is left to it.
        """
        due = self._ledger.due()
        if due is None:
            return False
        (path, tone), named = due
        try:
            made = make_pyramid(path, self._pyramids, progress, named=named, tone=tone, wait=False)
        except TilingError:  # damaged where no view has looked so far; those that do will say so
            made = False
        with self._lock:
            self._ingests += made
        return True

    def stats(self) -> RendererStats:
        """Return what was done so far."""
        cache = self._cache
        own = self._renders, self._passes, cache.hits, self._found, cache.bytes, self._ingests
        return RendererStats(*own, remote_stats())

    def _claim(self, image: ShownImage, recipe: Recipe, to_make: dict[ShownImage, list[Recipe]]) -> "Future[Raster]":
        """Return a raster that is there, or will be; what must be rendered for it goes into `to_make`.

        What a mask hides is never rendered by itself: the raster without it is, once for both.
        """
        future, is_mine = self._cache.claim(recipe.key)
        mask = recipe.mask
        if not is_mine or (mask is None and self._find(recipe)):
            return future
        if mask is None:
            to_make.setdefault(image, []).append(recipe)
        elif mask.is_blank:
            self._cache.fulfil(blank_raster(recipe))
        else:
            self._claim(image, recipe.unmasked, to_make).add_done_callback(partial(self._mask, recipe))
        return future

    def _mask(self, recipe: Recipe, shown: "Future[Raster]") -> None:
        """Hide parts of a raster once it is there."""
        try:
            self._cache.fulfil(mask_raster(shown.result(), recipe))
        except BaseException as error:  # noqa: BLE001 - handed on to everyone who waits
            self._cache.fail(recipe.key, error)

    def _bytes_of(self, look: ViewRequest, budget: VisualBudget) -> int:
        try:
            path = self._root.locate(look.view.image, look.view.pin)
            return 3 * self._recipe(path, look, budget).plan.raster.area
        except (TilingError, OSError):  # whoever renders it will say so
            return 0

    def _recipe(self, path: Path, look: ViewRequest, budget: VisualBudget) -> Recipe:
        view = look.view
        identity = cached_identity(path, self._root.stated_digest(view.image), view.show, view.region)
        return plan_raster(identity, view, budget, look.num_images)

    def _find(self, recipe: Recipe) -> bool:
        """Take a raster from the store, if it is there."""
        if self._store is None or not _is_worth_keeping(recipe.source_size, recipe.plan.raster.area):
            return False
        painted = self._store.get(recipe)
        if painted is None:
            return False
        with self._lock:
            self._found += 1
        self._cache.fulfil(make_raster(painted))
        return True

    def _plan_work(self, image: ShownImage, recipes: list[Recipe]) -> list[RenderWork]:
        try:
            with name_image_in_errors(recipes[0].view.image, image.path, self._pyramids):
                named = self._root.stated_digest(recipes[0].view.image)
                return [
                    partial(self._run, image, of.reading, each, named)
                    for of, some in find_render_sources(image.path, self._pyramids, recipes, named)
                    for each in plan_passes(*of, some)
                ]
        except BaseException as error:  # noqa: BLE001 - handed on to everyone who waits
            for recipe in recipes:
                self._cache.fail(recipe.key, error)
            return []

    def _run(
        self, image: ShownImage, reading: ReadPlan, each: RenderPass, named: str | None, is_wanted: IsWanted
    ) -> None:
        missing = {recipe.key for recipe in each.recipes}

        def deliver(painted: RecipePixels) -> None:
            with self._lock:
                self._renders += 1
            missing.discard(painted.recipe.key)
            self._cache.fulfil(make_raster(painted))

        error: BaseException = CancelledError()
        try:
            if len(missing) == 1 and self._find(each.recipes[0]):  # another worker made it since this was planned
                return
            if is_wanted():
                with self._lock:
                    self._passes += 1
                with name_image_in_errors(each.recipes[0].view.image, image.path, self._pyramids):
                    started = time.monotonic()
                    share = each.run(deliver, is_wanted)
                    self._on_pass(reading.format, each.decoded, time.monotonic() - started)
                    self._ledger.add(image, reading, each, share, named)
        except BaseException as raised:  # noqa: BLE001 - handed on to everyone who waits
            error = raised
        is_damaged = isinstance(error, TilingError) and not isinstance(error, ImageChangedError)
        if is_damaged and len(missing) > 1 and not reading.is_sequential:
            for one in each.alone(missing):  # damage in one tile is nothing to those who do not look at it
                self._run(image, reading, one, named, is_wanted)
            return
        for key in missing:
            self._cache.fail(key, error)


def _is_worth_keeping(source: Size, raster_pixels: int) -> bool:
    """Return whether a raster of so many pixels is much cheaper to read than to make."""
    return source.area >= min(LARGE_PIXELS, _SMALL_RASTER_FACTOR * raster_pixels)


def _failed_future(error: Exception) -> "Future[Raster]":
    future: Future[Raster] = Future()
    future.set_exception(error)
    return future
