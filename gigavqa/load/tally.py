"""Sums of a measurement: what is kept does not grow with the number of requests."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gigavqa.load.exchange import Exchange
from gigavqa.load.histogram import Histogram
from gigavqa.load.objectives import meets

_PERCENTS = (90, 99)  # beside the median
_MOST_KINDS = 32  # of faults; a service that invents more is not worth the memory


@dataclass
class Tally:
    """Sums over the requests that were sent after the warm-up; moments on one clock."""

    objectives: Mapping[str, float] = field(default_factory=dict)
    completed: int = 0
    good: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    counted_by_chunks: int = 0
    without_tokens_in: int = 0
    began: float | None = None
    ended: float = 0.0
    faults: Counter[str] = field(default_factory=Counter)
    told: dict[str, str] = field(default_factory=dict)
    ttft: Histogram = field(default_factory=Histogram)
    tpot: Histogram = field(default_factory=Histogram)
    itl: Histogram = field(default_factory=Histogram)
    e2el: Histogram = field(default_factory=Histogram)

    def add(self, exchange: Exchange) -> None:
        """Count one request that has ended."""
        self.began = exchange.started if self.began is None else min(self.began, exchange.started)
        self.ended = max(self.ended, exchange.ended)
        if exchange.fault:
            self.count_fault(exchange.fault, exchange.told)
            return
        self.completed += 1
        self.tokens_out += exchange.generated
        self.tokens_in += exchange.tokens_in or 0
        self.counted_by_chunks += exchange.tokens_out is None
        self.without_tokens_in += exchange.tokens_in is None
        self.good += meets(exchange, self.objectives)
        self.ttft.add(exchange.first_token or 0.0)
        self.e2el.add(exchange.whole)
        if exchange.per_token is not None:
            self.tpot.add(exchange.per_token)
        for gap in exchange.gaps:
            self.itl.add(gap)

    def count_fault(self, kind: str, told: str) -> None:
        """Count one request without an answer; of each kind the first is told."""
        known = kind if kind in self.faults or len(self.faults) < _MOST_KINDS else "others"
        self.faults[known] += 1
        self.told.setdefault(known, told)

    @property
    def failed(self) -> int:
        """Return how many requests were not answered."""
        return self.faults.total()

    @property
    def seconds(self) -> float:
        """Return the seconds from the first request's start to the last one's end."""
        return 0.0 if self.began is None else self.ended - self.began

    def figures(self) -> dict[str, Any]:
        """Return all figures, under the names of `vllm bench serve` where it has the same; None for what is unknown."""
        has_tokens_in = not self.without_tokens_in
        rates = {
            "request_throughput": self.completed,
            "request_goodput": self.good if self.objectives else None,
            "output_throughput": self.tokens_out,
            "total_token_throughput": self.tokens_in + self.tokens_out if has_tokens_in else None,
        }
        return {
            "duration": self.seconds,
            "completed": self.completed,
            "failed": self.failed,
            "failed_by_kind": dict(self.faults),
            "failed_told": dict(self.told),
            "total_input_tokens": self.tokens_in if has_tokens_in else None,
            "total_output_tokens": self.tokens_out,
            "counted_by_chunks": self.counted_by_chunks,
            **{name: None if sum_ is None else self._rate(sum_) for name, sum_ in rates.items()},
            **{name: value for each in ("ttft", "tpot", "itl", "e2el") for name, value in self._times(each)},
        }

    def _rate(self, number: int) -> float | None:
        return number / self.seconds if self.seconds > 0 else None

    def _times(self, name: str) -> list[tuple[str, float | None]]:
        durations: Histogram = getattr(self, name)
        values = {"mean": durations.mean, "std": durations.deviation, "median": durations.percentile(50)}
        values |= {f"p{percent}": durations.percentile(percent) for percent in _PERCENTS}
        return [(f"{kind}_{name}_ms", None if value is None else 1000 * value) for kind, value in values.items()]
