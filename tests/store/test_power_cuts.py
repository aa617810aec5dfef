"""The server comes back without what it wrote last, while everybody else was there all the time."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import redis as synchronous

from gigavqa.contract.jobs import JobStatus
from gigavqa.contract.requests import Bundle
from gigavqa.runtime.embedded_store import start_store
from gigavqa.store.api_keys import ALL_OWNERS
from gigavqa.store.batches import BatchRegistry, StoredBatch, new_batch_id
from gigavqa.store.connection import connect
from gigavqa.store.job_registry import JobRegistry
from gigavqa.store.queue import JobQueue
from gigavqa.store.redis_keys import KEYS
from gigavqa.store.results import ResultStore
from tests.store.examples import MODEL, SPEC, answer, make_bundles
from tests.store.parts import rows_of, sink_all
from tests.waiting import async_wait_until

MANY = 201
"""Bundles that two calls append."""

_APART_SECONDS = 0.5
"""Responses that were recorded so far apart are not in one part."""


class MortalServer:
    """A server whose file is cut back to an earlier length, as by a power cut."""

    def __init__(self, folder: Path, binary: Path) -> None:
        self._folder = folder
        self._binary = binary
        self._start()

    @property
    def url(self) -> str:
        """Where it answers."""
        return self._process.url

    def written(self) -> int:
        """How long its file is."""
        return self._file.stat().st_size

    def lose_power(self, back_to: int) -> None:
        """End, and begin anew with so much of the file."""
        os.kill(self._process.pid, signal.SIGKILL)
        self._process.stop()
        os.truncate(self._file, back_to)
        self._start()

    def stop(self) -> None:
        """End it."""
        self._process.stop()

    @property
    def _file(self) -> Path:
        (file,) = self._folder.glob("appendonlydir/*.incr.aof")
        return file

    def _start(self) -> None:
        self._process = start_store(self._folder, binary=self._binary)
        with synchronous.Redis.from_url(self.url) as client:
            client.config_set("appendfsync", "always")  # so that the file never lags behind what was replied


@pytest.fixture
def mortal(binary: Path, tmp_path: Path) -> Iterator[MortalServer]:
    """A server that the test cuts off."""
    server = MortalServer(tmp_path / "server", binary)
    yield server
    server.stop()


def interrupted(bundles: list[Bundle], at: int, cut: Callable[[], None]) -> Iterator[Bundle]:
    """The bundles, with something that happens before one of them is made."""
    yield from bundles[:at]
    cut()
    yield from bundles[at:]


@pytest.mark.parametrize("lost", ["its room", "its first bundles"])
async def test_a_job_of_which_a_part_was_lost_while_it_was_queued_is_queued_again(
    mortal: MortalServer, lost: str
) -> None:
    """It never is in progress without all of its bundles, nor completed without its requests."""
    redis = connect(mortal.url)
    queue, (job, _) = JobQueue(redis), await JobRegistry(redis).create(SPEC)
    bundles, before_its_room = make_bundles(job.id, MANY), mortal.written()
    await queue.reserve(job.id, MANY, "digest")
    back_to = before_its_room if lost == "its room" else mortal.written()
    half = await queue.append(job.id, interrupted(bundles, MANY - 1, lambda: mortal.lose_power(back_to)))
    assert half.status is JobStatus.VALIDATING
    whole = await queue.enqueue(job.id, bundles, "digest")
    assert (whole.status, whole.request_counts.total) == (JobStatus.IN_PROGRESS, MANY)
    leases = await queue.claim([MODEL], "w", MANY, 0)
    assert sorted(lease.bundle.id for lease in leases) == sorted(bundle.id for bundle in bundles)
    await redis.aclose()


async def test_a_part_whose_mark_was_lost_is_written_again_in_its_place(mortal: MortalServer, tmp_path: Path) -> None:
    """No response stands in two parts, though more of the job has been recorded since."""
    redis, folder = connect(mortal.url), tmp_path / "results"
    queue, (job, _) = JobQueue(redis), await JobRegistry(redis).create(SPEC)
    results = ResultStore(redis, str(folder))
    await queue.enqueue(job.id, make_bundles(job.id, 10), "digest")
    first, *others = await queue.claim([MODEL], "w", 10, 0)
    await results.record(answer(job.id, first.bundle.requests[0]), first)
    before, back_to, recorded = await results.read(job.id), mortal.written(), time.monotonic()
    await sink_all(redis, folder, seconds=_APART_SECONDS)
    mortal.lose_power(back_to)
    assert await redis.hlen(KEYS.texts(job.id)) == 1
    await async_wait_until(lambda: _passed(recorded + _APART_SECONDS), what="the time of another part")
    for lease in others:
        await results.record(answer(job.id, lease.bundle.requests[0]), lease)
    await sink_all(redis, folder, seconds=_APART_SECONDS)
    assert (await results.read(job.id))[:1] == before
    assert sorted(rows_of(folder)) == sorted(f"r{n}" for n in range(10))
    await redis.aclose()


async def _passed(moment: float) -> bool:
    return time.monotonic() > moment


async def test_a_worker_whose_claim_and_recordings_were_lost_goes_on(mortal: MortalServer) -> None:
    """What it had recorded is asked of somebody again, what it records later counts, and the job ends."""
    redis = connect(mortal.url)
    queue, results = JobQueue(redis, lease_seconds=0.2), ResultStore(redis)
    job, _ = await JobRegistry(redis).create(SPEC)
    await queue.enqueue(job.id, make_bundles(job.id, 4), "digest")
    back_to = mortal.written()
    held = await queue.claim([MODEL], "w", 4, 0)
    for lease in held[:2]:
        await results.record(answer(job.id, lease.bundle.requests[0], text="A"), lease)
    mortal.lose_power(back_to)
    assert await queue.renew(held[2:]) == held[2:]
    for lease in held[2:]:
        await results.record(answer(job.id, lease.bundle.requests[0], text="B"), lease)
    again = await queue.claim([MODEL], "v", 4, 0)
    assert {lease.bundle.id for lease in again} == {lease.bundle.id for lease in held[:2]}
    for lease in again:
        await results.record(answer(job.id, lease.bundle.requests[0], text="C"), lease)
    found = {response.request_id: response.turns[0].text for _, response in await results.read(job.id)}
    assert found == {"r0": "C", "r1": "C", "r2": "B", "r3": "B"}
    assert (await JobRegistry(redis).get(job.id)).status is JobStatus.COMPLETED
    depth = await queue.depth(MODEL)
    assert (depth.waiting, depth.leased, await redis.get(KEYS.outstanding())) == (0, 0, b"0")
    await redis.aclose()


async def test_a_batch_that_was_lost_is_there_again_with_what_became_of_it(mortal: MortalServer) -> None:
    """The gateway that has it in hand puts it back among those that are worked on, and listed."""
    redis = connect(mortal.url)
    registry, now, back_to = BatchRegistry(redis), int(time.time()), mortal.written()
    batch = StoredBatch(
        id=new_batch_id(),
        endpoint="/v1/chat/completions",
        input_file_id="file-1",
        completion_window="24h",
        created_at=now,
        expires_at=now + 86400,
    )
    await registry.add(batch, limit=10)
    mortal.lose_power(back_to)
    await registry.save(batch.turned("in_progress"))
    assert await registry.open() == [batch.id]
    listed, _ = await registry.list(ALL_OWNERS, after=None, limit=10)
    assert [each.status for each in listed] == ["in_progress"]
    await registry.close(batch)
    assert await registry.open() == []
    await redis.aclose()
