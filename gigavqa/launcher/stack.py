"""A whole service on this machine: the embedded server, one gateway and the workers, kept running together."""

import asyncio
import contextlib
import os
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.launcher.placement import WorkerPlan, device_environment
from gigavqa.launcher.preflight import require_free_port
from gigavqa.launcher.supervisor import Announce, Program, ProgramSupervisor
from gigavqa.runtime.embedded_store import StateStoreProcess, ensure_store, start_store
from gigavqa.runtime.errors import StateStoreUnavailableError
from gigavqa.runtime.home import Home
from gigavqa.store.connection import connect
from gigavqa.store.reachability import require_answer
from gigavqa.store.worker_registry import WorkerRegistry, WorkerStatus

VIEWER_URL = "GIGAVQA_VIEWER_URL"
_POLL_SECONDS = 0.1
_LOOK_SECONDS = 0.25


@dataclass(frozen=True)
class StackOptions:
    """The options of the processes to run.

    `engine_arguments` are `NAME=VALUE`, `remote_arguments` those of workers that ask a server elsewhere. None as
    `shift_seconds` leaves the choice to the workers. Without a `viewer_port` there is no viewer.
    """

    home: Home
    entries: tuple[CatalogueEntry, ...]
    plans: tuple[WorkerPlan, ...]
    host: str = "127.0.0.1"
    port: int = 8470
    allow_unauthenticated: bool = False
    engine: str = "vllm"
    engine_arguments: tuple[str, ...] = ()
    remote_arguments: tuple[str, ...] = ()
    shift_seconds: float | None = None
    viewer_port: int | None = None
    viewer_requires_keys: bool = False


class Stack:
    """The running processes, and when they are ready."""

    def __init__(self, options: StackOptions, redis_url: str, announce: Announce) -> None:
        self.url = f"http://{_reachable_host(options.host)}:{options.port}"
        self.viewer_url = _viewer_url(options)
        self._viewer_here = f"http://{_reachable_host(options.host)}:{options.viewer_port}"
        self.redis_url = redis_url
        logs, environment = options.home.logs, {"REDIS_URL": redis_url, "GIGAVQA_HOME": str(options.home.folder)}
        shown = {VIEWER_URL: self.viewer_url} if self.viewer_url else {}
        self.gateway = ProgramSupervisor(_gateway(options, environment | shown), logs, announce)
        self.viewers = [ProgramSupervisor(program, logs, announce) for program in _viewers(options, environment)]
        self.workers = [ProgramSupervisor(program, logs, announce) for program in _workers(options, environment)]
        self._models = [plan.models for plan in options.plans]
        self._warm = {models: asyncio.Event() for models in self._models}

    async def run(self) -> None:
        """Keep every process running until `stop`.

        Of workers for the same models one starts first: what it compiles and reads, the others find in caches.
        """
        async with asyncio.TaskGroup() as group:
            for supervised in (self.gateway, *self.viewers):
                group.create_task(supervised.run())
            for position, worker in enumerate(self.workers):
                is_first = self._models[position] not in self._models[:position]
                group.create_task(worker.run() if is_first else self._run_warm(worker, self._models[position]))

    async def wait_for_gateway(self) -> None:
        """Return when the gateway answers, and the viewer. Raises ProcessFailedError when one ends before."""
        places = [(self.gateway, self.url), *((viewer, self._viewer_here) for viewer in self.viewers)]
        async with httpx.AsyncClient(timeout=5.0) as http:
            for supervised, address in places:
                while not await _answers(http, f"{address}/healthz"):
                    supervised.require_first_start()
                    await asyncio.sleep(_POLL_SECONDS)

    async def wait_for_workers(self, look: Callable[[Sequence[WorkerStatus]], None]) -> None:
        """Return when every worker has loaded a model; `look` is shown what they announce meanwhile.

        Raises ProcessFailedError when one ends before.
        """
        redis = connect(self.redis_url)
        try:
            while not self._all_ready(statuses := await WorkerRegistry(redis).workers()):
                look(statuses)
                for worker in self.workers:
                    worker.require_first_start()
                await asyncio.sleep(_POLL_SECONDS)
        finally:
            await redis.aclose()

    async def stop(self) -> None:
        """End the workers, which hand back or finish their work, then the gateway and the viewer."""
        await asyncio.gather(*(worker.stop() for worker in self.workers))
        await asyncio.gather(*(supervised.stop() for supervised in (self.gateway, *self.viewers)))

    def kill(self) -> None:
        """End everything without grace: leases expire, and nothing recorded is lost."""
        for supervised in (self.gateway, *self.viewers, *self.workers):
            supervised.kill()

    async def _run_warm(self, worker: ProgramSupervisor, models: tuple[str, ...]) -> None:
        await self._warm[models].wait()
        await worker.run()

    def _all_ready(self, statuses: Sequence[WorkerStatus]) -> bool:
        names = {status.worker for status in statuses if status.state in {"ready", "switching"}}
        ready = [f"{socket.gethostname()}-{worker.pid}" in names for worker in self.workers]
        for models, is_ready in zip(self._models, ready, strict=True):
            if is_ready:
                self._warm[models].set()
        return all(ready)


