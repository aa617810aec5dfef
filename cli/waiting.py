"""Why a job does not get on: no worker serves its model, or none is ready yet."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cli.errors import CommandError

if TYPE_CHECKING:
    from cli.client import Gateway
    from jobs.fleet import WorkerStatus

_LOOK_SECONDS = 2.0


def obstacles(models: Sequence[str], workers: "Sequence[WorkerStatus]") -> Iterator[str]:
    """Say for each model that nobody can ask now what it waits for."""
    for model in dict.fromkeys(models):
        serving = [worker for worker in workers if model in worker.models]
        if not serving:
            yield (
                f"no worker serves {model}: its requests wait. `gigavqa up --model {model} --port 0` starts one beside "
                "this service"
            )
        elif all(worker.state == "starting" for worker in serving):
            phase = next((worker.phase.name for worker in serving if worker.phase), "the engine")
            yield f"the worker of {model} starts: {phase}"


@contextmanager
def obstacles_told(gateway: "Gateway", models: Sequence[str], say: Callable[[str], None]) -> Iterator[None]:
    """Say what a job waits for, as long as the block lasts: each thing once, until it has changed."""
    ended = threading.Event()

    def look() -> None:
        told: list[str] = []
        while not ended.is_set():
            try:
                found = list(obstacles(models, gateway.workers()))
            except CommandError:
                found = told  # whoever follows the job says that the gateway is gone
            for line in found:
                if line not in told:
                    say(line)
            told = found
            ended.wait(_LOOK_SECONDS)

    looking = threading.Thread(target=look, name="obstacles", daemon=True)
    looking.start()
    try:
        yield
    finally:
        ended.set()
        looking.join(_LOOK_SECONDS)
