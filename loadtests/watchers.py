"""Traffic shape: 400 people watch one job by its events while it is played."""

import time

import gevent.lock
from locust import constant, task

from loadtests.shape import REQUESTS, Client, Threshold, require

require(Threshold("first event", 5000))

_one = gevent.lock.Semaphore()
_watched: list[str] = []


class Watcher(Client):
    """Follows the events of the job that the first one of them submits."""

    wait_time = constant(1)

    @task
    def watch(self) -> None:
        """Follow the job to its end; the first event must come soon."""
        with _one:
            if not _watched and (job_id := self.submit(REQUESTS // 10)):
                _watched.append(job_id)
        if _watched:
            self._follow(_watched[0])

    def _follow(self, job_id: str) -> None:
        began, first = time.perf_counter(), True
        address = f"/v1/jobs/{job_id}/events"
        with self.client.get(address, name="events of a job", stream=True, timeout=3600, catch_response=True) as answer:
            for line in answer.iter_lines(chunk_size=1):
                if first and line.startswith(b"data"):
                    first = False
                    took = 1000 * (time.perf_counter() - began)
                    self.environment.events.request.fire(
                        request_type="SSE",
                        name="first event",
                        response_time=took,
                        response_length=len(line),
                        exception=None,
                        context={},
                    )
