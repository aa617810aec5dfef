"""Metrics: the gateway's instrumentation in Prometheus' text format."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator

from fastapi import APIRouter
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.responses import Response

from jobs.errors import JobNotFoundError, ServerUnavailableError
from jobs.models import Job, JobStatus
from service import examples
from service.gateway import CurrentGateway, Gateway
from service.instrumentation import replace
from service.openapi import example, problems

router = APIRouter(tags=["operations"])
_PAGE = 500


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
    statuses: Counter[tuple[str, ...]] = Counter({(status.value,): 0 for status in JobStatus})
    outcomes: Counter[tuple[str, ...]] = Counter({("completed",): 0, ("failed",): 0})
    async for job in _all_jobs(gateway):
        statuses[(job.status.value,)] += 1
        outcomes[("completed",)] += job.request_counts.completed
        outcomes[("failed",)] += job.request_counts.failed
    replace(gateway.instrumentation.jobs, statuses)
    replace(gateway.instrumentation.responses, outcomes)


async def _all_jobs(gateway: Gateway) -> AsyncIterator[Job]:
    after: str | None = None
    while True:
        try:
            page = await gateway.registry.list(after, _PAGE)
        except JobNotFoundError:
            return  # deleted since the last page; the next scrape counts the rest
        for job in page:
            yield job
        if len(page) < _PAGE:
            return
        after = page[-1].id


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
