"""Metrics of the state store at one moment; none of before while it does not answer."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from gigavqa.contract.jobs import JobStatus, JobSummary
from gigavqa.store.queue import QueueAges
from gigavqa.store.reachability import RISKS
from gigavqa.store.store_stats import StoreStats
from gigavqa.store.worker_registry import WorkerStatus

RUNNING_SHOWN = 20
_TOKENS = {"prompt": "prompt_tokens", "cached": "cached_tokens", "generated": "completion_tokens"}


@dataclass(frozen=True)
class StoreSnapshot:
    """The state store at one moment; `running` are the newest jobs in progress."""

    stats: StoreStats
    jobs: Mapping[JobStatus, int]
    ages: Mapping[str, QueueAges]
    workers: Sequence[WorkerStatus]
    running: Sequence[JobSummary]


def store_metrics(server: StoreSnapshot | None, queue_limit: int) -> Iterable[Metric]:
    """Yield every metric of the state store, whose queue takes at most so many requests."""
    yield from _memory_metrics(server)
    yield from _queue_metrics(server, queue_limit)
    yield from _work_metrics(server)
    yield _duration_metric(server)


def _memory_metrics(server: StoreSnapshot | None) -> Iterable[Metric]:
    stats = server.stats if server else None
    used = {(): stats.used_bytes} if stats and stats.used_bytes else {}
    limit = {(): stats.limit_bytes} if stats and stats.limit_bytes else {}
    unsunk = {(): stats.unsunk} if stats else {}
    oldest = {(): stats.unsunk_seconds} if stats else {}
    version = {(stats.version,): 1} if stats and stats.version else {}
    risks = {(risk.name,): risk in stats.risks for risk in RISKS} if stats else {}
    yield gauge("server_info", "1, with the state store's version.", ["version"], version)
    sentence = (
        "1 where the state store could lose jobs: it has no `append-only` file, or hides its `policy` for full memory."
    )
    yield gauge("server_risk", sentence, ["risk"], risks)
    yield gauge("server_memory_used_bytes", "Memory that the state store uses.", [], used)
    yield gauge(
        "server_memory_limit_bytes", "Memory that the state store may use: its maxmemory, or the machine's.", [], limit
    )
    yield gauge("unsunk_responses", "Responses that are in no Parquet part yet.", [], unsunk)
    yield gauge(
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
    yield gauge("queue_bundles", "Bundles in the queue, waiting or leased.", ["model", "state"], bundles)
    yield gauge(
        "queue_oldest_seconds",
        "Seconds since the oldest bundle was queued that waits, or that is leased; 0 where there is none.",
        ["model", "state"],
        {labels: seconds or 0.0 for labels, seconds in oldest.items()},
    )
    outstanding = {(): server.stats.outstanding} if server else {}
    yield gauge("queue_requests", "Requests in the queue that have no response.", [], outstanding)
    yield gauge("queue_limit_requests", "Most requests that the queue takes.", [], {(): limit})
    yield gauge("workers", "Workers that announce themselves, by model and state.", ["model", "state"], workers)


def _work_metrics(server: StoreSnapshot | None) -> Iterable[Metric]:
    jobs = {(status.value,): number for status, number in server.jobs.items()} if server else {}
    yield gauge("jobs", "Jobs that are kept, by status.", ["status"], jobs)
    running: dict[tuple[str, str, str], int] = {}
    for job in server.running if server else ():
        done = job.request_counts.completed + job.request_counts.failed
        running |= {(job.id, job.spec.dataset, "done"): done}
        running |= {(job.id, job.spec.dataset, "left"): job.request_counts.total - done}
    sentence = f"Requests of each of the {RUNNING_SHOWN} newest jobs in progress: done, or left."
    yield gauge("running_job_requests", sentence, ["job_id", "dataset", "state"], running)
    yield counter(
        "responses_recorded",
        "Responses recorded since the server's state began; without a model those of before they were told apart.",
        ["model", "outcome"],
        _responses_by_outcome(server),
    )
    tokens = {
        (model, kind): number for kind, name in _TOKENS.items() for (model,), number in _by_model(server, name).items()
    }
    dollars = {labels: number / 1e6 for labels, number in _by_model(server, "microdollars").items()}
    yield counter(
        "tokens", "Tokens of responses: prompt, cached ones among them, generated.", ["model", "kind"], tokens
    )
    yield counter("views", "Rasters that requests were shown.", ["model"], _by_model(server, "views"))
    yield counter("dollars", "What engines elsewhere were paid, by the catalogue's prices.", ["model"], dollars)
    yield counter(
        "lease_reclaims",
        "Bundles whose lease ran out: their worker died, or was cut off.",
        ["model"],
        _by_model(server, "reclaims"),
    )
    yield counter(
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


def gauge(name: str, sentence: str, labels: Sequence[str], values: Mapping[Any, float]) -> Metric:
    """Return a gauge by its name without prefix; a value for each combination of labels."""
    family = GaugeMetricFamily(f"gigavqa_{name}", sentence, labels=labels)
    for given, value in values.items():
        family.add_metric(given, float(value))
    return family


def counter(name: str, sentence: str, labels: Sequence[str], values: Mapping[Any, float]) -> Metric:
    """Return a counter by its name without prefix; a value for each combination of labels."""
    family = CounterMetricFamily(f"gigavqa_{name}", sentence, labels=labels)
    for given, value in values.items():
        family.add_metric(given, value)
    return family
