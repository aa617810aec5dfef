"""Keeps the processes of a service running: starts them, restarts what dies, ends everything by process id."""

import asyncio
import contextlib
import os
import signal
import time
from asyncio.subprocess import Process
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gigavqa.launcher.errors import ProcessFailedError
from gigavqa.runtime.parent_death import die_with_parent
from gigavqa.runtime.private_files import open_log, private_folder

Announce = Callable[[str], None]
"""Says one line to the operator."""

_FIRST_PAUSE_SECONDS = 0.5
_LONGEST_PAUSE_SECONDS = 30.0
_HEALTHY_SECONDS = 60.0  # a program that ran this long starts anew without having to wait
_LARGEST_LOG = 16 << 20
_TAIL_LINES = 15


@dataclass(frozen=True)
class Program:
    """A program to keep running, on `cpus` if it has some of its own. It may take `grace_seconds` to end after
    SIGTERM.
    """

    name: str
    argv: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    grace_seconds: float = 30.0
    cpus: Sequence[int] = ()


class ProgramSupervisor:
    """One program, restarted with growing pauses whenever it ends by itself."""

    def __init__(self, program: Program, logs: Path, announce: Announce) -> None:
        self.program = program
        self.log = logs / f"{program.name}.log"
        self.starts = 0
        self._announce = announce
        self._stopping = asyncio.Event()
        self._process: Process | None = None

    @property
    def pid(self) -> int | None:
        """Process id while the program runs."""
        running = self._process is not None and self._process.returncode is None
        return self._process.pid if self._process and running else None

    async def run(self) -> None:
        """Start the program and start it again, until `stop`."""
        pause = _FIRST_PAUSE_SECONDS
        while not self._stopping.is_set():
            started = time.monotonic()
            process = await self._start()
            code = await process.wait()
            _kill_group(process.pid)
            if self._stopping.is_set():
                return
            pause = _FIRST_PAUSE_SECONDS if time.monotonic() - started > _HEALTHY_SECONDS else pause
            self._announce(f"{self.program.name} {describe_exit(code)}; again in {pause:g} s (log: {self.log})")
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._stopping.wait()
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)

    async def stop(self) -> None:
        """End the program: SIGTERM, and SIGKILL for what is left of it after its grace. Safe to call twice."""
        self._stopping.set()
        process = self._process
        if process is None or process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        try:
            async with asyncio.timeout(self.program.grace_seconds):
                await process.wait()
        except TimeoutError:
            self._announce(f"{self.program.name} did not end within {self.program.grace_seconds:g} s; killed")
        _kill_group(process.pid)
        await process.wait()

    def kill(self) -> None:
        """End the program without grace and for good; `stop` and `run` then see its end."""
        self._stopping.set()
        if self.pid is not None:
            _kill_group(self.pid)

    def require_first_start(self) -> None:
        """Raise ProcessFailedError, with the end of the log, when the program has ended since its first start."""
        if self.starts > 1 or (self._process is not None and self._process.returncode is not None):
            tail = "\n".join(f"  {line}" for line in read_tail(self.log))
            raise ProcessFailedError(f"{self.program.name} ended before it was ready. The end of {self.log}:\n{tail}")

    async def _start(self) -> Process:
        private_folder(self.log.parent)
        _rotate(self.log)
        with open_log(self.log) as log:
            self._process = await asyncio.create_subprocess_exec(
                *self.program.argv,
                env={**os.environ, **self.program.environment},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                # Its own group: Ctrl-C at the terminal is for the supervisor alone, which then ends all in order.
                start_new_session=True,
                preexec_fn=self._settle,
            )
        self.starts += 1
        return self._process

    def _settle(self) -> None:
        die_with_parent()
        if self.program.cpus:
            # Before the program, and so for every thread and process that its libraries start.
            os.sched_setaffinity(0, self.program.cpus)


def describe_exit(code: int) -> str:
    """Put an exit status into words."""
    if code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    return f"ended with status {code}"


def read_tail(log: Path, lines: int = _TAIL_LINES) -> list[str]:
    """Return the last lines of a log; none when there is no log."""
    if not log.exists():
        return []
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - (64 << 10)))
        return file.read().decode(errors="replace").splitlines()[-lines:]


def _kill_group(leader: int) -> None:
    # What the program started and left behind, such as an engine core whose worker was killed.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)


def _rotate(log: Path) -> None:
    if log.exists() and log.stat().st_size > _LARGEST_LOG:
        log.replace(log.with_suffix(".log.1"))
