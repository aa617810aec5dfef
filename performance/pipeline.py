"""A discrete-event simulation of one worker: render threads before a simulated engine, in simulated time.

As `workers` does it: bundles are claimed while fewer than twice the chats in play are held; rasters are reserved first
come first served within a bound of bytes; one thread renders one picture's views, whose rasters come when they are
finished; a chat is played when all its rasters are there and a place is free, its turns as `workers.chat` asks them.
"""

import heapq
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Self

from jobs.models import InferenceRequest
from performance.ideal import EntryTokens
from tiling.views import View
from workers.engines.simulation.prompts import ROLES, SimulatedPrompt
from workers.engines.simulation.roofline import Roofline
from workers.engines.simulation.scheduler import Scheduler
from workers.engines.simulation.scheduler import SimulatedSequence as Scheduled

_SAID = "The answer is A."
_BYTES_PER_TOKEN = 32 * 32 * 3


@dataclass(frozen=True)
class WorkerLimits:
    """What bounds the worker. `core_seconds` is what one CPU second of rendering takes."""

    threads: int
    core_seconds: float = 1.0
    engine_speed: float = 1.0
    max_requests: int = 64
    places: int = 64
    """Chats that the engine takes at once."""
    ahead_bytes: int = 2**31
    most_bytes: int = 4096 * 4096 * 3
    """What a raster reserves before it is known."""


@dataclass(frozen=True)
class SimulatedTurn:
    """A turn's parts, a text or (raster, visual tokens) each; `is_given` when its answer is not the model's own."""

    parts: tuple[str | tuple[str, int], ...]
    is_given: bool


@dataclass(frozen=True)
class SimulatedChat:
    """A request: its rasters, its turns, and the share of its picture's rendering after which its rasters are there."""

    rasters: tuple[tuple[str, int], ...]
    turns: tuple[SimulatedTurn, ...]
    ready: float


@dataclass(frozen=True)
class SimulatedImage:
    """A picture with all chats about it, and the CPU seconds of its views."""

    name: str
    chats: tuple[SimulatedChat, ...]
    cpu_seconds: float

    @classmethod
    def of(
        cls,
        name: str,
        requests: Sequence[InferenceRequest],
        cpu_seconds: float,
        ready: Sequence[float],
        tokens: EntryTokens,
    ) -> Self:
        """Take a picture's chats from requests; its rasters are called by `name`, so that no other picture has them."""

        def part(of: str | View, views: int) -> str | tuple[str, int]:
            if isinstance(of, str):
                return of
            ((key, visual),) = tokens(of, views)
            return f"{name}:{key}", visual

        chats = []
        for request, share in zip(requests, ready, strict=True):
            views = len(request.views)
            turns = tuple(
                SimulatedTurn(tuple(part(each, views) for each in turn.parts), turn.given is not None)
                for turn in request.turns
            )
            rasters = dict.fromkeys(each for turn in turns for each in turn.parts if isinstance(each, tuple))
            chats.append(SimulatedChat(tuple(rasters), turns, share))
        return cls(name, tuple(chats), cpu_seconds)


@dataclass(frozen=True)
class PipelineRun:
    """Seconds until the last answer, and those of them in which the engine had nothing to do."""

    seconds: float
    idle: float


@dataclass(eq=False)
class _Play:
    """A chat on its way. `answered` counts its turns; rendering of its picture began at `begun`."""

    picture: "_Rendering"
    chat: SimulatedChat
    asked: int = 0
    answered: int = 0


@dataclass(eq=False)
class _Rendering:
    """A picture's rendering, and which of its rasters are reserved by how many chats."""

    picture: SimulatedImage
    number: int
    """In the order of claims, in which pictures go through the engine."""
    begun: float | None = None
    is_queued: bool = False
    holders: dict[str, int] = field(default_factory=dict)
    waiting: list[_Play] = field(default_factory=list)


def play_pictures(
    pictures: Sequence[SimulatedImage], roofline: Roofline, answer_tokens: int, bounds: WorkerLimits
) -> PipelineRun:
    """Play all pictures in their order."""
    return _SimulatedWorker(pictures, roofline, answer_tokens, bounds).run()


