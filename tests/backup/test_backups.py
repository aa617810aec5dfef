"""What was recorded before a backup began is in it once, and the jobs of it go on to their ends."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from redis.asyncio import Redis

from gigavqa.backup.archives import CHECKSUMS, MANIFEST, STATE, Archive
from gigavqa.backup.backups import back_up
from gigavqa.backup.errors import BackupInvalidError
from gigavqa.backup.restoring import restore
from gigavqa.contract.jobs import JobStatus
from gigavqa.contract.responses import Response
from gigavqa.runtime.embedded_store import running_store
from gigavqa.runtime.errors import RestoreRefusedError
from gigavqa.runtime.home import Home
from gigavqa.store.connection import connect
from gigavqa.store.job_registry import JobRegistry
from gigavqa.store.queue import JobQueue
from gigavqa.store.redis_keys import KEYS
from gigavqa.store.results import ResultStore
from gigavqa.store.sink import ParquetSink
from tests.backup.conftest import Kept
from tests.store.examples import MODEL, SPEC, answer, make_bundles, run_job
from tests.store.parts import parts_of, sink_all
from tests.waiting import async_wait_until

REQUESTS = 600
LEASE_SECONDS = 600
"""Longer than a test: what a worker holds nobody else can claim, unless it was handed back."""


async def play(redis: Redis, job_id: str, worker: str, until_half: asyncio.Event | None = None) -> None:
    """Answer the requests of a job, as many at once as a worker does, until it has ended.

    Half of them are left until the event is set.
    """
    registry, queue, results = JobRegistry(redis), JobQueue(redis, lease_seconds=LEASE_SECONDS), ResultStore(redis)
    while (job := await registry.get(job_id)).status is not JobStatus.COMPLETED:
        if until_half and job.request_counts.completed >= REQUESTS / 2:
            await until_half.wait()
        for lease in await queue.claim([MODEL], worker, 4, 0.1):
            answers = [answer(job_id, request, worker=worker) for request in lease.bundle.requests]
            await asyncio.gather(*(results.record(each, lease) for each in answers))


async def times(redis: Redis, job_id: str, results: str) -> Counter[str]:
    """How often each request of a job has a response that can be read."""
    read = await ResultStore(redis, results).read(job_id, limit=10 * REQUESTS)
    assert all(isinstance(response, Response) for _, response in read)
    return Counter(response.request_id for _, response in read)


@contextlib.asynccontextmanager
async def working(kept: Kept, job_id: str, until_half: asyncio.Event) -> AsyncIterator[Redis]:
    """A worker and a sink at work on a job, until the block ends."""
    redis = kept.connect()
    sink = ParquetSink(redis, kept.home.results_uri, rows=16, seconds=0.01, settle_seconds=0)
    tasks = [asyncio.create_task(play(redis, job_id, "before", until_half)), asyncio.create_task(sink.run_forever())]
    try:
        yield redis
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await redis.aclose()


async def test_a_backup_of_a_running_job_loses_nothing_and_goes_on(
    kept: Kept, binary: Path, operators: str, tmp_path: Path
) -> None:
    """Recorded and sunk while the backup is made; restored elsewhere, each is there once, and the rest is asked.

    From the embedded server to the operator's, of another kind and release, and the other way round.
    """
    on_own_server = binary.name != "redis-server"
    setup, begun = kept.connect(), asyncio.Event()
    job, _ = await JobRegistry(setup).create(SPEC)
    await JobQueue(setup).enqueue(job.id, make_bundles(job.id, REQUESTS // 6, 6), "digest")
    assert len(await JobQueue(setup).claim([MODEL], "slow", 5, 0)) == 5
    async with working(kept, job.id, begun) as redis:
        await async_wait_until(lambda: redis.hlen(KEYS.parts(job.id)), timeout=60, what="the first part")
        before = await times(redis, job.id, kept.home.results_uri)
        begun.set()
        manifest = await asyncio.to_thread(back_up, kept.url, kept.home, tmp_path / "backup")
        assert (await JobRegistry(redis).get(job.id)).request_counts.completed > manifest.responses
    await setup.aclose()
    assert (manifest.jobs, manifest.damaged) == (1, ())
    assert manifest.responses >= before.total() > 0

    home = Home(folder=tmp_path / "restored", redis_url=operators if on_own_server else None)
    await restored(tmp_path / "backup", home)
    with contextlib.nullcontext(operators) if on_own_server else running_store(home.server) as url:
        redis = connect(url)
        then = await times(redis, job.id, home.results_uri)
        assert then.keys() >= before.keys()
        assert then.total() == manifest.responses == len(then)
        playing = asyncio.create_task(play(redis, job.id, "after"))
        await asyncio.wait_for(playing, 120)
        await ParquetSink(redis, home.results_uri).run_until_drained()
        ended = await JobRegistry(redis).get(job.id)
        assert ended.request_counts.completed == REQUESTS
        assert await times(redis, job.id, home.results_uri) == {f"r{number}": 1 for number in range(REQUESTS)}
        await redis.aclose()


async def test_a_job_that_is_deleted_meanwhile_keeps_its_parts_until_the_backup_is_made(
    kept: Kept, tmp_path: Path
) -> None:
    """The job is gone at once for all who look; what the backup wants of it goes with the next deletions."""
    redis = kept.connect()
    job = await run_job(redis, 4)
    await sink_all(redis, kept.results)
    await redis.set(KEYS.backup(), "", ex=60)
    registry = JobRegistry(redis, kept.home.results_uri)
    await registry.delete(job.id)
    await registry.finish_deletions()
    assert await registry.status(job.id) is None
    assert len(parts_of(kept.results)) == 1
    await redis.delete(KEYS.backup())
    await registry.finish_deletions()
    assert parts_of(kept.results) == []
    await redis.aclose()


async def make_backup(kept: Kept, folder: Path) -> str:
    """A backup of one finished job with a part, and a text that is in none; returns the job's id."""
    redis = kept.connect()
    job = await run_job(redis, 3)
    await sink_all(redis, kept.results)
    await run_job(redis, 1)
    await redis.aclose()
    await asyncio.to_thread(back_up, kept.url, kept.home, folder)
    return job.id


