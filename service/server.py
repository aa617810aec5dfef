"""Serves the gateway: streams are told to end before connections are waited for."""

import asyncio
import logging
import socket

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from service.settings import Settings

_GRACE_SECONDS = 10


class GatewayServer(uvicorn.Server):
    """A uvicorn server that sets the application's `stopping` when it begins to shut down.

    Without it an open result or event stream would hold the shutdown until the grace period is over.
    """

    def __init__(self, app: FastAPI, settings: Settings) -> None:
        self._app = app
        super().__init__(
            uvicorn.Config(
                app,
                host=settings.host,
                port=settings.port,
                http=_timed(settings.body_seconds),
                timeout_keep_alive=settings.keep_alive_seconds,
                log_config=None,
                access_log=False,  # the telemetry middleware writes a line with the request's id
                timeout_graceful_shutdown=_GRACE_SECONDS,
            )
        )

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the streams, then shut down as uvicorn does."""
        self._app.state.stopping.set()
        await super().shutdown(sockets)


def _timed(seconds: float) -> type[HttpToolsProtocol]:
    """The protocol of connections that end when a request's head is not there after so long."""

    class Timed(HttpToolsProtocol):
        """uvicorn bounds idle connections between requests, and neither the first one nor a slow head."""

        _head: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
            super().connection_made(transport)
            self._head = self.loop.call_later(seconds, transport.close)

        def on_message_begin(self) -> None:
            super().on_message_begin()
            self._forget()
            self._head = self.loop.call_later(seconds, self.transport.close)

        def on_headers_complete(self) -> None:
            self._forget()
            super().on_headers_complete()

        def connection_lost(self, exc: Exception | None) -> None:
            self._forget()
            super().connection_lost(exc)

        def _forget(self) -> None:
            if self._head:
                self._head.cancel()
                self._head = None

    return Timed


def configure_logging() -> None:
    """Log to standard error, one line an event."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