class _SimulatedWorker:
    def __init__(
        self, pictures: Sequence[SimulatedImage], roofline: Roofline, answer_tokens: int, bounds: WorkerLimits
    ) -> None:
        self._bounds = bounds
        self._block = roofline.model.match_tokens
        self._answer_tokens = answer_tokens
        self._scheduler = Scheduler(roofline)
        self._is_stepping = False
        self._unclaimed = deque(pictures)
        self._held = self._playing = self._reserved = 0
        self._idle_threads = bounds.threads
        self._unreserved: deque[_Play] = deque()
        self._unrendered: deque[_Rendering] = deque()
        self._ready: deque[_Play] = deque()
        self._asked: dict[int, _Play] = {}
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = count()
        self._now = 0.0

    def run(self) -> PipelineRun:
        idle = 0.0
        self._go_on()
        while self._events:
            due, _, happen = heapq.heappop(self._events)
            idle += 0.0 if self._is_stepping else due - self._now
            self._now = due
            happen()
            self._go_on()
        return PipelineRun(self._now, idle)

    def _at(self, seconds: float, happen: Callable[[], None]) -> None:
        heapq.heappush(self._events, (self._now + seconds, next(self._numbers), happen))

    def _go_on(self) -> None:
        self._claim()
        self._reserve()
        self._render()
        self._play()
        self._step()

    def _claim(self) -> None:
        most = 2 * self._bounds.max_requests
        while self._unclaimed and (not self._held or self._held + len(self._unclaimed[0].chats) <= most):
            rendering = _Rendering(self._unclaimed.popleft(), next(self._numbers))
            self._held += len(rendering.picture.chats)
            self._unreserved.extend(_Play(rendering, chat) for chat in rendering.picture.chats)

    def _reserve(self) -> None:
        while self._unreserved:
            play = self._unreserved[0]
            new = [key for key, _ in play.chat.rasters if key not in play.picture.holders]
            needed = len(new) * self._bounds.most_bytes
            if self._reserved and self._reserved + needed > self._bounds.ahead_bytes:
                return
            self._unreserved.popleft()
            self._reserved += needed
            for key, _ in play.chat.rasters:
                play.picture.holders[key] = play.picture.holders.get(key, 0) + 1
            self._await(play)

    def _await(self, play: _Play) -> None:
        rendering = play.picture
        if not play.chat.rasters:
            self._ready.append(play)
        elif rendering.begun is not None:
            self._arrive_at(play)
        else:
            rendering.waiting.append(play)
            if not rendering.is_queued:
                rendering.is_queued = True
                self._unrendered.append(rendering)

    def _render(self) -> None:
        while self._idle_threads and self._unrendered:
            rendering = self._unrendered.popleft()
            rendering.begun = self._now
            self._idle_threads -= 1
            self._at(rendering.picture.cpu_seconds * self._bounds.core_seconds, self._rendered)
            for play in rendering.waiting:
                self._arrive_at(play)

    def _rendered(self) -> None:
        self._idle_threads += 1

    def _arrive_at(self, play: _Play) -> None:
        picture = play.picture
        due = (picture.begun or 0.0) + play.chat.ready * picture.picture.cpu_seconds * self._bounds.core_seconds
        self._at(max(0.0, due - self._now), lambda: self._ready.append(play))

    def _play(self) -> None:
        while self._ready and self._playing < min(self._bounds.max_requests, self._bounds.places):
            self._playing += 1
            self._ask(self._ready.popleft())

    def _ask(self, play: _Play) -> None:
        """Ask every turn that can be asked: the next one, and those behind given answers."""
        turns = play.chat.turns
        while play.asked < len(turns) and (play.asked <= play.answered or turns[play.asked - 1].is_given):
            number = next(self._numbers)
            self._asked[number] = play
            prompt = self._prompt(turns[: play.asked + 1])
            self._scheduler.add(Scheduled(play.picture.number, number, prompt, self._answer_tokens))
            play.asked += 1

    def _prompt(self, turns: Sequence[SimulatedTurn]) -> SimulatedPrompt:
        prompt = SimulatedPrompt(self._block)
        for number, turn in enumerate(turns):
            if number:
                prompt.add_text(_SAID)
            prompt.add_text(ROLES["user"])
            for part in turn.parts:
                if isinstance(part, str):
                    prompt.add_text(part)
                else:
                    prompt.add_picture(*part)
            prompt.add_text(ROLES["assistant"])
        return prompt

    def _step(self) -> None:
        if self._is_stepping or not self._asked:
            return
        speed = self._bounds.engine_speed
        until = self._events[0][0] - self._now if self._events else float("inf")
        self._is_stepping = True
        self._at(self._scheduler.step(self._now, until * speed) / speed, self._stepped)

    def _stepped(self) -> None:
        self._is_stepping = False
        for ended in self._scheduler.finish(self._now):
            play = self._asked.pop(ended.arrival)
            play.answered += 1
            self._ask(play)
            if play.answered == len(play.chat.turns):
                self._end(play)

    def _end(self, play: _Play) -> None:
        self._playing -= 1
        self._held -= 1
        for key, _ in play.chat.rasters:
            play.picture.holders[key] -= 1
            if not play.picture.holders[key]:
                del play.picture.holders[key]
                self._reserved -= self._bounds.most_bytes
