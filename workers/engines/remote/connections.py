"""Connections to a server elsewhere, of one request each (docs/decisions/0009-remote-endpoints.md).

HTTP/1.1 has no names for replies: one that came twice would be read as the answer to the next question of its
connection, and whether one will come nobody can tell.
"""

import socket
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpcore
import httpx

from gigavqa.workers.engines.engine import EngineDeadError

_CLOSE_HEADER = (b"connection", b"close")  # so that the server closes first, and this machine's ports are free at once
_KEEP_ALIVE = [
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),  # a machine that is gone says nothing, and answers take long
    (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 30),
    (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 10),
    (socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3),
]


class SingleUseTransport(httpx.AsyncBaseTransport):
    """All connections to an endpoint, by way of the proxy that the environment names for it.

    Raises EngineDeadError for a proxy that cannot be used.
    """

    def __init__(self, endpoint: str) -> None:
        shared: dict[str, Any] = {
            "ssl_context": httpx.create_ssl_context() if endpoint.startswith("https:") else None,
            "max_connections": None,
            "max_keepalive_connections": 0,
            "network_backend": _KeepAliveBackend(),
        }
        proxy = _proxy_address(endpoint)
        self._pool = _proxied_pool(proxy, shared) if proxy else httpcore.AsyncConnectionPool(**shared)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; returns the beginning of its reply. Raises httpx.TransportError."""
        url = request.url
        sent = httpcore.Request(
            method=request.method,
            url=httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
            headers=[*(each for each in request.headers.raw if each[0].lower() != b"connection"), _CLOSE_HEADER],
            content=request.stream,
            extensions=request.extensions,
        )
        with _translate_errors():
            reply = await self._pool.handle_async_request(sent)
        return httpx.Response(
            reply.status, headers=reply.headers, stream=_ReplyStream(reply), extensions=reply.extensions
        )

    async def aclose(self) -> None:
        await self._pool.aclose()


class _ReplyStream(httpx.AsyncByteStream):
    def __init__(self, reply: httpcore.Response) -> None:
        self._reply = reply

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _translate_errors():
            async for piece in self._reply.aiter_stream():
                yield piece

    async def aclose(self) -> None:
        with _translate_errors():
            await self._reply.aclose()


class _KeepAliveBackend(httpcore.AsyncNetworkBackend):
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
        return await self._backend.connect_tcp(host, port, timeout, local_address, _KEEP_ALIVE)

    async def sleep(self, seconds: float) -> None:
        await self._backend.sleep(seconds)


def _proxy_address(endpoint: str) -> str | None:
    url, proxies = urlsplit(endpoint), getproxies()
    found = proxies.get(url.scheme) or proxies.get("all")
    if not found or proxy_bypass(url.hostname or ""):
        return None
    return found if "://" in found else f"http://{found}"


def _proxied_pool(address: str, shared: dict[str, Any]) -> httpcore.AsyncConnectionPool:
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
def _translate_errors() -> Iterator[None]:
    """Raise httpx's error of the same name, with its kind where it has no words."""
    try:
        yield
    except (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError, httpcore.ProxyError) as error:
        kind = type(error).__name__
        raise getattr(httpx, kind)(str(error) or _reason(error)) from error


def _reason(error: BaseException) -> str:
    """Return the words of the first cause that has some, else the name of the kind."""
    cause: BaseException | None = error
    while cause is not None:
        if str(cause):
            return str(cause)
        cause = cause.__cause__ or cause.__context__
    return type(error).__name__
