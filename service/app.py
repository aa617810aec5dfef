"""The application: settings in, routes, errors, documentation and instrumentation put together."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from fastapi import Depends, FastAPI
from fastapi_offline import FastAPIOffline
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import DEFAULT_EXCLUDED_CONTENT_TYPES, GZipMiddleware

from gigavqa.runtime.errors import TracesMissingError
from gigavqa.service.gateway import Gateway
from gigavqa.service.http.auth import Authentication
from gigavqa.service.http.bodies import BodyLimits, HeadRequests, StreamedPath
from gigavqa.service.http.guard import Guard
from gigavqa.service.http.openapi import DESCRIPTION, TAGS, VERSION, install_openapi
from gigavqa.service.http.parameters import refuse_unknown_parameters
from gigavqa.service.http.problems import install_handlers
from gigavqa.service.openai import batches, chats, files, responses_api
from gigavqa.service.operations import (
    dataset_contents,
    dataset_deletion,
    dataset_imports,
    instrumentation,
    inventory,
    manifests,
    plans,
    probes,
    reviews,
    watch,
)
from gigavqa.service.operations.audit import AuditLog
from gigavqa.service.operations.instrumentation import GatewayInstrumentation
from gigavqa.service.operations.telemetry import Telemetry
from gigavqa.service.pages import routes as pages
from gigavqa.service.results import events, labels, previews, reports, responses, verdicts, webhooks
from gigavqa.service.settings import GatewaySettings
from gigavqa.service.submission import jobs

if TYPE_CHECKING:
    from gigavqa.service.operations.traces import RequestTraces

_CORS_METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE")
_CORS_EXPOSED = ("ETag", "Location", "Retry-After", "X-Request-Id")
# Lines that somebody waits for would be held back until there are enough of them to compress; Parquet is compressed.
_UNCOMPRESSED_TYPES = (
    *DEFAULT_EXCLUDED_CONTENT_TYPES,
    "application/x-ndjson",
    "application/octet-stream",
    verdicts.PARQUET,
)


def create_app(settings: GatewaySettings) -> FastAPI:
    """Build the gateway's application; it connects and starts its loops when it is served.

    Raises TracesMissingError where traces are wanted and cannot be sent.
    """
    counted, traces = GatewayInstrumentation(), _make_traces(settings)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.stopping, app.state.draining = asyncio.Event(), False
        gateway = Gateway(settings, counted, app.state.stopping)
        app.state.parts = gateway.parts
        async with gateway.running():
            yield
        if traces:
            await asyncio.to_thread(traces.close)

    app = FastAPIOffline(
        docs_url=None,  # a page of ours shows the description
        title="gigavqa",
        version=VERSION,
        description=DESCRIPTION,
        openapi_tags=TAGS,
        lifespan=lifespan,
        generate_unique_id_function=lambda route: route.name,
        dependencies=[Depends(refuse_unknown_parameters)],
    )
    for noun in (
        pages,
        jobs,
        responses,
        events,
        webhooks,
        previews,
        labels,
        reports,
        verdicts,
        inventory,
        dataset_contents,
        dataset_imports,
        dataset_deletion,
        reviews,
        manifests,
        plans,
        chats,
        responses_api,
        files,
        batches,
        probes,
        instrumentation,
        watch,
    ):
        app.include_router(noun.router)
    install_handlers(app)
    # The last one is the outermost.
    app.add_middleware(GZipMiddleware, minimum_size=1000, compresslevel=5, exclude_content_types=_UNCOMPRESSED_TYPES)
    app.add_middleware(HeadRequests)
    streamed = {
        chats.router.prefix: StreamedPath(settings.max_chat_bytes, "application/json"),
        responses_api.router.prefix: StreamedPath(settings.max_chat_bytes, "application/json"),
        files.router.prefix: StreamedPath(settings.max_file_bytes, "multipart/form-data"),
        dataset_imports.PATH: StreamedPath(settings.max_file_bytes, "multipart/form-data"),
    }
    app.add_middleware(BodyLimits, max_bytes=settings.max_body_bytes, seconds=settings.body_seconds, streamed=streamed)
    app.add_middleware(Authentication, settings=settings)
    app.add_middleware(Guard, settings=settings)
    if settings.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.cors_origins,
            allow_methods=_CORS_METHODS,
            allow_headers=["*"],
            expose_headers=_CORS_EXPOSED,
        )
    app.add_middleware(AuditLog, settings=settings, instrumentation=counted)
    app.add_middleware(Telemetry, instrumentation=counted, traces=traces)
    install_openapi(app)
    return app


def _make_traces(settings: GatewaySettings) -> "RequestTraces | None":
    if settings.traces is None:
        return None
    try:
        from gigavqa.service.operations.traces import RequestTraces  # noqa: PLC0415 - wants a package that may be missing
    except ImportError as error:
        raise TracesMissingError from error
    return RequestTraces(settings.traces)
