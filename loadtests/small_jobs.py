"""Traffic shape: many clients with small jobs, who poll.

Each simulated client submits small jobs, polls them until they are final, and reads results and report. Run it
against a gateway on this machine whose worker answers at once:

    gigavqa up --engine simulated --model demo-qwen3-vl
    locust -f loadtests/small_jobs.py --headless -u 20 -r 5 -t 30s --host http://127.0.0.1:8470

Ends with status 1 when more than 1 % of the calls fail, or a threshold is missed. Refuses any host but this machine's
loopback addresses.
"""

from locust import constant_pacing, task

from loadtests.shape import JobUser
from loadtests.thresholds import Threshold, require

require(Threshold("/v1/jobs (submit)", 1000), Threshold("/v1/jobs/{id}", 500), Threshold("/v1/jobs/{id}/report", 3000))


class SmallJobsUser(JobUser):
    """One client: at most one job a second."""

    wait_time = constant_pacing(1)

    @task(5)
    def ask_and_read(self) -> None:
        """Submit a job, poll until it is final, read its results and report."""
        if job_id := self.submit(1):
            self.until_final(job_id)
            self.client.get(f"/v1/jobs/{job_id}/results", name="/v1/jobs/{id}/results")
            self.client.get(f"/v1/jobs/{job_id}/report?format=json", name="/v1/jobs/{id}/report")

    @task(1)
    def look_around(self) -> None:
        """Ask what dashboards and people ask: models, jobs, metrics."""
        for path in ("/v1/models", "/v1/jobs", "/readyz", "/metrics"):
            self.client.get(path)
