"""Bundles about pictures, as the tests of affinity use them."""

from collections.abc import Sequence
from itertools import count

from redis.asyncio import Redis

from gigavqa.contract.leases import Lease
from gigavqa.contract.requests import Bundle, InferenceRequest, Sampling, Turn
from gigavqa.store.job_registry import JobRegistry
from gigavqa.store.queue import JobQueue
from gigavqa.tiling.views import View
from tests.store.examples import MODEL, SPEC


def bundles_about(
    job_id: str, images: Sequence[str], requests_each: int = 1, *, priority: str = "batch", shown: bool = True
) -> list[Bundle]:
    """One bundle for each name of an image, in this order; its requests look at it, or, not `shown`, at nothing."""
    numbers = count()

    def request(image: str) -> InferenceRequest:
        number = next(numbers)
        return InferenceRequest(
            request_id=f"r{number}",
            sample_id=f"s{number}",
            model=MODEL,
            protocol="S0",
            condition="V2" if shown else "V0",
            turns=(Turn(parts=(View(image=image), "How many?") if shown else ("How many?",)),),
            sampling=Sampling(seed=number),
        )

    fields = {"job_id": job_id, "model": MODEL, "priority": priority}
    return [
        Bundle.model_validate(
            {**fields, "id": f"b{n}", "image": image, "requests": [request(image) for _ in range(requests_each)]}
        )
        for n, image in enumerate(images)
    ]


async def submit_about(
    redis: Redis, images: Sequence[str], requests_each: int = 1, *, priority: str = "batch", shown: bool = True
) -> str:
    """Queue a job of `bundles_about`; returns its id."""
    job, _ = await JobRegistry(redis).create(SPEC)
    bundles = bundles_about(job.id, images, requests_each, priority=priority, shown=shown)
    await JobQueue(redis).enqueue(job.id, bundles, "digest")
    return job.id


def images_of(leases: Sequence[Lease]) -> str:
    """The images of leases, names of one letter in a row."""
    return "".join(lease.bundle.image for lease in leases)