async def test_a_backup_is_checked_by_the_tool_that_everybody_has(kept: Kept, tmp_path: Path) -> None:
    """`sha256sum -c` reads its list, which names every file but itself and the manifest."""
    await make_backup(kept, tmp_path / "backup")
    checked = await asyncio.create_subprocess_exec(
        "sha256sum", "--check", "--quiet", CHECKSUMS, cwd=tmp_path / "backup"
    )
    assert await checked.wait() == 0
    files = {
        path.relative_to(tmp_path / "backup").as_posix() for path in (tmp_path / "backup").rglob("*") if path.is_file()
    }
    assert files == {*Archive(tmp_path / "backup").checksums, CHECKSUMS, MANIFEST}


async def test_a_damaged_backup_is_refused_before_anything_is_changed(kept: Kept, tmp_path: Path) -> None:
    """Whatever file it is, and however it was damaged, the refusal names it, and the target is untouched."""
    backup, home = tmp_path / "backup", Home(folder=tmp_path / "restored")
    await make_backup(kept, backup)
    for hurt in [backup / STATE, *parts_of(backup), backup / CHECKSUMS, backup / MANIFEST]:
        whole = hurt.read_bytes()
        flipped = whole[:20] + bytes([whole[20] ^ 1]) + whole[21:]
        for damaged in (flipped, whole[: len(whole) // 2], None):
            hurt.unlink()
            if damaged is not None:
                hurt.write_bytes(damaged)
            with pytest.raises(BackupInvalidError, match=hurt.name):
                await restored(backup, home)
            hurt.write_bytes(whole)
    assert not [*home.folder.rglob("*.aof"), *home.folder.rglob("*.parquet")]
    await restored(backup, home)


async def restored(backup: Path, home: Home, *, overwrite: bool = False) -> Path | None:
    """Restore a backup; returns where what was there before is."""
    return await asyncio.to_thread(lambda: restore(Archive(backup), home, overwrite=overwrite))


async def test_what_is_there_is_not_replaced_unasked(kept: Kept, tmp_path: Path) -> None:
    """Neither under a server that runs, nor in an installation that holds something; else what was is set aside."""
    backup = tmp_path / "backup"
    job_id = await make_backup(kept, backup)
    with pytest.raises(RestoreRefusedError, match="runs"):
        await restored(backup, kept.home, overwrite=True)
    home = Home(folder=tmp_path / "other")
    assert await restored(backup, home) is None
    with pytest.raises(RestoreRefusedError, match="--overwrite"):
        await restored(backup, home)
    aside = await restored(backup, home, overwrite=True)
    assert aside is not None
    assert list(aside.glob("*.base.rdb"))
    with running_store(home.server) as url:
        redis = connect(url)
        assert (await times(redis, job_id, home.results_uri)).total() == 3
        await redis.aclose()


async def test_a_folder_that_holds_something_is_no_place_for_a_backup(kept: Kept, tmp_path: Path) -> None:
    """It is refused, and stays as it is."""
    (tmp_path / "backup").mkdir()
    (tmp_path / "backup" / "mine").touch()
    with pytest.raises(FileExistsError, match="name a new folder"):
        back_up(kept.url, kept.home, tmp_path / "backup")
    assert [path.name for path in (tmp_path / "backup").iterdir()] == ["mine"]
