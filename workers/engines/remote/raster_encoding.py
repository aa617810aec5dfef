"""Rasters as servers get them: files in data URLs, each made once however many requests show it."""

import asyncio
import base64
import hashlib
import io
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from uuid import NAMESPACE_OID, UUID, uuid5

from cachetools import LRUCache
from PIL import Image

from gigavqa.tiling.decode_threads import usable_cores
from gigavqa.workers.engines.engine import Message, PromptRaster

_CACHE_BYTES = 512 * 2**20
_MOST_THREADS = 4
_SUBSAMPLING = {"444": 0, "422": 1, "420": 2}


@dataclass(frozen=True)
class EncodedRaster:
    """An encoded raster: `url` is a data URL, `digest` the SHA-256 of its file."""

    url: bytes
    digest: str


class RasterEncoder:
    """Makes files of rasters, in threads; those used last are kept. `encoding` is `png` or `jpeg:QUALITY:CHROMA`."""

    def __init__(self, encoding: str) -> None:
        self._encoding = encoding
        self._threads = ThreadPoolExecutor(min(_MOST_THREADS, usable_cores()), thread_name_prefix="encode")
        self._kept: LRUCache[str, EncodedRaster] = LRUCache(_CACHE_BYTES, getsizeof=lambda picture: len(picture.url))
        self._being_made: dict[str, asyncio.Future[EncodedRaster]] = {}
        self.encoded = 0
        """How many were made."""

    async def of(self, chat: Sequence[Message], left_out: Collection[str] = ()) -> dict[str, EncodedRaster]:
        """Return the pictures of a chat, by the keys of their rasters; without those that are left out."""
        shown = (raster for message in chat for raster in message.rasters)
        rasters = {raster.key: raster for raster in shown if raster.key not in left_out}
        made = await asyncio.gather(*(self._get(raster) for raster in rasters.values()))
        return dict(zip(rasters, made, strict=True))

    def name(self, key: str) -> UUID:
        """Names the file of a raster, by its key, in any cache."""
        # The key names pixels; what a server keeps under a name must be one file.
        return uuid5(NAMESPACE_OID, f"gigavqa:{key}:{self._encoding}")

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _get(self, raster: PromptRaster) -> EncodedRaster:
        if raster.key in self._kept:
            return self._kept[raster.key]
        if raster.key not in self._being_made:
            self.encoded += 1
            making = asyncio.get_running_loop().run_in_executor(self._threads, encode_raster, raster, self._encoding)
            self._being_made[raster.key] = making
            making.add_done_callback(lambda done: self._keep(raster.key, done))
        # Shielded: others may wait for the same one when this request is cancelled.
        return await asyncio.shield(self._being_made[raster.key])

    def _keep(self, key: str, making: "asyncio.Future[EncodedRaster]") -> None:
        del self._being_made[key]
        if not making.cancelled() and not making.exception() and len(making.result().url) <= _CACHE_BYTES:
            self._kept[key] = making.result()


def encode_raster(raster: PromptRaster, encoding: str) -> EncodedRaster:
    """Make the file of a raster."""
    kind, _, how = encoding.partition(":")
    buffer = io.BytesIO()
    image = Image.fromarray(raster.pixels)
    if kind == "png":
        image.save(buffer, "PNG", compress_level=1)
    else:
        quality, chroma = how.split(":")
        image.save(buffer, "JPEG", quality=int(quality), subsampling=_SUBSAMPLING[chroma])
    content = buffer.getvalue()
    url = b"data:image/%s;base64,%s" % (kind.encode(), base64.b64encode(content))
    return EncodedRaster(url, hashlib.sha256(content).hexdigest())
