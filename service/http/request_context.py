"""The context of an HTTP request: the job or the chat that its trace and its line of the log lead to."""

from fastapi import Request
from starlette.types import Scope

_JOB = "gigavqa.job_id"


def note_job(request: Request, job_id: str) -> None:
    """Say that this request began a job or a chat."""
    request.scope[_JOB] = job_id


def job_of_request(scope: Scope) -> str | None:
    """Return the job or the chat that this request began."""
    return scope.get(_JOB)
