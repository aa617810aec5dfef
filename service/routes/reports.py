"""Reports: scores and tables, computed from the raw responses when somebody reads them."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Header, Query, Response

from evaluation.errors import DatasetInvalidError
from evaluation.report import Report
from jobs.errors import JobNotFoundError, ServerUnavailableError, TextMissingError
from service import examples
from service.errors import DatasetNotFoundError
from service.gateway import CurrentGateway
from service.openapi import problems
from service.reports import Format
from service.routes.parameters import JobId

router = APIRouter(prefix="/v1/jobs/{job_id}/report", tags=["results"])
MEDIA_TYPES: dict[Format, str] = {
    "json": "application/json",
    "md": "text/markdown",
    "csv": "text/csv",
    "html": "text/html",
}


@router.get(
    "",
    summary="Get a job's report",
    response_class=Response,
    responses={
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
        **problems(
            JobNotFoundError, DatasetNotFoundError, DatasetInvalidError, TextMissingError, ServerUnavailableError
        ),
    },
)
async def get_report(
    gateway: CurrentGateway,
    job_id: JobId,
    form: Annotated[
        Format,
        Query(alias="format", description="json, md (Markdown), csv, or html (one page that needs nothing else)"),
    ] = "json",
    if_none_match: Annotated[str | None, Header(description="ETag of the report that is known")] = None,
) -> Response:
    """Score what is recorded so far, with the data set's records as they are now."""
    job = await gateway.registry.get(job_id)
    version = await asyncio.to_thread(gateway.reports.version, job)
    headers = {"ETag": f'"{version}-{form}"', "Cache-Control": "no-cache"}
    if if_none_match == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    text = await gateway.reports.render(job, form)
    return Response(text, headers=headers, media_type=MEDIA_TYPES[form])
