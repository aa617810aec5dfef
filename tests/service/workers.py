"""Claims bundles and records responses through `jobs`, exactly as a worker does, with texts that the test chooses."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime

from gigavqa.contract.requests import InferenceRequest
from gigavqa.contract.responses import EngineInfo, Failure, RasterRecord, Response, TurnResponse
from gigavqa.store.connection import connect
from gigavqa.store.queue import JobQueue
from gigavqa.store.results import ResultStore
from gigavqa.tiling.geometry import Size
from gigavqa.tiling.views import View
from tests.service.gateways import MODEL

RASTER_KEY = "0123456789abcdef0123456789abcdef"
"""Key of the raster that every view is recorded with."""
Answer = Callable[[InferenceRequest], str | TurnResponse | None]


def play(redis_url: str, answer: Answer = lambda _: "Final answer: A", *, max_bundles: int = 1000) -> int:
    """Record a response to every request that waits, a failure where the answer is None; returns how many."""
    return asyncio.run(_play(redis_url, answer, max_bundles))


def claim_all(redis_url: str) -> list[InferenceRequest]:
    """Claim everything that waits, record nothing, and return the requests bundle by bundle."""
    return [request for requests in asyncio.run(_claim(redis_url)) for request in requests]


def claim_bundles(redis_url: str) -> list[tuple[InferenceRequest, ...]]:
    """Claim everything that waits, record nothing, and return the requests of each bundle."""
    return asyncio.run(_claim(redis_url))


async def _claim(redis_url: str) -> list[tuple[InferenceRequest, ...]]:
    redis = connect(redis_url)
    leases = await JobQueue(redis).claim([MODEL], "test-worker", 1000, 0.0)
    await redis.aclose()
    return [lease.bundle.requests for lease in leases]


async def _play(redis_url: str, answer: Answer, max_bundles: int) -> int:
    redis = connect(redis_url)
    queue, results = JobQueue(redis), ResultStore(redis)
    recorded = 0
    for lease in await queue.claim([MODEL], "test-worker", max_bundles, 0.0):
        for request in lease.bundle.requests:
            recorded += await results.record(_response(lease.job_id, request, answer(request)), lease)
    await redis.aclose()
    return recorded


def _response(job_id: str, request: InferenceRequest, said: str | TurnResponse | None) -> Response:
    turn = TurnResponse(text=said, finish_reason="stop") if isinstance(said, str) else said
    turns = () if turn is None else (turn,)
    failure = Failure(type="ImageUnreadableError", message="images/plaza-0.png") if turn is None else None
    return Response(
        **dict(request.labels),
        job_id=job_id,
        turns=turns,
        stop="answered" if request.loop and turns else None,
        max_rounds=request.loop.max_rounds if request.loop else None,
        failure=failure,
        rasters=tuple(map(_raster, request.views)),
        sampling=request.sampling,
        worker="test-worker",
        engine=EngineInfo(name="test", version="1", simulated=True),
        created_at=datetime.now(UTC),
    )


def _raster(view: View) -> RasterRecord:
    return RasterRecord(
        view=view,
        source_size=Size(64, 48),
        source_format="png",
        region="0,0,64,48",
        level=0,
        downsample=1.0,
        raster_size=Size(64, 32),
        visual_tokens=2,
        digest="d",
        key=RASTER_KEY,
    )
