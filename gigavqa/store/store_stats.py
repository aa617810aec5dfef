"""Counters and sizes of the state store, read at a cost that does not grow with jobs, for the gateway's
instrumentation.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import NoPermissionError

from gigavqa.store.queue import QueueDepth
from gigavqa.store.reachability import StoreRisk, read_risks
from gigavqa.store.redis_keys import KEYS

JOB_SECONDS = ("1", "10", "60", "300", "900", "3600", "14400", "43200", "86400", "+Inf")
"""Bounds that jobs are counted by; `gigavqa/store/lua/common.lua` has the same."""


@dataclass(frozen=True)
class StoreTotals:
    """Counters since the installation began. Neither a deletion nor the end of a process makes a number smaller."""

    _numbers: Mapping[str, int]
    recorded: Mapping[str, int]
    """Responses by outcome, those included that releases recorded which did not count by model."""

    def by(self, name: str) -> Mapping[str, int]:
        """Return the numbers of this name, by what they are of: a model."""
        return dict(self._of(name))

    def durations(self) -> Iterator[tuple[str, str, list[tuple[str, int]], float]]:
        """By kind (`job`, `batch`, `chat`) and status: how many ended within each bound, cumulated, and all seconds."""
        for of, microseconds in sorted(self._of("job_microseconds")):
            kind, status = of.split(" ")
            counted = self.by(f"job_seconds {of}")
            sums = [sum(counted.get(bound, 0) for bound in JOB_SECONDS[: i + 1]) for i in range(len(JOB_SECONDS))]
            yield kind, status, list(zip(JOB_SECONDS, sums, strict=True)), microseconds / 1e6

    def _of(self, name: str) -> Iterator[tuple[str, int]]:
        for field, number in self._numbers.items():
            if field.startswith(f"{name} "):
                yield field[len(name) + 1 :], number


@dataclass(frozen=True)
class StoreStats:
    """One look at the state store. `limit_bytes` is the machine's memory where the state store has no limit of its
    own.
    """

    totals: StoreTotals
    depths: Mapping[str, QueueDepth]
    outstanding: int
    """Requests that are reserved in the queue and not recorded."""
    unsunk: int
    """Responses whose text no Parquet part holds yet."""
    unsunk_seconds: float
    """Age of the oldest of these; 0 where there is none."""
    used_bytes: int | None
    limit_bytes: int | None
    version: str | None
    """None where the state store's user may not ask."""
    risks: tuple[StoreRisk, ...]

    @classmethod
    async def of(cls, redis: Redis) -> "StoreStats":
        """Read them in one round trip."""
        async with redis.pipeline(transaction=False) as pipeline:
            pipeline.hgetall(KEYS.totals())
            pipeline.hgetall(KEYS.recorded())
            pipeline.hgetall(KEYS.depth())
            pipeline.get(KEYS.outstanding())
            pipeline.xlen(KEYS.unsunk())
            pipeline.xrange(KEYS.unsunk(), count=1)
            pipeline.info()
            *found, info = await pipeline.execute(raise_on_error=False)
        totals, recorded, depth, outstanding, unsunk, oldest = _require_replies(found)
        if isinstance(info, NoPermissionError):
            info = {}
        _require_replies([info])
        return cls(
            totals=StoreTotals(_numbers(totals), _numbers(recorded)),
            depths=_depths(_numbers(depth)),
            outstanding=int(outstanding or 0),
            unsunk=unsunk,
            unsunk_seconds=max(0.0, time.time() - int(oldest[0][0].split(b"-")[0]) / 1000) if oldest else 0.0,
            used_bytes=info.get("used_memory"),
            limit_bytes=info.get("maxmemory") or info.get("total_system_memory"),
            version=info.get("valkey_version") or info.get("redis_version"),
            risks=read_risks(info),
        )


def _require_replies(found: Sequence[Any]) -> Sequence[Any]:
    """Return them, and raise the first that is an error."""
    for reply in found:
        if isinstance(reply, Exception):
            raise reply
    return found


def _numbers(row: Mapping[bytes, Any]) -> dict[str, int]:
    return {name.decode(): int(number) for name, number in row.items()}


def _depths(counted: Mapping[str, int]) -> dict[str, QueueDepth]:
    models = {field.partition(":")[2] for field in counted}
    return {
        model: QueueDepth(counted.get(f"waiting:{model}", 0), counted.get(f"leased:{model}", 0))
        for model in sorted(models)
    }
