"""Processes are killed and frozen at random while a large job is played."""

import os
import random
import signal
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress

import redis

from loadtests.chaos.outcome import ChaosOutcome, describe_recovery, inspect_job
from loadtests.installation import Installation, running_installation
from loadtests.processes import Process

WORKER = ("--lease", "3", "--max-requests", "16", "--speed", "0.02")
_WORKERS = 4
_LONGEST_FREEZE = 8.0
"""Seconds: more than two leases."""
_PAUSE = (0.2, 2.0)
_SHARES = {"worker": 12, "gateway": 3, "sink": 3, "server": 4}
_SIGNALS = ("SIGKILL", "SIGSTOP")


class JobProgress:
    """The number of a job's recorded requests, as far as the state store can be asked."""

    def __init__(self, installation: Installation, job_id: str) -> None:
        self._installation = installation
        self._key = f"gigavqa:job:{job_id}"
        self.recorded = 0

    def look(self) -> int:
        with suppress(redis.RedisError):
            client = redis.Redis.from_url(self._installation.server.url, socket_timeout=1)
            told = client.hmget(self._key, ["completed", "failed"])
            self.recorded = sum(int(number or 0) for number in told)
            client.close()
        return self.recorded


class FaultInjector:
    """Hurts one process after the other until a job is done: each in each way at first, and then as the draw has it."""

    def __init__(self, installation: Installation, outcome: ChaosOutcome, progress: JobProgress, seed: int) -> None:
        self._installation = installation
        self._outcome = outcome
        self._progress = progress
        self._draw = random.Random(seed)
        self._recoveries: dict[str, list[float]] = defaultdict(list)

    def go_on(self, until: int, given_up: float) -> None:
        """Hurt somebody every few seconds until so many requests are recorded."""
        for name, role in self._drawn():
            if self._progress.look() >= until or time.monotonic() > given_up:
                break
            self._outcome.hurt[f"{name} {role}"] += 1
            self._hurt(role, kills=name == "SIGKILL")
            before, began = self._progress.look(), time.monotonic()
            self._installation.until(
                lambda was=before: self._progress.look() > was or was >= until, "the next response"
            )
            self._recoveries[role].append(time.monotonic() - began)
            self._pause()
        self._tell()

    def _drawn(self) -> Iterator[tuple[str, str]]:
        pairs = [(name, role) for name in _SIGNALS for role in _SHARES]
        self._draw.shuffle(pairs)
        yield from pairs
        while True:
            (role,) = self._draw.choices(list(_SHARES), list(_SHARES.values()))
            yield self._draw.choice(_SIGNALS), role

    def _tell(self) -> None:
        for role, seconds in sorted(self._recoveries.items()):
            self._outcome.recoveries += seconds
            self._outcome.notes.append(f"{role}: {describe_recovery(seconds)}")
        for name, role in ((name, role) for name in _SIGNALS for role in _SHARES):
            if not self._outcome.hurt[f"{name} {role}"]:
                self._outcome.missed.append(f"no {name} of the {role}")

    def _hurt(self, role: str, *, kills: bool) -> None:
        if role == "server":
            self._hurt_server(kills)
            return
        installation = self._installation
        victims = {"worker": installation.workers, "gateway": [installation.gateway], "sink": [installation.sink]}
        victim = self._draw.choice(victims[role])
        if kills:
            _kill(victim)
        else:
            self._freeze(victim.freeze, victim.thaw)

    def _hurt_server(self, kills: bool) -> None:
        if kills:
            self._installation.kill_server()
            self._installation.restart_server()
            return
        pid = self._installation.server.pid
        self._freeze(lambda: os.kill(pid, signal.SIGSTOP), lambda: os.kill(pid, signal.SIGCONT))

    def _freeze(self, freeze: Callable[[], None], thaw: Callable[[], None]) -> None:
        freeze()
        time.sleep(self._draw.uniform(0.5, _LONGEST_FREEZE))
        thaw()

    def _pause(self) -> None:
        time.sleep(self._draw.uniform(*_PAUSE))


def _kill(victim: Process) -> None:
    victim.kill()
    victim.start()


def kills(num_requests: int, minutes: float, seed: int = 20) -> ChaosOutcome:
    """Play a job under continuous kills and freezes of workers, gateway, sink and server."""
    outcome = ChaosOutcome("kills and freezes", num_requests)
    with running_installation(_WORKERS, *WORKER) as installation:
        began = time.monotonic()
        job_id = installation.submit(num_requests)
        progress = JobProgress(installation, job_id)
        installation.until(progress.look, "the first response")
        FaultInjector(installation, outcome, progress, seed).go_on(int(0.98 * num_requests), began + 60 * minutes)
        outcome.notes.append(f"{progress.look():,} of the responses came under kills")
        installation.until(lambda: progress.look() >= num_requests, "the last response", 60 * minutes)
        outcome.seconds = time.monotonic() - began
        inspect_job(installation, job_id, outcome)
    return outcome
