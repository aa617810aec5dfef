"""Many workers claim, play, renew, die, drain and lose touch in a random order: the queue keeps its promises."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from itertools import count

import pytest
from redis.asyncio import Redis

from gigavqa.contract.jobs import JobStatus
from gigavqa.contract.leases import Lease
from gigavqa.store.job_registry import JobRegistry
from gigavqa.store.queue import JobQueue, QueueDepth
from gigavqa.store.redis_keys import KEYS
from gigavqa.store.results import ResultStore
from tests.store.examples import MODEL, answer
from tests.store.pictures import submit_about
from tests.waiting import async_wait_until

LEASE, DEFER = 0.3, 0.05
STEPS, WORKERS, JOBS = 400, 5, 6
PICTURES = "PQRSTU"


@dataclass(eq=False)
class Held:
    """A lease, the request of it that is recorded next, and when it was surely still kept."""

    lease: Lease
    kept: float
    played: int = 0


@dataclass(eq=False)
class Player:
    """A worker and what it believes to hold."""

    name: str
    held: list[Held] = field(default_factory=list)


class Fleet:
    """Workers on one server, and everything that they do, one thing after the other, as the draw has it.

    Scripts are atomic, so orders of calls are all that there is to try.
    """

    def __init__(self, redis: Redis, seed: int) -> None:
        self.redis = redis
        self.draw = random.Random(seed)
        self.queue = JobQueue(redis, lease_seconds=LEASE, defer_seconds=DEFER)
        self.results, self.registry = ResultStore(redis), JobRegistry(redis)
        self.names = count()
        self.players = [self.another() for _ in range(WORKERS)]
        self.jobs: list[str] = []
        self.longest_wait = DEFER

    def another(self) -> Player:
        """A worker with a name of its own."""
        return Player(f"w{next(self.names)}")

    async def live(self) -> None:
        """Do as many random things."""
        deeds: dict[Callable[[], Awaitable[None]], int] = {
            self.claim: 30,
            self.record: 60,
            self.renew: 20,
            self.submit: 4,
            self.hand_back: 4,
            self.die: 2,
            self.drain: 2,
            self.cancel: 1,
            self.forget_owners: 1,
            self.trim: 2,
            self.look_for_idleness: 2,
        }
        for _ in range(STEPS):
            (deed,) = self.draw.choices(list(deeds), list(deeds.values()))
            await deed()

    async def end(self) -> None:
        """Let one worker play everything that is left."""
        self.players = [self.another()]
        while not all([(await self.registry.get(job_id)).status.final for job_id in self.jobs]):
            await self.claim()
            await self.record()

    async def submit(self) -> None:
        """Queue a job about some of the pictures."""
        if len(self.jobs) < JOBS:
            images = [image for image in PICTURES for _ in range(self.draw.randint(0, 6))] or ["P"]
            priority = self.draw.choice(["batch", "batch", "batch", "interactive"])
            shown = self.draw.random() < 0.8
            self.jobs.append(
                await submit_about(self.redis, images, self.draw.randint(1, 4), priority=priority, shown=shown)
            )

    async def claim(self) -> None:
        """Let a worker claim."""
        player = self.draw.choice(self.players)
        before = time.monotonic()
        leases = await self.queue.claim(
            [MODEL],
            player.name,
            self.draw.randint(1, 8),
            0,
            max_requests=self.draw.randint(1, 12),
            room=self.draw.choice([0, 10, 40]),
            probation=self.draw.random() < 0.2,
        )
        after = time.monotonic()
        for lease in leases:
            self.require_sole(lease, after)
            player.held.append(Held(lease, before))

    def require_sole(self, lease: Lease, now: float) -> None:
        """Nobody has the bundle whose lease cannot have run out; only those of the probation lane are on probation."""
        assert lease.probation is (lease.stream == KEYS.probation(MODEL))
        for held in [held for player in self.players for held in player.held]:
            same = (held.lease.job_id, held.lease.bundle.id) == (lease.job_id, lease.bundle.id)
            assert not (same and now < held.kept + LEASE), f"{lease.bundle.id} is leased twice"

    async def record(self) -> None:
        """Let every worker record a request of each bundle that it holds."""
        for player in self.players:
            for held in list(player.held):
                request = held.lease.bundle.requests[held.played]
                if held.lease.probation and not await self.queue.begin_probation(held.lease, request.id):
                    player.held.remove(held)
                    continue
                await self.results.record(answer(held.lease.job_id, request, worker=player.name), held.lease)
                held.played += 1
                if held.played == len(held.lease.bundle.requests):
                    player.held.remove(held)
                    await self.queue.hand_back(held.lease)

    async def renew(self) -> None:
        """Let every worker renew."""
        for player in self.players:
            before = time.monotonic()
            lost = await self.queue.renew([held.lease for held in player.held])
            player.held = [held for held in player.held if held.lease not in lost]
            for held in player.held:
                held.kept = before

    async def hand_back(self) -> None:
        """Let a worker give up a bundle."""
        player = self.draw.choice(self.players)
        if player.held:
            held = player.held.pop(self.draw.randrange(len(player.held)))
            await self.queue.hand_back(held.lease)

    async def die(self) -> None:
        """Let a worker vanish with all that it holds."""
        self.players[self.draw.randrange(WORKERS)] = self.another()

    async def drain(self) -> None:
        """Let a worker end in order."""
        place = self.draw.randrange(WORKERS)
        player, self.players[place] = self.players[place], self.another()
        await self.queue.release(MODEL, player.name)
        for held in player.held:
            await self.queue.hand_back(held.lease)

    async def cancel(self) -> None:
        """Cancel a job."""
        if self.jobs:
            await self.registry.cancel(self.draw.choice(self.jobs))

    async def forget_owners(self) -> None:
        """Lose what the server knows of owners."""
        keys = [key async for key in self.redis.scan_iter(f"{KEYS.prefix}:*")]
        lost = [key for key in keys if key.split(b":")[1] in {b"owner", b"room", b"parked"}]
        if lost:
            await self.redis.delete(*lost)
            self.longest_wait = LEASE

    async def trim(self) -> None:
        """Trim the lanes."""
        await self.queue.trim()

    async def look_for_idleness(self) -> None:
        """Whatever waits, a worker with room gets some of it as soon as it may take what is parked for others.

        That is when a lease has run out, where the server has lost what is parked for whom.
        """
        await asyncio.sleep(self.longest_wait)
        self.longest_wait = DEFER
        waiting = (await self.queue.depth(MODEL)).waiting
        player, before = self.another(), time.monotonic()
        leases = await self.queue.claim([MODEL], player.name, 8, 0, max_requests=1000, probation=True)
        assert bool(leases) or await self.cancelled_waiting() >= waiting
        self.players[self.draw.randrange(WORKERS)] = player
        after = time.monotonic()
        for lease in leases:
            self.require_sole(lease, after)
            player.held.append(Held(lease, before))

    async def cancelled_waiting(self) -> int:
        """Bundles that count as waiting although nobody may have them."""
        jobs = [await self.registry.get(job_id) for job_id in self.jobs]
        ended = [job.id for job in jobs if job.status is JobStatus.CANCELLING]
        return sum([await self.redis.hlen(KEYS.bundles(job_id)) for job_id in ended])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
async def test_every_bundle_is_played_whatever_happens(redis: Redis, seed: int) -> None:
    """None is lost, none leased twice at once, none waits beside a worker with room; nothing is left behind."""
    fleet = Fleet(redis, seed)
    await fleet.live()
    await fleet.end()
    for job_id in fleet.jobs:
        job = await fleet.registry.get(job_id)
        counts, responses = job.request_counts, await fleet.results.read(job_id, limit=10_000)
        assert len({response.request_id for _, response in responses}) == len(responses)
        assert len(responses) == counts.completed + counts.failed
        assert job.status is JobStatus.CANCELLED or len(responses) == counts.total
    assert await fleet.queue.depth(MODEL) == QueueDepth(0, 0)
    assert await redis.get(KEYS.outstanding()) == b"0"

    await until_all_is_done(fleet)


async def until_all_is_done(fleet: Fleet) -> None:
    """Wait until no entry is pending or unread: those of cancelled bundles go when somebody comes to them."""
    lanes = [KEYS.queue(MODEL, "interactive"), KEYS.queue(MODEL, "batch"), KEYS.probation(MODEL)]

    async def done() -> bool:
        await fleet.queue.claim([MODEL], "last", 8, 0, room=10, probation=True)
        groups = [(await fleet.redis.xinfo_groups(lane))[0] for lane in lanes]
        return all((group["lag"], group["pending"]) == (0, 0) for group in groups)

    await async_wait_until(done, what="the end of every entry")
