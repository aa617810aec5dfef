"""Streams of responses: one JSON object a line, each with the cursor to go on after it."""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field, PositiveInt, RootModel
from starlette.responses import StreamingResponse

from gigavqa.contract.errors import JobNotFoundError, QuotaExceededError, ResultsUnavailableError, TextMissingError
from gigavqa.contract.requests import Condition
from gigavqa.contract.responses import Response, UnreadableResponse
from gigavqa.runtime.errors import StateStoreUnavailableError
from gigavqa.service.http import examples
from gigavqa.service.http.auth import CurrentCaller, StreamSlot
from gigavqa.service.http.openapi import example, problem_responses
from gigavqa.service.http.parameters import BEGINNING, CURSOR, JobId, Registry, Results, Stopping, component
from gigavqa.service.operations.instrumentation import CurrentInstrumentation
from gigavqa.service.results.events import JobFollowers, wait_for_either
from gigavqa.service.results.readers import ResultReader, ResultReaders, StallLimitedResponse
from gigavqa.store.job_registry import JobRegistry
from gigavqa.store.results import PAGE, PartCache, ResultStore

router = APIRouter(prefix="/v1/jobs/{job_id}/results", tags=["results"])
ResponsePage = list[tuple[str, Response | UnreadableResponse]]


class ResultLine(Response):
    """A response in the stream."""

    cursor: str = Field(description="give it as `after` to go on behind this line")


class UnreadableLine(UnreadableResponse):
    """A line in place of a response that is recorded and cannot be read."""

    cursor: str = Field(description="give it as `after` to go on behind this line, or what is before it to try again")


class StreamedLine(RootModel[ResultLine | UnreadableLine]):
    """One line of the stream: a response, or what stands for one that cannot be read."""


