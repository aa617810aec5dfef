"""The conductor: rotation of models and heartbeat, from start to drain."""

import asyncio
import contextlib
import logging
import os
import socket
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Literal

from gigavqa.store.worker_registry import WorkerRegistry, WorkerStatus
from gigavqa.workers.instrumentation import Instrumentation
from gigavqa.workers.model_runtime import ServedModel, WorkerContext
from gigavqa.workers.rotation import ModelRotation
from gigavqa.workers.settings import WorkerSettings
from gigavqa.workers.store_outage import retry_until_up, skip_if_down

log = logging.getLogger(__name__)

_HAND_BACK_SECONDS = 10.0
_MISSED_HEARTBEATS = 5


class Worker:
    """One engine at a time, which plays the bundles of one model, or of several in time slices."""

    def __init__(
        self,
        served: Sequence[ServedModel],
        around: WorkerContext,
        settings: WorkerSettings,
        instruments: Instrumentation,
    ) -> None:
        self.name = f"{socket.gethostname()}-{os.getpid()}"
        self._around = around
        self._settings = settings
        self._instruments = instruments
        self._fleet = WorkerRegistry(around.redis)
        self._news = asyncio.Event()
        self._rotation = ModelRotation(
            served,
            worker=self.name,
            around=around,
            settings=settings,
            instruments=instruments,
            on_change=self._news.set,
        )
        self._since = datetime.now(UTC)
        self._stopping = asyncio.Event()
        self._grace = settings.grace_seconds
        self._played = time.monotonic()
        self.is_idle = False

    @property
    def state(self) -> Literal["starting", "ready", "switching", "draining"]:
        """The state now."""
        return "draining" if self._stopping.is_set() else self._rotation.state

    def stop(self, grace_seconds: float | None = None) -> None:
        """Ask the worker to drain; a second call with a shorter grace hurries it."""
        if grace_seconds is not None:
            self._grace = min(self._grace, grace_seconds)
        self._stopping.set()
        self._news.set()

    async def run(self) -> None:
        """Serve until `stop`. Raises EngineDeadError and EngineLostError when no engine starts, or starts again."""
        heartbeat = asyncio.create_task(self._beat_forever(), name="heartbeat")
        try:
            await self._serve()
        finally:
            heartbeat.cancel()
            await asyncio.gather(heartbeat, return_exceptions=True)
            await self._rotation.close()
            await self._withdraw()

    async def _serve(self) -> None:
        serving = asyncio.create_task(self._rotation.run(), name="rotation")
        stopping = asyncio.create_task(self._stopping.wait())
        await asyncio.wait([serving, stopping], return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        await self._drain()
        if self._rotation.is_playing:
            await asyncio.wait([serving], timeout=_HAND_BACK_SECONDS)
        if serving.cancel():
            await asyncio.gather(serving, return_exceptions=True)
        else:
            serving.result()

    async def _drain(self) -> None:
        """Give what is begun its grace, less when hurried, and hand back the rest."""
        deadline = asyncio.get_running_loop().time()
        finishing = asyncio.create_task(self._rotation.finish(), name="finish")
        while not finishing.done():
            left = deadline + self._grace - asyncio.get_running_loop().time()
            if left <= 0:
                break
            await asyncio.wait([finishing], timeout=min(left, 0.1))
        finishing.cancel()
        try:
            async with asyncio.timeout(_HAND_BACK_SECONDS):
                await self._rotation.hand_back()
        except TimeoutError:
            log.error("the server is away; the leases that are left will run out")

    async def _beat_forever(self) -> None:
        while True:
            await self._rotation.look()
            await skip_if_down(self, self._beat)
            self._end_if_idle()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._settings.heartbeat_seconds):
                    await self._news.wait()
            self._news.clear()

    def _end_if_idle(self) -> None:
        if self.is_idle:
            return
        if self._rotation.state != "ready" or any(self._rotation.num_requests):
            self._played = time.monotonic()
        elif self._settings.idle_seconds and time.monotonic() - self._played > self._settings.idle_seconds:
            log.info("%s: nothing to play for %g s", self.name, self._settings.idle_seconds)
            self.is_idle = True
            self.stop()

    async def _beat(self) -> None:
        running, waiting = self._rotation.num_requests
        self._instruments.running.set(running)
        self._instruments.waiting.set(waiting)
        info = self._rotation.engine
        self._instruments.tell_engine(info)
        status = WorkerStatus(
            worker=self.name,
            models=self._rotation.models,
            loaded=self._rotation.loaded,
            state=self.state,
            phase=self._rotation.phase,
            running=running,
            waiting=waiting,
            device=info.device,
            engine=info,
            engine_seconds=self._instruments.stages.engine_seconds,
            metrics_url=self._around.metrics_url,
            sources=self._around.sources.names,
            since=self._since,
        )
        await self._fleet.announce(status, self._settings.heartbeat_seconds * _MISSED_HEARTBEATS)

    async def _withdraw(self) -> None:
        try:
            async with asyncio.timeout(_HAND_BACK_SECONDS):
                await retry_until_up(lambda: self._fleet.withdraw(self.name))
        except TimeoutError:
            log.warning("the server is away; it will forget this worker by itself")
