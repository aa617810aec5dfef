"""Counters and gauges of one vLLM engine, told by the engine itself."""

from typing import Any


class EngineFigures:
    """What vLLM tells its stat loggers, kept for one engine.

    The series in the process's registry cannot say it: each engine that starts takes those of all others away.
    """

    def __init__(self) -> None:
        self.running = self.waiting = 0
        self.raster_queries = self.raster_hits = 0

    def attach(self, _config: Any, _engine_index: int = 0) -> "EngineFigures":
        """Be vLLM's factory of stat loggers."""
        return self

    def record(
        self, scheduler_stats: Any, iteration_stats: Any, mm_cache_stats: Any = None, engine_idx: int = 0
    ) -> None:
        """Take over what one step of the engine has changed."""
        if scheduler_stats is not None:
            self.running = scheduler_stats.num_running_reqs
            self.waiting = scheduler_stats.num_waiting_reqs
        if mm_cache_stats is not None:
            self.raster_queries += mm_cache_stats.queries
            self.raster_hits += mm_cache_stats.hits

    def log_engine_initialized(self) -> None:
        """Say nothing."""

    def log(self) -> None:
        """Say nothing."""

    def record_sleep_state(self, is_awake: int, level: int) -> None:
        """Say nothing: whoever puts the engine to sleep knows."""