class ResponseFilter(BaseModel):
    """The responses to show; all when nothing is given."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    condition: Condition | None = Field(default=None, description="what was shown")
    protocol: str | None = Field(default=None, description="how the sample was asked", examples=["direct"])
    max_rounds: PositiveInt | None = Field(default=None, description="most answers that its chat could have had")
    model: str | None = Field(default=None, description="id of the model")
    sample_id: str | None = Field(default=None, description="id of the sample")
    status: Literal["ok", "failed"] | None = Field(default=None, description="answered, or failed")

    @property
    def admits_all(self) -> bool:
        """Whether nothing was given."""
        return all(getattr(self, name) is None for name in ResponseFilter.model_fields)

    def admits(self, response: Response | UnreadableResponse) -> bool:
        """Return whether a response has every attribute that was given.

        What an unreadable one does not tell, it has.
        """
        if self.status is not None and response.ok != (self.status == "ok"):
            return False
        wanted = {name: getattr(self, name) for name in ("condition", "protocol", "max_rounds", "model", "sample_id")}
        return all(value is None or getattr(response, name, value) == value for name, value in wanted.items())


async def read_pages(results: ResultStore, job_id: str, after: str = BEGINNING) -> AsyncIterator[ResponsePage]:
    """Yield what is recorded behind the cursor `after`, page by page."""
    kept = PartCache()
    while page := await results.read(job_id, after, PAGE, kept):
        yield page
        after = page[-1][0]


async def read_paced_pages(
    results: ResultStore, job_id: str, reader: ResultReader, after: str = BEGINNING, most: int | None = None
) -> AsyncIterator[ResponsePage]:
    """As `read_pages`, as fast as a client reads, and at most `most` responses in all."""
    left = most
    while left is None or left > 0:
        async with reader.turn() as kept:
            page = await results.read(job_id, after, reader.rows if left is None else min(left, reader.rows), kept)
        if not page:
            return
        left = None if left is None else left - len(page)
        after = page[-1][0]
        yield page


async def follow_pages(
    results: ResultStore,
    registry: JobRegistry,
    followers: JobFollowers,
    job_id: str,
    reader: ResultReader,
    *,
    after: str,
    stopping: asyncio.Event,
) -> AsyncIterator[ResponsePage]:
    """As `read_paced_pages`, and then what is recorded later, until the job is final or gone, or `stopping` is set."""
    async with followers.of(job_id) as follower:
        while not stopping.is_set():
            follower.news.clear()
            follower.take()
            # Asked before the read, so that nothing recorded before the end is missed.
            status = await registry.status(job_id)
            async for page in read_paced_pages(results, job_id, reader, after):
                after = page[-1][0]
                yield page
            if status is None or status.final:
                return
            await wait_for_either(follower.news, stopping)


async def render_lines(
    source: AsyncIterator[ResponsePage], reader: ResultReader, chosen: ResponseFilter, limit: int | None
) -> AsyncIterator[bytes]:
    """Write the responses that `chosen` admits, at most `limit` of them."""
    remaining = limit
    async for page in source:
        admitted = [pair for pair in page if chosen.admits(pair[1])][:remaining]
        num_read, num_admitted, text = len(page), len(admitted), b""
        if admitted:
            async with reader.turn():
                text = await asyncio.to_thread(_encode_lines, admitted)
        for held in (page, admitted):  # while a client does not take them, there are their bytes alone
            held.clear()
        for piece in reader.pieces(text, num_read):
            yield piece
        if remaining is not None:
            remaining -= num_admitted
            if not remaining:
                return


def _encode_lines(page: ResponsePage) -> bytes:
    return b"".join(_encode_line(cursor, response) for cursor, response in page)


def _encode_line(cursor: str, response: Response | UnreadableResponse) -> bytes:
    # model_construct, because the response was validated when it was read.
    kind = ResultLine if isinstance(response, Response) else UnreadableLine
    line = kind.model_construct(cursor=cursor, **dict(response))
    return line.model_dump_json().encode() + b"\n"


class NDJSONResponse(StallLimitedResponse):
    """JSON values, one a line."""

    media_type = "application/x-ndjson"


class ResultQuery(ResponseFilter):
    """The page of responses to send, and the fields to leave out."""

    after: str = Field(default=BEGINNING, pattern=CURSOR, description="cursor of the last line that is known")
    limit: PositiveInt | None = Field(default=None, description="most lines to send")
    follow: bool = Field(default=False, description="wait for further responses until the job is final")


@router.get(
    "",
    summary="Stream a job's responses",
    response_class=NDJSONResponse,
    dependencies=[StreamSlot],
    responses={
        200: {
            **example(examples.RESPONSE, NDJSONResponse.media_type, "One response a line, in the order of recording"),
            "model": StreamedLine,
        },
        **problem_responses(
            JobNotFoundError, QuotaExceededError, TextMissingError, ResultsUnavailableError, StateStoreUnavailableError
        ),
    },
)
async def read_results(
    *,
    registry: Registry,
    caller: CurrentCaller,
    results: Results,
    followers: Annotated[JobFollowers, component(JobFollowers)],
    readers: Annotated[ResultReaders, component(ResultReaders)],
    instrumentation: CurrentInstrumentation,
    stopping: Stopping,
    job_id: JobId,
    query: Annotated[ResultQuery, Query()],
) -> StreamingResponse:
    """Stream raw responses as NDJSON; each line carries the `cursor` to go on after it.

    A line with `unreadable` stands for a response that is recorded and cannot be read now.
    """
    job = await registry.get(job_id)

    async def stream() -> AsyncIterator[bytes]:
        with readers.reader(caller.owner) as reader:
            if query.follow:
                source = follow_pages(
                    results, registry, followers, job_id, reader, after=query.after, stopping=stopping
                )
            else:
                source = read_paced_pages(
                    results, job_id, reader, query.after, query.limit if query.admits_all else None
                )
            async for piece in render_lines(source, reader, query, query.limit):
                yield piece

    pieces = instrumentation.open_stream("results", stream())
    # Where the results store is away, that is the answer's status; a job that goes on is answered before it says more.
    return NDJSONResponse(pieces if query.follow and not job.status.final else await _begun(pieces))


async def _begun(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Wait for the first piece, and return them all."""
    first = await anext(pieces, None)

    async def every() -> AsyncIterator[bytes]:
        if first is not None:
            yield first
        async for piece in pieces:
            yield piece

    return every()
