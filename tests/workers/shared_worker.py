"""A worker of three models in this process, on simulated engines whose every start, sleep and end is noted."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import groupby
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry
from redis.asyncio import Redis

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.contract.jobs import JobSpec
from gigavqa.store.job_registry import JobRegistry
from gigavqa.store.queue import JobQueue
from gigavqa.store.worker_registry import WorkerRegistry, WorkerStatus
from gigavqa.tiling.renderer import Renderer
from gigavqa.tiling.roots import ImageRoot
from gigavqa.workers.engines.simulation.engine import WEIGHT_BYTES, SimulatedEngine
from gigavqa.workers.instrumentation import Instrumentation
from gigavqa.workers.model_runtime import ServedModel, WorkerContext
from gigavqa.workers.settings import WorkerSettings
from gigavqa.workers.worker import Worker
from tests.waiting import async_wait_until
from tests.workers.examples import ENTRY, image, job_of, make_bundle, make_request, responses_of
from tests.workers.simulated_worker import SETTINGS

ALPHA, BETA, GAMMA = MODELS = ("alpha", "beta", "gamma")


class NotedEngine(SimulatedEngine):
    """Notes what it does in `diary`, as pairs of what and model."""

    def __init__(self, entry: CatalogueEntry, diary: list[tuple[str, str]], *, speed: float = 0) -> None:
        super().__init__(entry, speed=speed)
        self.model = entry.id
        self.diary = diary
        self._is_awake = False

    async def start(self) -> None:
        """Start, or wake."""
        await super().start()
        self._note("start", is_awake=True)

    async def sleep(self, host_bytes: int) -> int:
        """Sleep, if there is room for it."""
        slept = await super().sleep(host_bytes)
        if slept:
            self.diary[-1] = ("sleep", self.model)  # which it did by stopping
        return slept

    async def stop(self) -> None:
        """Stop, and say so once."""
        await super().stop()
        if self._is_awake:
            self._note("stop", is_awake=False)

    def _note(self, what: str, *, is_awake: bool) -> None:
        self.diary.append((what, self.model))
        self._is_awake = is_awake


Make = Callable[[CatalogueEntry, list[tuple[str, str]]], SimulatedEngine]


class SharedRig:
    """The worker and everything that a test looks at."""

    def __init__(self, redis: Redis, folders: tuple[Path, Path], make: Make, settings: WorkerSettings) -> None:
        self.redis = redis
        self.diary: list[tuple[str, str]] = []
        self.engines: Counter[str] = Counter()
        self._registry = CollectorRegistry()
        self._make = make
        data, pyramids = folders
        around = WorkerContext(redis, Renderer(ImageRoot(data), pyramids, 2**28))
        self.worker = Worker(
            [self._served(model) for model in MODELS], around, settings, Instrumentation(self._registry)
        )

    def count(self, series: str) -> int:
        """Sum of one of the worker's series over all models."""
        names = (f"gigavqa_worker_{series}", f"gigavqa_worker_{series}_total")
        samples = [sample for family in self._registry.collect() for sample in family.samples]
        return int(sum(sample.value for sample in samples if sample.name in names))

    @property
    def loads(self) -> list[str]:
        """Models in the order in which their engines were started or woken."""
        return [model for what, model in self.diary if what == "start"]

    @property
    def most_awake(self) -> int:
        """How many engines were awake at once."""
        awake = [0]
        for what, _ in self.diary:
            awake.append(awake[-1] + (1 if what == "start" else -1))
        return max(awake)

    async def status(self) -> WorkerStatus | None:
        """What the worker says of itself now."""
        statuses = await WorkerRegistry(self.redis).workers()
        return statuses[0] if statuses else None

    async def until_status(self, state: str, loaded: str | None) -> WorkerStatus:
        """Wait until the worker says so."""

        async def so() -> bool:
            status = await self.status()
            return status is not None and (status.state, status.loaded) == (state, loaded)

        await async_wait_until(so, what=f"{state} with {loaded}")
        status = await self.status()
        assert status is not None
        return status

    def _served(self, model: str) -> ServedModel:
        entry = ENTRY.model_copy(update={"id": model})

        def make() -> SimulatedEngine:
            self.engines[model] += 1
            return self._make(entry, self.diary)

        return ServedModel(entry, make, SETTINGS.max_requests)


@asynccontextmanager
async def shared_worker(
    redis: Redis, data: Path, pyramids: Path, make: Make = NotedEngine, **changes: Any
) -> AsyncIterator[SharedRig]:
    """Run a worker of three models for as long as the block lasts, then drain it."""
    settings = SETTINGS.model_copy(update={"sleep_bytes": 3 * WEIGHT_BYTES, **changes})
    rig = SharedRig(redis, (data, pyramids), make, settings)
    running = asyncio.create_task(rig.worker.run())
    try:
        yield rig
    finally:
        rig.worker.stop(grace_seconds=0)
        await running


async def submit_to(redis: Redis, bundles: dict[str, int], *, priority: str = "batch", requests_each: int = 1) -> str:
    """Queue one job with so many bundles of each model; returns its id."""
    job, _ = await JobRegistry(redis).create(JobSpec(dataset="demo", models=tuple(bundles), plan="table1"))
    made = []
    for model, number in ((model, number) for model, count in bundles.items() for number in range(count)):
        requests = [
            make_request(f"{model}-{number}-{k}", image(0), f"Question {k}?", model=model) for k in range(requests_each)
        ]
        bundle = make_bundle(job.id, f"{model}-{number}", requests)
        made.append(bundle.model_copy(update={"model": model, "priority": priority}))
    await JobQueue(redis).enqueue(job.id, made, "digest")
    return job.id


async def until_final(redis: Redis, *job_ids: str) -> None:
    """Wait until nothing more will happen to the jobs."""

    async def final() -> bool:
        return all([(await job_of(redis, job_id)).status.final for job_id in job_ids])

    await async_wait_until(final, what="the end of the jobs")


async def played(redis: Redis, job_id: str) -> list[tuple[str, int]]:
    """The shifts of a job: models in the order of its responses, each with how many there were in a row."""
    responses = await responses_of(redis, job_id)
    return [(model, len(list(group))) for model, group in groupby(responses, lambda response: response.model)]
