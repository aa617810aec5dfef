"""Serves the gateway: streams are told to end before connections are waited for."""

import logging
import socket

import uvicorn
from fastapi import FastAPI

_GRACE_SECONDS = 10


class GatewayServer(uvicorn.Server):
    """A uvicorn server that sets the application's `stopping` when it begins to shut down.

    Without it an open result or event stream would hold the shutdown until the grace period is over.
    """

    def __init__(self, app: FastAPI, host: str, port: int) -> None:
        self._app = app
        super().__init__(
            uvicorn.Config(
                app,
                host=host,
                port=port,
                log_config=None,
                access_log=False,  # the telemetry middleware writes a line with the request's id
                timeout_graceful_shutdown=_GRACE_SECONDS,
            )
        )

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the streams, then shut down as uvicorn does."""
        self._app.state.stopping.set()
        await super().shutdown(sockets)


def configure_logging() -> None:
    """Log to standard error, one line an event."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
