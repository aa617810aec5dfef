"""Traffic shape: a steady mixture for a long time, in which the memory of every process must stay as it was."""

from locust import constant_pacing, task

from loadtests.shape import JobUser
from loadtests.thresholds import Threshold, require

require(Threshold("/v1/jobs/{id}", 1000), Threshold("/v1/jobs/{id} (delete)", 1000), Threshold("/metrics", 1000))


class SoakUser(JobUser):
    """Small jobs that are read and deleted, so that nothing is left of them."""

    wait_time = constant_pacing(2)

    @task(4)
    def ask_and_delete(self) -> None:
        """A job from its submission to its deletion."""
        if job_id := self.submit(1):
            self.until_final(job_id)
            self.client.get(f"/v1/jobs/{job_id}/results", name="/v1/jobs/{id}/results")
            self.client.get(f"/v1/jobs/{job_id}/report?format=json", name="/v1/jobs/{id}/report")
            self.client.delete(f"/v1/jobs/{job_id}", name="/v1/jobs/{id} (delete)")

    @task(1)
    def scrape(self) -> None:
        """Scrape as Prometheus does."""
        self.client.get("/metrics")
