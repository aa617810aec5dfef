"""Fetches pictures from the hosts that the operator lists, and from no address inside of anybody's network."""

import asyncio
from collections.abc import Sequence
from urllib.parse import SplitResult

import httpx

from gigavqa.runtime.public_addresses import (
    AddressRefusedError,
    IsPublic,
    certificates,
    is_public,
    pinned_request_arguments,
    resolve,
)
from gigavqa.service.errors import ChatInvalidError
from gigavqa.service.openai.uploads import Uploads
from gigavqa.tiling.errors import quote_text

_SECONDS = 20.0
_MOST_AT_ONCE = 8


class ImageFetcher:
    """Fetches a picture over HTTP, bounded in bytes and seconds, without following it elsewhere."""

    def __init__(
        self, uploads: Uploads, hosts: Sequence[str], max_bytes: int, is_allowed: IsPublic = is_public
    ) -> None:
        self._uploads = uploads
        self._hosts = frozenset(hosts)
        self._max_bytes = max_bytes
        self._is_allowed = is_allowed
        self._places = asyncio.Semaphore(_MOST_AT_ONCE)

    async def fetch(self, parts: SplitResult) -> str:
        """Fetch a picture; returns the name that views know it by. Raises ChatInvalidError."""
        url = parts.geturl()
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ChatInvalidError(
                f"'{quote_text(url)}' is no picture: send a data URL or a file_id, or say gigavqa:DATASET/images/x.tif"
            )
        if parts.hostname not in self._hosts:
            raise ChatInvalidError(
                f"pictures are not fetched from '{quote_text(parts.hostname)}'; the operator lists hosts in "
                "GIGAVQA_IMAGE_HOSTS. Send a data URL, or upload the picture"
            )
        try:
            address = await resolve(parts, self._is_allowed)
        except AddressRefusedError as error:
            raise ChatInvalidError(f"{error}: no picture is fetched from there") from error
        try:
            async with self._places, asyncio.timeout(_SECONDS):
                return await self._get(parts, address)
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError) as error:
            said = str(error) or type(error).__name__
            raise ChatInvalidError(f"'{quote_text(url)}' could not be fetched: {said[:400]}") from error

    async def _get(self, parts: SplitResult, address: str) -> str:
        arriving = self._uploads.arriving()
        try:
            async with (
                httpx.AsyncClient(
                    timeout=_SECONDS, follow_redirects=False, trust_env=False, verify=certificates()
                ) as client,
                client.stream("GET", **pinned_request_arguments(parts, address)) as response,
            ):
                if response.status_code != httpx.codes.OK:
                    raise ChatInvalidError(f"'{quote_text(parts.geturl())}' answers {response.status_code}")
                async for piece in response.aiter_bytes():
                    arriving.write(piece)
                    if arriving.size > self._max_bytes:
                        raise ChatInvalidError(f"'{quote_text(parts.geturl())}' has more than {self._max_bytes} bytes")
            return self._uploads.keep(arriving)
        finally:
            arriving.drop()
