"""Traffic shape: people export a large job, again and again, while others look at lists."""

import gevent.lock
from locust import constant, task

from loadtests.shape import REQUESTS, Client, Threshold, require

require(Threshold("export of a job", 60_000), Threshold("/v1/jobs", 2000))

_one = gevent.lock.Semaphore()
_exported: list[str] = []


class Exporter(Client):
    """Reads all responses of a job whole."""

    wait_time = constant(0.5)

    @task(2)
    def export(self) -> None:
        """All responses, as they come."""
        with _one:
            if not _exported and (job_id := self.submit(REQUESTS // 5)):
                self.until_final(job_id)
                _exported.append(job_id)
        if not _exported:
            return
        address = f"/v1/jobs/{_exported[0]}/results?limit=1000000"
        with self.client.get(address, name="export of a job", stream=True, timeout=600) as answer:
            for _ in answer.iter_content(1 << 16):
                pass

    @task(1)
    def look(self) -> None:
        """What others do meanwhile."""
        self.client.get("/v1/jobs")
