"""The protocol between a racer's process and the command: told what to play on its standard input, it tells what became
of it.

A racer prepares a lap (empties caches, restarts what must be new), which is not timed, and runs it, which is.
"""

import json
import os
import resource
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

from performance.peers.scenario import RaceItem, Scenario

Lap = Literal["cold", "warm", "again"]
"""cold: nothing is kept of the pictures. warm: a new process finds what an earlier one left on disk. again: the same
process plays the same items once more."""


@dataclass
class LapOutcome:
    """The outcome of a lap, as the racer itself counted it. None where it cannot tell."""

    answered: list[str] = field(default_factory=list)
    failed: dict[str, int] = field(default_factory=dict)
    first_response: dict[str, float] = field(default_factory=dict)
    work: dict[str, int] = field(default_factory=dict)
    encoder_runs: int | None = None
    prefilled_tokens: int | None = None
    note: str = ""

    def answer(self, item: RaceItem, seconds: float) -> None:
        """Count an answer that came so long after the start of the lap."""
        self.answered.append(item.id)
        self.first_response.setdefault(item.picture, round(seconds, 2))

    def fail(self, error: BaseException | str) -> None:
        """Count an item that got no answer."""
        told = error if isinstance(error, str) else f"{type(error).__name__}: {error}"
        sentence = " ".join(told.split())[:160]
        self.failed[sentence] = self.failed.get(sentence, 0) + 1


class Racer(ABC):
    """One way of answering all items."""

    @abstractmethod
    def prepare(self, lap: Lap, scenario: Scenario) -> None:
        """Bring everything into the state that the lap begins with."""

    @abstractmethod
    def run(self, scenario: Scenario, limit: float) -> LapOutcome:
        """Answer the items; after `limit` seconds begin no more."""

    @abstractmethod
    def count(self, outcome: LapOutcome) -> None:
        """Add to the outcome what is only known some time after the lap."""

    def close(self) -> None:
        """End what was started, where that does not end with the process."""
        return


def one_by_one(items: Iterable[RaceItem], limit: float, ask: Callable[[RaceItem], object]) -> LapOutcome:
    """Ask one item after the other, until the limit; whatever fails is counted and the next one asked."""
    outcome, started = LapOutcome(), time.perf_counter()
    for item in items:
        if time.perf_counter() - started > limit:
            outcome.note = f"stopped after {limit:.0f} s"
            break
        try:
            ask(item)
        except (Exception, MemoryError) as error:  # noqa: BLE001 - it is what the table tells of this peer
            outcome.fail(error)
        else:
            outcome.answer(item, time.perf_counter() - started)
    return outcome


def serve(make: Callable[[Scenario], Racer], arguments: Sequence[str] = sys.argv[1:]) -> None:
    """Be the process of a racer: `SCENARIO MEMORY_GIB`, then one JSON command a line."""
    say = _own_voice()
    _bound_memory(float(arguments[1]))
    racer = make(Scenario.read(Path(arguments[0])))
    say({"event": "started"})
    try:
        for line in sys.stdin:
            command = json.loads(line)
            scenario = Scenario.read(Path(command["scenario"]))
            racer.prepare(command["lap"], scenario)
            say({"event": "prepared"})
            sys.stdin.readline()  # go
            outcome = racer.run(scenario, command["limit"])
            say({"event": "done"})
            racer.count(outcome)
            say({"event": "told", "outcome": asdict(outcome)})
    finally:
        racer.close()


def _own_voice() -> Callable[[dict[str, object]], None]:
    """Standard output for the command alone: whatever else is printed goes to standard error."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)
    return lambda told: print(json.dumps(told), file=out, flush=True)


def _bound_memory(gib: float) -> None:
    """So that a peer that holds whole slides fails with a MemoryError, and the machine goes on."""
    limit = int(gib * 2**30)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
