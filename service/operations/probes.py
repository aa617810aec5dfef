"""Routes of the index and of the probes: whether the process lives, and whether it can take jobs."""

import asyncio
from collections import Counter
from collections.abc import Iterable
from http import HTTPStatus
from typing import Annotated, Literal

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field
from redis.exceptions import RedisError

from gigavqa.contract.requests import SCHEMA_VERSION
from gigavqa.evaluation.installed import installed_benchmarks
from gigavqa.runtime.errors import StateStoreUnavailableError
from gigavqa.service.http import examples
from gigavqa.service.http.auth import CurrentCaller
from gigavqa.service.http.openapi import VERSION, example, problem_responses
from gigavqa.service.http.parameters import CurrentSettings, Registry, Workers, component
from gigavqa.service.operations.status_collector import StatusCollector
from gigavqa.store.job_registry import JobRegistry
from gigavqa.store.worker_registry import WorkerRegistry, WorkerStatus

router = APIRouter(tags=["operations"])
_PING_SECONDS = 2.0


class ServiceIndex(BaseModel):
    """The gateway's name and version, and the addresses of its parts."""

    name: Literal["gigavqa"] = "gigavqa"
    version: str = VERSION
    documentation: str = "/docs"
    description: str = "/openapi.json"
    jobs: str = "/v1/jobs"
    models: str = "/v1/models"
    datasets: str = "/v1/datasets"
    workers: str = "/v1/workers"
    plans: str = "/v1/plans"
    readiness: str = "/readyz"
    metrics: str = "/metrics"
    watch: str = "/watch"


@router.get(
    "/",
    summary="Where is what?",
    response_model=ServiceIndex,
    responses={
        200: {
            "description": "The addresses; for a browser, a page that lists the jobs live",
            "content": {
                "application/json": {"example": examples.INDEX},
                "text/html": {"example": "<!doctype html> ...", "schema": {"type": "string"}},
            },
        },
        **problem_responses(),
    },
)
async def get_index(response: Response) -> ServiceIndex:
    """List the addresses; a browser gets a page that lists the jobs live."""
    response.headers["Vary"] = "Accept"
    return ServiceIndex()


class Version(BaseModel):
    """The version of the gateway."""

    name: Literal["gigavqa"] = "gigavqa"
    version: str = VERSION
    api: Literal["v1"] = "v1"
    form: int = Field(default=SCHEMA_VERSION, description="version of the form in which responses are written")
    benchmarks: dict[str, str] = Field(description="titles of the installed benchmarks, by name")


@router.get(
    "/v1/version", summary="Which version is it?", responses={200: example(examples.VERSION), **problem_responses()}
)
async def get_version() -> Version:
    """Tell the version of the gateway, of its API and of what it writes."""
    known = await asyncio.to_thread(installed_benchmarks)
    return Version(benchmarks={name: one.title for name, one in known.items()})


class Health(BaseModel):
    """The process lives."""

    status: Literal["ok"] = "ok"


class Readiness(BaseModel):
    """The readiness to take jobs. Workers are information: without any, jobs wait."""

    ready: bool
    checks: dict[str, str] = Field(description="`ok`, or what is wrong")
    workers: dict[str, dict[str, int]] = Field(
        description="number of workers by model and state; one of several models in time slices counts for each"
    )
    loaded: dict[str, int] = Field(description="number of workers by the model that is in their engine now")


@router.get(
    "/healthz", summary="Is the process alive?", responses={200: example(examples.HEALTH), **problem_responses()}
)
async def get_health() -> Health:
    """Answer as long as the event loop turns."""
    return Health()


@router.get(
    "/readyz",
    summary="Can jobs be taken?",
    responses={
        200: example(examples.READINESS),
        503: {**example(examples.UNREADINESS, description="A check failed"), "model": Readiness},
        **problem_responses(),
    },
)
async def get_readiness(
    *,
    request: Request,
    settings: CurrentSettings,
    registry: Registry,
    worker_registry: Workers,
    collector: Annotated[StatusCollector, component(StatusCollector)],
    caller: CurrentCaller,
    response: Response,
) -> Readiness:
    """Check that the state store answers and takes what is written, and that the data root exists.

    One that was told to end answers on, and is not ready. A results store that is away is told, and no check that
    fails: responses wait in the state store.

    Where keys are asked for, this is open to probes, and only a caller with a key is told which workers there are, and
    why a check failed.
    """
    server, statuses = await _check_store(registry, worker_registry)
    data = "ok" if settings.data.is_dir() else "is not a folder"
    gateway = "ends: it was told to" if request.app.state.draining else "ok"
    readiness = Readiness(
        ready=gateway == server == data == "ok",
        checks={"gateway": gateway, "server": server, "data_root": data, "results": collector.sink_fault or "ok"},
        workers=_count_states(statuses),
        loaded=Counter(status.loaded for status in statuses if status.loaded),
    )
    if caller.is_anonymous:
        checks = {name: "ok" if found == "ok" else "failed" for name, found in readiness.checks.items()}
        readiness = readiness.model_copy(update={"checks": checks, "workers": {}, "loaded": {}})
    if not readiness.ready:
        response.status_code = HTTPStatus.SERVICE_UNAVAILABLE
    return readiness


async def _check_store(registry: JobRegistry, worker_registry: WorkerRegistry) -> tuple[str, list[WorkerStatus]]:
    try:
        # The client waits out a restart of the server; a probe does not.
        async with asyncio.timeout(_PING_SECONDS):
            await registry.beat()
            return "ok", await worker_registry.workers()
    except TimeoutError:
        return f"no answer within {_PING_SECONDS:g} s", []
    except (RedisError, StateStoreUnavailableError) as error:
        return str(error), []


def _count_states(statuses: Iterable[WorkerStatus]) -> dict[str, dict[str, int]]:
    counts: dict[str, Counter[str]] = {}
    for status in statuses:
        for model in status.models:
            counts.setdefault(model, Counter())[status.state] += 1
    return {model: dict(states) for model, states in counts.items()}
