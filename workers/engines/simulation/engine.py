"""A fake engine for tests of everything around an engine: it generates nothing, takes declared times, and says so."""

import asyncio
import time
from bisect import insort
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import count

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.contract.requests import Sampling
from gigavqa.contract.responses import EngineInfo, OnTokens, Timings, TurnResponse, Usage
from gigavqa.store.worker_registry import EnginePhase
from gigavqa.tiling.geometry import Size
from gigavqa.workers.engines.engine import (
    AnswerUnweighableError,
    ContextExceededError,
    EngineDeadError,
    EngineStats,
    Message,
    PromptRaster,
    forced_answer,
)
from gigavqa.workers.engines.kv_admission import ChatSlots
from gigavqa.workers.engines.simulation.answers import AnswerScript, cut_at_stop, draw_answer, draw_logprobs
from gigavqa.workers.engines.simulation.prompts import PromptPrefixes, SeenKeys, split_tokens

SLOTS_ARGUMENT = "max_num_seqs"
"""The one of an entry's engine arguments that is heeded: how many answers are written at once."""
_DEFAULT_SLOTS = 256
WEIGHT_BYTES = 15 * 10**9
"""What it says that it keeps of its weights while it sleeps; it has none."""


@dataclass(frozen=True)
class Latencies:
    """Seconds that an answer takes, however many are written beside it. They are declared, and measured nowhere."""

    prompt: float = 0.005
    """Of any prompt up to the answer's first token."""
    prompt_token: float = 0.000_05
    """And of each of its tokens that is not cached."""
    output_token: float = 0.005
    """Of each token of the answer behind the first."""


