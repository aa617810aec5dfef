"""Responses move to Parquet parts, and are read as before."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import pandas
import pyarrow.parquet
import pytest
from redis.asyncio import Redis
from redis.exceptions import OutOfMemoryError

from gigavqa.contract.codec import compress, decompress
from gigavqa.contract.errors import TextMissingError
from gigavqa.contract.responses import Response, UnreadableResponse
from gigavqa.store.job_registry import JobRegistry
from gigavqa.store.parquet_parts import TALLY, PartStore
from gigavqa.store.previews import PreviewStore
from gigavqa.store.queue import JobQueue
from gigavqa.store.redis_keys import KEYS
from gigavqa.store.results import ResultStore
from gigavqa.store.sink import ParquetSink
from gigavqa.store.store_stats import StoreStats
from tests.store.examples import MODEL, answer, ask_again, make_bundles, run_job
from tests.store.parts import parts_of, rows_of, sink_all
from tests.waiting import async_wait_until

KEY = "0123456789abcdef"
"""Of a raster."""


async def test_a_sunk_response_is_read_as_before(redis: Redis, tmp_path: Path) -> None:
    """Order, cursors and every field stay; the server holds the texts no more, and nothing waits for the sink."""
    job = await run_job(redis, 10, failing={"r3"})
    before = await ResultStore(redis).read(job.id)
    assert await sink_all(redis, tmp_path, rows=4) == 10
    results = ResultStore(redis, str(tmp_path))
    assert await results.read(job.id) == before
    assert await redis.hlen(KEYS.texts(job.id)) == 0
    assert len(parts_of(tmp_path)) == 3
    stats = await StoreStats.of(redis)
    assert (stats.unsunk, stats.unsunk_seconds) == (0, 0)


async def test_hot_and_sunk_responses_are_read_together(redis: Redis, tmp_path: Path) -> None:
    """A page may hold responses of both kinds."""
    job = await run_job(redis, 3, failing={"r0", "r1", "r2"})
    await sink_all(redis, tmp_path)
    await ask_again(JobQueue(redis), job.id, make_bundles(job.id, 2))
    for lease in await JobQueue(redis).claim([MODEL], "w", 10, 0):
        await ResultStore(redis).record(answer(job.id, lease.bundle.requests[0]), lease)
    results = ResultStore(redis, str(tmp_path))
    assert [(r.request_id, r.ok) for _, r in await results.read(job.id)] == [("r2", False), ("r0", True), ("r1", True)]


async def test_a_part_answers_questions_without_the_service(redis: Redis, tmp_path: Path) -> None:
    """DuckDB reads flat columns, and the whole response as JSON."""
    job = await run_job(redis, 4, failing={"r2"})
    await sink_all(redis, tmp_path)
    parts = f"'{tmp_path}/**/*.parquet'"
    flat = duckdb.sql(f"SELECT sample_id, answer, prompt_tokens, failure_type FROM {parts} ORDER BY sample_id")
    assert flat.fetchall() == [
        ("s0", "B", 90, None),
        ("s1", "B", 90, None),
        ("s2", None, 0, "EngineError"),
        ("s3", "B", 90, None),
    ]
    nested = duckdb.sql(f"SELECT response->>'$.sampling.seed' FROM {parts} WHERE request_id = 'r3'").fetchall()
    assert nested == [("3",)]
    assert duckdb.sql(f"SELECT DISTINCT job FROM {parts}").fetchall() == [(job.id,)]


async def test_the_folder_of_results_is_a_table(redis: Redis, tmp_path: Path) -> None:
    """For pandas and pyarrow, as it is: previews and tallies within it are passed over."""
    job = await run_job(redis, 4)
    await ParquetSink(redis, str(tmp_path)).run_until_drained()
    parts, previews = PartStore(str(tmp_path)), PreviewStore(str(tmp_path))
    parts.write_beside(job.id, *parts.parts(job.id), TALLY, b"tally")
    previews.write(KEY, b"JPEG")
    for read in (pandas.read_parquet, pyarrow.parquet.read_table):
        for folder in (tmp_path, tmp_path / f"job={job.id}"):
            assert sorted(pandas.Series(read(folder)["request_id"])) == ["r0", "r1", "r2", "r3"]


def test_what_earlier_versions_wrote_beside_parts_is_read(tmp_path: Path) -> None:
    """A tally until it is written anew, which takes the earlier one away, and with its part; previews for good."""
    parts, previews, folder = PartStore(str(tmp_path)), PreviewStore(str(tmp_path)), tmp_path / "job=job_1"
    for earlier in (folder / "part-1.tally", folder / "part-2.tally", tmp_path / f"previews/{KEY}.jpg"):
        earlier.parent.mkdir(exist_ok=True)
        earlier.write_bytes(b"earlier")
    assert parts.read_beside("job_1", "part-1", TALLY) == b"earlier"
    parts.write_beside("job_1", "part-1", TALLY, b"new")
    parts.remove("job_1", "part-2")
    assert parts.read_beside("job_1", "part-1", TALLY) == b"new"
    assert [path.name for path in folder.iterdir()] == ["_part-1.tally"]
    previews.write(KEY[::-1], b"new")
    assert [previews.read(key) for key in (KEY, KEY[::-1], "0" * 8)] == [b"earlier", b"new", None]
    assert previews.exists(KEY)
    assert previews.keys() == sorted([KEY, KEY[::-1]])


def test_what_cannot_be_written_beside_a_part_leaves_nothing(tmp_path: Path) -> None:
    """A folder has its name: the error is told, and no unfinished file stays."""
    (tmp_path / "job=job_1").mkdir()
    parts = PartStore(str(tmp_path))
    (name,) = {path.name for path in _written_beside(parts, tmp_path)}
    (tmp_path / "job=job_1" / name).unlink()
    (tmp_path / "job=job_1" / name / "full").mkdir(parents=True)
    with pytest.raises(OSError):
        parts.write_beside("job_1", "part-1", TALLY, b"new")
    assert [path.name for path in (tmp_path / "job=job_1").iterdir()] == [name]


def _written_beside(parts: PartStore, root: Path) -> list[Path]:
    parts.write_beside("job_1", "part-1", TALLY, b"old")
    return list((root / "job=job_1").iterdir())


async def test_a_response_that_a_retry_took_back_is_not_sunk(redis: Redis, tmp_path: Path) -> None:
    """Failures that were forgotten before the sink came are in no part."""
    job = await run_job(redis, 3, failing={"r1"})
    await ask_again(JobQueue(redis), job.id, make_bundles(job.id, 3))
    assert await sink_all(redis, tmp_path) == 2
    assert sorted(rows_of(tmp_path)) == ["r0", "r2"]


async def retry(redis: Redis, job_id: str) -> None:
    """Ask r1 again, with success, whether it failed or was answered."""
    named = {"r1": await cursor_of(redis, job_id, "r1")}
    await ask_again(JobQueue(redis), job_id, make_bundles(job_id, 3), taken_back=named)
    (lease,) = await JobQueue(redis).claim([MODEL], "w", 10, 0)
    assert await ResultStore(redis).record(answer(job_id, lease.bundle.requests[0], text="again"), lease)


async def test_a_retried_request_is_sunk_once(redis: Redis, tmp_path: Path) -> None:
    """Of two recordings that wait for the sink, the one that counts makes a row."""
    job = await run_job(redis, 3, failing={"r1"})
    await retry(redis, job.id)
    await sink_all(redis, tmp_path)
    assert sorted(rows_of(tmp_path)) == ["r0", "r1", "r2"]


async def cursor_of(redis: Redis, job_id: str, request_id: str) -> str:
    """Under which a response is recorded."""
    return str((await redis.hget(KEYS.response(job_id, request_id), "cursor") or b"").decode())


async def test_an_answer_that_a_retry_took_back_is_gone_from_parts_and_server(redis: Redis, tmp_path: Path) -> None:
    """Of two that are named, in a part and not, neither is read any more; one named by another cursor stays."""
    job = await run_job(redis, 4)
    await sink_all(redis, tmp_path, rows=2)
    results, queue = ResultStore(redis, str(tmp_path)), JobQueue(redis)
    named = {request: await cursor_of(redis, job.id, request) for request in ("r0", "r3")} | {"r1": "1-1"}
    reopened = await ask_again(queue, job.id, make_bundles(job.id, 4), taken_back=named)
    assert (reopened.status, reopened.request_counts.completed, reopened.request_counts.total) == ("in_progress", 2, 4)
    assert [response.request_id for _, response in await results.read(job.id)] == ["r1", "r2"]
    for lease in await queue.claim([MODEL], "w", 10, 0):
        again = answer(job.id, lease.bundle.requests[0], text="again")
        assert [await results.record(again, lease) for _ in range(2)] == [True, False]
    await sink_all(redis, tmp_path)
    assert [(one.request_id, one.turns[0].text) for _, one in await results.read(job.id)] == [
        ("r1", "B"), ("r2", "B"), ("r0", "again"), ("r3", "again"),
    ]  # fmt: skip
    assert (await JobRegistry(redis).get(job.id)).request_counts.completed == 4


class Interrupted(ParquetSink):
    """A sink between whose writing and marking a failed request is retried, or one whose answer is none."""

    async def _mark(self, job_id: str, *part: object) -> int:
        if await self._redis.set("retried", 1, nx=True):
            await retry(self._redis, job_id)
        return await super()._mark(job_id, *part)  # type: ignore[arg-type]


@pytest.mark.parametrize("failing", [{"r1"}, set()], ids=["a failure", "an answer"])
async def test_a_retry_while_the_sink_writes_keeps_the_new_answer(
    redis: Redis, tmp_path: Path, failing: set[str]
) -> None:
    """The part holds what was taken back by then; the answer is still read, and sunk in its turn."""
    job = await run_job(redis, 3, failing=failing)
    await Interrupted(redis, str(tmp_path)).run_until_drained()
    stored = {response.request_id: response for _, response in await ResultStore(redis, str(tmp_path)).read(job.id)}
    assert stored["r1"].ok and stored["r1"].turns[0].text == "again"
    assert await redis.hlen(KEYS.texts(job.id)) == 0


async def test_deleting_a_job_removes_its_parts(redis: Redis, tmp_path: Path) -> None:
    """The parts of other jobs stay."""
    kept, deleted = await run_job(redis, 2), await run_job(redis, 2)
    await sink_all(redis, tmp_path)
    await JobRegistry(redis, str(tmp_path)).delete(deleted.id)
    assert {part.parent.name for part in parts_of(tmp_path)} == {f"job={kept.id}"}
    assert len(await ResultStore(redis, str(tmp_path)).read(kept.id)) == 2


async def test_a_job_deleted_before_it_was_sunk_makes_no_part(redis: Redis, tmp_path: Path) -> None:
    """The sink passes over responses whose job is gone."""
    job = await run_job(redis, 2)
    await JobRegistry(redis, str(tmp_path)).delete(job.id)
    assert await sink_all(redis, tmp_path) == 0
    assert parts_of(tmp_path) == []
    assert await redis.xlen(KEYS.unsunk()) == 0


async def test_the_running_sink_moves_full_parts_at_once_and_others_in_time(redis: Redis, tmp_path: Path) -> None:
    """Four rows are due immediately, the two left over only after their time."""
    job = await run_job(redis, 6)
    patient = asyncio.create_task(
        ParquetSink(redis, str(tmp_path), rows=4, seconds=600, settle_seconds=0).run_forever()
    )
    await async_wait_until(lambda: _hot(redis, job.id, 2), what="the first part")
    patient.cancel()
    await asyncio.gather(patient, return_exceptions=True)
    hasty = asyncio.create_task(ParquetSink(redis, str(tmp_path), rows=4, seconds=0.1, settle_seconds=0).run_forever())
    await async_wait_until(lambda: _hot(redis, job.id, 0), what="the second part")
    hasty.cancel()
    await asyncio.gather(hasty, return_exceptions=True)
    assert len(rows_of(tmp_path)) == 6


async def test_no_part_holds_what_the_servers_disk_may_not_have_yet(redis: Redis, tmp_path: Path) -> None:
    """Each of its responses was recorded long enough before."""
    job = await run_job(redis, 6)
    (newest, _) = (await redis.xrevrange(KEYS.unsunk(), count=1))[0]
    sink = ParquetSink(redis, str(tmp_path), rows=3, seconds=0.1, settle_seconds=0.7)
    sinking = asyncio.create_task(sink.run_forever())
    await async_wait_until(lambda: _hot(redis, job.id, 0), what="the parts")
    seconds, microseconds = await redis.time()
    sinking.cancel()
    await asyncio.gather(sinking, return_exceptions=True)
    assert seconds + microseconds / 1e6 >= int(newest.split(b"-")[0]) / 1000 + 0.7


async def test_a_clock_that_steps_back_puts_no_part_off(redis: Redis, tmp_path: Path) -> None:
    """What was recorded at an hour that comes again is due after its time, as by any other clock."""
    future = await redis.xadd(KEYS.unsunk(), {"a": "b"}, id=f"{int(time.time() * 1000) + 3_600_000}-0")
    await redis.xdel(KEYS.unsunk(), future)
    job = await run_job(redis, 2)
    sinking = asyncio.create_task(ParquetSink(redis, str(tmp_path), seconds=0.1, settle_seconds=0).run_forever())
    await async_wait_until(lambda: _hot(redis, job.id, 0), what="the part")
    sinking.cancel()
    await asyncio.gather(sinking, return_exceptions=True)


async def _hot(redis: Redis, job_id: str, number: int) -> bool:
    return int(await redis.hlen(KEYS.texts(job_id))) == number


@pytest.mark.slow
async def test_sinks_that_run_at_once_double_nothing(redis: Redis, tmp_path: Path) -> None:
    """One works at a time."""
    await run_job(redis, 50)
    moved = await asyncio.gather(*(sink_all(redis, tmp_path, rows=7) for _ in range(3)))
    assert sum(moved) == 50
    assert sorted(rows_of(tmp_path)) == sorted(f"r{n}" for n in range(50))


async def test_a_step_that_fails_is_counted_and_tried_again(redis: Redis, tmp_path: Path) -> None:
    """A results address that cannot be written keeps every text hot until it can."""
    job = await run_job(redis, 2)
    blocked = tmp_path / "results"
    blocked.write_text("a file where the folder should be")
    sink = ParquetSink(redis, str(blocked), seconds=0.1, settle_seconds=0)
    running = asyncio.create_task(sink.run_forever())
    await async_wait_until(lambda: _errors(sink), what="the first failure")
    assert str(blocked) in str(sink.fault)
    assert await redis.hlen(KEYS.texts(job.id)) == 2
    blocked.unlink()
    await async_wait_until(lambda: _hot(redis, job.id, 0), what="the part")
    await async_wait_until(lambda: _works(sink), what="the end of the fault")
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def _works(sink: ParquetSink) -> bool:
    return sink.fault is None


async def _errors(sink: ParquetSink) -> int:
    return sink.errors


async def test_any_fsspec_address_holds_parts(redis: Redis) -> None:
    """Object storage is written whole and read back."""
    job = await run_job(redis, 3)
    before = await ResultStore(redis).read(job.id)
    await ParquetSink(redis, "memory://results").run_until_drained()
    assert await ResultStore(redis, "memory://results").read(job.id) == before


async def test_a_missing_results_address_is_an_error(redis: Redis, tmp_path: Path) -> None:
    """Nothing can be read then, which is told at once."""
    job = await run_job(redis, 1)
    await sink_all(redis, tmp_path)
    with pytest.raises(TextMissingError, match="no results address"):
        await ResultStore(redis).read(job.id)


def _flip(part: Path) -> None:
    content = bytearray(part.read_bytes())
    content[len(content) // 2] ^= 1
    part.write_bytes(content)


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (Path.unlink, "is gone"),
        (lambda part: part.write_bytes(part.read_bytes()[:-100]), "bytes instead of"),
        (lambda part: part.write_bytes(b""), "has 0 bytes"),
        (_flip, "its bytes were changed"),
        (lambda part: (part.unlink(), part.mkdir()), "cannot be opened"),
    ],
    ids=["removed", "cut", "emptied", "flipped", "folder"],
)
async def test_a_part_that_cannot_be_read_costs_its_own_responses_alone(
    redis: Redis, tmp_path: Path, spoil: Callable[[Path], object], reason: str
) -> None:
    """The others are read; what is missing is named, in its place; what is recorded stays; a restored part is read."""
    job = await run_job(redis, 9, failing={"r4"})
    await sink_all(redis, tmp_path, rows=3)
    results = ResultStore(redis, str(tmp_path))
    before = await results.read(job.id)
    part = next(part for part in parts_of(tmp_path) if "r4" in rows_of(part))
    whole = part.read_bytes()
    spoil(part)
    after = await results.read(job.id)
    assert [(cursor, response.request_id, response.ok) for cursor, response in after] == [
        (cursor, response.request_id, response.ok) for cursor, response in before
    ]
    lost = [response for _, response in after if isinstance(response, UnreadableResponse)]
    assert [(response.request_id, response.sample_id) for response in lost] == [
        ("r3", "s3"),
        ("r4", "s4"),
        ("r5", "s5"),
    ]
    assert {response.part for response in lost} == {part.stem}
    assert all(part.stem in response.unreadable and reason in response.unreadable for response in lost)
    assert await JobRegistry(redis).get(job.id) == job
    if part.is_dir():
        part.rmdir()
    part.write_bytes(whole)
    assert await results.read(job.id) == before


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text.replace(b'"prompt_tokens":90', b'"prompt_tokens":%d' % 2**70),
        lambda text: text.replace(b'"turns":', b'"turn":'),
        lambda text: text[:-9],
    ],
    ids=["a count beyond 64 bits", "no turns", "no JSON"],
)
async def test_a_response_that_no_part_can_hold_is_put_aside_and_named(
    redis: Redis, tmp_path: Path, caplog: pytest.LogCaptureFixture, spoil: Callable[[bytes], bytes]
) -> None:
    """All others get into parts, also those of other jobs; it stays on the server, and is read as far as it can be."""
    job, other = await run_job(redis, 4), await run_job(redis, 2)
    text = decompress(await redis.hget(KEYS.texts(job.id), "r1"))  # type: ignore[misc]
    await redis.hset(KEYS.texts(job.id), "r1", compress(spoil(text)))
    sink = ParquetSink(redis, str(tmp_path))
    assert await sink.run_until_drained() == 5
    assert sink.put_aside == 1
    assert f"job {job.id}: response" in caplog.text
    assert sorted(rows_of(tmp_path)) == ["r0", "r0", "r1", "r2", "r3"]
    assert await redis.hkeys(KEYS.texts(job.id)) == [b"r1"]
    assert await redis.hlen(KEYS.texts(other.id)) == 0
    read = [response.request_id for _, response in await ResultStore(redis, str(tmp_path)).read(job.id)]
    assert read == ["r0", "r1", "r2", "r3"]


async def test_a_row_that_cannot_be_read_is_named_and_the_others_are_read(redis: Redis, tmp_path: Path) -> None:
    """A part is as it was written, and one response in it is none."""
    job = await run_job(redis, 3)
    text = decompress(await redis.hget(KEYS.texts(job.id), "r1"))  # type: ignore[misc]
    await redis.hset(KEYS.texts(job.id), "r1", compress(text.replace(b'"text":"B"', b'"text":null')))
    await sink_all(redis, tmp_path)
    read = [response for _, response in await ResultStore(redis, str(tmp_path)).read(job.id)]
    (part,) = parts_of(tmp_path)
    assert [response.unreadable for response in read if isinstance(response, UnreadableResponse)] == [
        f"row 1 of the Parquet part {part.stem} cannot be read: turns.0.text: must be a string"
    ]
    assert sum(isinstance(response, Response) for response in read) == 2


async def test_a_part_from_before_there_were_seals_is_read_unless_it_is_damaged(redis: Redis, tmp_path: Path) -> None:
    """Without a seal the file itself must do."""
    job = await run_job(redis, 2)
    await sink_all(redis, tmp_path)
    await redis.delete(KEYS.parts(job.id))
    results = ResultStore(redis, str(tmp_path))
    assert all(isinstance(response, Response) for _, response in await results.read(job.id))
    (part,) = parts_of(tmp_path)
    part.write_bytes(part.read_bytes()[:-100])
    assert {r.unreadable for _, r in await results.read(job.id) if isinstance(r, UnreadableResponse)} == {
        f"the Parquet part {part.stem} is damaged"
    }


async def test_the_sink_frees_a_server_whose_memory_is_full(redis: Redis, tmp_path: Path) -> None:
    """What it moves it may still move when every other write is refused, and jobs may be deleted."""
    job = await run_job(redis, 6)
    blocked = tmp_path / "results"
    blocked.write_text("a file where the folder should be")
    sink = ParquetSink(redis, str(blocked), seconds=0.1, settle_seconds=0)
    running = asyncio.create_task(sink.run_forever())
    await async_wait_until(lambda: _errors(sink), what="a sink that waits for its folder")
    await redis.config_set("maxmemory", 100_000)
    try:
        with pytest.raises(OutOfMemoryError):
            await redis.set("more", "than it takes")
        blocked.unlink()
        await async_wait_until(lambda: _hot(redis, job.id, 0), what="the part")
        assert len(await ResultStore(redis, str(blocked)).read(job.id)) == 6
        await JobRegistry(redis, str(blocked)).delete(job.id)
    finally:
        await redis.config_set("maxmemory", 0)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    assert [key async for key in redis.scan_iter(f"*{job.id}*")] == []
