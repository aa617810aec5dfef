"""Traffic shape: a few clients, suddenly many for a third of the time, and a few again."""

from locust import LoadTestShape, constant_pacing, task

from loadtests.shape import SECONDS, JobUser
from loadtests.thresholds import Threshold, require

require(Threshold("/v1/jobs (submit)", 3000), Threshold("/v1/jobs/{id}", 3000))

_FEW, _MANY = 2, 60


class SpikeShape(LoadTestShape):
    """Users by time."""

    def tick(self) -> tuple[int, float] | None:
        """Return how many there are now, and how many come a second."""
        third = int(3 * self.get_run_time() / SECONDS)
        return None if third > 2 else ((_FEW, _MANY, _FEW)[third], 100.0)


class SpikeUser(JobUser):
    """Small jobs, as fast as they are answered; refused for want of room is an answer."""

    wait_time = constant_pacing(0.5)
    refusable = True

    @task
    def ask(self) -> None:
        """Submit a job and wait for it."""
        if job_id := self.submit(1):
            self.until_final(job_id)
