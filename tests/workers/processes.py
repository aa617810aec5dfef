"""Workers and servers as processes of their own, to be told, killed and started again."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.waiting import wait_until
from tests.warm import WarmProgram, warm_process
from tests.workers.examples import ENTRY
from tests.workers.forked_engines import ForkedProgram, can_fork


class WorkerProcess:
    """`python -m gigavqa.workers`, for the demo's model unless others are named; its log is beside the home folder.

    One whose start is not what is looked at can be forked: with its engine from a process that has imported vLLM, or
    with the simulated one from what has imported the rest.
    """

    def __init__(
        self,
        home: Path,
        data: Path,
        redis_url: str,
        *arguments: str,
        models: Sequence[str] = (ENTRY.id,),
        forked: bool = False,
    ) -> None:
        self._log = home / f"worker-{len(list(home.glob('worker-*.log')))}.log"
        environment = os.environ | {
            "GIGAVQA_HOME": str(home),
            "GIGAVQA_DATA": str(data),
            "REDIS_URL": redis_url,
        }
        named = [word for model in models for word in ("--model", model)]
        self._log.touch()
        if forked and "simulated" in arguments:
            with self._log.open("wb") as log:
                words = [*named, *arguments]
                self._popen: subprocess.Popen[bytes] | ForkedProgram | WarmProgram = warm_process().start(
                    "gigavqa.workers", words, environment, log.fileno(), log.fileno()
                )
            return
        if forked and can_fork():
            forked_program = ForkedProgram("gigavqa.workers", [*named, *arguments], environment, self._log)
            self._popen = forked_program
            return
        argv = [sys.executable, "-m", "gigavqa.workers", *named, *arguments]
        with self._log.open("wb") as log:
            self._popen = subprocess.Popen(argv, env=environment, stdout=log, stderr=log)

    @property
    def pid(self) -> int:
        """Of the worker itself."""
        return self._popen.pid

    @property
    def log(self) -> str:
        """What it has written so far."""
        return self._log.read_text(errors="replace")

    def wait_until_ready(self, timeout: float = 60) -> None:
        """Wait for the line with which a worker says that it claims."""
        wait_until(lambda: ": ready for" in self.log or self._popen.poll() is not None, timeout=timeout, what=self.log)
        assert self._popen.poll() is None, self.log

    def tell_to_end(self) -> None:
        """Send SIGTERM."""
        self._popen.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Send SIGKILL, and reap."""
        self._popen.kill()
        self._popen.wait()

    def wait(self, timeout: float = 60) -> int:
        """Wait for its end; returns the exit status."""
        return self._popen.wait(timeout)

    def clear(self) -> None:
        """End it if it still runs."""
        if self._popen.poll() is None:
            self.kill()


@contextmanager
def worker_process(
    home: Path,
    data: Path,
    redis_url: str,
    *arguments: str,
    models: Sequence[str] = (ENTRY.id,),
    forked: bool = False,
) -> Iterator[WorkerProcess]:
    """A worker process that does not outlive the block."""
    worker = WorkerProcess(home, data, redis_url, *arguments, models=models, forked=forked)
    try:
        yield worker
    finally:
        worker.clear()


def simulated(speed: float, *arguments: str) -> tuple[str, ...]:
    """Arguments of a worker on the simulated engine with short leases."""
    return ("--engine", "simulated", "--speed", str(speed), "--lease", "1", *arguments)
