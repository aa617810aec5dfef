"""Data of the operator page: the installation's status, its concerns, and the last hour in points."""

import time
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from gigavqa.service.http import examples
from gigavqa.service.http.openapi import example, problem_responses
from gigavqa.service.http.parameters import component
from gigavqa.service.operations.status_collector import StatusCollector, StatusSnapshot
from gigavqa.service.operations.status_metrics import StoreSnapshot
from gigavqa.store.store_stats import StoreStats
from gigavqa.store.worker_registry import WorkerStatus

router = APIRouter(tags=["operations"])

SECONDS = 10.0
"""From one point to the next."""

_POINTS = 360
_STATES = ("busy", "pixels", "idle", "loading")


class Concern(BaseModel):
    """Something that is wrong, in one sentence; `page` wakes somebody, `ticket` waits."""

    severity: Literal["page", "ticket"]
    says: str
    alert: str = Field(description="the alert that says the same, by whose name the runbook says what to do")


class ModelStatus(BaseModel):
    """One model that was ever queued for."""

    model: str
    waiting: int = Field(description="bundles")
    leased: int = Field(description="bundles")
    oldest_seconds: float | None = Field(description="since the oldest bundle was queued that waits")
    workers: int
    completed: int = Field(description="responses ever recorded")
    failed: int


class DiskStatus(BaseModel):
    """The disk of one of the gateway's places."""

    place: str
    free_bytes: int
    total_bytes: int


class StoreStatus(BaseModel):
    """The state store's status."""

    answers: bool
    takes_writes: bool
    used_bytes: int | None = None
    limit_bytes: int | None = None


class StatusReport(BaseModel):
    """The installation's status, and the last hour in `points`: columns of equal length, null where nobody knows."""

    well: bool = Field(description="nothing is wrong")
    idle: bool = Field(description="no worker announces itself, so that a job would wait")
    concerns: list[Concern]
    server: StoreStatus
    jobs: dict[str, int] = Field(description="number of jobs by status")
    models: list[ModelStatus]
    workers: list[WorkerStatus]
    disks: list[DiskStatus]
    unsunk: int | None = Field(description="responses that are in no Parquet part yet")
    points: dict[str, list[float | None]]


class StatusHistory:
    """Looks again and again, and remembers an hour of it, in this gateway's memory."""

    def __init__(self, collector: StatusCollector) -> None:
        self._collector = collector
        self._points: deque[Mapping[str, float | None]] = deque(maxlen=_POINTS)
        self._totals: Mapping[str, float] = {}
        self._at = 0.0

    async def look(self) -> None:
        """Add a point; costs what a scrape costs."""
        status, now = await self._collector.look(), time.time()
        totals = dict(_totals(status.server)) if status.server else {}
        grown = _growth(self._totals, totals)
        self._points.append(_point(status, now, grown, now - self._at))
        self._totals, self._at = totals, now

    def watched(self) -> StatusReport:
        """Return how it stands, as of the last look."""
        status = self._collector.status
        server, concerns = status.server, list(_concerns(status, list(self._points)))
        stats = server.stats if server else None
        return StatusReport(
            well=not concerns,
            idle=server is None or not server.workers,
            concerns=concerns,
            server=StoreStatus(
                answers=server is not None,
                takes_writes=status.takes_writes,
                used_bytes=stats.used_bytes if stats else None,
                limit_bytes=stats.limit_bytes if stats else None,
            ),
            jobs={str(state): number for state, number in server.jobs.items()} if server else {},
            models=_model_statuses(server),
            workers=list(server.workers) if server else [],
            disks=[DiskStatus(place=p, free_bytes=d.free, total_bytes=d.total) for p, d in status.disks.items()],
            unsunk=stats.unsunk if stats else None,
            points={name: [point[name] for point in self._points] for name in _point_names()},
        )


@router.get("/v1/watch", summary="Is it well?", responses={200: example(examples.WATCHED), **problem_responses()})
async def get_watched(watch: Annotated[StatusHistory, component(StatusHistory)]) -> StatusReport:
    """Tell how the installation stands, what is wrong with it, and the last hour of queue, engines and responses."""
    return watch.watched()


def _totals(server: StoreSnapshot) -> Iterator[tuple[str, float]]:
    """Yield what only grows, by name; each worker's engine by itself, because workers come and go."""
    totals = server.stats.totals
    for outcome in ("completed", "failed"):
        yield outcome, totals.recorded.get(outcome, 0)
    yield "tokens", sum(totals.by("completion_tokens").values())
    yield "reclaims", sum(totals.by("reclaims").values())
    for worker in server.workers:
        for state, seconds in worker.engine_seconds.items():
            yield f"{state} {worker.worker}", seconds


def _growth(before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, float]:
    """Return how much each grew that is in both, engines summed by state."""
    grown: dict[str, float] = {}
    for name in before.keys() & after.keys():
        short = name.partition(" ")[0]
        grown[short] = grown.get(short, 0.0) + max(0.0, after[name] - before[name])
    return grown


