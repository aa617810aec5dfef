"""Results: every raw response of a job, as a stream with a cursor."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field, PositiveInt
from starlette.responses import StreamingResponse

from jobs.errors import JobNotFoundError, ServerUnavailableError, TextMissingError
from service import examples
from service.gateway import CurrentGateway
from service.openapi import problems, reference
from service.results import BEGINNING, ResultFilter, ResultLine, followed_pages, lines, pages

router = APIRouter(prefix="/v1/jobs/{job_id}/results", tags=["results"])
NDJSON = "application/x-ndjson"
CURSOR = r"^\d{1,20}-\d{1,20}$"


class ResultQuery(ResultFilter):
    """Where to begin, how much to send, and what to leave out."""

    after: str = Field(default=BEGINNING, pattern=CURSOR, description="cursor of the last line that is known")
    limit: PositiveInt | None = Field(default=None, description="most lines to send")
    follow: bool = Field(default=False, description="wait for further responses until the job is final")


@router.get(
    "",
    summary="Stream a job's responses",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "One response a line, in the order of recording",
            "content": {NDJSON: {"schema": reference(ResultLine), "example": examples.RESPONSE}},
        },
        **problems(JobNotFoundError, TextMissingError, ServerUnavailableError),
    },
)
async def read_results(
    gateway: CurrentGateway, job_id: str, query: Annotated[ResultQuery, Query()]
) -> StreamingResponse:
    """Stream raw responses as NDJSON; each line carries the `cursor` to go on after it."""
    await gateway.registry.get(job_id)
    if query.follow:
        source = followed_pages(
            gateway.results,
            gateway.registry,
            job_id,
            query.after,
            poll_seconds=gateway.settings.poll_seconds,
            stopping=gateway.stopping,
        )
    else:
        source = pages(gateway.results, job_id, query.after)
    streamed = gateway.instrumentation.open_stream("results", lines(source, query, query.limit))
    return StreamingResponse(streamed, media_type=NDJSON)
