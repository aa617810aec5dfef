"""Collect the installation's status as metrics: the state store's counters and sizes, the workers, the disks."""

import asyncio
import logging
import platform
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from prometheus_client.core import Metric
from prometheus_client.registry import Collector
from redis.asyncio import Redis
from redis.exceptions import RedisError

from gigavqa.contract.jobs import JobStatus
from gigavqa.runtime.errors import StateStoreUnavailableError
from gigavqa.service.http.openapi import VERSION
from gigavqa.service.operations.status_metrics import RUNNING_SHOWN, StoreSnapshot, counter, gauge, store_metrics
from gigavqa.service.settings import GatewaySettings
from gigavqa.store.job_registry import JobRegistry
from gigavqa.store.queue import JobQueue
from gigavqa.store.store_stats import StoreStats
from gigavqa.store.worker_registry import WorkerRegistry

log = logging.getLogger(__name__)

_TIMEOUT_SECONDS = 2.0


@dataclass(frozen=True)
class DiskSpace:
    """The free bytes and the size of the disk of one of the installation's places."""

    free: int
    total: int


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
                self._registry.list(limit=RUNNING_SHOWN, status=JobStatus.IN_PROGRESS),
            )
        )

    def collect(self) -> Iterable[Metric]:
        """Show what the last look saw."""
        status = self.status
        yield gauge("server_up", "Whether the state store answers: 1 or 0.", [], {(): status.server is not None})
        sentence = "Whether the state store takes what is written: 1 or 0."
        yield gauge("server_takes_writes", sentence, [], {(): status.takes_writes})
        yield gauge(
            "build_info",
            "1, with the gateway's version and Python's.",
            ["version", "python"],
            {(VERSION, platform.python_version()): 1},
        )
        free = {(place,): disk.free for place, disk in status.disks.items()}
        total = {(place,): disk.total for place, disk in status.disks.items()}
        yield gauge("disk_free_bytes", "What is free on the disk of a place of the gateway.", ["place"], free)
        yield gauge("disk_bytes", "Size of the disk of a place of the gateway.", ["place"], total)
        sink = self._sink()
        failed, put_aside = {(): sink.errors}, {(): sink.put_aside}
        yield counter("sink_failures", "Rounds of the results sink that were put off by this gateway.", [], failed)
        sentence = "Responses that no Parquet part can hold: they stay in the state store, and the log names them."
        yield counter("sink_put_aside", sentence, [], put_aside)
        yield from store_metrics(status.server, self._settings.queue_requests)


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
