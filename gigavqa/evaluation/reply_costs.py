"""Cost of responses: tokens, seconds and pictures, of each and of all together."""

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import accumulate
from math import log
from operator import add
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from gigavqa.contract.responses import RasterRecord, Response


class ReplyCost(NamedTuple):
    """The cost of one reply over all its turns; `cached_tokens` of the prompts came from the prefix cache.

    Seconds are of waiting (for a worker, then in the engine), of rendering its views, of reading the prompts and of
    writing the answers; `dollars` go to whoever runs the engine, where the catalogue says what it costs.
    """

    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    queued: float = 0.0
    rendering: float = 0.0
    prefill: float = 0.0
    decode: float = 0.0
    dollars: float = 0.0

    @classmethod
    def of(cls, response: Response) -> "ReplyCost":
        """Sum up what a response recorded."""
        turns = response.answers
        return cls(
            prompt_tokens=sum(turn.usage.prompt_tokens for turn in turns),
            cached_tokens=sum(turn.usage.cached_tokens for turn in turns),
            completion_tokens=sum(turn.usage.completion_tokens for turn in turns),
            queued=response.queued_seconds + sum(turn.timings.queued for turn in turns),
            rendering=response.rendering_seconds,
            prefill=sum(turn.timings.prefill for turn in turns),
            decode=sum(turn.timings.decode for turn in turns),
            dollars=sum(turn.usage.dollars or 0.0 for turn in turns),
        )


_COUNTS = 3  # fields of Spent before those in seconds, and in dollars
_NANO = 1_000_000_000
_STEP = 1.02  # of one class of durations to the next: a median of classes is right within 1 %
_SHORTEST = 1e-6
_PHASES = ("queued", "rendering", "prefill", "decode")


class RequestMedians(BaseModel):
    """Seconds of a request in the middle, phase by phase, within 1 %; of those that recorded any."""

    model_config = ConfigDict(frozen=True)

    queued: float
    rendering: float
    prefill: float
    decode: float


class WorkTotals(BaseModel):
    """The cost of all responses of a report; seconds are summed over requests, which run side by side."""

    model_config = ConfigDict(frozen=True)

    requests: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = Field(default=0, description="those of the prompts that came from the prefix cache")
    completion_tokens: int = 0
    views: int = Field(default=0, description="rasters that requests were shown")
    rasters: int = Field(default=0, description="different ones among them: as many as had to be rendered")
    queued_seconds: float = 0.0
    rendering_seconds: float = 0.0
    prefill_seconds: float = 0.0
    decode_seconds: float = 0.0
    medians: RequestMedians | None = Field(default=None, description="seconds of one request; none if nobody took them")
    dollars: float = Field(default=0.0, description="what engines elsewhere are paid, by the catalogue's prices")
    slowest_image: str | None = Field(default=None, description="the image whose rendering took longest")
    slowest_seconds: float = Field(default=0.0, description="of rendering")
    first_at: datetime | None = Field(default=None, description="when the first response was recorded")
    last_at: datetime | None = None


class WorkTally:
    """Sums up what replies took as they stream past: in whole billionths, so that no order changes a digit."""

    def __init__(self) -> None:
        self._requests = self._views = 0
        self._spent = [0] * len(ReplyCost._fields)
        self._rasters: set[str] = set()
        self._slowest = (0.0, "")
        self._span: tuple[float, float] | None = None
        self._durations: dict[str, Counter[int]] = {phase: Counter() for phase in _PHASES}

    def add(self, spent: ReplyCost, rasters: tuple[RasterRecord, ...], created: float) -> None:
        """Count what one reply took; `created` is in seconds since 1970, 0 where nobody recorded it."""
        self._requests += 1
        whole = (*spent[:_COUNTS], *(round(number * _NANO) for number in spent[_COUNTS:]))
        self._spent = [*map(add, self._spent, whole)]
        self._views += len(rasters)
        self._rasters.update(raster.key for raster in rasters)
        self._count_durations(spent)
        if rasters and spent.rendering:
            self._slowest = max(self._slowest, (spent.rendering, rasters[0].view.image))
        if created:
            self._spread(created, created)

    @property
    def plain(self) -> list[Any]:
        """All of it as lists, numbers and texts, for `merge`."""
        durations = [sorted(self._durations[phase].items()) for phase in _PHASES]
        return [self._requests, self._views, self._spent, sorted(self._rasters), self._slowest, self._span, durations]

    def merge(self, plain: list[Any]) -> None:
        """Add the `plain` of another tally."""
        requests, views, spent, rasters, slowest, span, durations = plain
        self._requests += requests
        self._views += views
        self._spent = [*map(add, self._spent, spent)]
        self._rasters.update(rasters)
        self._slowest = max(self._slowest, (slowest[0], slowest[1]))
        if span:
            self._spread(*span)
        for phase, classes in zip(_PHASES, durations, strict=True):
            self._durations[phase].update(dict(classes))

    def _count_durations(self, spent: ReplyCost) -> None:
        seconds = {phase: getattr(spent, phase) for phase in _PHASES}
        if any(seconds.values()):
            for phase, taken in seconds.items():
                self._durations[phase][round(log(max(_SHORTEST, taken), _STEP))] += 1

    def _spread(self, first: float, last: float) -> None:
        known = self._span or (first, last)
        self._span = min(known[0], first), max(known[1], last)

    @property
    def _medians(self) -> RequestMedians | None:
        if not self._durations["queued"]:
            return None
        return RequestMedians(**{phase: _median(classes) for phase, classes in self._durations.items()})

    @property
    def total(self) -> WorkTotals:
        """The sum over all."""
        spent = ReplyCost(*self._spent[:_COUNTS], *(whole / _NANO for whole in self._spent[_COUNTS:]))
        seconds, image = self._slowest
        first, last = self._span or (None, None)
        return WorkTotals(
            requests=self._requests,
            prompt_tokens=spent.prompt_tokens,
            cached_tokens=spent.cached_tokens,
            completion_tokens=spent.completion_tokens,
            views=self._views,
            rasters=len(self._rasters),
            queued_seconds=_rounded(spent.queued),
            rendering_seconds=_rounded(spent.rendering),
            prefill_seconds=_rounded(spent.prefill),
            decode_seconds=_rounded(spent.decode),
            medians=self._medians,
            dollars=_rounded(spent.dollars),
            slowest_image=image or None,
            slowest_seconds=_rounded(seconds),
            first_at=None if first is None else datetime.fromtimestamp(first, UTC),
            last_at=None if last is None else datetime.fromtimestamp(last, UTC),
        )


def _median(classes: Mapping[int, int]) -> float:
    """Return the duration in the middle of classes of durations, the lower one of two."""
    places = accumulate(count for _, count in sorted(classes.items()))
    half = sum(classes.values()) / 2
    return _rounded(_STEP ** next(one for one, place in zip(sorted(classes), places, strict=True) if place >= half))


def _rounded(number: float) -> float:
    """Microseconds, and millionths of a dollar."""
    return round(number, 6)
