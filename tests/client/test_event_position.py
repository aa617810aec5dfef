"""Events of a job that is watched from its middle: nothing goes back to what was before."""

import json
from datetime import UTC, datetime

from httpx_sse import ServerSentEvent

from gigavqa.client.retries import EventPosition
from gigavqa.contract.jobs import Job, JobSpec, JobStatus, RequestCounts


def job(status: JobStatus, completed: int) -> Job:
    """A job of ten requests."""
    spec = JobSpec(dataset="demo", models=("m",))
    counts = RequestCounts(total=10, completed=completed)
    return Job(id="job_1", spec=spec, status=status, request_counts=counts, created_at=datetime(2026, 1, 1, tzinfo=UTC))


def heard(position: EventPosition, status: str, completed: int) -> tuple[str, int] | None:
    """What an event makes of the job; None where it tells nothing new."""
    data = {"status": status, "request_counts": {"total": 10, "completed": completed, "failed": 0}}
    found = position.hear(ServerSentEvent("status", json.dumps(data), "1-0"))
    return found and (str(found.status), found.request_counts.completed)


def test_events_from_before_the_watcher_came_tell_nothing() -> None:
    """A stream begins with the first event of the job; the watcher knows already how far it is."""
    position = EventPosition(job(JobStatus.IN_PROGRESS, 4))
    assert heard(position, "validating", 0) is None
    assert heard(position, "in_progress", 0) is None
    assert heard(position, "in_progress", 3) is None
    assert heard(position, "in_progress", 4) == ("in_progress", 4)
    assert heard(position, "completed", 10) == ("completed", 10)


def test_what_a_retry_takes_back_is_told() -> None:
    """Once the watcher has caught up, counts may fall."""
    position = EventPosition(job(JobStatus.IN_PROGRESS, 4))
    assert heard(position, "completed", 8) == ("completed", 8)
    assert heard(position, "in_progress", 6) == ("in_progress", 6)
