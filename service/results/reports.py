"""Routes of reports: one job's, and several jobs' side by side."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from starlette.responses import Response as Answer

from gigavqa.contract.errors import JobNotFoundError, TextMissingError
from gigavqa.evaluation.errors import AnnotationInvalidError, DatasetInvalidError, JudgesMixedError
from gigavqa.reports.report import Report
from gigavqa.runtime.errors import StateStoreUnavailableError
from gigavqa.service.errors import DatasetNotFoundError, DatasetsDifferError
from gigavqa.service.http import examples
from gigavqa.service.http.freshness import etag_headers, matches_etag
from gigavqa.service.http.openapi import problem_responses
from gigavqa.service.http.parameters import (
    MOST_JOBS,
    MOST_JUDGES,
    IfNoneMatch,
    JobId,
    component,
)
from gigavqa.service.results.report_builder import CurrentReader, Format, Reports
from gigavqa.service.results.report_jobs import ReportJobs, VisibleJobs

router = APIRouter(prefix="/v1", tags=["results"])
CurrentReports = Annotated[Reports, component(Reports)]
MEDIA_TYPES: dict[Format, str] = {
    "json": "application/json",
    "md": "text/markdown",
    "csv": "text/csv",
    "tex": "application/x-tex",
    "html": "text/html",
}
_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The report of everything recorded so far",
        "model": Report,
        "content": {
            "application/json": {"example": examples.REPORT},
            "text/markdown": {"example": examples.REPORT_MARKDOWN},
            "text/csv": {"example": examples.REPORT_CSV},
            "application/x-tex": {"example": examples.REPORT_LATEX},
            "text/html": {"example": examples.REPORT_PAGE},
        },
    },
    304: {"description": "Nothing changed since the report with this ETag"},
}
_PROBLEMS = (
    JobNotFoundError,
    DatasetNotFoundError,
    DatasetInvalidError,
    AnnotationInvalidError,
    TextMissingError,
    StateStoreUnavailableError,
)
_Form = Annotated[
    Format,
    Query(
        alias="format", description="json, md (Markdown), csv, tex (LaTeX), or html (one page that needs nothing else)"
    ),
]

Judges = Annotated[
    Sequence[str],
    Query(
        alias="judge",
        max_length=MOST_JUDGES,
        description="id of a job that judges (`judge` of its specification): scores are by the first one's first "
        "model, and what others say stands beside; repeat it for each",
    ),
]


class _ReportAnswer:
    """Answers with a report, or that it is the one that the client has."""

    def __init__(self, reports: CurrentReports, reader: CurrentReader, if_none_match: IfNoneMatch = None) -> None:
        self._reports = reports
        self._reader = reader
        self._known = if_none_match

    async def __call__(self, asked: ReportJobs, form: Format) -> Answer:
        version = await asyncio.to_thread(self._reports.version, asked)
        headers = etag_headers(tag := f'"{version}-{form}"')
        if matches_etag(tag, self._known):
            return Answer(status_code=304, headers=headers)
        text = await self._reports.render(asked, form, self._reader)
        return Answer(text, headers=headers, media_type=MEDIA_TYPES[form])


_Answering = Annotated[_ReportAnswer, Depends()]


@router.get(
    "/jobs/{job_id}/report",
    summary="Get a job's report",
    response_class=Answer,
    responses={**_RESPONSES, **problem_responses(*_PROBLEMS, DatasetsDifferError, JudgesMixedError)},
)
async def get_report(
    visible: VisibleJobs, answering: _Answering, job_id: JobId, form: _Form = "json", judges: Judges = ()
) -> Answer:
    """Score what is recorded so far, with the data set's records as they are now.

    Of a job that judges, tell what its models said.
    """
    return await answering(await visible([job_id], judges), form)


@router.get(
    "/reports",
    summary="Get one report over several jobs",
    response_class=Answer,
    responses={**_RESPONSES, **problem_responses(*_PROBLEMS, DatasetsDifferError, JudgesMixedError)},
)
async def get_joint_report(
    *,
    visible: VisibleJobs,
    answering: _Answering,
    jobs: Annotated[
        list[str],
        Query(
            alias="job",
            min_length=1,
            max_length=MOST_JOBS,
            description="id of a job; repeat it for each, all over one data set",
            examples=[[examples.JOB_ID]],
        ),
    ],
    judges: Judges = (),
    by_job: Annotated[
        bool,
        Query(
            description="whether answers of a model that several of the jobs ask the same stand apart, as those of "
            "`MODEL@JOB`; else the jobs are further repeats"
        ),
    ] = False,
    form: _Form = "json",
) -> Answer:
    """Score what the jobs recorded so far side by side: models of different jobs, further cells, further repeats."""
    return await answering(replace(await visible(jobs, judges), by_job=by_job), form)
