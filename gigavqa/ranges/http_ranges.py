"""Ranges by HTTP: of the version that is asked for, from checked addresses, whatever the server says of itself."""

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from http import HTTPStatus
from urllib.parse import SplitResult, urljoin, urlsplit

import httpx
from cachetools import TTLCache

from gigavqa.ranges.attempts import CONNECT_SECONDS, SILENT_SECONDS, TransientFaultError, replaced_error
from gigavqa.ranges.routes import Route
from gigavqa.runtime.public_addresses import (
    NO_COOKIES,
    AddressRefusedError,
    AddressUnknownError,
    pinned_request_arguments,
    resolve,
)
from gigavqa.tiling.errors import (
    ImageAddressError,
    ImageNotFoundError,
    ImageUnavailableError,
    ImageUnreadableError,
    quote_text,
)
from gigavqa.tiling.remote.addresses import without_secrets
from gigavqa.tiling.remote.reader import RemoteHead, RemoteVersion

_TRANSIENT = {408, 425, 429, 500, 502, 503, 504}
_GONE = {HTTPStatus.NOT_FOUND, HTTPStatus.GONE}
_NUMBER = r"(\d{1,18})"  # more digits than any file has are a server's joke
_RANGE = re.compile(f"bytes {_NUMBER}-{_NUMBER}/{_NUMBER}", re.ASCII)
_LENGTH = re.compile(_NUMBER, re.ASCII)
_MOST_REDIRECTS = 5
_ADDRESS_SECONDS = 60.0
_MOST_HOSTS = 64
_PIECE = 64 * 1024
_ALONE = {"Connection": "close"}
"""For answers that an earlier one's surplus could be taken for, since nothing in them names the file."""


class HttpRanges:
    """Reads files by HTTP, where `route` says and along redirects that it allows."""

    def __init__(self, route: Route) -> None:
        self._route = route
        self._clients: TTLCache[str, tuple[str, httpx.AsyncClient]] = TTLCache(_MOST_HOSTS, _ADDRESS_SECONDS)
        self._certificates = httpx.create_ssl_context()  # SSL_CERT_FILE may name those of a network

    async def look(self, url: str, num_bytes: int) -> RemoteHead:
        """Find out which version there is, and read its first bytes."""
        async with self._open(url, {"Range": f"bytes=0-{num_bytes - 1}", **_ALONE}) as response:
            if response.status_code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
                raise ImageUnreadableError(f"{url}: the file is empty")
            has_ranges = response.status_code == HTTPStatus.PARTIAL_CONTENT
            size = _total(url, response, 0) if has_ranges else _length(url, response)
            version = RemoteVersion(url, size, _tag(url, response), has_ranges)
            return RemoteHead(version, await _body(response, min(num_bytes, size), is_all=has_ranges))

    async def read(self, version: RemoteVersion, start: int, stop: int) -> bytes:
        """Read a range of a version."""
        headers = {"Range": f"bytes={start}-{stop - 1}", **_condition(version)}
        async with self._open(version.url, headers) as response:
            _require_version(version, response)
            if response.status_code != HTTPStatus.PARTIAL_CONTENT:
                raise TransientFaultError("it gives all bytes where a range is asked for, as it did before")
            if _total(version.url, response, start, stop) != version.size:
                raise replaced_error(version.url)
            return await _body(response, stop - start, is_all=True)

    async def pieces(self, version: RemoteVersion) -> AsyncIterator[bytes]:
        """Read all of a version, in pieces."""
        async with self._open(version.url, _condition(version)) as response:
            _require_version(version, response)
            if _length(version.url, response) != version.size:
                raise replaced_error(version.url)
            left = version.size
            try:
                async for piece in response.aiter_raw(_PIECE):
                    left -= len(piece)
                    if left < 0:
                        break
                    yield piece
            except httpx.TransportError as error:
                raise ImageUnavailableError(f"{version.url}: its server broke off: {_told(error)}") from error

    @asynccontextmanager
    async def _open(self, url: str, headers: Mapping[str, str]) -> AsyncIterator[httpx.Response]:
        """Ask for a file, wherever redirects lead to; what is yielded is 200, 206 or 416."""
        at = await self._route.begin(url)
        for number in range(_MOST_REDIRECTS):
            try:
                parts = urlsplit(at)
                address, client = await self._client(parts)
                pinned = pinned_request_arguments(parts, address)
                pinned["headers"] |= {"Accept-Encoding": "identity", **headers}
                async with client.stream("GET", **pinned) as response:
                    if not response.is_redirect:
                        _require_served(url, response, self._route.refusal)
                        yield response
                        return
                    leads = urljoin(at, response.headers.get("location", ""))
            except AddressUnknownError as error:
                told = f"{without_secrets(str(error))}: its name leads nowhere"
                raise TransientFaultError(told, is_outage=not number) from error
            except AddressRefusedError as error:
                raise ImageAddressError(
                    f"{url}: {error}, unless GIGAVQA_REMOTE_PRIVATE_HOSTS lists the host"
                ) from error
            except (httpx.InvalidURL, ValueError) as error:  # of where a redirect leads to
                raise ImageAddressError(f"{url}: its server leads to what is no address") from error
            except httpx.TransportError as error:
                self._clients.pop(_origin(parts), None)
                is_outage = not number and isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
                raise TransientFaultError(_told(error), is_outage=is_outage) from error
            at = self._route.follow(url, leads)
        raise ImageUnavailableError(f"{url}: its server redirects more than {_MOST_REDIRECTS} times")

    async def _client(self, parts: SplitResult) -> tuple[str, httpx.AsyncClient]:
        """Return the address that a host is called at, and what calls it: one for each host, whose names TLS checks."""
        found = self._clients.get(_origin(parts))
        if found is None:
            address = await resolve(parts, partial(self._route.may_call, parts.hostname))
            client = httpx.AsyncClient(
                timeout=httpx.Timeout(SILENT_SECONDS, connect=CONNECT_SECONDS),
                follow_redirects=False,
                trust_env=False,
                verify=self._certificates,
                cookies=NO_COOKIES,
            )
            found = self._clients[_origin(parts)] = address, client
        return found


