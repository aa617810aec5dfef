"""Every series that a worker exposes, with unit and sentence. vLLM's own `vllm:*` series stand beside them."""

import shutil
from importlib.metadata import version
from pathlib import Path

import psutil
from prometheus_client import REGISTRY, CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics

from gigavqa.contract.responses import EngineInfo, Response
from gigavqa.tiling.renderer import RendererStats
from gigavqa.workers.engines.engine import EngineStats
from gigavqa.workers.stage_timer import StageTimer

disable_created_metrics()  # type: ignore[no-untyped-call]  # a third of all series, which nothing reads
_PASS_SECONDS = (0.01, 0.1, 0.3, 1, 3, 10, 30, 100, 300)
_SECONDS = (0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000, 3000)


class Instrumentation:
    """The series of one worker, registered in `registry`."""

    def __init__(self, registry: CollectorRegistry = REGISTRY) -> None:
        self.requests = Counter(
            "gigavqa_worker_requests",
            "Requests by outcome: completed, failed, or repeated (recorded before, by this worker or another).",
            ["outcome"],
            registry=registry,
        )
        self.failures = Counter(
            "gigavqa_worker_failures", "Recorded failures by the type of their error.", ["type"], registry=registry
        )
        self.unexpected = Counter(
            "gigavqa_worker_unexpected_errors", "Errors that no part of the worker expects.", registry=registry
        )
        self.bundles = Counter(
            "gigavqa_worker_bundles",
            "Bundles by how the worker parted from them: finished, handed_back, abandoned, or lost.",
            ["outcome"],
            registry=registry,
        )
        self.searches = Counter(
            "gigavqa_worker_searches",
            "Searches by outcome: asked, asked_again (in place of a worker that is gone), known, or failed.",
            ["outcome"],
            registry=registry,
        )
        self.renders = _MirrorCounter("gigavqa_worker_renders", "Rasters rendered from files.", registry)
        self.passes = _MirrorCounter(
            "gigavqa_worker_passes",
            "Passes over the pixels of files; one over a flat image makes all its rasters that are awaited.",
            registry,
        )
        self.raster_hits = _MirrorCounter("gigavqa_worker_raster_hits", "Rasters served from memory.", registry)
        self.found_rasters = _MirrorCounter(
            "gigavqa_worker_found_rasters", "Rasters of large images found on the disk.", registry
        )
        self.kept_rasters = Counter(
            "gigavqa_worker_kept_rasters",
            "Rasters of large images by what became of keeping them on the disk: written, or failed.",
            ["outcome"],
            registry=registry,
        )
        self.previews = Counter(
            "gigavqa_worker_previews",
            "Previews of rasters by outcome: written, known (there before), or failed.",
            ["outcome"],
            registry=registry,
        )
        self.ingests = _MirrorCounter("gigavqa_worker_ingests", "Flat images turned into pyramids.", registry)
        self.remote_requests = _MirrorCounter(
            "gigavqa_worker_remote_requests", "Requests for bytes of images elsewhere.", registry
        )
        self.remote_bytes = _MirrorCounter(
            "gigavqa_worker_remote_bytes", "Bytes of images elsewhere that were fetched.", registry
        )
        self.remote_kept_bytes = _MirrorCounter(
            "gigavqa_worker_remote_kept_bytes",
            "Bytes of images elsewhere that were read of what is kept on the disk.",
            registry,
        )
        self.pass_seconds = Histogram(
            "gigavqa_worker_pass_seconds",
            "Seconds of a pass over the pixels of a file, by its format and the level that was decoded.",
            ["format", "level"],
            buckets=_PASS_SECONDS,
            registry=registry,
        )
        self.shown_rasters = Counter(
            "gigavqa_worker_shown_rasters",
            "Rasters that requests were shown, repeated ones too.",
            registry=registry,
        )
        self.unique_rasters = Counter(
            "gigavqa_worker_unique_rasters", "Distinct rasters that were shown to the engine.", registry=registry
        )
        self.processed_rasters = _MirrorCounter(
            "gigavqa_worker_processed_rasters", "Rasters that the engine made ready for its vision encoder.", registry
        )
        self.encoder_runs = _MirrorCounter(
            "gigavqa_worker_encoder_runs", "Rasters that went through the engine's vision encoder.", registry
        )
        self.primers = _MirrorCounter(
            "gigavqa_worker_primers", "Beginnings of prompts that the engine prefilled before the prompts.", registry
        )
        self.retries = _MirrorCounter(
            "gigavqa_worker_engine_retries",
            "Requests asked again: of an engine elsewhere that was away or busy, or of any that failed at an answer.",
            registry,
        )
        self.dollars = Counter(
            "gigavqa_worker_dollars", "What engines elsewhere are paid, by the catalogue's prices.", registry=registry
        )
        self.prompt_tokens = Counter("gigavqa_worker_prompt_tokens", "Tokens of all prompts.", registry=registry)
        self.cached_tokens = Counter(
            "gigavqa_worker_cached_prompt_tokens", "Prompt tokens found in the prefix cache.", registry=registry
        )
        self.empty_answers = Counter(
            "gigavqa_worker_empty_answers",
            "Answers without a single token, which their engines say the model ended, by model.",
            ["model"],
            registry=registry,
        )
        self.generated_tokens = Counter("gigavqa_worker_generated_tokens", "Tokens generated.", registry=registry)
        self.engine_restarts = Counter(
            "gigavqa_worker_engine_restarts", "Engines started in place of a dead one.", registry=registry
        )
        self.engine_failures = Counter(
            "gigavqa_worker_engine_failures",
            "What engines did not live through: start, sleep, wake, stop, or step, when they hung in one.",
            ["during"],
            registry=registry,
        )
        self.switches = Counter(
            "gigavqa_worker_switches",
            "Engines loaded in place of another one's, by model.",
            ["model"],
            registry=registry,
        )
        self.switch_seconds = Counter(
            "gigavqa_worker_switch_seconds",
            "Seconds between the last answer of one model and the readiness of the next, by the next model.",
            ["model"],
            registry=registry,
        )
        self.set_aside = Counter(
            "gigavqa_worker_set_aside",
            "How often a model was left out for a while because its engine did not start.",
            ["model"],
            registry=registry,
        )
        self.queue_seconds = Histogram(
            "gigavqa_worker_queue_seconds",
            "Seconds from enqueueing to the claim, by bundle.",
            buckets=_SECONDS,
            registry=registry,
        )
        self.rendering_seconds = Histogram(
            "gigavqa_worker_rendering_seconds",
            "Seconds that a request waited for its rasters.",
            buckets=_SECONDS,
            registry=registry,
        )
        self.running = Gauge("gigavqa_worker_running_requests", "Requests that are being played.", registry=registry)
        self.waiting = Gauge(
            "gigavqa_worker_waiting_requests", "Requests that are claimed and wait.", registry=registry
        )
        self.stages = StageTimer()
        registry.register(self.stages)
        self.disk = Gauge(
            "gigavqa_worker_disk_free_bytes",
            "What is free on the disk where the worker keeps rasters and pyramids.",
            registry=registry,
        )
        self.info = Gauge(
            "gigavqa_worker_info",
            "1, with the versions of the worker and of its engine, the device, and whether answers are simulated.",
            ["version", "engine", "engine_version", "device", "simulated"],
            registry=registry,
        )
        rss = Gauge("gigavqa_worker_rss_bytes", "Resident memory of the worker and its children.", registry=registry)
        rss.set_function(_resident_bytes)
        self._keys: set[int] = set()

    def count(self, response: Response, *, new: bool) -> None:
        """Count a response at its recording; `new` is false when the request had one before."""
        self.requests.labels(("completed" if response.ok else "failed") if new else "repeated").inc()
        if response.failure and new:
            self.failures.labels(response.failure.type).inc()
        self.rendering_seconds.observe(response.rendering_seconds)
        self.shown_rasters.inc(len(response.rasters))
        for raster in response.rasters:
            self._count_raster(raster.key)
        for answer in response.answers:
            self.prompt_tokens.inc(answer.usage.prompt_tokens)
            self.cached_tokens.inc(answer.usage.cached_tokens)
            self.generated_tokens.inc(answer.usage.completion_tokens)
            self.dollars.inc(answer.usage.dollars or 0)
        if empty := sum(turn.is_empty for turn in response.turns):
            self.empty_answers.labels(response.model).inc(empty)

    def follow(self, library: RendererStats, engine: EngineStats, generation: int) -> None:
        """Take over the counters that others keep; each engine, named by its `generation`, counts from 0."""
        self.renders.follow(library.renders)
        self.passes.follow(library.passes)
        self.raster_hits.follow(library.hits)
        self.found_rasters.follow(library.found)
        self.ingests.follow(library.ingests)
        self.remote_requests.follow(library.remote.requests)
        self.remote_bytes.follow(library.remote.fetched_bytes)
        self.remote_kept_bytes.follow(library.remote.kept_bytes)
        self.processed_rasters.follow(engine.processed_rasters, generation)
        self.encoder_runs.follow(engine.encoder_runs, generation)
        self.primers.follow(engine.primers, generation)
        self.retries.follow(engine.retries, generation)

    def count_pass(self, file_format: str, level: int, seconds: float) -> None:
        """Count a pass over the pixels of a file."""
        self.pass_seconds.labels(file_format, str(level)).observe(seconds)

    def tell_engine(self, engine: EngineInfo) -> None:
        """Say which engine there is."""
        self.info.clear()
        labels = (version("gigavqa"), engine.name, engine.version, engine.device, str(engine.simulated).lower())
        self.info.labels(*labels).set(1)

    def _count_raster(self, key: str) -> None:
        number = hash(key)  # eight bytes each, for as long as the worker lives
        if number not in self._keys:
            self._keys.add(number)
            self.unique_rasters.inc()


class _MirrorCounter:
    """A counter that follows somebody else's, and each of its owners by itself when these replace each other."""

    def __init__(self, name: str, sentence: str, registry: CollectorRegistry) -> None:
        self._counter = Counter(name, sentence, registry=registry)
        self._last: dict[int, int] = {}

    def follow(self, value: int, owner: int = 0) -> None:
        """Add what its owner has counted since the last call."""
        self._counter.inc(value - self._last.get(owner, 0))
        self._last[owner] = value


def free_bytes(folder: Path) -> float:
    """Return what is free on the disk that a folder is on, or will be."""
    there = next(path for path in (folder, *folder.parents) if path.exists())
    return shutil.disk_usage(there).free


def _resident_bytes() -> float:
    total, worker = 0, psutil.Process()
    for process in (worker, *worker.children(recursive=True)):
        try:
            total += process.memory_info().rss
        except psutil.NoSuchProcess:
            continue
    return total
