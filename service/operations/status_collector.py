"""Collect the installation's status as metrics: the state store's counters and sizes, the workers, the disks."""

import asyncio
import logging
import platform
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector
from redis.asyncio import Redis
from redis.exceptions import RedisError

from gigavqa.contract.jobs import JobStatus, JobSummary
from gigavqa.runtime.errors import StateStoreUnavailableError
from gigavqa.service.http.openapi import VERSION
from gigavqa.service.settings import GatewaySettings
from gigavqa.store.job_registry import JobRegistry
from gigavqa.store.queue import JobQueue, QueueAges
from gigavqa.store.reachability import RISKS
from gigavqa.store.store_stats import StoreStats
from gigavqa.store.worker_registry import WorkerRegistry, WorkerStatus

log = logging.getLogger(__name__)

_TIMEOUT_SECONDS = 2.0
_RUNNING_SHOWN = 20
_TOKENS = {"prompt": "prompt_tokens", "cached": "cached_tokens", "generated": "completion_tokens"}


@dataclass(frozen=True)
class DiskSpace:
    """The free bytes and the size of the disk of one of the installation's places."""

    free: int
    total: int


@dataclass(frozen=True)
class StoreSnapshot:
    """The state store at one moment; `running` are the newest jobs in progress."""

    stats: StoreStats
    jobs: Mapping[JobStatus, int]
    ages: Mapping[str, QueueAges]
    workers: Sequence[WorkerStatus]
    running: Sequence[JobSummary]


@dataclass(frozen=True)
class StatusSnapshot:
    """The status at one moment; without a state store while that does not answer. Disks are by place."""

    server: StoreSnapshot | None
    takes_writes: bool
    disks: Mapping[str, DiskSpace]
    refusal: str = ""
    """Why the state store is of no use though it answers."""
    sink_fault: str | None = None


class SinkStatus(NamedTuple):
    """What the sink of this gateway has to tell."""

    errors: int
    put_aside: int
    fault: str | None


class StatusCollector(Collector):
    """Looks, and shows what it saw last. While the server does not answer, it shows that and nothing of before."""

    def __init__(self, redis: Redis, settings: GatewaySettings, sink: Callable[[], SinkStatus]) -> None:
        self._redis = redis
        self._sink = sink
        self._settings = settings
        self._registry = JobRegistry(redis)
        self._queue = JobQueue(redis)
        self._worker_registry = WorkerRegistry(redis)
        self.status = StatusSnapshot(None, False, {})
        """What the last look saw."""

    @property
    def sink_fault(self) -> str | None:
        """Why this gateway's sink does not write, if it does not."""
        return self._sink().fault

    async def look(self) -> StatusSnapshot:
        """Look at everything; costs the same however many jobs are kept, and at most two seconds."""
        disks, server, takes_writes = await asyncio.to_thread(_measure_disks, self._settings), None, False
        refusal = ""
        try:
            # The client waits out a restart of the server; a scrape does not.
            async with asyncio.timeout(_TIMEOUT_SECONDS):
                server = await self._look_at_server()
                await self._registry.beat()
                takes_writes = True
        except (TimeoutError, RedisError) as error:
            log.debug("the state store: %s", error)  # two metrics say it
        except StateStoreUnavailableError as error:
            refusal = str(error)
        self.status = StatusSnapshot(server, takes_writes, disks, refusal, self.sink_fault)
        return self.status

    async def _look_at_server(self) -> StoreSnapshot:
        return StoreSnapshot(
            *await asyncio.gather(
                StoreStats.of(self._redis),
                self._registry.count(),
                self._queue.ages(),
                self._worker_registry.workers(),
                self._registry.list(limit=_RUNNING_SHOWN, status=JobStatus.IN_PROGRESS),
            )
        )

    def collect(self) -> Iterable[Metric]:
        """Show what the last look saw."""
        status = self.status
        yield _gauge("server_up", "Whether the state store answers: 1 or 0.", [], {(): status.server is not None})
        sentence = "Whether the state store takes what is written: 1 or 0."
        yield _gauge("server_takes_writes", sentence, [], {(): status.takes_writes})
        yield _gauge(
            "build_info",
            "1, with the gateway's version and Python's.",
            ["version", "python"],
            {(VERSION, platform.python_version()): 1},
        )
        free = {(place,): disk.free for place, disk in status.disks.items()}
        total = {(place,): disk.total for place, disk in status.disks.items()}
        yield _gauge("disk_free_bytes", "What is free on the disk of a place of the gateway.", ["place"], free)
        yield _gauge("disk_bytes", "Size of the disk of a place of the gateway.", ["place"], total)
        sink = self._sink()
        failed, put_aside = {(): sink.errors}, {(): sink.put_aside}
        yield _counter("sink_failures", "Rounds of the results sink that were put off by this gateway.", [], failed)
        sentence = "Responses that no Parquet part can hold: they stay in the state store, and the log names them."
        yield _counter("sink_put_aside", sentence, [], put_aside)
        yield from _memory_metrics(status.server)
        yield from _queue_metrics(status.server, self._settings.queue_requests)
        yield from _work_metrics(status.server)
        yield _duration_metric(status.server)


