"""Reports: scores and tables, computed from the raw responses when somebody reads them."""

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from evaluation.errors import AnnotationInvalidError, DatasetInvalidError
from evaluation.report import Report
from jobs.errors import JobNotFoundError, ServerUnavailableError, TextMissingError
from jobs.models import Job
from service.errors import DatasetNotFoundError, DatasetsDifferError
from service.http import examples
from service.http.freshness import is_known, validators
from service.http.openapi import problems
from service.http.parameters import MOST_JOBS, IfNoneMatch, JobId, Registry, found_jobs, part
from service.results.reports import Format, Reports

router = APIRouter(prefix="/v1", tags=["results"])
CurrentReports = Annotated[Reports, part(Reports)]
MEDIA_TYPES: dict[Format, str] = {
    "json": "application/json",
    "md": "text/markdown",
    "csv": "text/csv",
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
    ServerUnavailableError,
)
Form = Annotated[
    Format, Query(alias="format", description="json, md (Markdown), csv, or html (one page that needs nothing else)")
]


@router.get(
    "/jobs/{job_id}/report",
    summary="Get a job's report",
    response_class=Response,
    responses={**_RESPONSES, **problems(*_PROBLEMS)},
)
async def get_report(
    registry: Registry, reports: CurrentReports, job_id: JobId, form: Form = "json", if_none_match: IfNoneMatch = None
) -> Response:
    """Score what is recorded so far, with the data set's records as they are now."""
    return await _report(await found_jobs(registry, [job_id]), reports, form, if_none_match)


@router.get(
    "/reports",
    summary="Get one report over several jobs",
    response_class=Response,
    responses={**_RESPONSES, **problems(*_PROBLEMS, DatasetsDifferError)},
)
async def get_joint_report(
    registry: Registry,
    reports: CurrentReports,
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
    form: Form = "json",
    if_none_match: IfNoneMatch = None,
) -> Response:
    """Score what the jobs recorded so far side by side: models of different jobs, further cells, further repeats."""
    return await _report(await found_jobs(registry, jobs), reports, form, if_none_match)


async def _report(jobs: Sequence[Job], reports: Reports, form: Format, known: str | None) -> Response:
    version = await asyncio.to_thread(reports.version, jobs)
    tag = f'"{version}-{form}"'
    headers = validators(tag)
    if is_known(tag, known):
        return Response(status_code=304, headers=headers)
    text = await reports.render(jobs, form)
    return Response(text, headers=headers, media_type=MEDIA_TYPES[form])
