"""Results: every raw response of a job, as a stream with a cursor."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field, PositiveInt
from starlette.responses import StreamingResponse

from jobs.errors import JobNotFoundError, ServerUnavailableError, TextMissingError
from service.gateway import CurrentGateway
from service.http import examples
from service.http.openapi import example, problems
from service.http.parameters import CURSOR, JobId
from service.results.responses import BEGINNING, ResultFilter, StreamedLine, followed_pages, lines, pages

router = APIRouter(prefix="/v1/jobs/{job_id}/results", tags=["results"])


class NDJSONResponse(StreamingResponse):
    """JSON values, one a line."""

    media_type = "application/x-ndjson"


class ResultQuery(ResultFilter):
    """Where to begin, how much to send, and what to leave out."""

    after: str = Field(default=BEGINNING, pattern=CURSOR, description="cursor of the last line that is known")
    limit: PositiveInt | None = Field(default=None, description="most lines to send")
    follow: bool = Field(default=False, description="wait for further responses until the job is final")


@router.get(
    "",
    summary="Stream a job's responses",
    response_class=NDJSONResponse,
    responses={
        200: {
            **example(examples.RESPONSE, NDJSONResponse.media_type, "One response a line, in the order of recording"),
            "model": StreamedLine,
        },
        **problems(JobNotFoundError, TextMissingError, ServerUnavailableError),
    },
)
async def read_results(
    gateway: CurrentGateway, job_id: JobId, query: Annotated[ResultQuery, Query()]
) -> StreamingResponse:
    """Stream raw responses as NDJSON; each line carries the `cursor` to go on after it.

    A line with `unreadable` stands for a response that is recorded and cannot be read now.
    """
    await gateway.registry.get(job_id)
    if query.follow:
        parts = (gateway.results, gateway.registry, gateway.followers)
        source = followed_pages(*parts, job_id, after=query.after, stopping=gateway.stopping)
    else:
        source = pages(gateway.results, job_id, query.after)
    streamed = gateway.instrumentation.open_stream("results", lines(source, query, query.limit))
    return NDJSONResponse(streamed)
