"""Images, requests, bundles and jobs as the tests of this room use them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from redis.asyncio import Redis

from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.jobs import Job, JobSpec
from gigavqa.contract.requests import Bundle, InferenceRequest, Sampling, Turn
from gigavqa.contract.responses import Response
from gigavqa.store.job_registry import JobRegistry
from gigavqa.store.queue import JobQueue
from gigavqa.store.results import ResultStore
from gigavqa.tiling.views import View

ENTRY = load_catalogue()["demo-qwen3-vl"]
NUM_IMAGES = 4
NUM_TOKENS = 12


def image(number: int) -> str:
    """Name of one of the images of the data root."""
    return f"demo/images/{number}.png"


def draw_images(root: Path) -> Path:
    """Draw the images, each of other blocks of color."""
    (root / "demo" / "images").mkdir(parents=True)
    for number in range(NUM_IMAGES):
        blocks = np.random.default_rng(number).integers(0, 255, (12, 16, 3), dtype=np.uint8)
        Image.fromarray(blocks).resize((800, 600), Image.Resampling.NEAREST).save(root / image(number))
    return root


def make_request(
    name: str, view: str | None, text: str = "How many? A. one B. two", **changes: Any
) -> InferenceRequest:
    """One request of one turn about one image, or about none."""
    fields = {
        "request_id": name,
        "sample_id": f"sample-{name}",
        "model": ENTRY.id,
        "protocol": "S0",
        "condition": "V2" if view else "V0",
        "turns": (Turn(parts=(View(image=view), text) if view else (text,)),),
        "sampling": Sampling(max_tokens=NUM_TOKENS, seed=1),
    }
    return InferenceRequest.model_validate(fields | changes)


def make_bundle(job_id: str, name: str, requests: Sequence[InferenceRequest]) -> Bundle:
    """One bundle of these requests."""
    return Bundle(id=name, job_id=job_id, model=ENTRY.id, image=image(0), requests=tuple(requests))


def make_bundles(job_id: str, num_bundles: int, requests_each: int) -> list[Bundle]:
    """Bundles whose requests look at one image each."""
    bundles = []
    for number in range(num_bundles):
        view = image(number % NUM_IMAGES)
        requests = [make_request(f"b{number}r{k}", view, f"Question {k}?") for k in range(requests_each)]
        bundles.append(make_bundle(job_id, f"b{number}", requests))
    return bundles


async def create_job(redis: Redis) -> str:
    """Create a job without bundles."""
    job, _ = await JobRegistry(redis).create(JobSpec(dataset="demo", models=(ENTRY.id,), plan="table1"))
    return job.id


async def submit(redis: Redis, num_bundles: int, requests_each: int) -> str:
    """Queue a job of `make_bundles`; returns its id."""
    job_id = await create_job(redis)
    await JobQueue(redis).enqueue(job_id, make_bundles(job_id, num_bundles, requests_each), "digest")
    return job_id


async def submit_requests(redis: Redis, *requests: InferenceRequest) -> str:
    """Queue a job of one bundle of these requests; returns its id."""
    job_id = await create_job(redis)
    await JobQueue(redis).enqueue(job_id, [make_bundle(job_id, "b", requests)], "digest")
    return job_id


async def job_of(redis: Redis, job_id: str) -> Job:
    """The job as it is now."""
    return await JobRegistry(redis).get(job_id)


async def responses_of(redis: Redis, job_id: str) -> list[Response]:
    """All responses of a job in their order of recording."""
    return [response for _, response in await ResultStore(redis).read(job_id, limit=10_000)]
