"""A check finds what is damaged and nothing else, goes on with the rest, and repairs what it can."""

import asyncio
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from redis.asyncio import Redis

from gigavqa.backup.checking import check, repair
from gigavqa.backup.findings import CheckFinding
from gigavqa.contract.errors import PartUnreadableError
from gigavqa.contract.jobs import Job
from gigavqa.contract.responses import RasterRecord, Response
from gigavqa.evaluation.errors import ResponsesInvalidError
from gigavqa.evaluation.response_files import read_replies
from gigavqa.store.api_keys import Owner
from gigavqa.store.files import FileRegistry, StoredFile
from gigavqa.store.job_registry import JobRegistry
from gigavqa.store.parquet_parts import PartStore
from gigavqa.store.queue import JobQueue
from gigavqa.store.redis_keys import KEYS
from gigavqa.store.results import ResultStore
from gigavqa.store.sink import ParquetSink
from gigavqa.tiling.digest import content_digest
from gigavqa.tiling.geometry import Size
from gigavqa.tiling.views import View
from tests.backup.conftest import Kept
from tests.store.examples import MODEL, SPEC, answer, ask_again, make_bundles, run_job
from tests.store.parts import parts_of, sink_all

OLD = 48 * 3600


async def found(kept: Kept, *, pictures: bool = False) -> list[CheckFinding]:
    """What a check finds, in its order."""
    return await asyncio.to_thread(lambda: list(check(kept.url, kept.home, pictures=pictures)))


def kinds(findings: Sequence[CheckFinding]) -> set[tuple[str, str]]:
    """What was found, of what."""
    return {(finding.kind, finding.subject) for finding in findings}


async def begin(redis: Redis, bundles: int, owner: str | None = None) -> Job:
    """A job in progress of so many bundles of two requests."""
    job, _ = await JobRegistry(redis).create(SPEC, None, Owner(owner, None, None))
    await JobQueue(redis).enqueue(job.id, make_bundles(job.id, bundles, 2), "digest")
    return await JobRegistry(redis).get(job.id)


async def answer_some(redis: Redis, bundles: int) -> None:
    """Answer the first request of each of so many bundles, which stay leased."""
    for lease in await JobQueue(redis).claim([MODEL], "w", bundles, 0):
        await ResultStore(redis).record(answer(lease.job_id, lease.bundle.requests[0]), lease)


async def test_an_installation_in_the_middle_of_everything_is_clean(kept: Kept) -> None:
    """Jobs that run, were retried, cancelled, deleted; responses sunk and fresh; bundles that are leased and wait."""
    redis, registry = kept.connect(), JobRegistry(kept.connect(), kept.home.results_uri)
    retried = await run_job(redis, 6, failing={"r1", "r2"})
    await ParquetSink(redis, kept.home.results_uri, rows=4).run_until_drained()
    await ask_again(JobQueue(redis), retried.id, make_bundles(retried.id, 6))
    await answer_some(redis, 1)
    await begin(redis, 4, "ada")
    await answer_some(redis, 2)
    cancelled, deleted = await begin(redis, 3), await begin(redis, 3, "bob")
    await registry.cancel(cancelled.id)
    await registry.cancel(deleted.id)
    await registry.delete(deleted.id)
    await registry.create(SPEC)
    findings = await found(kept)
    assert {finding.severity for finding in findings} <= {"leftover"}
    assert kinds(findings) == {("queue-entry", KEYS.queue(MODEL, "batch"))}


