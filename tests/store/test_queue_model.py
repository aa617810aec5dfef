"""The queue keeps its promises whatever is done to it, in whatever order."""

import os

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from gigavqa.runtime.embedded_store import StateStoreProcess
from tests.store.queue_model import Promises

STEPS = int(os.environ.get("GIGAVQA_QUEUE_STEPS", "300"))
EACH = 50
PHASES = {Phase.generate, Phase.shrink} - ({Phase.shrink} if "GIGAVQA_QUEUE_STEPS" in os.environ else set())


@pytest.mark.slow
@pytest.mark.timeout(300 + STEPS)
def test_the_queue_keeps_its_promises(server: StateStoreProcess) -> None:
    """Nothing lost, nothing twice, nobody innocent failed, counts exact and bounds kept, after every step of each run.

    `GIGAVQA_QUEUE_STEPS` says how many steps are taken, fifty a run.
    """
    run_state_machine_as_test(
        lambda: Promises(server.url),
        settings=settings(
            max_examples=max(1, STEPS // EACH),
            stateful_step_count=EACH,
            phases=PHASES,
            suppress_health_check=list(HealthCheck),
        ),
    )
