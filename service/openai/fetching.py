"""Fetches pictures from the hosts that the operator lists, and from no address inside of anybody's network."""

import asyncio
import ipaddress
import socket
from collections.abc import Callable, Sequence
from urllib.parse import SplitResult, urlsplit

import httpx

from service.errors import ChatInvalidError
from service.openai.uploads import Uploads

_SECONDS = 20.0
_MOST_AT_ONCE = 8
IsPublic = Callable[[str], bool]


def is_public(address: str) -> bool:
    """Whether an address is anybody's to reach: none of a private network, of this machine, or of a cloud's own."""
    found = ipaddress.ip_address(address.partition("%")[0])
    mapped = getattr(found, "ipv4_mapped", None)
    return (mapped or found).is_global and not (mapped or found).is_multicast


class Fetcher:
    """Fetches a picture over HTTP, bounded in bytes and seconds, without following it elsewhere."""

    def __init__(
        self, uploads: Uploads, hosts: Sequence[str], max_bytes: int, is_allowed: IsPublic = is_public
    ) -> None:
        self._uploads = uploads
        self._hosts = frozenset(hosts)
        self._max_bytes = max_bytes
        self._is_allowed = is_allowed
        self._places = asyncio.Semaphore(_MOST_AT_ONCE)

    async def fetch(self, url: str) -> str:
        """Fetch a picture; returns the name that views know it by. Raises ChatInvalidError."""
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ChatInvalidError(
                f"'{url[:200]}' is no picture: send a data URL or a file_id, or say gigavqa:DATASET/images/x.tif"
            )
        if parts.hostname not in self._hosts:
            raise ChatInvalidError(
                f"pictures are not fetched from '{parts.hostname[:200]}'; the operator lists hosts in "
                "GIGAVQA_IMAGE_HOSTS. Send a data URL, or upload the picture"
            )
        address = await self._resolve(parts)
        try:
            async with self._places, asyncio.timeout(_SECONDS):
                return await self._get(parts, address)
        except (httpx.HTTPError, TimeoutError) as error:
            told = str(error) or type(error).__name__
            raise ChatInvalidError(f"'{url[:200]}' could not be fetched: {told}") from error

    async def _resolve(self, parts: SplitResult) -> str:
        """The one address that is then asked: a name cannot be pointed elsewhere between the look and the call."""
        try:
            port = parts.port or (443 if parts.scheme == "https" else 80)
            loop = asyncio.get_running_loop()
            found = await loop.getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)
        except (socket.gaierror, ValueError) as error:
            raise ChatInvalidError(f"'{parts.netloc[:200]}' is no address") from error
        addresses = [str(each[4][0]) for each in found]
        if not addresses or not all(map(self._is_allowed, addresses)):
            raise ChatInvalidError(f"'{parts.hostname}' is an address inside of a network, and not fetched from")
        return addresses[0]

    async def _get(self, parts: SplitResult, address: str) -> str:
        host = f"[{address}]" if ":" in address else address
        url = parts._replace(netloc=f"{host}:{parts.port}" if parts.port else host).geturl()
        arriving = self._uploads.arriving()
        try:
            async with (
                httpx.AsyncClient(timeout=_SECONDS, follow_redirects=False, trust_env=False) as client,
                client.stream(
                    "GET", url, headers={"Host": parts.netloc}, extensions={"sni_hostname": parts.hostname}
                ) as response,
            ):
                if response.status_code != httpx.codes.OK:
                    raise ChatInvalidError(f"'{parts.geturl()[:200]}' answers {response.status_code}")
                async for piece in response.aiter_bytes():
                    arriving.write(piece)
                    if arriving.size > self._max_bytes:
                        raise ChatInvalidError(f"'{parts.geturl()[:200]}' has more than {self._max_bytes} bytes")
            return self._uploads.keep(arriving)
        finally:
            arriving.drop()
