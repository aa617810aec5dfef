"""The application: settings in, routes, errors, documentation and instrumentation put together."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from fastapi_offline import FastAPIOffline

from service.gateway import running_gateway
from service.instrumentation import Instrumentation
from service.middleware import BodyLimit, Telemetry
from service.openapi import DESCRIPTION, TAGS, VERSION, describe
from service.problems import install_handlers
from service.routes import datasets, events, jobs, metrics, models, probes, reports, results, workers
from service.settings import Settings


def create_app(settings: Settings) -> FastAPI:
    """Build the gateway's application; it connects and starts its loops when it is served."""
    instrumentation = Instrumentation()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.stopping = asyncio.Event()
        async with running_gateway(settings, instrumentation, app.state.stopping) as gateway:
            app.state.gateway = gateway
            yield

    app = FastAPIOffline(
        title="gigavqa", version=VERSION, description=DESCRIPTION, openapi_tags=TAGS, lifespan=lifespan
    )
    for noun in (jobs, results, events, reports, models, workers, datasets, probes, metrics):
        app.include_router(noun.router)
    install_handlers(app)
    app.add_middleware(BodyLimit, max_bytes=settings.max_body_bytes)
    app.add_middleware(Telemetry, instrumentation=instrumentation)
    describe(app)
    return app