async def test_every_damage_is_found_and_named_beside_all_others(kept: Kept) -> None:
    """Parts cut, flipped, gone and left; keys lost one by one; files gone, changed and unknown: each once, no more."""
    redis = kept.connect()
    parts = [await sunk(redis, kept) for _ in range(4)]
    whole, flipped, cut, gone = parts
    hurt(kept, flipped, lambda content: content[:40] + bytes([content[40] ^ 1]) + content[41:])
    hurt(kept, cut, lambda content: content[:-9])
    hurt(kept, gone, None)
    left = part_of(kept, whole).with_name("part-1-0-2-0.parquet")
    left.write_bytes(part_of(kept, whole).read_bytes())
    stray = kept.results / "job=job_unknown" / "part-1-0-2-0.parquet"
    stray.parent.mkdir()
    stray.write_bytes(left.read_bytes())
    os.utime(left, (time.time() - OLD,) * 2)

    textless, uncounted, unlisted, headless = [await run_job(redis, 2) for _ in range(4)]
    await redis.hdel(KEYS.texts(textless.id), "r0")
    await redis.hincrby(KEYS.job(uncounted.id), "completed", 5)
    await redis.zrem(KEYS.jobs(), unlisted.id)
    await redis.delete(KEYS.job(headless.id))
    vanished = await run_job(redis, 2)
    await redis.delete(KEYS.response(vanished.id, "r1"))
    garbled = await run_job(redis, 1)
    await redis.hset(KEYS.texts(garbled.id), "r0", b"no zstd")

    await redis.delete(KEYS.queue(MODEL, "batch"), KEYS.unsunk())
    await redis.incrby(KEYS.outstanding(), 7)
    lost = await begin(redis, 2)
    await redis.delete(KEYS.queue(MODEL, "batch"))
    payloadless = await begin(redis, 1)
    await redis.hdel(KEYS.payloads(payloadless.id), "b0")
    undecodable = await begin(redis, 1)
    await redis.hset(KEYS.payloads(undecodable.id), "b0", b"no zstd")

    file = StoredFile(id="file-1", bytes=3, created_at=1, filename="a", purpose="vision")
    await FileRegistry(redis).add(file)
    picture = kept.home.uploads / "sha256" / "ab" / ("ab" * 32)
    picture.parent.mkdir(parents=True)
    picture.write_bytes(b"other")

    findings = await found(kept)
    assert kinds(findings) == {
        *(("part-damaged", f"job {job.id}") for job in (flipped, cut, gone)),
        ("part-unnamed", f"job {whole.id}"),
        ("job-folder", "job job_unknown"),
        ("text-gone", f"job {textless.id}"),
        ("counts-wrong", f"job {uncounted.id}"),
        ("job-unlisted", f"job {unlisted.id}"),
        ("job-gone", f"job {headless.id}"),
        ("job-mislisted", f"job {headless.id}"),
        ("job-remains", f"job {headless.id}"),
        ("response-gone", f"job {vanished.id}"),
        ("counts-wrong", f"job {vanished.id}"),
        ("text-damaged", f"job {garbled.id}"),
        *(("text-unsunk", f"job {job.id}") for job in (textless, uncounted, unlisted, vanished, garbled)),
        ("room-wrong", "the queue"),
        ("bundle-lost", f"job {lost.id}"),
        *(("bundle-gone", f"job {job.id}") for job in (payloadless, undecodable)),
        ("file-damaged", "file file-1"),
        ("picture-damaged", f"picture {'ab' * 32}"),
    }
    told = {finding.subject: finding.told for finding in findings if finding.kind == "part-damaged"}
    assert told[f"job {flipped.id}"].endswith("its bytes were changed; 2 responses")
    assert told[f"job {cut.id}"].endswith(f"bytes instead of {part_of(kept, cut).stat().st_size + 9}; 2 responses")
    assert told[f"job {gone.id}"].endswith("is gone; 2 responses")
    mended = await repair(kept.url, findings)
    assert kinds(await found(kept)) == kinds(findings) - {(f.kind, f.subject) for f in mended}
    assert {f.kind for f in mended} == {
        "counts-wrong",
        "job-unlisted",
        "job-mislisted",
        "text-unsunk",
        "room-wrong",
        "bundle-lost",
    }
    await JobRegistry(redis).cancel(payloadless.id)
    assert {lease.job_id for lease in await JobQueue(redis).claim([MODEL], "w", 9, 0)} == {lost.id}
    await redis.aclose()


async def test_a_part_without_its_seal_tells_what_was_changed_or_reads_the_same(kept: Kept) -> None:
    """Its pages have checksums of their own, for the service and for files that are scored: none is read wrongly."""
    redis = kept.connect()
    job = await sunk(redis, kept)
    part, parts = part_of(kept, job), PartStore(kept.home.results_uri)
    whole, before = part.read_bytes(), parts.rows(job.id, part.stem, None)
    scored, noticed = list(read_replies([part], "S0")), []
    for at in range(0, len(whole), 61):
        part.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        try:
            assert parts.rows(job.id, part.stem, None) == before
        except PartUnreadableError as error:
            if "CRC" in str(error.__cause__):
                noticed.append(refused(part) or list(read_replies([part], "S0")) == scored)
    assert all(noticed)
    assert any("was changed" in str(each) for each in noticed)
    await redis.aclose()


def refused(part: Path) -> str:
    """Why a part cannot be scored; empty when it can."""
    try:
        list(read_replies([part], "S0"))
    except ResponsesInvalidError as error:
        return str(error)
    return ""


async def sunk(redis: Redis, kept: Kept) -> Job:
    """A finished job whose two responses are in one part."""
    job = await run_job(redis, 2)
    await sink_all(redis, kept.results)
    return job


def part_of(kept: Kept, job: Job) -> Path:
    """The first part of a job."""
    return parts_of(kept.results / f"job={job.id}")[-1]


def hurt(kept: Kept, job: Job, change: Callable[[bytes], bytes] | None) -> None:
    """Change the bytes of a job's part, or remove it."""
    part = part_of(kept, job)
    if change:
        part.write_bytes(change(part.read_bytes()))
    else:
        part.unlink()


