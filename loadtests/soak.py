"""Traffic shape: a steady mixture for a long time, in which the gateway's memory must stay as it was."""

import os
import re
from typing import Any

from locust import constant_pacing, events, task
from locust.env import Environment

from loadtests.shape import Client, Threshold, require

require(Threshold("/v1/jobs/{id}", 1000))

_MOST_GROWTH = 1.3
_MEMORY = re.compile(r"^process_resident_memory_bytes ([\d.e+]+)", re.MULTILINE)
_seen: list[float] = []


class Soak(Client):
    """Small jobs that are read and deleted, so that nothing is left of them."""

    wait_time = constant_pacing(2)

    @task(4)
    def ask_and_delete(self) -> None:
        """A job from its submission to its deletion."""
        if job_id := self.submit(1):
            self.until_final(job_id)
            self.client.get(f"/v1/jobs/{job_id}/results", name="/v1/jobs/{id}/results")
            self.client.delete(f"/v1/jobs/{job_id}", name="/v1/jobs/{id} (delete)")

    @task(1)
    def weigh(self) -> None:
        """Look at the gateway's memory."""
        if found := _MEMORY.search(self.client.get("/metrics").text):
            _seen.append(float(found.group(1)))


@events.quitting.add_listener
def _judge_memory(environment: Environment, **_: Any) -> None:
    # The first fifth is warming up.
    settled = _seen[len(_seen) // 5 :]
    if len(settled) > 10 and not os.environ.get("GIGAVQA_LOAD_UNTIMED") and settled[-1] > _MOST_GROWTH * settled[0]:
        print(f"the gateway's memory grew from {settled[0] / 2**20:.0f} to {settled[-1] / 2**20:.0f} MiB")
        environment.process_exit_code = 1
