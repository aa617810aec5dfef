"""Runs a racer's process through its laps, and measures each of them from outside."""

import json
import math
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from performance.peers.lane import Lap, LapOutcome
from performance.peers.measuring import ProcessTree
from performance.peers.scenario import Scenario

_START_SECONDS = 180.0
_PREPARE_SECONDS = 180.0
_TELL_SECONDS = 30.0
_GRACE_SECONDS = 30.0
_ROOT = Path(__file__).parents[2]


class RacerFailedError(Exception):
    """The racer's process ended, was told to because it took too long, or could not even start."""


@dataclass(frozen=True)
class LapResult:
    """One lap of one racer. `seconds` is from the word go to the last answer."""

    racer: str
    scenario: str
    lap: Lap
    items: int
    seconds: float
    cpu_seconds: float
    peak_bytes: int
    outcome: LapOutcome
    cpu_by_name: dict[str, float] = field(default_factory=dict)

    @property
    def rate(self) -> float:
        """Items answered a second."""
        return len(self.outcome.answered) / self.seconds if self.seconds else 0.0


@dataclass(frozen=True)
class Entrant:
    """A racer as it is started: its module below `performance.peers.ways`, and the Python that has its packages."""

    name: str
    module: str
    arguments: tuple[str, ...] = ()
    python: str = sys.executable
    limit: float = 120.0
    memory_gib: float = 16.0
    laps: tuple[Lap, ...] = ("cold",)
    largest: float = math.inf
    """Pixels of the largest picture that it is asked about; each larger one would take it minutes."""

    def asked(self, scenario: Scenario) -> Scenario:
        """Return the scenario without what this racer is not asked."""
        kept = [item for item in scenario.items if max(math.prod(look.size) for look in item.looks) <= self.largest]
        return replace(scenario, items=tuple(kept))


class RacerProcess:
    """A racer that has started."""

    def __init__(self, entrant: Entrant, process: "subprocess.Popen[str]", folder: Path) -> None:
        self._entrant = entrant
        self._process = process
        self._folder = folder
        self._lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def lap(self, lap: Lap, scenario: Scenario, limit: float) -> LapResult:
        """Play one lap. Raises RacerFailedError."""
        path = self._folder / f"{scenario.name}-{len(scenario.items)}.json"
        scenario.write(path)
        self._tell({"lap": lap, "scenario": str(path), "limit": limit})
        self.wait_for("prepared", _PREPARE_SECONDS)
        with ProcessTree(self._process.pid) as tree:
            tree.forget_peak()
            spent, by_name, started = tree.cpu_seconds(), tree.cpu_by_name(), time.perf_counter()
            self._tell({"event": "go"})
            self.wait_for("done", 3 * limit + 60)
            seconds = time.perf_counter() - started
            spent, after = tree.cpu_seconds() - spent, tree.cpu_by_name()
        outcome = LapOutcome(**self.wait_for("told", _TELL_SECONDS)["outcome"])
        return LapResult(
            racer=self._entrant.name,
            scenario=scenario.name,
            lap=lap,
            items=len(scenario.items),
            seconds=seconds,
            cpu_seconds=spent,
            peak_bytes=tree.peak_bytes,
            outcome=outcome,
            cpu_by_name={name: round(now - by_name.get(name, 0.0), 2) for name, now in after.items()},
        )

    def wait_for(self, event: str, seconds: float) -> dict[str, Any]:
        """Return what the racer tells at `event`. Raises RacerFailedError."""
        try:
            line = self._lines.get(timeout=seconds)
        except queue.Empty:
            raise RacerFailedError(f"was not {event} within {seconds:.0f} s") from None
        if line is None:
            raise RacerFailedError(self._last_words())
        told: dict[str, Any] = json.loads(line)
        if told["event"] != event:
            raise RacerFailedError(f"said {told['event']} where {event} was due")
        return told

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def _tell(self, command: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(command) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise RacerFailedError(self._last_words()) from None

    def _last_words(self) -> str:
        """Return the last line that its log has of an error, else how it ended."""
        code = self._process.wait(_GRACE_SECONDS)
        lines = (self._folder / f"{self._entrant.name}.log").read_text(encoding="utf-8", errors="replace").splitlines()
        errors = [line for line in lines if "Error" in line and not line.startswith(" ")]
        return errors[-1][:200] if errors else f"ended with {code}"


@contextmanager
def started(entrant: Entrant, scenario: Scenario, folder: Path) -> Iterator[RacerProcess]:
    """Start a racer in a process of its own, and end it and all its children at the end. Raises RacerFailedError."""
    path = folder / f"{entrant.module}-{scenario.name}.json"
    scenario.write(path)
    module = f"performance.peers.ways.{entrant.module}"
    argv = [entrant.python, "-m", module, str(path), str(entrant.memory_gib), *entrant.arguments]
    environment = {**os.environ, **scenario.environment, "PYTHONPATH": str(_ROOT), "RACE_FOLDER": str(folder)}
    with (folder / f"{entrant.name}.log").open("w") as log:
        process = subprocess.Popen(
            argv,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            start_new_session=True,
        )
    try:
        racer = RacerProcess(entrant, process, folder)
        racer.wait_for("started", _START_SECONDS)
        yield racer
    finally:
        _end(process)


def _end(process: "subprocess.Popen[str]") -> None:
    """Let it close by itself, then end what is left of its session."""
    assert process.stdin is not None
    try:
        process.stdin.close()
        process.wait(_GRACE_SECONDS)
    except (subprocess.TimeoutExpired, BrokenPipeError):
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
