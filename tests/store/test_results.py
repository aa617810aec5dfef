"""Responses are written once and read back as they were."""

import asyncio
import json
import math
from datetime import UTC
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from redis.asyncio import Redis
from redis.asyncio.client import Pipeline
from redis.exceptions import OutOfMemoryError

from gigavqa.contract.codec import compress, decompress, pack, unpack
from gigavqa.contract.errors import ResponseUnrecordableError
from gigavqa.contract.jobs import JobStatus
from gigavqa.contract.leases import Lease
from gigavqa.contract.requests import Bundle
from gigavqa.contract.responses import RasterRecord, Response, Timings, TokenLogprob, UnreadableResponse, Usage
from gigavqa.store.job_registry import JobRegistry
from gigavqa.store.queue import JobQueue
from gigavqa.store.redis_keys import KEYS
from gigavqa.store.results import ResultStore
from gigavqa.tiling.geometry import Size
from gigavqa.tiling.views import View
from tests.store.examples import MODEL, SPEC, answer, ask_again, make_bundles, run_job

# What cannot be written as UTF-8 cannot come out of a model either.
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)


def raster(image: str) -> RasterRecord:
    """The one raster of an image."""
    return RasterRecord(
        view=View(image=image),
        source_size=Size(64, 48),
        source_format="png",
        region="0,0,64,48",
        level=0,
        downsample=1.0,
        raster_size=Size(64, 32),
        visual_tokens=2,
        digest="d",
        key=f"key-{image}",
    )


async def started(redis: Redis, num_bundles: int = 1, requests_each: int = 1) -> tuple[str, list[Lease]]:
    """A job in progress, and the leases of all its bundles."""
    job, _ = await JobRegistry(redis).create(SPEC)
    queue = JobQueue(redis)
    await queue.enqueue(job.id, make_bundles(job.id, num_bundles, requests_each), None)
    return job.id, await queue.claim([MODEL], "w", num_bundles, 0)


