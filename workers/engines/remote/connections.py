"""Connections to a server elsewhere: kept open for as long as every byte on them belongs to what was asked.

A reply that comes twice would be read as the answer to the next question of its connection.
"""

import logging
import socket
import ssl
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import h11
import httpcore
import httpx

from workers.engines.engine import EngineDeadError

log = logging.getLogger(__name__)

_IDLE_SECONDS = 4.0  # uvicorn closes what is idle for five, and might do so just when it is used again
_QUIET_SECONDS = 0.001  # TLS and the event loop may hold what the socket shows no more: only reading tells
_KEEP_ALIVE = [
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),  # a machine that is gone says nothing, and answers take long
    (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 30),
    (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 10),
    (socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3),
]


class Connections(httpx.AsyncBaseTransport):
    """All connections to an endpoint, by way of the proxy that the environment names for it.

    Raises EngineDeadError for a proxy that cannot be used.
    """

    def __init__(self, endpoint: str) -> None:
        shared: dict[str, Any] = {
            "ssl_context": httpx.create_ssl_context() if endpoint.startswith("https:") else None,
            "max_connections": None,
            "keepalive_expiry": _IDLE_SECONDS,
            "network_backend": _Backend(),
        }
        proxy = _proxy(endpoint)
        self._pool = _through(proxy, shared) if proxy else httpcore.AsyncConnectionPool(**shared)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; returns the beginning of its reply. Raises httpx.TransportError."""
        url = request.url
        sent = httpcore.Request(
            method=request.method,
            url=httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        with _httpx_errors():
            reply = await self._pool.handle_async_request(sent)
        return httpx.Response(reply.status, headers=reply.headers, stream=_Content(reply), extensions=reply.extensions)

    async def aclose(self) -> None:
        """Close all of them."""
        await self._pool.aclose()


class _Content(httpx.AsyncByteStream):
    def __init__(self, reply: httpcore.Response) -> None:
        self._reply = reply

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _httpx_errors():
            async for piece in self._reply.aiter_stream():
                yield piece

    async def aclose(self) -> None:
        with _httpx_errors():
            await self._reply.aclose()


class _Backend(httpcore.AsyncNetworkBackend):
    def __init__(self) -> None:
        self._backend = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's interface
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        return _Stream(await self._backend.connect_tcp(host, port, timeout, local_address, _KEEP_ALIVE))

    async def sleep(self, seconds: float) -> None:
        await self._backend.sleep(seconds)


class _Stream(httpcore.AsyncNetworkStream):
    """A connection that takes no further request once it has held what is of no reply to the last one."""

    def __init__(self, stream: httpcore.AsyncNetworkStream) -> None:
        self._stream = stream
        self._reply = _Reply()

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109 - as above
        data = await self._stream.read(max_bytes, timeout)
        self._reply.take(data)
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109 - as above
        if self._reply.has_ended:  # so that this begins another request
            if self._reply.has_surplus or not await self._is_quiet():
                raise httpcore.ConnectionNotAvailable  # the pool takes another one
            self._reply = _Reply()
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - as above
    ) -> httpcore.AsyncNetworkStream:
        return _Stream(await self._stream.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> Any:
        if info == "is_readable" and self._reply.has_surplus:
            return True  # an idle connection that is readable is closed
        return self._stream.get_extra_info(info)

    async def _is_quiet(self) -> bool:
        try:
            data = await self._stream.read(1, _QUIET_SECONDS)
        except httpcore.ReadTimeout:
            return True
        except httpcore.ReadError:
            return False
        if data:
            self._reply.take(data)
        return False


class _Reply:
    """Follows the bytes of one reply, to know where it ends."""

    def __init__(self) -> None:
        self._parser = h11.Connection(our_role=h11.CLIENT)
        self._parser.send(h11.Request(method="POST", target="/", headers=[("host", "_"), ("content-length", "0")]))
        self._parser.send(h11.EndOfMessage())
        self.has_ended = self.has_surplus = False

    def take(self, data: bytes) -> None:
        """Take what was read."""
        if self.has_ended:
            self._find_surplus(data)
            return
        try:
            self._parser.receive_data(data)
            while (event := self._parser.next_event()) not in (h11.NEED_DATA, h11.PAUSED):
                if isinstance(event, h11.EndOfMessage):
                    self.has_ended = True
                    self._find_surplus(self._parser.trailing_data[0])
                if isinstance(event, h11.EndOfMessage | h11.ConnectionClosed):
                    return
        except h11.RemoteProtocolError:  # whoever reads it finds the same
            self.has_ended = self.has_surplus = True

    def _find_surplus(self, data: bytes) -> None:
        if data and not self.has_surplus:
            self.has_surplus = True
            log.warning("a server sent %d bytes or more behind a reply; its connection is given up", len(data))


def _proxy(endpoint: str) -> str | None:
    url, proxies = urlsplit(endpoint), getproxies()
    found = proxies.get(url.scheme) or proxies.get("all")
    if not found or proxy_bypass(url.hostname or ""):
        return None
    return found if "://" in found else f"http://{found}"


def _through(address: str, shared: dict[str, Any]) -> httpcore.AsyncConnectionPool:
    try:
        proxy = httpx.Proxy(address)
        made = httpcore.AsyncSOCKSProxy if proxy.url.scheme.startswith("socks") else httpcore.AsyncHTTPProxy
        pool: httpcore.AsyncConnectionPool = made(
            proxy_url=httpcore.URL(str(proxy.url)), proxy_auth=proxy.raw_auth, **shared
        )
    except (ValueError, ImportError, RuntimeError) as error:  # the last two: SOCKS without the package for it
        raise EngineDeadError(f"the proxy that the environment names cannot be used: {error}") from error
    return pool


@contextmanager
def _httpx_errors() -> Iterator[None]:
    """Raise httpx's error of the same name, with its kind where it has no words."""
    try:
        yield
    except (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError, httpcore.ProxyError) as error:
        kind = type(error).__name__
        raise getattr(httpx, kind)(str(error) or _reason(error)) from error


def _reason(error: BaseException) -> str:
    """The words of the first cause that has some, else the name of the kind."""
    cause: BaseException | None = error
    while cause is not None:
        if str(cause):
            return str(cause)
        cause = cause.__cause__ or cause.__context__
    return type(error).__name__
