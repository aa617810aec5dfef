"""Publish an engine's progress: the phase of its start, and its counters while it runs.

Its own processes write the phases of the start into a file, which the worker reads and announces.
`report_vllm_phases` runs in each of these processes, as part of the plugin of `gigavqa.workers.architectures`.
"""

import functools
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

from gigavqa.store.worker_registry import EnginePhase
from gigavqa.workers.engines.vllm.start_errors import PHASE_VARIABLE, failure_path, report_first_error
from gigavqa.workers.engines.vllm.weights import cache_folder, weights_bytes

DOWNLOADING, READING = "downloading weights", "reading weights"
_EVERY_SECONDS = 1.0


class PhaseFile:
    """The file of one engine, as the worker sees it."""

    def __init__(self, weights: str) -> None:
        self._path = Path(tempfile.gettempdir()) / f"gigavqa-{os.getpid()}-{uuid4().hex}.phase"
        self._weights = weights

    def open(self) -> None:
        """Let engines that are started from here on write into this file."""
        os.environ[PHASE_VARIABLE] = str(self._path)

    def read(self) -> EnginePhase | None:
        """Return the phase that was written last; None before the first one and after the end."""
        if not (told := self.told()):
            return None
        if told[-1].name == DOWNLOADING:
            return told[-1].model_copy(update={"done_bytes": _downloaded_bytes(self._weights)})
        return told[-1]

    def told(self) -> list[EnginePhase]:
        """Everything that was written so far."""
        try:
            *lines, _ = self._path.read_bytes().split(b"\n")  # what follows the last end of a line is being written
        except FileNotFoundError:
            return []
        return [EnginePhase.model_validate_json(line) for line in lines]

    def failure(self) -> str | None:
        """Why the engine's processes did not start, as the first of them says it; None when none said anything."""
        try:
            return failure_path(self._path).read_text(encoding="utf-8") or None
        except FileNotFoundError:
            return None

    def close(self) -> None:
        """Forget the phase: the engine runs, or has ended."""
        for path in (self._path, failure_path(self._path)):
            path.unlink(missing_ok=True)
        if os.environ.get(PHASE_VARIABLE) == str(self._path):
            del os.environ[PHASE_VARIABLE]


def report_phase(name: str, done_bytes: int | None = None, total_bytes: int | None = None) -> None:
    """Write the phase that this process of the engine enters; does nothing where nobody asks for it."""
    if path := os.environ.get(PHASE_VARIABLE):
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(json.dumps({"name": name, "done_bytes": done_bytes, "total_bytes": total_bytes}) + "\n")


@functools.cache
def report_vllm_phases() -> None:
    """Make vLLM's loader and executor tell what they begin, how much of the weights is read, and what went wrong."""
    from vllm.model_executor.model_loader.default_loader import DefaultModelLoader
    from vllm.v1.executor.abstract import Executor

    report_first_error()
    _wrap(DefaultModelLoader, "_prepare_weights", _reporting_download)
    _wrap(DefaultModelLoader, "get_all_weights", _reporting_weights)
    _wrap(Executor, "determine_available_memory", functools.partial(_reporting, "profiling memory"))
    _wrap(Executor, "compile_or_warm_up_model", functools.partial(_reporting, "warming up"))


def _wrap(owner: type, name: str, wrapper: Callable[[Any], Any]) -> None:
    # Another release of vLLM may lack it: then a phase is not told, and everything else is as ever.
    if original := getattr(owner, name, None):
        setattr(owner, name, functools.wraps(original)(wrapper(original)))


def _reporting(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
    def told(*arguments: Any, **named: Any) -> Any:
        report_phase(name)
        return call(*arguments, **named)

    return told


def _reporting_download(prepare: Callable[..., Any]) -> Callable[..., Any]:
    def told(self: Any, *arguments: Any, **named: Any) -> Any:
        weights = arguments[0] if arguments else named.get("model_name_or_path", "")
        if not Path(weights).is_dir():
            report_phase(DOWNLOADING)
        return prepare(self, *arguments, **named)

    return told


def _reporting_weights(get_all: Callable[..., Iterator[tuple[str, Any]]]) -> Callable[..., Iterator[tuple[str, Any]]]:
    def told(self: Any, model_config: Any, *arguments: Any, **named: Any) -> Iterator[tuple[str, Any]]:
        done, due, total = 0, 0.0, None
        for name, tensor in get_all(self, model_config, *arguments, **named):
            if total is None:  # only now is everything on this machine that has to be read
                total = weights_bytes(model_config.model, model_config.revision) or 0
            if time.monotonic() >= due:
                report_phase(READING, min(done, total) if total else None, total or None)
                due = time.monotonic() + _EVERY_SECONDS
            done += tensor.nbytes
            yield name, tensor
        report_phase("preparing the model")

    return told


def _downloaded_bytes(weights: str) -> int | None:
    """Bytes that the local cache of Hugging Face has of a checkpoint, those of unfinished files included."""
    folder = cache_folder(weights)
    if folder is None:
        return None
    return sum(path.stat().st_size for path in folder.glob("blobs/*") if path.is_file())


class VllmStatLogger:
    """Keep the counters of one vLLM engine.

    The series in the process's registry cannot say it: each engine that starts takes those of all others away.
    """

    def __init__(self) -> None:
        self.steps = self.running = self.waiting = 0
        self.raster_queries = self.raster_hits = self.encoder_runs = 0

    def attach(self, _config: Any, _engine_index: int = 0) -> "VllmStatLogger":
        """Be vLLM's factory of stat loggers."""
        return self

    def record(
        self, scheduler_stats: Any, iteration_stats: Any, mm_cache_stats: Any = None, engine_idx: int = 0
    ) -> None:
        """Take over what one step of the engine has changed."""
        self.steps += 1
        if scheduler_stats is not None:
            self.running = scheduler_stats.num_running_reqs
            self.waiting = scheduler_stats.num_waiting_reqs
            if scheduler_stats.iteration_details is not None:
                self.encoder_runs += scheduler_stats.iteration_details.num_encoder_inputs
                scheduler_stats.iteration_details = None  # vLLM's own logger comes next, and would log every step
        if mm_cache_stats is not None:
            self.raster_queries += mm_cache_stats.queries
            self.raster_hits += mm_cache_stats.hits

    def log_engine_initialized(self) -> None:
        """Say nothing."""

    def log(self) -> None:
        """Say nothing."""

    def record_sleep_state(self, is_awake: int, level: int) -> None:
        """Say nothing: whoever puts the engine to sleep knows."""
