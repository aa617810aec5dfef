"""Traffic shape: one client with one huge job, who polls it once in a while and reads its report at the end."""

import time

from locust import constant, task
from locust.exception import StopUser

from loadtests.shape import REQUESTS, JobUser, end_when
from loadtests.thresholds import CountLimit, RateLimit, Threshold, require

_REPORT = "/v1/jobs/{id}/report of a huge job"
_lost: list[int] = []
_rates: list[float] = []

require(
    Threshold("/v1/jobs/{id}", 1000),
    Threshold(_REPORT, 60_000),
    CountLimit("requests without a good response", 0, lambda: _lost[0] if _lost else None),
    RateLimit("requests a second, from submission to end", 100, lambda: _rates[0] if _rates else None),
)
end_when(lambda: bool(_lost))


class HugeJobUser(JobUser):
    """Submits as many requests as half the queue holds, once."""

    wait_time = constant(1)
    fixed_count = 1

    @task
    def ask(self) -> None:
        """Submit it, wait for its end, read what came of it; then nobody is left to do anything."""
        began = time.perf_counter()
        if not (job_id := self.submit(REQUESTS)):
            return
        job = self.until_final(job_id)
        counts = job["request_counts"]
        _rates.append(counts["total"] / (time.perf_counter() - began))
        self.client.get(f"/v1/jobs/{job_id}/report?format=json", name=_REPORT)
        _lost.append(counts["total"] - counts["completed"])
        raise StopUser