def _memory_metrics(server: StoreSnapshot | None) -> Iterable[Metric]:
    stats = server.stats if server else None
    used = {(): stats.used_bytes} if stats and stats.used_bytes else {}
    limit = {(): stats.limit_bytes} if stats and stats.limit_bytes else {}
    unsunk = {(): stats.unsunk} if stats else {}
    oldest = {(): stats.unsunk_seconds} if stats else {}
    version = {(stats.version,): 1} if stats and stats.version else {}
    risks = {(risk.name,): risk in stats.risks for risk in RISKS} if stats else {}
    yield _gauge("server_info", "1, with the state store's version.", ["version"], version)
    sentence = (
        "1 where the state store could lose jobs: it has no `append-only` file, or hides its `policy` for full memory."
    )
    yield _gauge("server_risk", sentence, ["risk"], risks)
    yield _gauge("server_memory_used_bytes", "Memory that the state store uses.", [], used)
    yield _gauge(
        "server_memory_limit_bytes", "Memory that the state store may use: its maxmemory, or the machine's.", [], limit
    )
    yield _gauge("unsunk_responses", "Responses that are in no Parquet part yet.", [], unsunk)
    yield _gauge(
        "unsunk_oldest_seconds",
        "Seconds since the oldest response was recorded that is in no Parquet part.",
        [],
        oldest,
    )


def _queue_metrics(server: StoreSnapshot | None, limit: int) -> Iterable[Metric]:
    depths = server.stats.depths if server else {}
    bundles = {(model, "waiting"): depth.waiting for model, depth in depths.items()}
    bundles |= {(model, "leased"): depth.leased for model, depth in depths.items()}
    ages = server.ages.items() if server else ()
    oldest = {(model, "waiting"): age.waiting for model, age in ages}
    oldest |= {(model, "leased"): age.leased for model, age in ages}
    workers = Counter((model, str(one.state)) for one in (server.workers if server else ()) for model in one.models)
    yield _gauge("queue_bundles", "Bundles in the queue, waiting or leased.", ["model", "state"], bundles)
    yield _gauge(
        "queue_oldest_seconds",
        "Seconds since the oldest bundle was queued that waits, or that is leased; 0 where there is none.",
        ["model", "state"],
        {labels: seconds or 0.0 for labels, seconds in oldest.items()},
    )
    outstanding = {(): server.stats.outstanding} if server else {}
    yield _gauge("queue_requests", "Requests in the queue that have no response.", [], outstanding)
    yield _gauge("queue_limit_requests", "Most requests that the queue takes.", [], {(): limit})
    yield _gauge("workers", "Workers that announce themselves, by model and state.", ["model", "state"], workers)