@given(
    texts=st.lists(TEXT, max_size=4),
    finish=TEXT,
    seconds=st.floats(min_value=0, allow_nan=False, allow_infinity=False),
    tokens=st.integers(0, 2**53),
    failure=st.none() | st.tuples(TEXT, TEXT, st.booleans()),
    at=st.datetimes(timezones=st.just(UTC)),
)
@settings(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
def test_a_response_comes_back_equal(
    *,
    texts: list[str],
    finish: str,
    seconds: float,
    tokens: int,
    failure: tuple[str, str, bool] | None,
    at: object,
) -> None:
    """Every field survives packing: odd characters, empty texts, extreme numbers, microseconds."""
    plain = answer("job", make_bundles("job", 1)[0].requests[0]).model_dump()
    usage = {"prompt_tokens": tokens, "completion_tokens": tokens, "cached_tokens": tokens}
    timings = {"queued": seconds, "prefill": seconds, "decode": seconds}
    turns = [{"text": text, "finish_reason": finish, "usage": usage, "timings": timings} for text in texts]
    typed = dict(zip(("type", "message", "retryable"), failure, strict=True)) if failure else None
    response = Response.model_validate(plain | {"turns": turns, "failure": typed, "created_at": at})
    assert unpack(Response, pack(response)) == response


async def test_the_first_response_to_a_request_stays(redis: Redis) -> None:
    """A second one, from whichever worker, is refused and changes nothing."""
    results = ResultStore(redis)
    job_id, (lease,) = await started(redis, 1, 2)
    request = lease.bundle.requests[0]
    assert await results.record(answer(job_id, request, text="first"), lease)
    assert not await results.record(answer(job_id, request, text="second", worker="other"), lease)
    ((_, stored),) = await results.read(job_id)
    assert stored.turns[0].text == "first"
    assert (await JobRegistry(redis).get(job_id)).request_counts.completed == 1


async def test_of_many_responses_at_once_one_is_kept(redis: Redis) -> None:
    """Twenty workers that answer the same requests at the same time count as one."""
    results = ResultStore(redis)
    job_id, (lease,) = await started(redis, 1, 5)
    responses = [answer(job_id, request, worker=f"w{n}") for n in range(20) for request in lease.bundle.requests[:4]]
    kept = await asyncio.gather(*(results.record(response, lease) for response in responses))
    assert sum(kept) == 4
    job = await JobRegistry(redis).get(job_id)
    assert (job.status, job.request_counts.completed) == (JobStatus.IN_PROGRESS, 4)


async def calls_of_scripts(redis: Redis) -> int:
    """How many scripts the server has run."""
    return int((await redis.info("commandstats")).get("cmdstat_evalsha", {"calls": 0})["calls"])


async def test_responses_that_are_complete_together_are_recorded_in_one_call(redis: Redis) -> None:
    """Sixty of three bundles and some copies: each is counted once, each bundle is done, and the job with the last."""
    results = ResultStore(redis)
    job_id, leases = await started(redis, 3, 20)
    await results.record(answer(job_id, leases[0].bundle.requests[0]), leases[0])  # the server knows the script
    before = await calls_of_scripts(redis)
    pairs = [(answer(job_id, request), lease) for lease in leases for request in lease.bundle.requests]
    kept = await asyncio.gather(*(results.record(response, lease) for response, lease in [*pairs, *pairs[:4]]))
    assert kept == [False, *[True] * 59, *[False] * 4]
    assert await calls_of_scripts(redis) - before == 1
    job = await JobRegistry(redis).get(job_id)
    assert (job.status, job.request_counts.completed, job.usage.prompt_tokens) == (JobStatus.COMPLETED, 60, 60 * 90)
    read = await results.read(job_id)
    assert [response.request_id for _, response in read] == [f"r{number}" for number in range(60)]


async def test_responses_of_several_jobs_are_told_apart(redis: Redis) -> None:
    """Those of one job go together, whatever comes between them."""
    results = ResultStore(redis)
    (one, of_one), (other, of_other) = [await started(redis, 2, 2) for _ in range(2)]
    leases = [lease for pair in zip(of_one, of_other, strict=True) for lease in pair]
    given = [(lease, lease.bundle.requests[at]) for at in range(2) for lease in leases]
    assert all(await asyncio.gather(*(results.record(answer(of.job_id, asked), of) for of, asked in given)))
    for job_id in (one, other):
        assert (await JobRegistry(redis).get(job_id)).status is JobStatus.COMPLETED


async def test_a_call_that_is_refused_is_told_to_all_who_wait(redis: Redis) -> None:
    """Each may try again, and each response is recorded once."""
    results = ResultStore(redis)
    job_id, (lease,) = await started(redis, 1, 3)
    responses = [answer(job_id, request) for request in lease.bundle.requests]
    await redis.config_set("maxmemory", 1)
    refused = await asyncio.gather(*(results.record(one, lease) for one in responses), return_exceptions=True)
    await redis.config_set("maxmemory", 0)
    assert [type(error) for error in refused] == [OutOfMemoryError] * 3
    assert await asyncio.gather(*(results.record(one, lease) for one in responses)) == [True] * 3


async def test_whoever_is_cancelled_while_he_waits_takes_nothing_with_him(redis: Redis) -> None:
    """The others of the same call are told, and what was on its way is recorded."""
    results = ResultStore(redis)
    job_id, (lease,) = await started(redis, 1, 2)
    first, second = (asyncio.create_task(results.record(answer(job_id, one), lease)) for one in lease.bundle.requests)
    await asyncio.sleep(0)
    first.cancel()
    assert await second
    assert first.cancelled()
    assert (await JobRegistry(redis).get(job_id)).request_counts.completed == 2


async def test_a_worker_that_lost_its_lease_may_still_answer(redis: Redis) -> None:
    """Its response counts once, and the bundle is done for the worker that took over too."""
    results, queue = ResultStore(redis), JobQueue(redis)
    job_id, (lost,) = await started(redis, 1, 2)
    await queue.hand_back(lost)
    (held,) = await queue.claim([MODEL], "second", 1, 0)
    first, second = lost.bundle.requests
    assert await results.record(answer(job_id, first, worker="w"), lost)
    assert not await results.record(answer(job_id, first, worker="second"), held)
    assert await results.record(answer(job_id, second, worker="second"), held)
    assert (await JobRegistry(redis).get(job_id)).status is JobStatus.COMPLETED
    assert await queue.renew([held]) == [held]


async def test_responses_to_a_job_being_cancelled_are_kept(redis: Redis) -> None:
    """What was generated is not thrown away; with the last leased bundle the job is cancelled."""
    results = ResultStore(redis)
    job_id, (lease, _other) = await started(redis, 2)
    await JobRegistry(redis).cancel(job_id)
    assert await results.record(answer(job_id, lease.bundle.requests[0]), lease)
    await JobQueue(redis).hand_back(_other)
    job = await JobRegistry(redis).get(job_id)
    assert (job.status, job.request_counts.completed) == (JobStatus.CANCELLED, 1)
    assert not await results.record(answer(job_id, _other.bundle.requests[0]), _other)


async def test_a_response_to_a_deleted_job_leaves_no_trace(redis: Redis) -> None:
    """A worker that comes late does not bring the job back."""
    job_id, (lease,) = await started(redis)
    await JobRegistry(redis).fail(job_id, [])
    await JobRegistry(redis).delete(job_id)
    assert not await ResultStore(redis).record(answer(job_id, lease.bundle.requests[0]), lease)
    assert not [key async for key in redis.scan_iter(f"{KEYS.job(job_id)}*")]


async def test_recorded_tells_answers_and_failures_from_open_requests(redis: Redis) -> None:
    """A failure is recorded like an answer."""
    results = ResultStore(redis)
    job_id, (lease,) = await started(redis, 1, 3)
    first, second, _third = lease.bundle.requests
    await results.record(answer(job_id, first), lease)
    await results.record(answer(job_id, second, failure="EngineError"), lease)
    assert await results.recorded(job_id, ["r0", "r1", "r2"]) == {"r0", "r1"}


async def test_pages_follow_each_other_in_the_order_of_recording(redis: Redis) -> None:
    """A cursor continues behind its response, also when responses are recorded between two pages."""
    results = ResultStore(redis)
    job_id, (lease,) = await started(redis, 1, 6)
    order = [lease.bundle.requests[n] for n in (3, 0, 5, 1, 4, 2)]
    for request in order[:4]:
        await results.record(answer(job_id, request), lease)
    first = await results.read(job_id, limit=3)
    for request in order[4:]:
        await results.record(answer(job_id, request), lease)
    second = await results.read(job_id, first[-1][0], limit=10)
    assert [response.request_id for _, response in first + second] == [request.id for request in order]
    assert await results.read(job_id, second[-1][0]) == []


async def test_a_job_sums_up_what_its_responses_took(redis: Redis) -> None:
    """Tokens and costs add up, a raster shown to two requests counts once, and the slowest rendering is named."""
    job_id, leases = await started(redis, 3)
    shown = {"r0": ("land", 0.5), "r1": ("land", 2.5), "r2": ("sea", 1.0)}
    for lease in leases:
        (request,) = lease.bundle.requests
        image, seconds = shown[request.id]
        record = raster(image)
        response = answer(job_id, request).model_copy(update={"rasters": (record,), "rendering_seconds": seconds})
        (turn,) = response.turns
        paid = turn.model_copy(update={"usage": turn.usage.model_copy(update={"dollars": 0.0012345})})
        response = response.model_copy(update={"turns": (paid,)})
        assert await ResultStore(redis).record(response, lease)
        assert not await ResultStore(redis).record(response, lease)
    usage = (await JobRegistry(redis).get(job_id)).usage
    assert (usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens) == (270, 0, 6)
    assert usage.microdollars == 3 * 1234
    assert (usage.views, usage.rasters, usage.slowest_image, usage.slowest_seconds) == (3, 2, "land", 2.5)


async def test_failures_are_counted_by_type_and_by_whether_asking_again_helps(redis: Redis) -> None:
    """A failure that is retried is taken back; the other types stay."""
    job_id, leases = await started(redis, 3)
    for lease, kind in zip(leases, ("ImageUnreadableError", "EngineError", "EngineError"), strict=True):
        response = answer(job_id, lease.bundle.requests[0], failure=kind)
        assert response.failure
        failure = response.failure.model_copy(update={"retryable": lease.bundle.id == "b2"})
        assert await ResultStore(redis).record(response.model_copy(update={"failure": failure}), lease)
    job = await JobRegistry(redis).get(job_id)
    assert (job.failures, job.retryable) == ({"ImageUnreadableError": 1, "EngineError": 2}, 1)
    job = await ask_again(JobQueue(redis), job_id, make_bundles(job_id, 3)[2:])
    assert (job.failures, job.retryable) == ({"ImageUnreadableError": 1, "EngineError": 1}, 0)


async def test_an_open_request_has_no_response(redis: Redis) -> None:
    """Nothing recorded is nothing read, not an error."""
    job_id, _ = await started(redis)
    assert await ResultStore(redis).read(job_id) == []


async def test_a_missing_text_is_never_passed_over(redis: Redis) -> None:
    """A response that was recorded and cannot be found is named in its place; the others are read."""
    job = await run_job(redis, 2)
    await redis.hdel(KEYS.texts(job.id), "r1")
    (_, read), (_, lost) = await ResultStore(redis).read(job.id)
    assert isinstance(read, Response)
    assert isinstance(lost, UnreadableResponse)
    assert (lost.request_id, lost.part, lost.unreadable) == ("r1", None, "its text is gone from the state store")


async def test_a_text_that_cannot_be_read_is_named_and_the_others_are_read(redis: Redis) -> None:
    """As an earlier release kept infinite logprobs, or a disk gave other bytes back."""
    job = await run_job(redis, 4)
    whole = decompress(await redis.hget(KEYS.texts(job.id), "r1"))  # type: ignore[misc]
    nothing = {"logprobs": [{"token": "B", "logprob": None}]}
    spoilt = json.loads(whole)
    spoilt["turns"][0] |= nothing
    await redis.hset(KEYS.texts(job.id), "r1", compress(json.dumps(spoilt, separators=(",", ":")).encode()))
    await redis.hset(KEYS.texts(job.id), "r2", b"no zstd")
    read = [response for _, response in await ResultStore(redis).read(job.id)]
    assert [response.request_id for response in read] == ["r0", "r1", "r2", "r3"]
    assert [response.unreadable for response in read if isinstance(response, UnreadableResponse)] == [
        "its text cannot be read: turns.0.logprobs.0.logprob: must be a number",
        "its text cannot be read: its bytes are damaged",
    ]


@pytest.mark.parametrize(
    ("turn", "why"),
    [
        ({"text": "\ud800"}, "it could not be read again"),
        ({"served_as": "\udfff"}, "it could not be read again"),
        ({"logprobs": (TokenLogprob(token="B", logprob=math.nan),)}, "it could not be read again"),
        ({"usage": Usage(prompt_tokens=2**70)}, "its prompt_tokens cannot be counted"),
        ({"usage": Usage(completion_tokens=-1)}, "its completion_tokens cannot be counted"),
        ({"usage": Usage(dollars=math.inf)}, "its dollars cannot be counted"),
        ({"timings": Timings(decode=math.nan)}, "it could not be read again"),
    ],
)
async def test_what_could_not_be_read_again_is_not_recorded(redis: Redis, turn: dict[str, Any], why: str) -> None:
    """Whoever records it is told at once, and what is recorded beside it is recorded."""
    job_id, (first, second) = await started(redis, 2)
    results = ResultStore(redis)
    good, bad = (answer(job_id, lease.bundle.requests[0]) for lease in (first, second))
    bad = bad.model_copy(update={"turns": (bad.turns[0].model_copy(update=turn),)})
    recorded, refused = await asyncio.gather(
        results.record(good, first), results.record(bad, second), return_exceptions=True
    )
    assert recorded is True
    assert isinstance(refused, ResponseUnrecordableError)
    assert str(refused).startswith(why) and str(refused).isascii()
    assert [response.request_id for _, response in await results.read(job_id)] == [good.request_id]


async def test_a_bundle_of_several_lanes_is_counted_once(redis: Redis) -> None:
    """Bundles of two models and priorities complete one job together."""
    job, _ = await JobRegistry(redis).create(SPEC)
    queue, results = JobQueue(redis), ResultStore(redis)
    plain = make_bundles(job.id, 4)
    bundles = [
        Bundle.model_validate(b.model_dump() | {"model": f"m{n % 2}", "priority": ("batch", "interactive")[n // 2]})
        for n, b in enumerate(plain)
    ]
    await queue.enqueue(job.id, bundles, None)
    for lease in await queue.claim(["m0", "m1"], "w", 10, 0):
        await results.record(answer(job.id, lease.bundle.requests[0]), lease)
    assert (await JobRegistry(redis).get(job.id)).status is JobStatus.COMPLETED


async def test_looking_up_what_is_recorded_holds_the_loop_for_few_at_a_time(
    redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However much there is: between two turns of the loop no more replies are read than that takes milliseconds."""
    job = await run_job(redis, 250)
    sent: list[int] = []
    execute = Pipeline.execute

    async def counted(pipeline: Pipeline, raise_on_error: bool = True) -> Any:
        sent.append(len(pipeline))
        return await execute(pipeline, raise_on_error)

    monkeypatch.setattr(Pipeline, "execute", counted)
    found = [request_id async for request_id, _, _ in ResultStore(redis).outcomes(job.id)]
    assert (len(set(found)), sent) == (250, [100, 100, 50])
    sent.clear()
    assert await ResultStore(redis).count_in(job.id) == {}
    assert sent == [100, 100, 50]
