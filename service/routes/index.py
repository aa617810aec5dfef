"""The address of the gateway itself: where everything is."""

from typing import Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel
from starlette.responses import RedirectResponse, Response

from service.http import examples
from service.http.openapi import VERSION, example, problems

router = APIRouter(tags=["operations"])


class Index(BaseModel):
    """What the gateway is, and where its parts are."""

    name: Literal["gigavqa"] = "gigavqa"
    version: str = VERSION
    documentation: str = "/docs"
    description: str = "/openapi.json"
    jobs: str = "/v1/jobs"
    models: str = "/v1/models"
    datasets: str = "/v1/datasets"
    workers: str = "/v1/workers"
    readiness: str = "/readyz"
    metrics: str = "/metrics"


@router.get(
    "/",
    summary="Where is what?",
    response_model=Index,
    responses={
        200: example(examples.INDEX),
        307: {"description": "To `/docs`, for a browser"},
        **problems(),
    },
)
async def get_index(request: Request) -> Index | Response:
    """List the addresses; a browser is sent to the documentation."""
    if "text/html" in request.headers.get("accept", ""):
        return RedirectResponse("/docs")
    return Index()
