"""Verdicts, one row a response or a judged part: computed as reports are, and sent as they are computed."""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Response
from pydantic import BaseModel, ConfigDict, Field, JsonValue, create_model
from starlette.responses import FileResponse

from gigavqa.contract.errors import JobNotFoundError, QuotaExceededError, TextMissingError
from gigavqa.evaluation.errors import AnnotationInvalidError, DatasetInvalidError, JudgesMixedError
from gigavqa.reports.writers.verdict_columns import ColumnType, VerdictFileLayout
from gigavqa.reports.writers.verdict_files import VerdictFormat
from gigavqa.runtime.errors import StateStoreUnavailableError
from gigavqa.service.errors import DatasetNotFoundError, DatasetsDifferError
from gigavqa.service.http import examples
from gigavqa.service.http.auth import StreamSlot
from gigavqa.service.http.freshness import etag_headers, matches_etag
from gigavqa.service.http.openapi import problem_responses
from gigavqa.service.http.parameters import (
    MOST_JOBS,
    MOST_JUDGES,
    IfNoneMatch,
    JobId,
    component,
)
from gigavqa.service.operations.instrumentation import CurrentInstrumentation
from gigavqa.service.results.readers import StallLimitedResponse
from gigavqa.service.results.report_builder import CurrentReader
from gigavqa.service.results.report_jobs import ReportJobs, VisibleJobs
from gigavqa.service.results.reports import CurrentReports
from gigavqa.service.results.responses import NDJSONResponse
from gigavqa.service.results.verdict_files import VerdictFiles

router = APIRouter(prefix="/v1", tags=["results"])
CurrentFiles = Annotated[VerdictFiles, component(VerdictFiles)]
PARQUET = "application/vnd.apache.parquet"
MEDIA_TYPES: dict[VerdictFormat, str] = {"csv": "text/csv", "jsonl": "application/x-ndjson", "parquet": PARQUET}


_JSON_TYPES: dict[ColumnType, Any] = {
    "text": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "json": dict[str, JsonValue] | list[JsonValue],
    "any": JsonValue,
}
_FIELDS: dict[str, Any] = {name: (_JSON_TYPES[kind] | None, ...) for name, kind in VerdictFileLayout().columns.items()}
VerdictLine = create_model(
    "VerdictLine",
    __config__=ConfigDict(extra="allow"),
    __doc__="A row of the JSON form; beside it `group_...` for each level, `detail_...` for what the benchmark keeps "
    "of a reply, and `text` when asked for.",
    **_FIELDS,
)


class VerdictQuery(BaseModel):
    """The file of verdicts that is asked for."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: VerdictFormat = Field(default="csv", description="csv, jsonl (one JSON object a line) or parquet")
    parts: bool = Field(default=False, description="one row a judged part (step, hop, sub-question), not a response")
    texts: bool = Field(default=False, description="the raw texts, too")
    judge: list[str] = Field(
        default=[], max_length=MOST_JUDGES, description="id of a job that judges, as reports take them"
    )


class JointQuery(VerdictQuery):
    """The file of verdicts that is asked for, over several jobs."""

    job: list[str] = Field(
        min_length=1,
        max_length=MOST_JOBS,
        description="id of a job; repeat it for each, all over one data set",
        examples=[[examples.JOB_ID]],
    )


_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The verdicts on everything recorded so far, in the order of recording",
        "content": {
            MEDIA_TYPES["csv"]: {"example": examples.VERDICTS_CSV, "schema": {"type": "string"}},
            MEDIA_TYPES["jsonl"]: {"example": examples.VERDICT},
            PARQUET: {"example": "PAR1...", "schema": {"type": "string", "format": "binary"}},
        },
        "model": VerdictLine,
    },
    304: {"description": "Nothing changed since the verdicts with this ETag"},
}
_PROBLEMS = (
    JobNotFoundError,
    DatasetNotFoundError,
    DatasetInvalidError,
    AnnotationInvalidError,
    QuotaExceededError,
    TextMissingError,
    StateStoreUnavailableError,
)


class _VerdictAnswer:
    """Answers with a file of verdicts, or that it is the one that the client has."""

    def __init__(
        self,
        reports: CurrentReports,
        reader: CurrentReader,
        instrumentation: CurrentInstrumentation,
        files: CurrentFiles,
        if_none_match: IfNoneMatch = None,
    ) -> None:
        self._reports = reports
        self._reader = reader
        self._counted = instrumentation
        self._files = files
        self._known = if_none_match

    async def __call__(self, asked: ReportJobs, query: VerdictQuery) -> Response:
        version = await asyncio.to_thread(self._reports.version, asked)
        tag = f'"{version}-verdicts-{query.format}-{query.parts:d}{query.texts:d}"'
        if matches_etag(tag, self._known):
            return Response(status_code=304, headers=etag_headers(tag))
        headers = _headers(asked, query, tag)
        chunks = self._reports.verdicts(asked, query.format, self._reader, parts=query.parts, texts=query.texts)
        if query.format == "parquet":  # whole, with its length and in ranges, as its readers ask
            return FileResponse(await self._files.keep(tag, chunks), headers=headers, media_type=PARQUET)
        first = await anext(chunks, b"")  # before the status is sent: what fails here is a problem document
        stream = self._counted.open_stream("verdicts", _prepend_chunk(first, chunks))
        return StallLimitedResponse(stream, headers=headers, media_type=MEDIA_TYPES[query.format])


_Answering = Annotated[_VerdictAnswer, Depends()]


@router.get(
    "/jobs/{job_id}/verdicts",
    summary="Get the verdicts on a job's responses",
    response_class=NDJSONResponse,
    dependencies=[StreamSlot],
    responses={**_RESPONSES, **problem_responses(*_PROBLEMS, DatasetsDifferError, JudgesMixedError)},
)
async def get_verdicts(
    visible: VisibleJobs, answering: _Answering, job_id: JobId, query: Annotated[VerdictQuery, Query()]
) -> Response:
    """Judge what is recorded so far, and stream one row a response as a file that pandas and DuckDB read."""
    return await answering(await visible([job_id], query.judge), query)


@router.get(
    "/verdicts",
    summary="Get the verdicts on the responses of several jobs",
    response_class=NDJSONResponse,
    dependencies=[StreamSlot],
    responses={**_RESPONSES, **problem_responses(*_PROBLEMS, DatasetsDifferError, JudgesMixedError)},
)
async def get_joint_verdicts(
    visible: VisibleJobs, answering: _Answering, query: Annotated[JointQuery, Query()]
) -> Response:
    """Judge what the jobs recorded so far, all over one data set, and stream it as one file, job after job."""
    return await answering(await visible(query.job, query.judge), query)


def _headers(asked: ReportJobs, query: VerdictQuery, tag: str) -> dict[str, str]:
    jobs = asked.jobs
    name = f"verdicts-{jobs[0].id if len(jobs) == 1 else len(jobs)}.{query.format}"
    return {**etag_headers(tag), "Content-Disposition": f'attachment; filename="{name}"'}


async def _prepend_chunk(first: bytes, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for chunk in chunks:
        yield chunk