def _work_metrics(server: StoreSnapshot | None) -> Iterable[Metric]:
    jobs = {(status.value,): number for status, number in server.jobs.items()} if server else {}
    yield _gauge("jobs", "Jobs that are kept, by status.", ["status"], jobs)
    running: dict[tuple[str, str, str], int] = {}
    for job in server.running if server else ():
        done = job.request_counts.completed + job.request_counts.failed
        running |= {(job.id, job.spec.dataset, "done"): done}
        running |= {(job.id, job.spec.dataset, "left"): job.request_counts.total - done}
    sentence = f"Requests of each of the {_RUNNING_SHOWN} newest jobs in progress: done, or left."
    yield _gauge("running_job_requests", sentence, ["job_id", "dataset", "state"], running)
    yield _counter(
        "responses_recorded",
        "Responses recorded since the server's state began; without a model those of before they were told apart.",
        ["model", "outcome"],
        _responses_by_outcome(server),
    )
    tokens = {
        (model, kind): number for kind, name in _TOKENS.items() for (model,), number in _by_model(server, name).items()
    }
    dollars = {labels: number / 1e6 for labels, number in _by_model(server, "microdollars").items()}
    yield _counter(
        "tokens", "Tokens of responses: prompt, cached ones among them, generated.", ["model", "kind"], tokens
    )
    yield _counter("views", "Rasters that requests were shown.", ["model"], _by_model(server, "views"))
    yield _counter("dollars", "What engines elsewhere were paid, by the catalogue's prices.", ["model"], dollars)
    yield _counter(
        "lease_reclaims",
        "Bundles whose lease ran out: their worker died, or was cut off.",
        ["model"],
        _by_model(server, "reclaims"),
    )
    yield _counter(
        "unreadable_bundles",
        "Bundles that were passed over because their requests are gone or damaged; `gigavqa admin fsck` names their "
        "jobs.",
        ["model"],
        _by_model(server, "unreadable"),
    )


def _by_model(server: StoreSnapshot | None, name: str) -> dict[tuple[str], float]:
    if server is None:
        return {}
    counted = server.stats.totals.by(name)
    # Nothing is told as 0, so that what comes first is an increase.
    return {(model,): counted.get(model, 0) for model in sorted({*server.stats.depths, *counted})}


def _responses_by_outcome(server: StoreSnapshot | None) -> dict[tuple[str, ...], float]:
    recorded: dict[tuple[str, ...], float] = {}
    for outcome in ("completed", "failed"):
        by_model = _by_model(server, outcome)
        recorded |= {(model, outcome): number for (model,), number in by_model.items()}
        before = server.stats.totals.recorded.get(outcome, 0) - sum(by_model.values()) if server else 0
        recorded |= {("", outcome): before} if before > 0 else {}
    return recorded


def _duration_metric(server: StoreSnapshot | None) -> Metric:
    family = HistogramMetricFamily(
        "gigavqa_job_seconds",
        "Seconds from submission to end, by kind (job, batch, chat) and status.",
        labels=["kind", "status"],
    )
    for kind, status, buckets, seconds in server.stats.totals.durations() if server else ():
        family.add_metric([kind, status], buckets, seconds)
    return family


def _gauge(name: str, sentence: str, labels: Sequence[str], values: Mapping[Any, float]) -> Metric:
    family = GaugeMetricFamily(f"gigavqa_{name}", sentence, labels=labels)
    for given, value in values.items():
        family.add_metric(given, float(value))
    return family


def _counter(name: str, sentence: str, labels: Sequence[str], values: Mapping[Any, float]) -> Metric:
    family = CounterMetricFamily(f"gigavqa_{name}", sentence, labels=labels)
    for given, value in values.items():
        family.add_metric(given, value)
    return family


def _measure_disks(settings: GatewaySettings) -> dict[str, DiskSpace]:
    results = urlsplit(settings.results_uri)
    places = {"home": settings.folder, "data": settings.data, "uploads": settings.uploads}
    if results.scheme in {"", "file"}:
        places["results"] = Path(results.path)
    return {place: disk for place, folder in places.items() if (disk := _measure_disk(folder))}


def _measure_disk(folder: Path) -> DiskSpace | None:
    """Return the disk that a folder is on, or will be."""
    there = next((path for path in (folder, *folder.parents) if path.exists()), None)
    if there is None:
        return None
    try:
        usage = shutil.disk_usage(there)
    except OSError:  # a mount that is away; the metric is missing then, which can be alerted on
        return None
    return DiskSpace(usage.free, usage.total)
