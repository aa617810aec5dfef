"""IIIF Image API 3.0, level 2: descriptions of pictures, and whatever is asked of them.

Source: https://iiif.io/api/image/3.0/
"""

import asyncio
import hashlib
import re
from collections.abc import Coroutine
from contextlib import nullcontext, suppress
from functools import partial
from typing import Any, TypeVar
from urllib.parse import unquote_to_bytes, urlencode

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from gigavqa.store.listen_settings import requires_keys
from gigavqa.tiling.displays.display import canonical_display
from gigavqa.tiling.errors import ImageChangedError, ImageReplacedError
from gigavqa.tiling.geometry import Size
from gigavqa.tiling.ground.scale import ImageScale
from gigavqa.tiling.levels import half_size
from gigavqa.tiling.remote.addresses import is_remote_name
from gigavqa.viewer.drawing import TILE
from gigavqa.viewer.errors import DisplayInvalidError, NoSuchImageError, RequestInvalidError
from gigavqa.viewer.images import ViewerImage
from gigavqa.viewer.renderer import ImageRenderer
from gigavqa.viewer.request import MEDIA_TYPES, MOST_SIDE, IiifSegments, largest_size, parse_request
from gigavqa.viewer.settings import ViewerSettings
from gigavqa.viewer.streaming import ChunkedResponse

PREFIX = "/iiif/3"
SAMPLES = "/samples"

_CONTEXT = "http://iiif.io/api/image/3/context.json"
_PROFILE = '<http://iiif.io/api/image/3/level2.json>;rel="profile"'
_LINKED_DATA = f'application/ld+json;profile="{_CONTEXT}"'
_ETAG = re.compile(r'(?:W/)?"([^"]*)"')
_SMALLEST_SIZE = 128
_REMOTE_LOOKS = 2
"""Looks at images elsewhere at a time, whose servers may be silent, so that there are threads for the others."""
_MOST_ATTEMPTS = 3  # at a picture that is replaced while it is read: decision 0007
_CLIENT_GONE = 499  # nobody reads it; logs know it from other servers
Value = TypeVar("Value")


class IiifService:
    """The routes below `/iiif/3`: descriptions at `{identifier}/info.json`, and pictures in four more segments."""

    def __init__(self, settings: ViewerSettings, renderer: ImageRenderer) -> None:
        self._settings, self._renderer = settings, renderer
        self._visibility = "private" if requires_keys(settings) else "public"
        self._remote_looks = asyncio.Semaphore(_REMOTE_LOOKS)

    async def answer(self, request: Request) -> Response:
        """Answer one request. Raises ViewerError and TilingError subclasses."""
        if request.method == "OPTIONS":
            return Response(status_code=204, headers={"Allow": "GET, HEAD, OPTIONS", **_PREFLIGHT})
        identifier, *rest = _segments_below(PREFIX, request)
        if not identifier or (rest and rest != ["info.json"] and len(rest) != 4):
            raise NoSuchImageError("no such address: an identifier's own slashes are to be written as %2F")
        for _ in range(_MOST_ATTEMPTS - 1):
            with suppress(ImageChangedError, ImageReplacedError):
                return await self._look(request, identifier, rest)
        return await self._look(request, identifier, rest)

    async def describe_samples(self, request: Request) -> Response:
        """Describe a picture's samples, for whoever chooses how they are shown. Raises as `answer` does."""
        identifier, *rest = _segments_below(SAMPLES, request)
        if not identifier or rest:
            raise NoSuchImageError("no such address: an identifier's own slashes are to be written as %2F")
        look = partial(self._renderer.pictures.describe_samples, _decode_segment(identifier), _asked_display(request))
        return JSONResponse(await self._renderer.pool.do(look), headers={"Cache-Control": "no-store"})

    async def _look(self, request: Request, identifier: str, rest: list[str]) -> Response:
        """Answer of a picture as it is now. Raises ImageChangedError where it did not stay so."""
        show = _asked_display(request)
        name = _decode_segment(identifier)
        async with self._remote_looks if is_remote_name(name) else nullcontext():
            picture = await asyncio.to_thread(self._renderer.pictures.find, name, show)
        address = f"{external_url(request, self._settings)}{PREFIX}/{identifier}"
        if not rest:
            return RedirectResponse(f"{address}/info.json{_query_of(show)}", status_code=303)
        if len(rest) == 1:
            return self._describe(request, picture, address)
        return await self._draw(request, picture, address, IiifSegments(*map(_decode_segment, rest)))

    def _describe(self, request: Request, picture: ViewerImage, address: str) -> Response:
        accepts = request.headers.get("accept", "")
        media = _LINKED_DATA if "application/ld+json" in accepts else "application/json"
        told = f"{self._settings.max_pixels} {address} {media} {picture.scale} {picture.show}"
        tag = f"{picture.digest}-{hashlib.blake2b(told.encode(), digest_size=6).hexdigest()}"
        headers = {"Link": _PROFILE, "Vary": "Accept", **self._freshness(picture, tag)}
        if _matches_etag(tag, request):
            return Response(status_code=304, headers=headers)
        info = image_info(picture.size, address, self._settings.max_pixels) | scale_info(picture.scale)
        return JSONResponse(info, 200, headers, media_type=media)

    async def _draw(self, request: Request, picture: ViewerImage, address: str, words: IiifSegments) -> Response:
        is_raster = request.query_params.get("as") == "raster"
        iiif_request = parse_request(words, picture.size, self._settings.max_pixels, is_raster=is_raster)
        tag = self._renderer.tag(picture, iiif_request)
        canonical = f"{address}/{iiif_request.canonical}{_query_of(_asked_display(request))}"
        headers = {
            "Link": f'{_PROFILE}, <{canonical}>;rel="canonical"',
            **self._freshness(picture, tag),
        }
        if _matches_etag(tag, request):
            return Response(status_code=304, headers=headers)
        answer = await _cancel_on_disconnect(request, self._renderer.make(picture, iiif_request))
        if answer is None:
            return Response(status_code=_CLIENT_GONE)
        if not answer.is_final:
            headers |= {"Cache-Control": "no-store"}
            del headers["ETag"]
        return ChunkedResponse(answer.content, headers, MEDIA_TYPES[iiif_request.format], self._renderer.held)

    def _freshness(self, picture: ViewerImage, tag: str) -> dict[str, str]:
        # What names its content never changes; any other name may stand for another file tomorrow.
        age = f"{self._visibility}, max-age=31536000, immutable" if picture.is_pinned else "no-cache"
        return {"ETag": f'"{tag}"', "Cache-Control": age}


_PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, HEAD, OPTIONS",
    "Access-Control-Allow-Headers": "*, Authorization",  # which the asterisk does not stand for
    "Access-Control-Max-Age": "86400",
}


def image_info(size: Size, address: str, most: int) -> dict[str, Any]:
    """Return the description of a picture of this size, `info.json` (section 5)."""
    halves = [size]
    while max(halves[-1]) > TILE:
        halves.append(half_size(halves[-1]))
    return {
        "@context": _CONTEXT,
        "id": address,
        "type": "ImageService3",
        "protocol": "http://iiif.io/api/image",
        "profile": "level2",
        **size._asdict(),
        "maxWidth": MOST_SIDE,
        "maxHeight": MOST_SIDE,
        "maxArea": most,
        "sizes": [
            half._asdict()
            for half in reversed(halves)
            if half == size or max(half) >= _SMALLEST_SIZE
            if half == largest_size(half, most)
        ],
        "tiles": [{"width": TILE, "height": TILE, "scaleFactors": [2**number for number in range(len(halves))]}],
        "preferredFormats": ["jpg"],
        "extraFormats": ["webp"],
        "extraQualities": ["bitonal"],
        "extraFeatures": ["canonicalLinkHeader", "mirroring", "profileLinkHeader"],
    }


def scale_info(scale: ImageScale | None) -> dict[str, Any]:
    """Return what an image's description says beyond IIIF: what a pixel is in the world, as far as it is known."""
    if scale is None:
        return {}
    told = {"x": scale.x, "y": scale.y, "north": scale.north, "place": scale.place and scale.place._asdict()}
    return {"scale": {name: value for name, value in told.items() if value is not None}}


def external_url(request: Request, settings: ViewerSettings) -> str:
    """Return the address that this client reaches the viewer by, without a slash at its end."""
    return settings.url.rstrip("/") if settings.url else str(request.base_url).rstrip("/")


def _segments_below(prefix: str, request: Request) -> list[str]:
    """Split the raw path: frameworks decode paths, after which an identifier's `%2F` is no longer told from `/`."""
    raw: bytes = request.scope["raw_path"]
    return raw.decode("ascii", "replace").partition(f"{prefix}/")[2].split("/")


def _asked_display(request: Request) -> str:
    """Return the one text of the display that an address asks for, if any."""
    try:
        return canonical_display(request.query_params.get("show", ""))
    except ValueError as error:
        raise DisplayInvalidError(str(error)) from error


def _query_of(show: str) -> str:
    return f"?{urlencode({'show': show})}" if show else ""


def _decode_segment(segment: str) -> str:
    try:
        return unquote_to_bytes(segment).decode()
    except UnicodeDecodeError as error:
        raise RequestInvalidError("the address is not UTF-8, percent-encoded") from error


def _matches_etag(tag: str, request: Request) -> bool:
    known = request.headers.get("if-none-match", "")
    return known.strip() == "*" or tag in _ETAG.findall(known)


async def _cancel_on_disconnect(request: Request, work: Coroutine[Any, Any, Value]) -> Value | None:
    """Do some work for a client; nothing once it has gone, as it does for tiles that moved out of sight."""
    task, gone = asyncio.ensure_future(work), asyncio.ensure_future(_wait_for_disconnect(request))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        return task.result() if task.done() else None
    finally:
        for each in (task, gone):
            each.cancel()


async def _wait_for_disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
