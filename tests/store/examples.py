"""Jobs, bundles and responses as the tests of this room use them."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType

import pytest
from redis.asyncio import Redis

from gigavqa.contract.errors import QueueFullError
from gigavqa.contract.jobs import Job, JobSpec
from gigavqa.contract.requests import Bundle, InferenceRequest, Sampling, Turn
from gigavqa.contract.responses import EngineInfo, Failure, Response, TurnResponse, Usage
from gigavqa.store.job_registry import JobRegistry
from gigavqa.store.queue import JobQueue
from gigavqa.store.results import ResultStore
from gigavqa.store.retries import JobRetries

MODEL = "demo-model"
SPEC = JobSpec(dataset="demo", models=(MODEL,), plan="table1")
NOW = datetime(2026, 1, 2, 3, 4, 5, 678901, UTC)


def make_request(number: int, model: str = MODEL) -> InferenceRequest:
    """One request; `number` makes its id."""
    return InferenceRequest(
        request_id=f"r{number}",
        sample_id=f"s{number}",
        model=model,
        protocol="S0",
        condition="V2",
        turns=(Turn(parts=("How many?",)),),
        sampling=Sampling(seed=number),
    )


def make_bundles(
    job_id: str, num_bundles: int, requests_each: int = 1, *, model: str = MODEL, priority: str = "batch"
) -> list[Bundle]:
    """Bundles of consecutive requests, each about one image."""
    numbers: Iterator[int] = iter(range(num_bundles * requests_each))
    return [
        Bundle.model_validate(
            {
                "id": f"b{index}",
                "job_id": job_id,
                "model": model,
                "image": f"demo/images/{index}.png",
                "priority": priority,
                "requests": [make_request(next(numbers), model) for _ in range(requests_each)],
            }
        )
        for index in range(num_bundles)
    ]


def answer(
    job_id: str, request: InferenceRequest, *, text: str = "B", worker: str = "w", failure: str = ""
) -> Response:
    """The response of a worker to a request: an answer, or a failure of the type `failure`."""
    turn = TurnResponse(text=text, finish_reason="stop", usage=Usage(prompt_tokens=90, completion_tokens=2))
    return Response(
        **dict(request.labels),
        job_id=job_id,
        turns=() if failure else (turn,),
        failure=Failure(type=failure, message="as the test wants it") if failure else None,
        sampling=request.sampling,
        worker=worker,
        engine=EngineInfo(name="simulated", version="1", simulated=True),
        created_at=NOW,
    )


async def ask_again(
    queue: JobQueue,
    job_id: str,
    bundles: Sequence[Bundle],
    digest: str | None = None,
    taken_back: Mapping[str, str] = MappingProxyType({}),
    *,
    crash_after: int = 0,
) -> Job:
    """Retry a job as a gateway does, by these bundles; what of it is in none stays as it is.

    One that died before it appended so many bundles, in the middle of it. A job that finds no room is as it was.
    """
    redis = queue._redis
    registry = JobRegistry(redis)
    await JobRetries(redis).reopen(job_id)
    asked = {request.id for bundle in bundles for request in bundle.requests}
    recorded = [one async for one in ResultStore(redis).outcomes(job_id)]
    kept = {id_ for id_, cursor, outcome in recorded if outcome == "completed" and taken_back.get(id_) != cursor}
    num_requests = len(asked.union(id_ for id_, *_ in recorded))
    try:
        await queue.reserve(job_id, num_requests, digest, num_answered=num_requests - len(asked - kept))
    except QueueFullError:
        await registry.fail(job_id, [])
        raise
    if crash_after:
        with pytest.raises(ConnectionError):
            await queue.append(job_id, _breaking_off(bundles, crash_after), (), taken_back)
    return await queue.append(job_id, bundles, (), taken_back)


def _breaking_off(bundles: Sequence[Bundle], after: int) -> Iterator[Bundle]:
    yield from bundles[:after]
    raise ConnectionError("the gateway dies")


async def run_job(
    redis: Redis,
    num_requests: int,
    *,
    job: Job | None = None,
    failing: Collection[str] = (),
    ends: Mapping[str, str] = MappingProxyType({}),
) -> Job:
    """Play a whole job of one request a bundle; the requests named in `failing` fail.

    Those in `ends` are answered by an empty text of no tokens, which ended for the reason named.
    """
    registry, queue, results = JobRegistry(redis), JobQueue(redis), ResultStore(redis)
    if job is None:
        job, _ = await registry.create(SPEC)
    await queue.enqueue(job.id, make_bundles(job.id, num_requests), "digest")
    while leases := await queue.claim([MODEL], "w", 200, 0):
        for lease in leases:
            for request in lease.bundle.requests:
                failure = "EngineError" if request.id in failing else ""
                response = answer(job.id, request, failure=failure)
                if reason := ends.get(request.id):
                    response = response.model_copy(update={"turns": (TurnResponse(text="", finish_reason=reason),)})
                await results.record(response, lease)
    return await registry.get(job.id)
