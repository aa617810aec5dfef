"""Processes that can be killed, frozen and started again; each ends with whoever started it, by its process id."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gigavqa.runtime.parent_death import end_with_parent


@dataclass
class Process:
    """One of an installation's processes: `python -m` and its arguments, its log beside the others."""

    name: str
    arguments: Sequence[str]
    environment: Mapping[str, str]
    folder: Path
    _popen: subprocess.Popen[bytes] | None = field(default=None, init=False)

    def start(self) -> None:
        with (self.folder / f"{self.name}.log").open("ab") as log:
            self._popen = subprocess.Popen(
                [sys.executable, "-m", *self.arguments],
                env={**os.environ, **self.environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=end_with_parent,  # noqa: PLW1509 - one prctl call, no lock taken
            )

    @property
    def log(self) -> str:
        """What it has written, in all its lives."""
        return (self.folder / f"{self.name}.log").read_text(errors="replace")

    @property
    def pid(self) -> int:
        assert self._popen is not None, f"{self.name} was not started"
        return self._popen.pid

    @property
    def ended(self) -> bool:
        return self._popen is None or self._popen.poll() is not None

    def kill(self) -> None:
        """End it as a crash does: no handler runs."""
        assert self._popen is not None
        self._popen.kill()
        self._popen.wait()

    def freeze(self) -> None:
        os.kill(self.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def stop(self, seconds: float = 30.0) -> None:
        """End it politely, and if it does not, not politely; safe to repeat."""
        if self.ended:
            return
        assert self._popen is not None
        self.thaw()
        self._popen.terminate()
        try:
            self._popen.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
