"""Metrics: the gateway's instrumentation in Prometheus' text format."""

import asyncio
from collections import Counter

from fastapi import APIRouter
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.responses import Response

from jobs.errors import ServerUnavailableError
from service.gateway import CurrentGateway, Gateway
from service.http import examples
from service.http.openapi import example, problems
from service.operations.instrumentation import replace

router = APIRouter(tags=["operations"])


@router.get(
    "/metrics",
    summary="Get the instrumentation",
    response_class=Response,
    responses={
        200: example(examples.METRICS, "text/plain", "Prometheus' text format"),
        **problems(ServerUnavailableError),
    },
)
async def get_metrics(gateway: CurrentGateway) -> Response:
    """Count requests, jobs, responses, the queue and the workers."""
    await asyncio.gather(_count_jobs(gateway), _count_queue(gateway), _count_workers(gateway))
    return Response(gateway.instrumentation.render(), media_type=CONTENT_TYPE_LATEST)


async def _count_jobs(gateway: Gateway) -> None:
    counts, recorded = await asyncio.gather(gateway.registry.count(), gateway.registry.count_recorded())
    replace(gateway.instrumentation.jobs, {(status.value,): number for status, number in counts.items()})
    gateway.instrumentation.recorded.numbers = {"completed": 0, "failed": 0, **recorded}


async def _count_queue(gateway: Gateway) -> None:
    bundles: dict[tuple[str, ...], float] = {}
    for model in await asyncio.to_thread(gateway.models.catalogue):
        depth = await gateway.queue.depth(model)
        bundles |= {(model, "waiting"): depth.waiting, (model, "leased"): depth.leased}
    replace(gateway.instrumentation.queue, bundles)


async def _count_workers(gateway: Gateway) -> None:
    counts: Counter[tuple[str, ...]] = Counter()
    for status in await gateway.fleet.workers():
        counts.update((model, str(status.state)) for model in status.models)
    replace(gateway.instrumentation.workers, counts)
