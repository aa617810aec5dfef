"""Choose which of a worker's models plays next, and when its time slice ends. Counts and clocks only; loads nothing."""

import time
from collections.abc import Sequence
from functools import partial

from gigavqa.store.queue import ClaimableCounts, JobQueue
from gigavqa.workers.settings import WorkerSettings
from gigavqa.workers.store_outage import retry_until_up


class TimeSliceScheduler:
    """Gives time slices to the models with waiting bundles.

    The model with the most waiting bundles comes first, interactive ones before batch. One that waited while as many
    others were chosen as there are other models comes before any, so that nobody starves.
    """

    def __init__(self, models: Sequence[str], queue: JobQueue, settings: WorkerSettings) -> None:
        self._models = tuple(models)
        self._queue = queue
        self._settings = settings
        self._passed_over = dict.fromkeys(models, 0)
        self._aside: dict[str, float] = {}

    @property
    def models(self) -> tuple[str, ...]:
        """The models that are served now, in the order in which they were named."""
        now = time.monotonic()
        return tuple(model for model in self._models if self._aside.get(model, now) <= now)

    def set_aside(self, model: str) -> None:
        """Serve the others alone for a while: this one's engine did not start."""
        self._aside[model] = time.monotonic() + self._settings.set_aside_seconds

    async def next(self, last: str | None) -> str:
        """Choose the model that plays after `last`, which has another time slice when nothing else waits."""
        models = self.models
        waiting = await self.waiting([model for model in models if model != last])
        if not waiting:
            return last if last in models else models[0]
        chosen = max(waiting, key=lambda model: self._rank(model, waiting[model]))
        for model in self._models:
            passed = model in waiting and model != chosen
            self._passed_over[model] = self._passed_over[model] + 1 if passed else 0
        return chosen

    async def waiting(self, models: Sequence[str]) -> dict[str, ClaimableCounts]:
        """Return what can be claimed of each of these models that has anything."""
        if not models:
            return {}
        claimable = await retry_until_up(partial(self._queue.claimable, models))
        return {model: found for model, found in claimable.items() if found.bundles}

    def begin(self, model: str) -> "TimeSlice":
        """Begin the time slice of `model`."""
        return TimeSlice(model, self, self._settings)

    def _rank(self, model: str, claimable: ClaimableCounts) -> tuple[int, int, int]:
        passed = self._passed_over[model]
        overdue = passed if passed >= len(self._models) - 1 else 0
        return overdue, claimable.interactive, claimable.bundles


class TimeSlice:
    """One model's time slice. It lasts while the model has work, and within bounds while others wait."""

    def __init__(self, model: str, scheduler: TimeSliceScheduler, settings: WorkerSettings) -> None:
        self._model = model
        self._scheduler = scheduler
        self._settings = settings
        self._began = time.monotonic()
        self._bundles = 0

    def count(self, bundles: int) -> None:
        """Tell of bundles that were claimed."""
        self._bundles += bundles

    def bound(self, bundles: int) -> int:
        """Limit a claim of so many bundles to what is left; a slice beyond its bound goes on unrivalled."""
        left = self._settings.shift_bundles - self._bundles
        return min(bundles, left) if left > 0 else bundles

    async def is_over(self, *, idle: bool) -> bool:
        """Return whether another model plays now: it waits, and this one is `idle` (holds and finds nothing) or had its
        time slice.

        Interactive bundles of another model wait for a shorter time slice than batch bundles do.
        """
        rivals = [model for model in self._scheduler.models if model != self._model]
        seconds = time.monotonic() - self._began
        is_done = idle or self._bundles >= self._settings.shift_bundles or seconds >= self._settings.shift_seconds
        if not rivals or not (is_done or seconds >= self._settings.interactive_shift_seconds):
            return False
        waiting = await self._scheduler.waiting(rivals)
        return any(is_done or claimable.interactive for claimable in waiting.values())
