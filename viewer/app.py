"""The application: settings in, routes, errors and instrumentation put together."""

import logging
import time
from collections.abc import AsyncIterator, MutableMapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

from prometheus_client import CONTENT_TYPE_LATEST
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from gigavqa.ranges.sources import read_remote_images
from gigavqa.runtime.embedded_store import ensure_store
from gigavqa.runtime.hosts import TrustedHosts, host_fault
from gigavqa.store.connection import connect
from gigavqa.store.listen_settings import requires_keys, security_headers
from gigavqa.tiling.errors import (
    ImageAddressError,
    ImageChangedError,
    ImageNotFoundError,
    ImageReplacedError,
    ImageUnavailableError,
    PathEscapesError,
    TilingError,
)
from gigavqa.viewer.auth import AuthStore, ViewerAuthentication, begin_session
from gigavqa.viewer.errors import ViewerBusyError, ViewerError
from gigavqa.viewer.iiif import PREFIX, SAMPLES, IiifService
from gigavqa.viewer.instrumentation import ViewerInstrumentation
from gigavqa.viewer.page import page_routes
from gigavqa.viewer.problems import problem_response
from gigavqa.viewer.renderer import ImageRenderer
from gigavqa.viewer.settings import ViewerSettings

_RETRY_HEADERS = {"Retry-After": "2"}
_METHODS = ["GET", "OPTIONS"]  # HEAD comes with GET

log = logging.getLogger(__name__)


def create_app(settings: ViewerSettings) -> Starlette:
    """Build the viewer's application; what it makes and keeps lives as long as it is served."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        read_remote_images(settings)
        renderer = ImageRenderer(settings)
        app.state.iiif, app.state.counted = IiifService(settings, renderer), ViewerInstrumentation(renderer)
        app.state.settings = settings
        try:
            async with _open_auth_store(settings) as app.state.desk:
                yield
        finally:
            renderer.close()

    return Starlette(
        routes=[
            Route(f"{PREFIX}/{{rest:path}}", _iiif, methods=_METHODS),
            Route(f"{SAMPLES}/{{rest:path}}", _samples),
            Route("/session", begin_session, methods=["POST"]),
            Route("/healthz", _healthz),
            Route("/metrics", _metrics),
            *page_routes(),
        ],
        exception_handlers={ViewerError: _handle_known, TilingError: _handle_file, Exception: _handle_unknown},
        middleware=[Middleware(HostGuard, settings=settings), Middleware(ViewerAuthentication, settings=settings)],
        lifespan=lifespan,
    )


@asynccontextmanager
async def _open_auth_store(settings: ViewerSettings) -> AsyncIterator[AuthStore | None]:
    """Open the store of keys; None where none are asked for, so that the viewer needs no state store."""
    if not requires_keys(settings):
        yield None
        return
    # In this thread, not in a pool's: the server may end with the thread that started it.
    redis = connect(settings.redis_url or ensure_store(settings.server))
    try:
        yield AuthStore.at(redis)
    finally:
        await redis.aclose()


class HostGuard:
    """Refuses names that the viewer is not called by, lets pages of others read pictures, and counts every request."""

    def __init__(self, app: ASGIApp, settings: ViewerSettings) -> None:
        self.app = app
        said = urlsplit(settings.url or "").hostname
        self._names = TrustedHosts(settings.host, *settings.trusted_hosts, *([said] if said else []))
        self._origin = settings.allow_origin

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        kind, started = _kind(scope["path"]), time.perf_counter()

        async def noted(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                self._add_headers(MutableHeaders(scope=message), kind)
                counted: ViewerInstrumentation = scope["app"].state.counted
                counted.requests.labels(kind, str(message["status"])).inc()
                counted.seconds.labels(kind).observe(time.perf_counter() - started)
            await send(message)

        host = Headers(scope=scope).get("host", "")
        if wrong := host_fault(scope):
            await problem_response(400, wrong)(scope, receive, noted)
        elif self._names.trusts(host):
            await self.app(scope, receive, noted)
        else:
            told = f"'{host[:200]}' is no name of this viewer; add it to GIGAVQA_VIEWER_TRUSTED_HOSTS if it should be"
            await problem_response(421, told)(scope, receive, noted)

    def _add_headers(self, headers: MutableHeaders, kind: str) -> None:
        headers.update(security_headers(headers))
        if kind in {"picture", "description"} and self._origin != "none":
            headers["Access-Control-Allow-Origin"] = self._origin
            headers["Access-Control-Expose-Headers"] = "ETag, Link, Retry-After"


def _kind(path: str) -> str:
    if path.startswith(f"{PREFIX}/"):
        return "description" if path.endswith("/info.json") else "picture"
    return "other"


async def _iiif(request: Request) -> Response:
    iiif: IiifService = request.app.state.iiif
    return await iiif.answer(request)


async def _samples(request: Request) -> Response:
    iiif: IiifService = request.app.state.iiif
    return await iiif.describe_samples(request)


async def _healthz(request: Request) -> Response:
    return PlainTextResponse("ok\n")


async def _metrics(request: Request) -> Response:
    counted: ViewerInstrumentation = request.app.state.counted
    return Response(counted.render(), media_type=CONTENT_TYPE_LATEST)


async def _handle_known(request: Request, error: Exception) -> Response:
    headers = _RETRY_HEADERS if isinstance(error, ViewerBusyError) else None
    status, parameter = (error.status, error.parameter) if isinstance(error, ViewerError) else (500, "")
    return problem_response(status, str(error), headers, kind=type(error), parameter=parameter)


async def _handle_file(request: Request, error: Exception) -> Response:
    if isinstance(error, ImageChangedError | ImageReplacedError):
        return problem_response(503, f"{error}; come again", _RETRY_HEADERS, kind=type(error))
    if isinstance(error, ImageUnavailableError):
        return problem_response(502, str(error), _RETRY_HEADERS, kind=type(error))
    missing = isinstance(error, ImageNotFoundError | PathEscapesError | ImageAddressError)
    return problem_response(404 if missing else 422, str(error), kind=type(error))


async def _handle_unknown(request: Request, error: Exception) -> Response:
    log.error("%s failed", request.url.path.encode("unicode_escape").decode(), exc_info=error)
    return problem_response(500, f"{type(error).__name__}; the viewer's log tells more")
