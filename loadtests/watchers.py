"""Traffic shape: 400 people watch one job by its events while it is played."""

import json
import time

import gevent.lock
from locust import constant, task
from locust.exception import StopUser

from loadtests.shape import REQUESTS, JobUser, end_when, record_duration, time_whole_stream
from loadtests.thresholds import CountLimit, Threshold, require

_one = gevent.lock.Semaphore()
_watched: list[str] = []
_began: list[str] = []
_events: list[str] = []

require(
    Threshold("first event", 5000),
    Threshold("news, from the event to its watcher", 5000),
    CountLimit(
        "watchers who were not told of the job's end", 0, lambda: len(_began) - len(_events) if _began else None
    ),
)
end_when(lambda: bool(_events) and len(_events) == len(_began))


class WatchUser(JobUser):
    """Follows the events of the job that the first one of them submits, once."""

    wait_time = constant(1)

    @task
    def watch(self) -> None:
        """Follow the job to its end; the first event must come soon, and each while it is news."""
        with _one:
            if not _watched and (job_id := self.submit(max(REQUESTS * 4 // 10, 1000))):
                _watched.append(job_id)
        if _watched:
            _began.append(_watched[0])
            self._follow(_watched[0])
            raise StopUser

    def _follow(self, job_id: str) -> None:
        began, joined, first, status = time.perf_counter(), time.time(), True, ""
        address = f"/v1/jobs/{job_id}/events"
        with self.client.get(address, name="events of a job", stream=True, timeout=3600, catch_response=True) as answer:
            with time_whole_stream(answer):
                for line in answer.iter_lines(chunk_size=None):
                    if line.startswith(b"id:") and (happened := int(line[3:].split(b"-")[0]) / 1000) > joined:
                        record_duration(self, "news, from the event to its watcher", max(0.0, time.time() - happened))
                    if line.startswith(b"data"):
                        status = json.loads(line[5:])["status"]
                        if first:
                            record_duration(self, "first event", time.perf_counter() - began)
                        first = False
            if status == "completed":
                _events.append(job_id)
            else:
                answer.failure(f"its events ended while it was '{status}'")