def _origin(parts: SplitResult) -> str:
    return f"{parts.scheme}://{parts.netloc}"


def _require_served(url: str, response: httpx.Response, refusal: str) -> None:
    status = response.status_code
    if status in _TRANSIENT:
        pause = response.headers.get("retry-after", "")
        raise TransientFaultError(f"it answers {status}", float(pause) if pause.isdecimal() else 0.0)
    if status in _GONE:
        raise ImageNotFoundError(f"{url}: there is no such file ({status})")
    if status == HTTPStatus.PRECONDITION_FAILED:
        raise replaced_error(url)
    if status not in (HTTPStatus.OK, HTTPStatus.PARTIAL_CONTENT, HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE):
        raise ImageUnavailableError(f"{url}: its server refuses it ({status}){refusal}")
    if response.headers.get("content-encoding", "identity") != "identity":
        raise ImageUnavailableError(f"{url}: its server gives it in another encoding than its own")


def _tag(url: str, response: httpx.Response) -> str:
    if tag := response.headers.get("etag"):
        return f"etag:{tag}"
    if modified := response.headers.get("last-modified"):
        return f"modified:{modified}"
    raise ImageUnavailableError(
        f"{url}: its server says neither ETag nor Last-Modified, so that a change would not be noticed; copy it here"
    )


def _condition(version: RemoteVersion) -> dict[str, str]:
    kind, _, tag = version.tag.partition(":")
    if kind == "modified":
        return {"If-Unmodified-Since": tag, **_ALONE}
    return {} if tag.startswith("W/") else {"If-Match": tag}  # a weak one never matches (RFC 9110)


def _require_version(version: RemoteVersion, response: httpx.Response) -> None:
    """Raise ImageReplacedError for the bytes of another version: not every server minds conditions."""
    if response.status_code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE or _tag(version.url, response) != version.tag:
        raise replaced_error(version.url)


def _total(url: str, response: httpx.Response, start: int, stop: int | None = None) -> int:
    """Return the bytes of the file as a range's header has them."""
    said = response.headers.get("content-range", "")
    found = _RANGE.fullmatch(said)
    if not found or int(found[1]) != start or (stop is not None and int(found[2]) + 1 != stop):
        raise TransientFaultError(f"it answers with another range than is asked for ({quote_text(said)})")
    return int(found[3])


def _length(url: str, response: httpx.Response) -> int:
    said = response.headers.get("content-length", "")
    if not _LENGTH.fullmatch(said):
        raise ImageUnavailableError(f"{url}: its server does not say how long it is")
    return int(said)


async def _body(response: httpx.Response, num_bytes: int, *, is_all: bool) -> bytes:
    """Read so many bytes; of an answer that `is_all`, more or fewer are a fault."""
    body = bytearray()
    async for piece in response.aiter_raw():
        body += piece
        if len(body) > num_bytes:
            break
    if len(body) < num_bytes or (is_all and len(body) > num_bytes):
        raise TransientFaultError(f"it gives {len(body)} of {num_bytes} bytes")
    return bytes(memoryview(body)[:num_bytes])


def _told(error: httpx.TransportError) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
