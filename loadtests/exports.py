"""Traffic shape: people export a large job, again and again, while others look at lists."""

import gevent.lock
from locust import constant, task

from loadtests.shape import REQUESTS, JobUser, time_whole_stream
from loadtests.thresholds import Threshold, require

require(Threshold("export of a job", 60_000, most_failed=0), Threshold("/v1/jobs", 2000))

_one = gevent.lock.Semaphore()
_exported: list[tuple[str, int]] = []


class ExportUser(JobUser):
    """Reads all responses of a job whole."""

    wait_time = constant(0.5)

    @task(2)
    def export(self) -> None:
        """All responses, as they come; none may be missing."""
        with _one:
            if not _exported and (job_id := self.submit(REQUESTS // 5)):
                _exported.append((job_id, self.until_final(job_id)["request_counts"]["total"]))
        if not _exported:
            return
        job_id, total = _exported[0]
        address = f"/v1/jobs/{job_id}/results"
        with self.client.get(address, name="export of a job", stream=True, timeout=600, catch_response=True) as answer:
            lines = unreadable = 0
            with time_whole_stream(answer):
                for piece in answer.iter_content(1 << 16):
                    lines += piece.count(b"\n")
                    unreadable += piece.count(b'"unreadable":')
            if lines != total or unreadable:
                answer.failure(f"{lines} lines of {total}, {unreadable} of them unreadable")

    @task(1)
    def look(self) -> None:
        """Do what others do meanwhile."""
        self.client.get("/v1/jobs")