def _point(status: StatusSnapshot, now: float, grown: Mapping[str, float], seconds: float) -> dict[str, float | None]:
    server = status.server
    engines = sum(grown.get(state, 0.0) for state in _STATES)
    shares = {state: grown.get(state, 0.0) / engines if engines else None for state in _STATES}
    rates = {name: grown[name] / seconds if name in grown else None for name in ("completed", "failed", "tokens")}
    ages = [age.waiting for age in server.ages.values() if age.waiting is not None] if server else []
    stats = server.stats if server else None
    return {
        "time": round(now, 3),
        "waiting": float(sum(depth.waiting for depth in stats.depths.values())) if stats else None,
        "leased": float(sum(depth.leased for depth in stats.depths.values())) if stats else None,
        "oldest": max(ages, default=0.0) if server else None,
        "memory": _memory_share(stats),
        "reclaims": grown.get("reclaims"),
        **shares,
        **rates,
    }


def _memory_share(stats: StoreStats | None) -> float | None:
    return stats.used_bytes / stats.limit_bytes if stats and stats.used_bytes and stats.limit_bytes else None


def _point_names() -> tuple[str, ...]:
    return tuple(_point(StatusSnapshot(None, False, {}), 0.0, {}, 1.0))


def _model_statuses(server: StoreSnapshot | None) -> list[ModelStatus]:
    if server is None:
        return []
    totals = server.stats.totals
    completed, failed = totals.by("completed"), totals.by("failed")
    return [
        ModelStatus(
            model=model,
            waiting=depth.waiting,
            leased=depth.leased,
            oldest_seconds=server.ages[model].waiting if model in server.ages else None,
            workers=sum(model in worker.models for worker in server.workers),
            completed=completed.get(model, 0),
            failed=failed.get(model, 0),
        )
        for model, depth in server.stats.depths.items()
    ]


def _concerns(status: StatusSnapshot, points: list[Mapping[str, float | None]]) -> Iterator[Concern]:
    """Yield what the alerts of deploy/prometheus say, as far as one gateway can know it, without their patience."""
    if status.server is None:
        refused = f"The state store is of no use, and everything waits: {status.refusal}."
        says = refused if status.refusal else "The state store does not answer: everything waits."
        yield Concern(severity="page", says=says, alert="GigavqaServerAway")
        return
    stats = status.server.stats
    if not status.takes_writes:
        yield Concern(
            severity="page",
            says="The state store takes no writes (memory or disk full, or a replica).",
            alert="GigavqaServerFull",
        )
    if (share := _memory_share(stats) or 0.0) > 0.85:
        yield Concern(
            severity="ticket", says=f"The state store uses {share:.0%} of its memory.", alert="GigavqaServerMemoryHigh"
        )
    for risk in stats.risks:
        yield Concern(severity="ticket", says=f"T{risk.sentence[1:]}.", alert="GigavqaServerUnsafe")
    yield from _model_concerns(status.server, points)
    if status.sink_fault:
        says = f"Responses do not get into Parquet parts: {status.sink_fault}."
        yield Concern(severity="page", says=says, alert="GigavqaSinkFailing")
    elif stats.unsunk_seconds > 300:
        says = (
            f"{stats.unsunk} responses do not get into Parquet parts; the oldest waits "
            f"{_format_duration(stats.unsunk_seconds)}."
        )
        yield Concern(severity="page", says=says, alert="GigavqaSinkFailing")
    for place, disk in status.disks.items():
        if disk.free < 0.05 * disk.total:
            says = f"The disk of {place} has {disk.free / disk.total:.1%} left."
            yield Concern(severity="page", says=says, alert="GigavqaDiskFull")


def _model_concerns(server: StoreSnapshot, points: list[Mapping[str, float | None]]) -> Iterator[Concern]:
    for one in _model_statuses(server):
        if one.waiting and not one.workers:
            says = f"{one.waiting} bundles wait for {one.model}, and no worker serves it."
            yield Concern(severity="page", says=says, alert="GigavqaNoWorker")
        elif (one.oldest_seconds or 0) > 900 and not _sum_points(points[-30:], "completed"):
            says = (
                f"The oldest bundle of {one.model} waits {_format_duration(one.oldest_seconds or 0)}, "
                f"and no response comes."
            )
            yield Concern(severity="page", says=says, alert="GigavqaQueueStuck")
    for worker in server.workers:
        if worker.state == "ready" and worker.phase:
            says = f"The worker of {', '.join(worker.models)} answers nothing: {worker.phase.name}."
            yield Concern(severity="page", says=says, alert="GigavqaEngineRestarts")
    if _sum_points(points[-30:], "reclaims"):
        says = "A worker died or was cut off with work in its hands within five minutes; another one took it."
        yield Concern(severity="ticket", says=says, alert="GigavqaWorkerGone")
    busy = [share for point in points[-30:] if (share := point["busy"]) is not None and point["waiting"]]
    if len(busy) == 30 and sum(busy) / len(busy) < 0.5:
        says = f"Engines were busy {sum(busy) / len(busy):.0%} of five minutes, though bundles wait."
        yield Concern(severity="ticket", says=says, alert="GigavqaGpuIdleWithWork")


def _sum_points(points: list[Mapping[str, float | None]], name: str) -> float:
    return sum(point[name] or 0.0 for point in points)


def _format_duration(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
