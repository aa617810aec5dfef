"""Jobs: submit, look at, cancel, retry, delete."""

from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Annotated, Literal

from fastapi import APIRouter, Body, Header, Query, Request, Response
from pydantic import BaseModel, Field

from gigavqa.contract.errors import (
    IdempotencyConflictError,
    JobActiveError,
    JobNotFoundError,
    JobNotRetryableError,
    JobTooLargeError,
    QueueFullError,
    QuotaExceededError,
)
from gigavqa.contract.jobs import Job, JobStatus, JobSummary
from gigavqa.contract.remedies import remedy_of
from gigavqa.evaluation.errors import DatasetInvalidError
from gigavqa.runtime.errors import StateStoreUnavailableError
from gigavqa.service.errors import (
    BodyTimeoutError,
    BodyTooLargeError,
    DatasetChangedError,
    ForeignOriginError,
    MediaTypeUnsupportedError,
    SubmissionInvalidError,
)
from gigavqa.service.http import examples
from gigavqa.service.http.auth import CurrentCaller
from gigavqa.service.http.openapi import example, problem_responses
from gigavqa.service.http.parameters import CurrentSettings, JobId, Registry, component
from gigavqa.service.http.request_context import note_job
from gigavqa.service.submission.queueing import Submissions
from gigavqa.service.submission.specification import SubmittedSpec
from gigavqa.store.job_selection import JobSelection

router = APIRouter(prefix="/v1/jobs", tags=["jobs"])
CurrentSubmissions = Annotated[Submissions, component(Submissions)]

_SUBMISSION_PROBLEMS = problem_responses(
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
    StateStoreUnavailableError,
    body=True,
)


class JobList(BaseModel):
    """Jobs, newest first, without their lists of samples; give `last_id` as `after` for the next page."""

    object: Literal["list"] = "list"
    data: list[JobSummary]
    has_more: bool
    last_id: str | None


class JobQuery(JobSelection):
    """The page and the selection of jobs to list."""

    after: str | None = Field(default=None, description="`last_id` of the previous page")
    limit: int = Field(default=20, ge=1, le=100)


class JobDeletion(BaseModel):
    """The confirmation that a job was deleted."""

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
    *,
    request: Request,
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
    job, created = await submissions.submit(spec.spec(), idempotency_key, caller.as_owner, caller.may_see)
    if created:
        note_job(request, job.id)
    response.status_code = HTTPStatus.CREATED if created else HTTPStatus.OK
    response.headers["Location"] = f"{router.prefix}/{job.id}"
    return job


@router.get(
    "",
    summary="List jobs",
    responses={200: example(examples.JOBS), **problem_responses(JobNotFoundError, StateStoreUnavailableError)},
)
async def list_jobs(registry: Registry, caller: CurrentCaller, query: Annotated[JobQuery, Query()]) -> JobList:
    """List jobs, newest first. Everything of a job, its samples and errors too, is under its own address.

    Where keys are asked for, those of the key's owner; all with the role `operate`. A page may be short, or empty, and
    still have more behind it: looking through jobs is bounded, too.
    """
    owner = None if caller.sees_all else caller.owner
    page = await registry.page(query, query.after, query.limit, owner)
    return JobList(data=list(page.jobs), has_more=page.more, last_id=page.last_id)


@router.get(
    "/{job_id}",
    summary="Get a job",
    responses={200: example(examples.JOB), **problem_responses(JobNotFoundError, StateStoreUnavailableError)},
)
async def get_job(registry: Registry, settings: CurrentSettings, job_id: JobId) -> Job:
    """Return a job with its status and request counts, what it took so far, and how long it will still take."""
    return _with_forecast(await registry.get(job_id), settings.retention_days)


@router.post(
    "/{job_id}/cancel",
    summary="Cancel a job",
    responses={
        200: example(examples.CANCELLED_JOB),
        **problem_responses(JobNotFoundError, ForeignOriginError, StateStoreUnavailableError),
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
        **problem_responses(
            JobNotFoundError,
            JobNotRetryableError,
            ForeignOriginError,
            DatasetChangedError,
            SubmissionInvalidError,
            QueueFullError,
            QuotaExceededError,
            StateStoreUnavailableError,
        ),
    },
)
async def retry_job(
    submissions: CurrentSubmissions,
    caller: CurrentCaller,
    job_id: JobId,
    empty: Annotated[
        bool,
        Query(
            description="also what is recorded as answered and is no answer: empty with no token written, or ended by "
            "the engine for another reason than `stop`, `length` and `content_filter`"
        ),
    ] = False,
) -> Job:
    """Ask the failed requests of a completed job again; the answers that it has stay.

    A new answer takes the place of what was recorded, under a cursor of its own. A job over a large data set comes back
    as `validating` and is looked through in the background; where nothing of it can be asked again, it is `completed`
    or `cancelled` as before, and its `errors` say why.
    """
    return await submissions.retry(job_id, caller.as_owner, empty=empty)


@router.delete(
    "/{job_id}",
    summary="Delete a job",
    responses={
        200: example(examples.DELETION),
        **problem_responses(JobNotFoundError, JobActiveError, ForeignOriginError, StateStoreUnavailableError),
    },
)
async def delete_job(registry: Registry, job_id: JobId) -> JobDeletion:
    """Delete a final job and all its responses."""
    await registry.delete(job_id)
    return JobDeletion(id=job_id)


def _with_forecast(job: Job, retention_days: float | None) -> Job:
    """Return the job with what can be told of its future, and what would help it."""
    expires_at = job.created_at + timedelta(days=retention_days) if retention_days else None
    remedies = {kind: remedy for kind in job.failures if (remedy := remedy_of(kind, job))}
    told = {"expires_at": expires_at, "remaining_seconds": _remaining_seconds(job), "remedies": remedies}
    return job.model_copy(update=told)


def _remaining_seconds(job: Job) -> float | None:
    done = job.request_counts.completed + job.request_counts.failed
    if job.status is not JobStatus.IN_PROGRESS or job.in_progress_at is None or not done:
        return None
    so_far = (datetime.now(UTC) - job.in_progress_at).total_seconds()
    return round(so_far * (job.request_counts.total - done) / done, 1)
