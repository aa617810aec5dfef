"""The conductor: engine, preparation, consumer and heartbeat, from start to drain."""

import asyncio
import contextlib
import logging
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from redis.asyncio import Redis

from catalogue.entry import CatalogueEntry
from jobs.fleet import Fleet, WorkerStatus
from jobs.queue import JobQueue
from jobs.results import ResultStore
from tiling.library import Library
from workers.bundles import BundlePlayer
from workers.consumer import Consumer
from workers.engine import Engine
from workers.instrumentation import Instruments
from workers.keeper import EngineKeeper
from workers.patience import SERVER_AWAY, patiently
from workers.preparation import Preparation
from workers.previews import Previews
from workers.settings import WorkerSettings

log = logging.getLogger(__name__)

State = Literal["starting", "ready", "draining"]

_HAND_BACK_SECONDS = 10.0
_MISSED_HEARTBEATS = 5


@dataclass(frozen=True)
class Surroundings:
    """What a worker stands on: the server, the images, where previews go, and where its metrics are to be had."""

    redis: Redis
    library: Library
    metrics_url: str | None = None
    previews: Previews | None = None


class Worker:
    """One engine that plays the bundles of one model. `make_engine` makes it, and another one whenever it dies."""

    def __init__(
        self,
        entry: CatalogueEntry,
        make_engine: Callable[[], Engine],
        around: Surroundings,
        settings: WorkerSettings,
        instruments: Instruments,
    ) -> None:
        self.name = f"{socket.gethostname()}-{os.getpid()}"
        self._entry = entry
        self._around = around
        self._settings = settings
        self._instruments = instruments
        self._fleet = Fleet(around.redis)
        self._keeper = EngineKeeper(make_engine, settings, instruments)
        self._preparation = Preparation(
            around.library,
            entry.visual_budget,
            limit_bytes=settings.ahead_bytes,
            threads=settings.render_threads,
            previews=around.previews,
        )
        queue = JobQueue(around.redis, lease_seconds=settings.lease_seconds)
        self._player = BundlePlayer(
            worker=self.name,
            queue=queue,
            results=ResultStore(around.redis),
            keeper=self._keeper,
            preparation=self._preparation,
            instruments=instruments,
            max_requests=settings.max_requests,
        )
        self._consumer = Consumer(
            model=entry.id,
            worker=self.name,
            queue=queue,
            player=self._player,
            settings=settings,
            instruments=instruments,
        )
        self._state: State = "starting"
        self._news = asyncio.Event()
        self._since = datetime.now(UTC)
        self._stopping = asyncio.Event()
        self._grace = settings.grace_seconds

    def stop(self, grace_seconds: float | None = None) -> None:
        """Ask the worker to drain; a second call with a shorter grace hurries it."""
        if grace_seconds is not None:
            self._grace = min(self._grace, grace_seconds)
        self._stopping.set()

    async def run(self) -> bool:
        """Serve until `stop`; returns whether the worker ended because it was asked to.

        Raises EngineDeadError when the engine cannot be started in the first place.
        """
        heartbeat = asyncio.create_task(self._beat_forever(), name="heartbeat")
        try:
            if await self._start_unless_stopped():
                self._enter("ready")
                log.info("%s: ready for %s", self.name, self._entry.id)
                await self._serve()
            return not self._keeper.lost.is_set()
        finally:
            heartbeat.cancel()
            await asyncio.gather(heartbeat, return_exceptions=True)
            await self._keeper.stop()
            self._preparation.close()
            await self._withdraw()

    async def _start_unless_stopped(self) -> bool:
        starting = asyncio.create_task(self._keeper.start(), name="start-engine")
        stopping = asyncio.create_task(self._stopping.wait())
        await asyncio.wait([starting, stopping], return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        if starting.done():
            starting.result()
        else:
            starting.cancel()
        return starting.done() and not self._stopping.is_set()

    async def _serve(self) -> None:
        consuming = asyncio.create_task(self._consumer.run(), name="consumer")
        ends = [asyncio.create_task(event.wait()) for event in (self._stopping, self._keeper.lost)]
        await asyncio.wait([consuming, *ends], return_when=asyncio.FIRST_COMPLETED)
        for end in ends:
            end.cancel()
        self._enter("draining")
        await self._drain()
        if not consuming.done():
            await asyncio.wait([consuming], timeout=_HAND_BACK_SECONDS)
        if not consuming.cancel():
            consuming.result()

    async def _drain(self) -> None:
        """Give what is begun its grace, less when hurried, and hand back the rest."""
        deadline = asyncio.get_running_loop().time()
        finishing = asyncio.create_task(self._consumer.finish(), name="finish")
        while not finishing.done() and not self._keeper.lost.is_set():
            left = deadline + self._grace - asyncio.get_running_loop().time()
            if left <= 0:
                break
            await asyncio.wait([finishing], timeout=min(left, 0.1))
        finishing.cancel()
        try:
            await asyncio.wait_for(self._consumer.hand_back_all(), _HAND_BACK_SECONDS)
        except TimeoutError:
            log.error("the server is away; the leases that are left will run out")

    def _enter(self, state: State) -> None:
        self._state = state
        self._news.set()

    async def _beat_forever(self) -> None:
        while True:
            try:
                await self._keeper.check()
                await self._beat()
            except SERVER_AWAY as error:
                log.warning("the server is away: %s", error)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._news.wait(), self._settings.heartbeat_seconds)
            self._news.clear()

    async def _beat(self) -> None:
        stats, unrecorded = await self._keeper.stats(), self._consumer.num_requests
        running, waiting = self._player.running, max(0, unrecorded - self._player.running)
        self._instruments.follow(self._around.library.stats(), stats)
        self._instruments.running.set(running)
        self._instruments.waiting.set(waiting)
        info = self._keeper.info
        status = WorkerStatus(
            worker=self.name,
            models=(self._entry.id,),
            state=self._state,
            running=running,
            waiting=waiting,
            device=info.device,
            engine=info,
            metrics_url=self._around.metrics_url,
            since=self._since,
        )
        await self._fleet.announce(status, self._settings.heartbeat_seconds * _MISSED_HEARTBEATS)

    async def _withdraw(self) -> None:
        try:
            await asyncio.wait_for(patiently(lambda: self._fleet.withdraw(self.name)), _HAND_BACK_SECONDS)
        except TimeoutError:
            log.warning("the server is away; it will forget this worker by itself")
