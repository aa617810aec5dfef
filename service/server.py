"""Serves the gateway: streams are told to end before connections are waited for."""

import asyncio
import socket
import time

import uvicorn
from fastapi import FastAPI
from sse_starlette.sse import AppStatus
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from gigavqa.service.openai.pending_chats import PendingChats
from gigavqa.service.settings import GatewaySettings

_GRACE_SECONDS = 10
_LOOK_SECONDS = 0.05
MAX_HEAD_BYTES = 64 << 10
"""Most bytes of a request's line and headers together."""

_HEAD_TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class GatewayServer(uvicorn.Server):
    """A uvicorn server that drains, and sets the application's `stopping` when it begins to shut down.

    Without it an open result or event stream would hold the shutdown until the grace period is over.
    """

    def __init__(self, app: FastAPI, settings: GatewaySettings) -> None:
        self._app = app
        self._settings = settings
        # Streams end by `stopping`; sse_starlette would cut them at the signal, before what they wait for is told.
        AppStatus.enable_automatic_graceful_drain = False
        super().__init__(
            uvicorn.Config(
                app,
                host=settings.host,
                port=settings.port,
                http=_timed_protocol(settings.body_seconds),
                timeout_keep_alive=settings.keep_alive_seconds,
                log_config=None,
                access_log=False,  # the telemetry middleware writes a line with the request's id
                timeout_graceful_shutdown=_GRACE_SECONDS,
            )
        )

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Drain, end the streams, then shut down as uvicorn does."""
        await self._drain()
        self._app.state.stopping.set()
        await super().shutdown(sockets)

    async def _drain(self) -> None:
        """Let `/readyz` say that the gateway ends, and answer on: for a balancer to see it, then for its chats."""
        self._app.state.draining = True
        chats: PendingChats = self._app.state.parts[PendingChats]
        began, settings = time.monotonic(), self._settings
        while not self.force_exit:
            left = began + settings.drain_seconds - time.monotonic()
            if left < 0 and (not chats or left < -settings.grace_seconds):
                return
            await asyncio.sleep(_LOOK_SECONDS)


def _timed_protocol(seconds: float) -> type[HttpToolsProtocol]:
    """Return the protocol of connections that end when a request's head is not there after so long, or has no end."""

    class HeadTimeoutProtocol(HttpToolsProtocol):
        """uvicorn bounds idle connections between requests, and neither the first one nor a slow or a large head."""

        _head: asyncio.TimerHandle | None = None
        _head_bytes = 0
        _begun = 0
        _is_idle = True

        def data_received(self, data: bytes) -> None:
            was_idle, self._begun = self._is_idle, 0
            super().data_received(data)
            if not self._head or self._begun > was_idle:  # or what came holds the end of another request, too
                self._head_bytes = 0
            else:
                self._head_bytes = (0 if self._begun else self._head_bytes) + len(data)
            if self._head_bytes > MAX_HEAD_BYTES:
                self.transport.write(_HEAD_TOO_LARGE)
                self.transport.close()

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
            super().connection_made(transport)
            self._head = self.loop.call_later(seconds, transport.close)

        def on_message_begin(self) -> None:
            super().on_message_begin()
            self._begun += 1
            self._is_idle = False
            self._forget()
            self._head = self.loop.call_later(seconds, self.transport.close)

        def on_message_complete(self) -> None:
            self._is_idle = True
            super().on_message_complete()

        def on_headers_complete(self) -> None:
            self._forget()
            # It may have come at once.
            if len(self.url) + sum(len(name) + len(value) for name, value in self.headers) > MAX_HEAD_BYTES:
                raise ValueError("the head is too large")  # uvicorn answers 400, and closes the connection
            super().on_headers_complete()

        def connection_lost(self, exc: Exception | None) -> None:
            self._forget()
            super().connection_lost(exc)

        def _forget(self) -> None:
            if self._head:
                self._head.cancel()
                self._head = None

    return HeadTimeoutProtocol
