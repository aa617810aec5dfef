"""The main loop of a worker: claim, play, give back. It keeps the leases, and drops what was cancelled."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial

from gigavqa.contract.leases import Lease
from gigavqa.store.queue import JobQueue
from gigavqa.workers.bundles import BundlePlayer
from gigavqa.workers.engines.engine import EngineDeadError
from gigavqa.workers.errors import EngineLostError
from gigavqa.workers.instrumentation import Instrumentation
from gigavqa.workers.settings import WorkerSettings
from gigavqa.workers.store_outage import retry_until_up
from gigavqa.workers.time_slices import TimeSlice

log = logging.getLogger(__name__)

_MAX_CLAIM = 16
_MAX_AFFINITY_FACTOR = 8  # times what is played at once: a slow worker lets no more wait for it: decision 0004


@dataclass(eq=False)
class _HeldBundle:
    lease: Lease
    unrecorded: int
    playing: asyncio.Task[None] = field(init=False)
    lost: bool = False


class Consumer:
    """Claims the bundles of one model and plays them, many at a time, until its time slice ends or it is told to."""

    def __init__(
        self,
        *,
        model: str,
        worker: str,
        queue: JobQueue,
        player: BundlePlayer,
        time_slice: TimeSlice,
        settings: WorkerSettings,
        instruments: Instrumentation,
    ) -> None:
        self._model = model
        self._worker = worker
        self._queue = queue
        self._player = player
        self._time_slice = time_slice
        self._settings = settings
        self._instruments = instruments
        self._held: set[_HeldBundle] = set()
        self._changed = asyncio.Event()
        self._draining = False
        self._found_none = False
        self._probation_due = time.monotonic() + settings.probation_wait_seconds
        self._renewed = time.monotonic()

    @property
    def num_requests(self) -> int:
        """Requests that are claimed and not recorded."""
        return sum(held.unrecorded for held in self._held)

    async def run(self) -> None:
        """Claim and play until the slice ends, `finish` or `hand_back_all` is called; returns when all is played."""
        keepers = [asyncio.create_task(self._repeat(every, work)) for every, work in self._upkeep()]
        try:
            while not self._draining and not await self._time_slice.is_over(idle=self._found_none and not self._held):
                await self._claim_more()
            self._draining = True
            await retry_until_up(partial(self._queue.release, self._model, self._worker))
            while self._held:
                await self._wait_for_change()
        finally:
            for keeper in keepers:
                keeper.cancel()
            await asyncio.gather(*keepers, return_exceptions=True)

    async def finish(self) -> None:
        """Claim no more, and wait until what is held is played."""
        self._draining = True
        self._changed.set()
        while self._held:
            await asyncio.wait([held.playing for held in self._held])

    async def hand_back_all(self) -> None:
        """Claim no more, and give up what is held; its unrecorded requests are for other workers."""
        self._draining = True
        self._changed.set()
        await self._give_up(set(self._held))

    async def _claim_more(self) -> None:
        room = self._room
        if room <= 0:
            await self._wait_for_change()
            return
        probation = not self._held or time.monotonic() >= self._probation_due
        leases = await self._claim(room, probation)
        self._found_none = not leases
        self._time_slice.count(len(leases))
        for lease in leases:
            if self._draining:
                await retry_until_up(partial(self._queue.hand_back, lease))
                continue
            held = self._hold(lease)
            if lease.probation:  # claim nothing beside it: whatever dies with it would be suspected, too
                await asyncio.wait([held.playing])

    async def _claim(self, room: int, probation: bool) -> list[Lease]:
        leases = await retry_until_up(partial(self._renew_and_claim, room, probation))
        if probation:
            self._probation_due = time.monotonic() + self._settings.probation_wait_seconds
        for lease in leases:
            self._instruments.queue_seconds.observe(lease.queued_seconds)
        return leases

    async def _renew_and_claim(self, room: int, probation: bool) -> list[Lease]:
        if time.monotonic() - self._renewed > self._settings.lease_seconds / 2:
            await self._renew()  # the server was away, and a claim would find what is held here first of all
        return await self._queue.claim(
            [self._model],
            self._worker,
            self._time_slice.bound(_MAX_CLAIM),
            self._settings.claim_block_seconds,
            max_requests=room,
            room=_MAX_AFFINITY_FACTOR * self._settings.max_requests,
            probation=probation,
        )

    @property
    def _room(self) -> int:
        """Requests to claim: as many again as are played at once wait behind them, their views rendered."""
        return 2 * self._settings.max_requests - self.num_requests

    def _hold(self, lease: Lease) -> _HeldBundle:
        held = _HeldBundle(lease, unrecorded=len(lease.bundle.requests))
        others = [other.playing for other in self._held] if lease.probation else []
        self._held.add(held)
        held.playing = asyncio.create_task(self._play(held, others), name=f"bundle-{lease.bundle.id}")
        return held

    async def _play(self, held: _HeldBundle, others: list[asyncio.Task[None]]) -> None:
        outcome = "handed_back"
        try:
            if others:
                await asyncio.wait(others)
            await self._player.play(held.lease, partial(self._recorded, held))
            outcome = "finished"
        except asyncio.CancelledError:
            outcome = self._given_up(held)
        except EngineDeadError:
            log.error("bundle %s: given up, the engine died too often beside it", held.lease.bundle.id)
            outcome = "abandoned"  # the lease runs out, which spends an attempt and leads to probation
        except EngineLostError:
            outcome = "handed_back"
        except Exception:
            log.exception("bundle %s: unexpected error", held.lease.bundle.id)
            self._instruments.unexpected.inc()
            outcome = "abandoned"
        finally:
            await self._part(held, outcome)

    def _recorded(self, held: _HeldBundle, num_requests: int) -> None:
        held.unrecorded -= num_requests
        self._changed.set()

    async def _part(self, held: _HeldBundle, outcome: str) -> None:
        try:
            if outcome in {"finished", "handed_back"}:
                await retry_until_up(partial(self._queue.hand_back, held.lease))
        finally:
            self._held.discard(held)
            self._instruments.bundles.labels(outcome).inc()
            self._changed.set()

    async def _give_up(self, given_up: set[_HeldBundle]) -> None:
        for held in given_up:
            held.playing.cancel()
        if given_up:
            await asyncio.wait([held.playing for held in given_up])
        for held in given_up & self._held:  # cancelled before it began
            await self._part(held, self._given_up(held))

    def _given_up(self, held: _HeldBundle) -> str:
        if not held.unrecorded:
            return "finished"  # just then, which ends the lease as well
        if held.lost:
            log.warning("bundle %s: the lease was lost to another worker", held.lease.bundle.id)
            return "lost"
        return "handed_back"

    def _upkeep(self) -> list[tuple[float, Callable[[], Awaitable[None]]]]:
        return [
            (self._settings.lease_seconds / 3, self._renew),
            (self._settings.cancel_poll_seconds, self._drop_cancelled),
        ]

    async def _repeat(self, seconds: float, work: Callable[[], Awaitable[None]]) -> None:
        while True:
            await asyncio.sleep(seconds)
            try:
                await retry_until_up(work)
            except Exception:
                log.exception("unexpected error; the next attempt is due in %g s", seconds)
                self._instruments.unexpected.inc()

    async def _renew(self) -> None:
        held = {held.lease.entry_id + held.lease.stream: held for held in self._held}
        lost = await self._queue.renew([entry.lease for entry in held.values()])
        self._renewed = time.monotonic()
        gone = {held[lease.entry_id + lease.stream] for lease in lost} & self._held
        for entry in gone:
            entry.lost = True
        await self._give_up(gone)

    async def _drop_cancelled(self) -> None:
        jobs = {held.lease.job_id for held in self._held}
        if jobs and (cancelled := await self._queue.cancelled(jobs)):
            await self._give_up({held for held in self._held if held.lease.job_id in cancelled})

    async def _wait_for_change(self) -> None:
        self._changed.clear()
        await self._changed.wait()
