"""Routes of a worker: its metrics, whether it lives, and whether it can play."""

import asyncio
import socket
import threading
from collections.abc import Callable, Iterable
from socketserver import ThreadingMixIn
from typing import TYPE_CHECKING, Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import make_wsgi_app

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse

_TURN_SECONDS = 5.0
_READY_STATES = frozenset({"ready", "switching"})


class ProbeServer:
    """Serves `/metrics`, `/healthz` (the event loop turns) and `/readyz` (an engine was ready, no drain has begun).

    Everything else is the metrics, too, as ever. Made in the event loop that is to be looked at. Raises OSError.
    """

    def __init__(self, host: str, port: int) -> None:
        is_six = ":" in host
        self._loop = asyncio.get_running_loop()
        self._metrics = make_wsgi_app()
        self._state: Callable[[], str] = lambda: "starting"
        self._server = make_server(
            host,
            port,
            self._answer,
            server_class=_ProbeHttpServer6 if is_six else _ProbeHttpServer,
            handler_class=_SilentHandler,
        )
        self.metrics_url = f"http://{_announced_address(host)}:{self._server.server_port}/metrics"
        threading.Thread(target=self._server.serve_forever, name="probes", daemon=True).start()

    def watch(self, state: Callable[[], str]) -> None:
        """Tell readiness by this state from now on: `starting`, `ready`, `switching` or `draining`."""
        self._state = state

    def _answer(self, environ: dict[str, Any], start: "StartResponse") -> Iterable[bytes]:
        path = environ["PATH_INFO"]
        if path == "/healthz":
            return _respond(start, self._turns(), "the event loop turns", "the event loop does not turn")
        if path == "/readyz":
            state = self._state()
            return _respond(start, state in _READY_STATES, state, state)
        metrics: Iterable[bytes] = self._metrics(environ, start)
        return metrics

    def _turns(self) -> bool:
        turned = threading.Event()
        try:
            self._loop.call_soon_threadsafe(turned.set)
        except RuntimeError:  # it is closed
            return False
        return turned.wait(_TURN_SECONDS)


def _announced_address(host: str) -> str:
    """Return the address to announce of what listens on `host`: this machine's own where that is every address."""
    if host not in {"0.0.0.0", "::", ""}:
        return f"[{host}]" if ":" in host else host
    try:
        return socket.gethostbyname(socket.gethostname())
    except OSError:  # a machine whose own name has no address
        return socket.gethostname()


def _respond(start: "StartResponse", is_so: bool, yes: str, no: str) -> Iterable[bytes]:
    start("200 OK" if is_so else "503 Service Unavailable", [("Content-Type", "text/plain; charset=utf-8")])
    return [f"{yes if is_so else no}\n".encode()]


class _ProbeHttpServer(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _ProbeHttpServer6(_ProbeHttpServer):
    address_family = socket.AF_INET6


class _SilentHandler(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: probes come every few seconds."""
