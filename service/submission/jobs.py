"""Jobs: submit, look at, cancel, retry, delete."""

from http import HTTPStatus
from typing import Annotated, Literal

from fastapi import APIRouter, Body, Header, Query, Response
from pydantic import BaseModel

from evaluation.errors import DatasetInvalidError
from jobs.errors import (
    IdempotencyConflictError,
    JobActiveError,
    JobNotFoundError,
    JobNotRetryableError,
    JobTooLargeError,
    QueueFullError,
    QuotaExceededError,
    ServerUnavailableError,
)
from jobs.models import Job, JobStatus, JobSummary
from service.errors import (
    BodyTimeoutError,
    BodyTooLargeError,
    DatasetChangedError,
    ForeignOriginError,
    MediaTypeUnsupportedError,
    SubmissionInvalidError,
)
from service.http import examples
from service.http.auth import CurrentCaller
from service.http.openapi import example, problems
from service.http.parameters import JobId, Registry, part
from service.submission.queueing import Submissions
from service.submission.specification import SubmittedSpec

router = APIRouter(prefix="/v1/jobs", tags=["jobs"])
CurrentSubmissions = Annotated[Submissions, part(Submissions)]

_SUBMISSION_PROBLEMS = problems(
    SubmissionInvalidError,
    DatasetInvalidError,
    JobTooLargeError,
    IdempotencyConflictError,
    ForeignOriginError,
    BodyTooLargeError,
    BodyTimeoutError,
    MediaTypeUnsupportedError,
    QueueFullError,
    QuotaExceededError,
    ServerUnavailableError,
    body=True,
)


class JobList(BaseModel):
    """Jobs, newest first, without their lists of samples; give `last_id` as `after` for the next page."""

    object: Literal["list"] = "list"
    data: list[JobSummary]
    has_more: bool
    last_id: str | None


class Deletion(BaseModel):
    """What was deleted."""

    id: str
    object: Literal["job"] = "job"
    deleted: Literal[True] = True


@router.post(
    "",
    summary="Submit a job",
    status_code=HTTPStatus.CREATED,
    responses={
        200: {**example(examples.JOB, description="The job that this key already belongs to"), "model": Job},
        201: example(examples.JOB, description="The new job"),
        **_SUBMISSION_PROBLEMS,
    },
)
async def submit_job(
    submissions: CurrentSubmissions,
    caller: CurrentCaller,
    response: Response,
    spec: Annotated[
        SubmittedSpec,
        Body(
            openapi_examples={
                "plan": {"summary": "A named plan", "value": examples.SPEC},
                "cells": {"summary": "Chosen cells and samples", "value": examples.SPEC_OF_CELLS},
            }
        ),
    ],
    idempotency_key: Annotated[
        str | None,
        Header(min_length=1, max_length=200, description="a resubmission with the same key returns the same job"),
    ] = None,
) -> Job:
    """Check the job whole and queue it; nothing is half-accepted.

    The data set and all its samples, models, plan, sampling, evidence, and the existence and header of every image are
    checked. Everything that is wrong is named in the problem document's `errors`, samples by file and line. Jobs over
    large data sets come back as `validating` and are checked further in the background.
    """
    job, created = await submissions.submit(spec.spec(), idempotency_key, caller.as_owner)
    response.status_code = HTTPStatus.CREATED if created else HTTPStatus.OK
    response.headers["Location"] = f"{router.prefix}/{job.id}"
    return job


@router.get(
    "",
    summary="List jobs",
    responses={200: example(examples.JOBS), **problems(JobNotFoundError, ServerUnavailableError)},
)
async def list_jobs(
    registry: Registry,
    caller: CurrentCaller,
    after: Annotated[str | None, Query(description="id of the last job of the previous page")] = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    status: Annotated[JobStatus | None, Query(description="only jobs in this status")] = None,
) -> JobList:
    """List jobs, newest first. Everything of a job, its samples and errors too, is under its own address.

    Where keys are asked for, those of the key's owner; all with the role `operate`.
    """
    found = await registry.list(after, limit + 1, status, None if caller.sees_all else caller.owner)
    page = found[:limit]
    return JobList(data=page, has_more=len(found) > limit, last_id=page[-1].id if page else None)


@router.get(
    "/{job_id}",
    summary="Get a job",
    responses={200: example(examples.JOB), **problems(JobNotFoundError, ServerUnavailableError)},
)
async def get_job(registry: Registry, job_id: JobId) -> Job:
    """Return a job with its status and request counts."""
    return await registry.get(job_id)


@router.post(
    "/{job_id}/cancel",
    summary="Cancel a job",
    responses={
        200: example(examples.CANCELLED_JOB),
        **problems(JobNotFoundError, ForeignOriginError, ServerUnavailableError),
    },
)
async def cancel_job(registry: Registry, job_id: JobId) -> Job:
    """Stop a job: what waits is dropped, what runs is aborted, what is recorded stays. A final job is unchanged."""
    return await registry.cancel(job_id)


@router.post(
    "/{job_id}/retry",
    summary="Retry a job's failed requests",
    responses={
        200: example(examples.JOB),
        **problems(
            JobNotFoundError,
            JobNotRetryableError,
            ForeignOriginError,
            DatasetChangedError,
            SubmissionInvalidError,
            QueueFullError,
            QuotaExceededError,
            ServerUnavailableError,
        ),
    },
)
async def retry_job(submissions: CurrentSubmissions, job_id: JobId) -> Job:
    """Ask the failed requests of a completed job again; the answers that it has stay."""
    return await submissions.retry(job_id)


@router.delete(
    "/{job_id}",
    summary="Delete a job",
    responses={
        200: example(examples.DELETION),
        **problems(JobNotFoundError, JobActiveError, ForeignOriginError, ServerUnavailableError),
    },
)
async def delete_job(registry: Registry, job_id: JobId) -> Deletion:
    """Delete a final job and all its responses."""
    await registry.delete(job_id)
    return Deletion(id=job_id)
