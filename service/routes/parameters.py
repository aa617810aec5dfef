"""Parameters that several routes share."""

import re
from typing import Annotated

from fastapi import Depends, Path

from jobs.errors import JobNotFoundError
from service import examples

_JOB_ID = re.compile(r"[A-Za-z0-9_]{1,64}")

CURSOR = r"^[0-9]{1,19}-[0-9]{1,19}$"
"""What the cursors of results and the ids of events look like."""


def checked_job_id(job_id: str) -> str:
    """Return an id that can name a job; raises JobNotFoundError for any other text."""
    # Anything else could name another of the server's keys.
    if not _JOB_ID.fullmatch(job_id):
        raise JobNotFoundError(f"there is no job {job_id}")
    return job_id


def _job_id(job_id: Annotated[str, Path(description="id of the job", examples=[examples.JOB_ID])]) -> str:
    return checked_job_id(job_id)


JobId = Annotated[str, Depends(_job_id)]
"""The id of a job in the path."""
