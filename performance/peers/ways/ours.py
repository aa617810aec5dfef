"""The product: one job over REST, to a gateway with an embedded server and one worker whose engine is loaded."""

import os
import shutil
from pathlib import Path

from gigavqa.contract.jobs import Job, JobSpec
from performance.peers.lane import Lap, LapOutcome, Racer, serve
from performance.peers.scenario import Scenario
from performance.peers.service import RunningService, first_responses, since

_WORK = ("passes", "ingests", "renders")


class ProductRacer(Racer):
    """A cold lap begins with a new home, a warm one with new processes in the old home."""

    def __init__(self, scenario: Scenario) -> None:
        self._folder = Path(os.environ["RACE_FOLDER"])
        self._service: RunningService | None = None
        self._job: Job | None = None
        self._before: dict[str, float] = {}

    def prepare(self, lap: Lap, scenario: Scenario) -> None:
        """Start the service; the engine is loaded and has answered one question about a picture of no scenario."""
        home = self._folder / f"home-{scenario.name}"
        if lap != "again" or self._service is None:
            self.close()
            if lap == "cold":
                shutil.rmtree(home, ignore_errors=True)
            self._service = RunningService(home, Path(scenario.data), Path(scenario.weights).parent)
        self._before = self._service.counters()

    def run(self, scenario: Scenario, limit: float) -> LapOutcome:
        """Submit the job and wait for its end."""
        assert self._service is not None
        self._job = self._service.play(JobSpec.model_validate(scenario.spec))
        return LapOutcome(failed=dict(self._job.failures))

    def count(self, outcome: LapOutcome) -> None:
        """Add what responses and worker tell."""
        assert self._service is not None and self._job is not None
        responses = self._service.responses(self._job)
        usage = [turn.usage for response in responses for turn in response.turns]
        counted = since(self._service.counters(), self._before)
        outcome.answered = [response.request_id for response in responses if response.ok]
        outcome.first_response = first_responses(self._job, responses)
        outcome.prefilled_tokens = sum(each.prompt_tokens - each.cached_tokens for each in usage)
        outcome.encoder_runs = int(counted["processed_rasters"])
        outcome.work = {name: int(counted[name]) for name in _WORK if counted.get(name)}

    def close(self) -> None:
        """End the service."""
        if self._service is not None:
            self._service.stop()
            self._service = None


if __name__ == "__main__":
    serve(ProductRacer)
