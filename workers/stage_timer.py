"""Time the stages of claimed requests, and of the engine meanwhile: seconds of each add up to the worker's life."""

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Literal

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

RequestStage = Literal["pixels", "place", "engine"]
"""A request waits for its rasters, then for a place in the engine, and then is played."""

_STATES = ("busy", "pixels", "idle", "loading")
_STAGES: tuple[RequestStage, ...] = ("pixels", "place", "engine")


class StageTimer(Collector):
    """Counts requests by stage, and the engine's seconds by state.

    The engine is `busy` while it plays a request, waits for `pixels` while it plays none and some wait for theirs, is
    `loading` while there is none, and `idle` else. Changed by one thread, and read by others.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._since = time.monotonic()
        self._loaded = False
        self._model = ""
        self._requests: Counter[RequestStage] = Counter()
        self._engine_seconds: defaultdict[tuple[str, str], float] = defaultdict(float)
        self._request_seconds: defaultdict[tuple[str, str], float] = defaultdict(float)

    @property
    def model(self) -> str:
        """The model that is served now."""
        return self._model

    @model.setter
    def model(self, model: str) -> None:
        with self._lock:
            self._advance()
            self._model = model

    @property
    def engine_seconds(self) -> dict[str, float]:
        """Seconds of the engine by state, of all models together."""
        with self._lock:
            self._advance()
            return {
                state: sum(self._engine_seconds[key] for key in self._engine_seconds if key[1] == state)
                for state in _STATES
            }

    def set_loaded(self, loaded: bool) -> None:
        """Say whether there is an engine that can answer."""
        with self._lock:
            self._advance()
            self._loaded = loaded

    @contextmanager
    def request(self) -> Iterator[Callable[[RequestStage], None]]:
        """Count a request, first among those that wait for pixels, and later where it is told to be."""
        at: RequestStage = "pixels"
        self._move(None, at)

        def enter(stage: RequestStage) -> None:
            nonlocal at
            self._move(at, stage)
            at = stage

        try:
            yield enter
        finally:
            self._move(at, None)

    def collect(self) -> Iterable[Metric]:
        """Show seconds so far and requests now."""
        with self._lock:
            self._advance()
            engine, requests = dict(self._engine_seconds), dict(self._request_seconds)
            now = {stage: self._requests[stage] for stage in _STAGES}
        yield _counter(
            "engine_seconds", "Seconds of the engine: busy, waiting for pixels, idle, or loading.", "state", engine
        )
        yield _counter(
            "request_seconds",
            "Seconds that all requests together spent waiting for pixels, for a place, and in the engine.",
            "stage",
            requests,
        )
        gauge = GaugeMetricFamily(
            "gigavqa_worker_stage_requests", "Claimed requests, by what they wait for or are in.", labels=["stage"]
        )
        for stage, number in now.items():
            gauge.add_metric([stage], number)
        yield gauge

    @property
    def _state(self) -> str:
        if not self._loaded:
            return "loading"
        if self._requests["engine"]:
            return "busy"
        return "pixels" if self._requests["pixels"] else "idle"

    def _move(self, before: RequestStage | None, after: RequestStage | None) -> None:
        with self._lock:
            self._advance()
            if before:
                self._requests[before] -= 1
            if after:
                self._requests[after] += 1

    def _advance(self) -> None:
        now = time.monotonic()
        seconds, self._since = now - self._since, now
        for state in _STATES:  # each from the start, so that rates know it
            self._engine_seconds[self._model, state] += seconds * (state == self._state)
        for stage in _STAGES:
            self._request_seconds[self._model, stage] += seconds * self._requests[stage]


def _counter(name: str, sentence: str, label: str, values: dict[tuple[str, str], float]) -> Metric:
    family = CounterMetricFamily(f"gigavqa_worker_{name}", sentence, labels=["model", label])
    for (model, of), value in values.items():
        if model:
            family.add_metric([model, of], value)
    return family