async def test_answers_that_are_none_are_counted_by_job_wherever_they_are(kept: Kept) -> None:
    """In parts and on the server; what a retry took back is told no more, though its part keeps the row."""
    redis, told = kept.connect(), list[str]()
    job = await run_job(redis, 6, ends={"r1": "stop", "r2": "error", "r3": "content_filter", "r4": "abort"})
    clean = await run_job(redis, 2)
    for sinks in (False, True):
        if sinks:
            await sink_all(redis, kept.results)
        findings = await found(kept)
        assert kinds(findings) == {(f"answers-{flaw}", f"job {job.id}") for flaw in ("broken-off", "empty", "filtered")}
        assert {finding.severity for finding in findings} == {"void"}
        told = [finding.told for finding in findings]
    assert told[0].startswith("the engine broke off 2 responses for no reason of answers ('abort', 'error')")
    assert told[1].startswith("1 reply is empty")
    assert all(f"`gigavqa retry {job.id} --empty` asks again" in one for one in told[:2])
    named = {f"r{n}": (await redis.hget(KEYS.response(job.id, f"r{n}"), "cursor") or b"").decode() for n in (1, 2, 4)}
    await ask_again(JobQueue(redis), job.id, make_bundles(job.id, 6), taken_back=named)
    findings = [finding for finding in await found(kept) if finding.severity != "leftover"]
    assert kinds(findings) == {("answers-filtered", f"job {job.id}")}
    assert clean.status == "completed"
    await redis.aclose()


async def test_pictures_that_were_replaced_since_are_named(kept: Kept) -> None:
    """Those that are as they were shown are not, be the responses in a part or on the server."""
    redis = kept.connect()
    for name in ("same", "replaced", "gone"):
        (kept.home.data / "images").mkdir(parents=True, exist_ok=True)
        (kept.home.data / "images" / f"{name}.png").write_bytes(name.encode())
    job, _ = await JobRegistry(redis).create(SPEC)
    await JobQueue(redis).enqueue(job.id, make_bundles(job.id, 3), "digest")
    leases = await JobQueue(redis).claim([MODEL], "w", 3, 0)
    for lease, name in zip(leases, ("same", "replaced", "gone"), strict=True):
        response = answer(job.id, lease.bundle.requests[0])
        await ResultStore(redis).record(shown(response, kept.home.data, f"images/{name}.png"), lease)
        if name != "gone":
            await sink_all(redis, kept.results)
    (kept.home.data / "images" / "replaced.png").write_bytes(b"another one")
    (kept.home.data / "images" / "gone.png").unlink()
    findings = await found(kept, pictures=True)
    assert {finding.severity for finding in findings} == {"changed"}
    assert kinds(findings) == {
        ("picture-replaced", "picture images/replaced.png"),
        ("picture-gone", "picture images/gone.png"),
    }
    assert await found(kept) == []
    await redis.aclose()


async def test_pictures_that_an_earlier_release_took_for_one_are_named(kept: Kept) -> None:
    """It read samples: of equal size and time, and different between them, two had one digest."""
    redis = kept.connect()
    folder = kept.home.data / "images"
    folder.mkdir(parents=True)
    digest = "48b061984cdc6be497c18374e0ded8dc"
    for name, grey in (("red", 1), ("blue", 2)):
        content = bytearray(bytes(range(256)) * 2**15)
        content[400_000] = grey
        (folder / name).write_bytes(content)
        os.utime(folder / name, ns=(10**18, 10**18))
    job, _ = await JobRegistry(redis).create(SPEC)
    await JobQueue(redis).enqueue(job.id, make_bundles(job.id, 3), "digest")
    leases = await JobQueue(redis).claim([MODEL], "w", 3, 0)
    for lease, name in zip(leases, ("red", "blue", "red"), strict=True):
        response = shown(answer(job.id, lease.bundle.requests[0]), kept.home.data, f"images/{name}", digest)
        await ResultStore(redis).record(response, lease)
    (found_one,) = await found(kept, pictures=True)
    assert (found_one.kind, found_one.severity) == ("picture-confused", "changed")
    assert found_one.subject == "pictures images/blue and images/red"
    assert job.id in found_one.told
    await redis.aclose()


def shown(response: Response, data: Path, image: str, digest: str | None = None) -> Response:
    """A response to a question about a picture."""
    raster = RasterRecord(
        view=View(image=image),
        source_size=Size(10, 10),
        source_format="png",
        region="0,0,10,10",
        level=0,
        downsample=1.0,
        raster_size=Size(10, 10),
        visual_tokens=1,
        digest=digest or content_digest(data / image),
        key="ab",
    )
    return response.model_copy(update={"rasters": (raster,)})
