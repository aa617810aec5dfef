"""Progress arrives as server-sent events, and a client that lost its connection goes on where it was."""

from httpx_sse import ServerSentEvent, connect_sse

from gigavqa.client.client import Client
from gigavqa.contract.jobs import JobStatus
from tests.service.gateways import RunningGateway, problem_of
from tests.service.workers import play


def watch(gateway: RunningGateway, job_id: str, last: str | None = None, most: int = 1000) -> list[ServerSentEvent]:
    """Read a job's events to the end of the stream, or until there are `most`."""
    headers = {} if last is None else {"Last-Event-ID": last}
    read: list[ServerSentEvent] = []
    with connect_sse(gateway.client, "GET", f"/v1/jobs/{job_id}/events", headers=headers) as source:
        for event in source.iter_sse():
            read.append(event)
            if len(read) == most:
                break
    return read


def test_events_tell_the_way_of_a_job_to_its_end(gateway: RunningGateway) -> None:
    """The last event carries the final status and counts, and the stream ends by itself."""
    job_id = gateway.submit().json()["id"]
    play(gateway.redis_url)
    events = watch(gateway, job_id)
    statuses = [event.json()["status"] for event in events if event.event == "status"]
    assert statuses[0] == "validating"
    assert statuses[-1] == "completed"
    assert events[-1].json()["request_counts"] == {"total": 4, "completed": 4, "failed": 0}


def test_a_client_goes_on_behind_the_last_event_that_it_knows(gateway: RunningGateway) -> None:
    """Reading one event, losing the connection and resuming gives the same events as reading at a stretch."""
    job_id = gateway.submit().json()["id"]
    first = watch(gateway, job_id, most=1)
    play(gateway.redis_url)
    rest = watch(gateway, job_id, last=first[0].id)
    assert [event.id for event in first + rest] == [event.id for event in watch(gateway, job_id)]


def test_a_watcher_that_comes_late_is_told_of_nothing_that_was(gateway: RunningGateway) -> None:
    """Beginning with the job as it is: its status and its counts never go back."""
    with Client(gateway.url) as client:
        job_id = gateway.submit(repeats=3).json()["id"]
        play(gateway.redis_url, max_bundles=1)
        seen: list[tuple[int, int]] = []
        for job in client.watch(job_id):
            if not seen:
                play(gateway.redis_url)
            seen.append((list(JobStatus).index(job.status), job.request_counts.completed))
    assert seen[0][1] > 0 and seen == sorted(seen)


def test_a_malformed_last_event_id_is_refused(gateway: RunningGateway) -> None:
    """It is the client's error, not the end of the stream."""
    job_id = gateway.submit().json()["id"]
    response = gateway.client.get(f"/v1/jobs/{job_id}/events", headers={"Last-Event-ID": "seven"})
    problem_of(response, 422, "request-invalid")
