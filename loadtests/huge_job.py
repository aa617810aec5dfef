"""Traffic shape: one client with one huge job, who polls it once in a while and reads its report at the end."""

from locust import constant, task

from loadtests.shape import REQUESTS, Client, Threshold, require

require(Threshold("/v1/jobs/{id}", 1000))


class HugeJob(Client):
    """Submits as many requests as the queue may hold, once."""

    wait_time = constant(1)
    fixed_count = 1

    @task
    def ask(self) -> None:
        """Submit it, wait for its end, read what came of it; then nobody is left to do anything."""
        if job_id := self.submit(REQUESTS):
            job = self.until_final(job_id)
            assert job["request_counts"]["failed"] == 0, job
            self.client.get(f"/v1/jobs/{job_id}/report?format=json", name="/v1/jobs/{id}/report of a huge job")
