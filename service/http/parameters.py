"""Parameters that routes declare: parts of the gateway and shared parameters, and none that they do not have."""

import asyncio
import re
from collections.abc import Callable, Iterable
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Header, Path, Request
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

from gigavqa.contract.errors import JobNotFoundError
from gigavqa.contract.jobs import Job
from gigavqa.service.errors import JobOfAnotherError
from gigavqa.service.http import examples
from gigavqa.service.http.auth import Caller, CurrentCaller
from gigavqa.service.settings import GatewaySettings
from gigavqa.store.job_registry import JobRegistry
from gigavqa.store.queue import JobQueue
from gigavqa.store.results import ResultStore
from gigavqa.store.worker_registry import WorkerRegistry

Component = TypeVar("Component")
_JOB_ID = re.compile(r"(?!chat_|batch_)[A-Za-z0-9_]{1,64}")  # those are in no list, and OpenAI's clients ask for them

_QUERY_PARAMETERS: dict[Callable[..., Any], list[str]] = {}
"""Names of the query parameters of operations that were asked something, by their functions."""

CURSOR = r"^[0-9]{1,19}-[0-9]{1,19}$"
"""What the cursors of results and the ids of events look like."""

PAGE = "page"
"""The tag of routes that are pages for people."""

BEGINNING = "0-0"
"""The cursor before everything."""


def component(kind: type[Component]) -> Any:
    """Declare that a route is given the part of this class of the gateway that runs."""

    async def find(request: Request) -> Component:
        found: Component = request.app.state.parts[kind]
        return found

    return Depends(find)


CurrentSettings = Annotated[GatewaySettings, component(GatewaySettings)]
Registry = Annotated[JobRegistry, component(JobRegistry)]
Queue = Annotated[JobQueue, component(JobQueue)]
Results = Annotated[ResultStore, component(ResultStore)]
Workers = Annotated[WorkerRegistry, component(WorkerRegistry)]
Stopping = Annotated[asyncio.Event, component(asyncio.Event)]
"""Set when the gateway begins to stop: streams end then."""


async def refuse_unknown_parameters(request: Request) -> None:
    """Refuse a query parameter that the operation does not have: it would be a filter that is silently not applied.

    A page's address keeps what somebody chose there, for its script. Raises RequestValidationError.
    """
    if not request.query_params or PAGE in request.scope["route"].tags:
        return
    known = _query_parameters(request.scope["route"])
    if unknown := sorted(set(request.query_params) - set(known)):
        there_are = f"there are {', '.join(known)}" if known else "there are none"
        raise RequestValidationError(
            [
                {"type": "extra_forbidden", "loc": ("query", name), "msg": f"no such parameter; {there_are}"}
                for name in unknown
            ]
        )


def _query_parameters(route: APIRoute) -> list[str]:
    """Name what an operation may be asked, by a document of its own: that of all would hold up others for 0.3 s."""
    if route.endpoint not in _QUERY_PARAMETERS:
        document: dict[str, Any] = get_openapi(title=route.name, version="", routes=[route])
        parameters = [
            one
            for operations in document["paths"].values()
            for operation in operations.values()
            for one in operation.get("parameters", ())
        ]
        _QUERY_PARAMETERS[route.endpoint] = [one["name"] for one in parameters if one["in"] == "query"]
    return _QUERY_PARAMETERS[route.endpoint]


def validate_job_id(job_id: str) -> str:
    """Return an id that can name a job; raises JobNotFoundError for any other text."""
    # Anything else could name another of the server's keys.
    if not _JOB_ID.fullmatch(job_id):
        raise JobNotFoundError(f"there is no job {job_id}")
    return job_id


async def require_visible(registry: JobRegistry, caller: Caller, job_id: str) -> str:
    """Return the id of a job that is the caller's to see; raises JobNotFoundError, in the same words, for any other."""
    validate_job_id(job_id)
    if not caller.sees_all:
        owner = await registry.owner(job_id)
        if not caller.may_see(owner):
            raise (JobNotFoundError if owner is None else JobOfAnotherError)(f"there is no job {job_id}")
    return job_id


async def _job_id(
    registry: Registry,
    caller: CurrentCaller,
    job_id: Annotated[str, Path(description="id of the job", examples=[examples.JOB_ID])],
) -> str:
    return await require_visible(registry, caller, job_id)


JobId = Annotated[str, Depends(_job_id)]
"""The id of a job in the path, which is the caller's to see."""

MOST_JOBS = 100
"""Most jobs that are read together."""

MOST_JUDGES = 16
"""Most jobs that judge for one report."""

IfNoneMatch = Annotated[str | None, Header(description="ETags of the answers that are known, or *")]


async def get_visible_jobs(registry: JobRegistry, caller: Caller, job_ids: Iterable[str]) -> list[Job]:
    """Return the jobs that a query names, each once, in its order; raises JobNotFoundError."""
    wanted = dict.fromkeys(job_ids)
    return [await registry.get(await require_visible(registry, caller, job_id)) for job_id in wanted]
