"""Small pictures of what the requests of a job were shown."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Path
from starlette.responses import Response

from gigavqa.contract.errors import JobNotFoundError
from gigavqa.service.errors import PreviewNotFoundError
from gigavqa.service.http.freshness import immutable_headers, matches_etag
from gigavqa.service.http.openapi import problem_responses
from gigavqa.service.http.parameters import IfNoneMatch, JobId, Results, component
from gigavqa.store.previews import PreviewStore

router = APIRouter(prefix="/v1/jobs/{job_id}/previews", tags=["results"])


@router.get(
    "/{key}",
    summary="Get a small picture of a raster",
    response_class=Response,
    responses={
        200: {
            "description": "A JPEG",
            "content": {"image/jpeg": {"example": "...", "schema": {"type": "string", "format": "binary"}}},
        },
        304: {"description": "The client has it"},
        **problem_responses(JobNotFoundError, PreviewNotFoundError),
    },
)
async def get_preview(
    previews: Annotated[PreviewStore, component(PreviewStore)],
    results: Results,
    job_id: JobId,
    key: Annotated[str, Path(pattern=r"^[0-9a-f]{8,64}$", description="`key` of a raster in a response of the job")],
    if_none_match: IfNoneMatch = None,
) -> Response:
    """Return what a worker kept of a raster, as small as reports show it. A key names content: it never changes.

    Previews are kept once for all jobs; of a job there are those that its own requests were shown.
    """
    tag = f'"{key}"'
    # First of all: a key can be known by whoever has the picture, and tells what others asked about it.
    content = await asyncio.to_thread(previews.read, key) if await results.showed(job_id, key) else None
    if content is None:
        raise PreviewNotFoundError(f"no preview of the raster {key} is kept of job {job_id}")
    if matches_etag(tag, if_none_match):
        return Response(status_code=304, headers=immutable_headers(tag))
    return Response(content, headers=immutable_headers(tag), media_type="image/jpeg")
