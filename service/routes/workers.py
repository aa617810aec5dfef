"""Workers: who announces itself, what is in its engine, and what it holds."""

from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel

from jobs.errors import ServerUnavailableError
from jobs.fleet import WorkerStatus
from service.gateway import CurrentGateway
from service.http import examples
from service.http.openapi import example, problems

router = APIRouter(prefix="/v1/workers", tags=["models"])


class WorkerList(BaseModel):
    """All workers that announce themselves, by name."""

    object: Literal["list"] = "list"
    data: list[WorkerStatus]


@router.get(
    "",
    summary="List workers",
    responses={200: example(examples.WORKERS), **problems(ServerUnavailableError)},
)
async def list_workers(gateway: CurrentGateway) -> WorkerList:
    """List the workers with models, state, the phase of an engine that starts, and the requests that they hold."""
    return WorkerList(data=await gateway.fleet.workers())