@asynccontextmanager
async def running_stack(
    options: StackOptions, announce: Announce
) -> AsyncIterator[tuple[Stack, "asyncio.Future[tuple[None, None]]"]]:
    """Start everything, and end everything in order; the future is done only when supervision itself has failed.

    Raises PortTakenError and StateStoreUnavailableError.
    """
    require_free_port(options.host, options.port)
    if options.home.redis_url:
        await require_answer(options.home.redis_url)
    options.home.data.mkdir(parents=True, exist_ok=True)
    with StateStoreSupervisor(options.home, announce) as server:
        stack = Stack(options, server.url, announce)
        running = asyncio.ensure_future(asyncio.gather(stack.run(), server.keep()))
        try:
            yield stack, running
        finally:
            await stack.stop()
            running.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await running


class StateStoreSupervisor:
    """The server of an installation: the operator's, one that another process started, or one of our own."""

    def __init__(self, home: Home, announce: Announce) -> None:
        self._home = home
        self._announce = announce
        self._own: StateStoreProcess | None = None
        self.url = home.redis_url or ""

    def __enter__(self) -> "StateStoreSupervisor":
        if not self.url:
            self._start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._own:
            self._own.stop()

    async def keep(self) -> None:
        """Start our own server again whenever it is gone; its append-only file brings everything back."""
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            if self._own and not _is_running(self._own.pid):
                self._announce(f"the embedded server is gone; starting it again (log: {self._home.server}/server.log)")
                self._own.stop()
                self._start()

    def _start(self) -> None:
        # In the main thread: the kernel ends the server with the thread that started it.
        try:
            self._own = start_store(self._home.server)
            self.url = self._own.url
        except StateStoreUnavailableError:
            self.url = ensure_store(self._home.server)
            self._own = None


def _gateway(options: StackOptions, environment: dict[str, str]) -> Program:
    argv = [sys.executable, "-P", "-m", "gigavqa.service", "--host", options.host, "--port", str(options.port)]
    argv += ["--allow-unauthenticated"] if options.allow_unauthenticated else []
    # Its workers ended before it, with all chats that they could.
    return Program("gateway", argv, {"GIGAVQA_GRACE_SECONDS": "0", **environment}, grace_seconds=20.0)


def _viewers(options: StackOptions, environment: dict[str, str]) -> Iterator[Program]:
    """Yield the evidence viewer, if there is to be one."""
    if options.viewer_port is None:
        return
    argv = [sys.executable, "-P", "-m", "gigavqa.viewer", "--host", options.host, "--port", str(options.viewer_port)]
    argv += ["--allow-unauthenticated"] if options.allow_unauthenticated else []
    argv += ["--require-keys"] if options.viewer_requires_keys else []
    yield Program("viewer", argv, environment, grace_seconds=20.0)


def _viewer_url(options: StackOptions) -> str | None:
    """Return where browsers find the viewer: what the operator says, who may have put a proxy before it, goes first."""
    if options.viewer_port is None:
        return None
    return os.environ.get(VIEWER_URL) or f"http://{_reachable_host(options.host)}:{options.viewer_port}"


def trace_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return what sends workers' traces where the gateway's go, unless theirs are sent elsewhere."""
    where = environ.get("GIGAVQA_WORKER_TRACES") or environ.get("GIGAVQA_TRACES")
    return {"GIGAVQA_WORKER_TRACES": where} if where else {}


def _workers(options: StackOptions, environment: dict[str, str]) -> Iterator[Program]:
    settings = ["--engine", options.engine, *options.remote_arguments]
    settings += [word for argument in options.engine_arguments for word in ("--engine-arg", argument)]
    settings += ["--shift", str(options.shift_seconds)] if options.shift_seconds is not None else []
    for plan in options.plans:
        named = [word for model in plan.models for word in ("--model", model)]
        own = [word for argument in plan.arguments for word in ("--engine-arg", argument)]
        argv = [sys.executable, "-P", "-m", "gigavqa.workers", *named, "--metrics-port", "0", *settings, *own]
        seen = (
            environment
            | trace_environment(os.environ)
            | dict(plan.variables)
            | device_environment(plan.devices, os.environ)
        )
        yield Program(plan.name, argv, seen, grace_seconds=60.0, cpus=plan.cpus)


def _reachable_host(host: str) -> str:
    if host in {"0.0.0.0", "::"}:
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host


async def _answers(http: httpx.AsyncClient, url: str) -> bool:
    try:
        return (await http.get(url)).is_success
    except httpx.TransportError:
        return False


def _is_running(pid: int) -> bool:
    # WNOWAIT leaves the reaping to the one that started it.
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
