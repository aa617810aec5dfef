"""Makes what is asked of pictures: of a file's own levels, of a flat picture in memory, or of its pyramid."""

import asyncio
import hashlib
import threading
from dataclasses import dataclass, replace
from functools import partial

from gigavqa.tiling.ingest import RenderSource, pyramid_read_plan
from gigavqa.tiling.rendering import render_recipe
from gigavqa.tiling.sources import Level
from gigavqa.tiling.sources.base import Pixels
from gigavqa.tiling.store import RasterStore
from gigavqa.viewer.drawing import (
    Overview,
    decode_overview,
    draw_from_file,
    draw_from_overview,
    encode,
    has_enough_pixels,
    is_cheap,
    overview_level,
    raster_recipe,
)
from gigavqa.viewer.errors import ViewerBusyError
from gigavqa.viewer.images import ImagePool, ViewerImage
from gigavqa.viewer.pyramids import PyramidBuilder
from gigavqa.viewer.request import IiifRequest
from gigavqa.viewer.settings import ViewerSettings
from gigavqa.viewer.single_flight import RenderPool, SingleFlightCache
from gigavqa.viewer.streaming import UnsentBytes

_VERSION = 3  # counts changes that give other bytes for the same request


@dataclass(frozen=True)
class EncodedImage:
    """The bytes of an answer; `is_final`: better ones will not come."""

    content: bytes
    is_final: bool


class ImageRenderer:
    """Everything that a viewer makes and keeps; for one event loop."""

    def __init__(self, settings: ViewerSettings) -> None:
        self._settings = settings
        self.pool = RenderPool(settings.renders)
        self.pictures = ImagePool(settings.root, settings.pyramids, most_open=2 * settings.renders + 4)
        self.pyramids = PyramidBuilder(settings.pyramids, settings.patience_seconds)
        self.answers: SingleFlightCache[EncodedImage] = SingleFlightCache(
            settings.tile_bytes, lambda one: len(one.content) * one.is_final
        )
        self.overviews: SingleFlightCache[Overview] = SingleFlightCache(
            settings.overview_bytes, lambda one: one.pixels.nbytes
        )
        self._store = RasterStore(settings.rasters, 0)
        self.held = UnsentBytes()
        self.waiting = 0

    def tag(self, picture: ViewerImage, request: IiifRequest) -> str:
        """Names the bytes of an answer: content, canonical request, display, and how pixels become bytes."""
        asked = request.canonical, request.is_raster, picture.show
        parts = _VERSION, picture.content, *asked, self._settings.jpeg_quality, picture.original.path == picture.path
        return hashlib.blake2b(":".join(map(str, parts)).encode(), digest_size=12).hexdigest()

    async def make(self, picture: ViewerImage, request: IiifRequest) -> EncodedImage:
        """Make what is asked, or find it. Raises BusyError, and TilingError subclasses."""
        if self.waiting >= self._settings.waiting:
            raise ViewerBusyError(f"{self.waiting} requests wait already; come again")
        if self.held.bytes > self._settings.held_bytes:
            raise ViewerBusyError(f"clients have not taken {self.held.bytes >> 20} MiB of answers yet; come again")
        self.waiting += 1
        try:
            return await self.answers.get(self.tag(picture, request), partial(self._make, picture, request))
        finally:
            self.waiting -= 1

    def close(self) -> None:
        """End the threads, and close the files."""
        self.pool.close()
        self.pyramids.close()
        self.pictures.close()

    async def _make(self, picture: ViewerImage, request: IiifRequest) -> EncodedImage:
        region, size = request.region, request.size
        if request.is_raster:
            return await self._raster(picture, request)
        if not picture.reading.is_flat or is_cheap(picture, region):
            return await self.pool.do(partial(self._of_file, picture, request))
        if has_enough_pixels(overview_level(picture), region, size):
            overview = await self.overviews.get(picture.content, partial(self._overview, picture))
            return await self.pool.do(partial(self._of_overview, picture, overview, request))
        if recorded := await self.pool.do(partial(self._recorded, picture, request)):
            return recorded
        return await self.pool.do(partial(self._of_file, await self._with_pyramid(picture), request))

    async def _raster(self, picture: ViewerImage, request: IiifRequest) -> EncodedImage:
        """Make what a model is shown, by the very rules; of a large flat picture its pyramid gives the same pixels."""
        picture = await self.pool.do(partial(self.pictures.of_region, picture, request.region))
        if recorded := await self.pool.do(partial(self._recorded, picture, request)):
            return recorded
        if picture.needs_pyramid and not is_cheap(picture, request.region):
            picture = await self._with_pyramid(picture)

        def make() -> EncodedImage:
            with self.pictures.naming(picture.name, picture.path):
                recipe = raster_recipe(picture, request.region, request.size)
                return self._answer(render_recipe(picture.original, recipe).pixels, request)

        return await self.pool.do(make)

    async def _with_pyramid(self, picture: ViewerImage) -> ViewerImage:
        with self.pictures.naming(picture.name, picture.path):
            file = await self.pyramids.wait_for(picture)
            reading = await asyncio.to_thread(pyramid_read_plan, file, picture.reading)
            return replace(picture, original=RenderSource(file, None, reading))

    async def _overview(self, picture: ViewerImage) -> Overview:
        is_wanted = threading.Event()
        is_wanted.set()

        def make() -> Overview:
            with self.pictures.naming(picture.name, picture.path):
                return decode_overview(picture, is_wanted.is_set)

        try:
            return await self.pool.do(make)
        finally:
            is_wanted.clear()  # who looked has gone: it may take minutes, and a thread that others wait for

    def _of_overview(self, picture: ViewerImage, overview: Overview, request: IiifRequest) -> EncodedImage:
        if recorded := self._recorded(picture, request):
            return recorded
        return self._answer(
            draw_from_overview(picture, overview, request.region, request.size), request, overview.level
        )

    def _of_file(self, picture: ViewerImage, request: IiifRequest) -> EncodedImage:
        if recorded := self._recorded(picture, request):
            return recorded
        with self.pictures.naming(picture.name, picture.path), self.pictures.opened(picture) as source:
            return self._answer(draw_from_file(picture, source, request.region, request.size), request)

    def _recorded(self, picture: ViewerImage, request: IiifRequest) -> EncodedImage | None:
        """Return the very raster that a worker of this machine kept, if this region at this size is one."""
        found = self._store.get(raster_recipe(picture, request.region, request.size))
        return self._answer(found.pixels, request) if found else None

    def _answer(self, pixels: Pixels, request: IiifRequest, level: Level | None = None) -> EncodedImage:
        """Encode pixels; those of an overview's level will be better ones unless it is the picture's own."""
        is_final = level is None or level.downsample == 1
        return EncodedImage(encode(pixels, request, self._settings.jpeg_quality), is_final)