class SimulatedEngine:
    """Answers a random option's letter after the declared `latencies`, divided by `speed`; 0 takes no time at all.

    Text is a function of the sampling seed and the prompt alone. With a `script` its texts are those, and it is called
    scripted. Beginnings of prompts that were seen before, up to the end of a message's part, count as cached, and
    rasters that were seen before as encoded.
    """

    def __init__(
        self,
        entry: CatalogueEntry,
        *,
        speed: float = 1.0,
        latencies: Latencies | None = None,
        script: AnswerScript | None = None,
    ) -> None:
        self._entry = entry
        self._speed = speed
        self._latencies = latencies or Latencies()
        self._script = script
        self._slots = int(entry.engine.get(SLOTS_ARGUMENT) or _DEFAULT_SLOTS)
        self._plan = lru_cache(maxsize=4096)(entry.visual_budget.plan)
        self._arrivals = count()
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []
        self._running = 0
        self._counts = Counter[str]()
        self._seen = SeenKeys()
        self._end: asyncio.Future[None] | None = None

    @property
    def info(self) -> EngineInfo:
        """The engine's name, which says that it is simulated or scripted."""
        name = "scripted" if self._script else "simulated"
        budget = str(self._entry.visual_budget)
        return EngineInfo(name=name, version="3", device="simulated", simulated=True, budget=budget)

    @property
    def phase(self) -> EnginePhase | None:
        """None: it starts at once."""
        return None

    @property
    def places(self) -> ChatSlots | None:
        """None: any number of chats may be played, and their prompts wait here."""
        return None

    async def start(self) -> None:
        """Be there."""
        self._end = asyncio.get_running_loop().create_future()

    async def generate(
        self,
        chat: Sequence[Message],
        sampling: Sampling,
        request_id: str,
        priority: int = 0,
        grow: OnTokens | None = None,
    ) -> TurnResponse:
        """Answer the chat's last message; lower `priority` goes first. Raises EngineError and EngineDeadError.

        `grow` hears each token when it is written.
        """
        end, arrived = self._require_running(), time.monotonic()
        if (forced := forced_answer(chat)) is not None:
            return await self._weigh(chat, forced, priority)
        prompt = self._read(chat)
        written = self._script.write(chat) if self._script else draw_answer(chat[-1].text, sampling, prompt.name)
        pieces = split_tokens(cut_at_stop(written, sampling))[: sampling.max_tokens]
        async with self._slot(priority, end):
            begun = time.monotonic()
            usage = self._count(chat, prompt, len(pieces))
            new, declared = usage.prompt_tokens - usage.cached_tokens, self._latencies
            first = begun + self._seconds(declared.prompt + new * declared.prompt_token)
            await self._write(pieces, first, end, grow)
        text = "".join(pieces)
        prompt.add(Message("assistant", (text,)))
        self._see(prompt, chat[0].salt)
        self._counts.update(generated_tokens=len(pieces))
        return TurnResponse(
            text=text,
            finish_reason="length" if len(pieces) == sampling.max_tokens else "stop",
            usage=usage,
            timings=Timings(queued=begun - arrived, prefill=first - begun, decode=max(0, time.monotonic() - first)),
        )

    async def _weigh(self, chat: Sequence[Message], text: str, priority: int) -> TurnResponse:
        """Draw how likely an answer is, by prompt and text; the time is that of its prompt."""
        end, arrived = self._require_running(), time.monotonic()
        prompt, pieces = self._read(chat[:-1]), split_tokens(text)
        if not pieces:
            raise AnswerUnweighableError("answer: is empty; the likelihood of nothing is no number")
        async with self._slot(priority, end):
            begun = time.monotonic()
            usage = self._count(chat[:-1], prompt, 0)
            new = usage.prompt_tokens - usage.cached_tokens + len(pieces)
            await _until(begun + self._seconds(self._latencies.prompt + new * self._latencies.prompt_token), end)
        return TurnResponse(
            text=text,
            finish_reason="stop",
            forced=True,
            logprobs=draw_logprobs(pieces, prompt.name),
            usage=usage.model_copy(update={"prompt_tokens": usage.prompt_tokens + len(pieces)}),
            timings=Timings(queued=begun - arrived, prefill=time.monotonic() - begun),
        )

    async def stats(self) -> EngineStats:
        """Counters and gauges of now."""
        return EngineStats(running=self._running, waiting=len(self._waiting), **self._counts)

    async def healthy(self) -> bool:
        """Return whether it has started and not ended."""
        return self._end is not None and not self._end.done()

    async def sleep(self, host_bytes: int) -> int:
        """Stop, and forget what is cached; returns the bytes of its weights, 0 when they are too many."""
        self._require_running()
        if host_bytes < WEIGHT_BYTES:
            return 0
        await self.stop()
        return WEIGHT_BYTES

    async def wake(self) -> None:
        """Start again."""
        await self.start()

    async def stop(self) -> None:
        """End; what it was writing and what was cached is gone. Safe to call twice."""
        if self._end is not None and not self._end.done():
            self._end.set_result(None)
        self._seen = SeenKeys()

    def _require_running(self) -> asyncio.Future[None]:
        """Return what will be done at the engine's end."""
        if self._end is None or self._end.done():
            raise EngineDeadError("the simulated engine is not running")
        return self._end

    def _read(self, chat: Sequence[Message]) -> PromptPrefixes:
        shown = sum(len(message.rasters) for message in chat)
        prompt = PromptPrefixes(lambda raster: self._visual_tokens(raster, shown))
        for message in chat:
            prompt.add(message)
        excess = prompt.asked_tokens - self._entry.max_model_len + 1
        if excess > 0:
            told = f"the prompt has {prompt.asked_tokens} tokens; the context holds {self._entry.max_model_len}"
            raise ContextExceededError(told, excess=excess)
        return prompt

    def _visual_tokens(self, raster: PromptRaster, num_images: int) -> int:
        height, width = raster.pixels.shape[:2]
        return self._plan(Size(width, height), num_images).visual_tokens

    @asynccontextmanager
    async def _slot(self, priority: int, end: asyncio.Future[None]) -> AsyncIterator[None]:
        """Wait for one of the slots, and hold it; lower priority first, and then the earlier one."""
        entrance: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        turn = (priority, next(self._arrivals), entrance)
        insort(self._waiting, turn)
        # Behind all that arrive in this turn of the loop, so that priority decides between them.
        asyncio.get_running_loop().call_soon(self._fill_slots)
        try:
            await asyncio.wait([entrance, end], return_when=asyncio.FIRST_COMPLETED)
            _raise_at(end)
            yield
        finally:
            if entrance.done():
                self._running -= 1
            else:
                self._waiting.remove(turn)
            self._fill_slots()

    def _fill_slots(self) -> None:
        while self._waiting and self._running < self._slots:
            self._waiting.pop(0)[2].set_result(None)
            self._running += 1

    def _count(self, chat: Sequence[Message], prompt: PromptPrefixes, written: int) -> Usage:
        """Count a prompt that is begun, and return its tokens and those of its answer."""
        tokens = prompt.asked_tokens
        cached = min(self._see(prompt, chat[0].salt), tokens - 1)
        encoded = sum(not self._seen.see(raster.key) for message in chat for raster in message.rasters)
        self._counts.update(
            prompt_tokens=tokens, cached_prompt_tokens=cached, processed_rasters=encoded, encoder_runs=encoded
        )
        return Usage(prompt_tokens=tokens, completion_tokens=written, cached_tokens=cached)

    def _see(self, prompt: PromptPrefixes, salt: str) -> int:
        """Return how many tokens the longest beginning has that was seen before; all of them are seen now."""
        return max((tokens for name, tokens in prompt.found if self._seen.see((salt, name))), default=0)

    async def _write(
        self, pieces: Sequence[str], first: float, end: asyncio.Future[None], grow: OnTokens | None
    ) -> None:
        """Take the time of an answer whose first token is due at `first`, and tell each token when it is due."""
        told, step = 0, self._seconds(self._latencies.output_token)
        await asyncio.sleep(0)
        if not grow:
            await _until(first + step * max(0, len(pieces) - 1), end)
            return
        await _until(first, end)
        for number, piece in enumerate(pieces):
            await _until(first + step * number, end)
            grow(told, piece, None)
            told += len(piece)

    def _seconds(self, declared: float) -> float:
        return declared / self._speed if self._speed else 0.0


async def _until(due: float, end: asyncio.Future[None]) -> None:
    """Wait for a moment of the clock. Raises EngineDeadError when the engine's end comes first."""
    if (ahead := due - time.monotonic()) > 0:
        await asyncio.wait([end], timeout=ahead)
    _raise_at(end)


def _raise_at(end: asyncio.Future[None]) -> None:
    if end.done():
        raise EngineDeadError("the simulated engine was stopped")
