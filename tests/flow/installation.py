"""A whole installation of real processes for one test: server, gateway and workers, each killable by process id."""

import os
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from gigavqa.launcher.preflight import free_port
from gigavqa.runtime.embedded_store import StateStoreProcess, start_store
from tests.waiting import wait_until
from tests.workers.forked_engines import ForkedProgram, can_fork

Program = subprocess.Popen[bytes] | ForkedProgram


@dataclass
class Installation:
    """Starts processes below one home folder and ends every one of them."""

    home: Path
    environ: dict[str, str] = field(default_factory=dict)
    port: int = field(default_factory=lambda: free_port("127.0.0.1"))
    server: StateStoreProcess | None = None
    processes: list[Program] = field(default_factory=list)

    @property
    def url(self) -> str:
        """Address of the gateway."""
        return f"http://127.0.0.1:{self.port}"

    def start_server(self) -> None:
        """Start the embedded server on the home's folder, with what an earlier one left there."""
        self.server = start_store(self.home / "server")

    def kill_server(self) -> None:
        """End the server as a power cut would."""
        assert self.server is not None
        os.kill(self.server.pid, signal.SIGKILL)
        self.server.stop()

    def start_gateway(self) -> Program:
        """Start the gateway and wait until it is ready."""
        gateway = self._start("gateway", "gigavqa.service", "--port", str(self.port))
        wait_until(lambda: self._ready(gateway), timeout=180, what="the gateway's readiness")
        return gateway

    def start_worker(self, *arguments: str, within: tuple[str, ...] | None = None) -> Program:
        """Start a worker; it is ready some time later.

        It is forked where that can be, for the real engine's sake, else started by the command `within`, if of any.
        """
        name, forked = f"worker-{len(self.processes)}", within is None and can_fork()
        return self._start(name, "gigavqa.workers", *arguments, forked=forked, within=within or ())

    def stop(self) -> None:
        """End all processes, politely first."""
        for process in reversed(self.processes):
            if process.poll() is None:
                process.terminate()
        for process in self.processes:
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(timeout=60)
        if self.server is not None:
            self.server.stop()

    def _start(
        self, name: str, module: str, *arguments: str, forked: bool = False, within: tuple[str, ...] = ()
    ) -> Program:
        assert self.server is not None
        environ = {**os.environ, "GIGAVQA_HOME": str(self.home), "REDIS_URL": self.server.url, **self.environ}
        path = self.home / f"{name}.log"
        if forked:
            self.processes.append(ForkedProgram(module, arguments, environ, path))
        else:
            with path.open("ab") as log:
                command = [*within, sys.executable, "-m", module, *arguments]
                self.processes.append(subprocess.Popen(command, env=environ, stdout=log, stderr=log))
        return self.processes[-1]

    def _ready(self, process: Program) -> bool:
        if process.poll() is not None:
            raise AssertionError(f"the gateway ended with {process.returncode}; see its log in {self.home}")
        try:
            return httpx.get(f"{self.url}/readyz", timeout=2).status_code == httpx.codes.OK
        except httpx.TransportError:
            return False
