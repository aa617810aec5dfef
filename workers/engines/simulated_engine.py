"""A roofline model of prefill and decode with a KV cache: for tests of everything around an engine."""

import asyncio
import contextlib
import hashlib
import random
import re
import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from catalogue.entry import CatalogueEntry
from jobs.fleet import EnginePhase
from jobs.models import EngineInfo, Sampling, Timings, TurnResponse, Usage
from tiling.geometry import Size
from workers.engines.engine import ContextExceededError, EngineDeadError, EngineStats, Message

_BLOCK = 16
_OPTION = re.compile(r"^\s*\(?([A-H])[.):]", re.MULTILINE)


@dataclass(frozen=True)
class Roofline:
    """The machine and the model that are simulated. Defaults: an 8-billion-parameter model in bfloat16 on one H100."""

    parameters: float = 8e9
    flops: float = 9.9e14
    """Floating-point operations per second."""
    bandwidth: float = 3.35e12
    """Bytes of memory per second."""
    kv_bytes_per_token: float = 147456
    encoder_flops_per_token: float = 4e9
    batched_tokens: int = 8192
    kv_tokens: int = 400_000

    def step_seconds(self, prefilled: int, decoding: int, context: int, encoded: int) -> float:
        """Seconds of one step: its arithmetic or its memory traffic, whichever takes longer."""
        operations = 2 * self.parameters * (prefilled + decoding) + self.encoder_flops_per_token * encoded
        traffic = 2 * self.parameters + self.kv_bytes_per_token * context
        return max(operations / self.flops, traffic / self.bandwidth)


@dataclass(order=True)
class _Running:
    priority: int
    arrival: int
    blocks: list[bytes] = field(compare=False)
    prompt_tokens: int = field(compare=False)
    rasters: dict[str, int] = field(compare=False)
    answer: list[str] = field(compare=False)
    done: asyncio.Future[None] = field(compare=False)
    arrived: float = field(compare=False, default_factory=time.monotonic)
    scheduled: float = field(compare=False, default=0.0)
    first_token: float = field(compare=False, default=0.0)
    prefilled: int = field(compare=False, default=0)
    cached: int = field(compare=False, default=0)
    decoded: int = field(compare=False, default=0)


class SimulatedEngine:
    """Answers a random option's letter after as long as a real engine would take, divided by `speed`.

    Text is a function of the sampling seed and the prompt alone. `speed` 0 takes no time at all.
    """

    def __init__(self, entry: CatalogueEntry, *, speed: float = 1.0, roofline: Roofline = Roofline()) -> None:
        self._entry = entry
        self._speed = speed
        self._roofline = roofline
        self._waiting: list[_Running] = []
        self._running: list[_Running] = []
        self._blocks: OrderedDict[bytes, None] = OrderedDict()
        self._encoded: OrderedDict[str, None] = OrderedDict()
        self._arrivals = self._prompt = self._cached = self._generated = self._processed = 0
        self._work = asyncio.Event()
        self._loop: asyncio.Task[None] | None = None

    @property
    def info(self) -> EngineInfo:
        """What this engine is: simulated, in so many words."""
        return EngineInfo(name="simulated", version="1", device="simulated", simulated=True)

    @property
    def phase(self) -> EnginePhase | None:
        """None: it starts at once."""
        return None

    async def start(self) -> None:
        """Start the loop of steps."""
        self._loop = asyncio.create_task(self._run(), name="simulated-engine")

    async def generate(
        self, chat: Sequence[Message], sampling: Sampling, request_id: str, priority: int = 0
    ) -> TurnResponse:
        """Answer the chat's last message; lower `priority` goes first. Raises EngineError and EngineDeadError."""
        if not await self.healthy():
            raise EngineDeadError("the simulated engine is not running")
        sequence = self._sequence(chat, sampling, priority)
        self._waiting.append(sequence)
        self._work.set()
        try:
            await sequence.done
        finally:
            for queue in (self._waiting, self._running):
                with contextlib.suppress(ValueError):
                    queue.remove(sequence)
        return self._turn(sequence, sampling)

    async def stats(self) -> EngineStats:
        """Counters and gauges of now."""
        return EngineStats(
            running=len(self._running),
            waiting=len(self._waiting),
            prompt_tokens=self._prompt,
            cached_prompt_tokens=self._cached,
            generated_tokens=self._generated,
            processed_rasters=self._processed,
        )

    async def healthy(self) -> bool:
        """Whether the loop runs."""
        return self._loop is not None and not self._loop.done()

    async def sleep(self, host_bytes: int) -> int:
        """Stop the loop and forget what is cached; returns the bytes of the weights, 0 when they are too many."""
        if not await self.healthy():
            raise EngineDeadError("the simulated engine is not running")
        weights = int(2 * self._roofline.parameters)
        if weights > host_bytes:
            return 0
        await self.stop()
        self._blocks.clear()
        self._encoded.clear()
        return weights

    async def wake(self) -> None:
        """Start the loop again."""
        await self.start()

    async def stop(self) -> None:
        """End the loop; what it was generating is gone. Safe to call twice."""
        if self._loop is not None:
            self._loop.cancel()
            await asyncio.gather(self._loop, return_exceptions=True)
        for sequence in (*self._waiting, *self._running):
            if not sequence.done.done():
                sequence.done.set_exception(EngineDeadError("the simulated engine was stopped"))

    def _sequence(self, chat: Sequence[Message], sampling: Sampling, priority: int) -> _Running:
        shown = [raster for message in chat for raster in message.rasters]
        rasters = {raster.key: self._visual_tokens(raster.pixels.shape, len(shown)) for raster in shown}
        tokens = list(_tokens(chat, rasters))
        if len(tokens) >= self._entry.max_model_len:
            context = self._entry.max_model_len
            message = f"the prompt has {len(tokens)} tokens; the context holds {context}"
            raise ContextExceededError(message, excess=len(tokens) - context + 1)
        self._arrivals += 1
        answer = _answer(chat, sampling, hashlib.sha256("\0".join(tokens).encode()).hexdigest())
        return _Running(
            priority=priority,
            arrival=self._arrivals,
            blocks=_chain(tokens),
            prompt_tokens=len(tokens),
            rasters=rasters,
            answer=answer[: sampling.max_tokens],
            done=asyncio.get_running_loop().create_future(),
        )

    def _visual_tokens(self, shape: tuple[int, ...], num_images: int) -> int:
        return self._entry.visual_budget.plan(Size(shape[1], shape[0]), num_images).visual_tokens

    def _turn(self, sequence: _Running, sampling: Sampling) -> TurnResponse:
        now = time.monotonic()
        return TurnResponse(
            text=" ".join(sequence.answer),
            finish_reason="length" if len(sequence.answer) == sampling.max_tokens else "stop",
            usage=Usage(
                prompt_tokens=sequence.prompt_tokens,
                completion_tokens=len(sequence.answer),
                cached_tokens=sequence.cached,
            ),
            timings=Timings(
                queued=sequence.scheduled - sequence.arrived,
                prefill=sequence.first_token - sequence.scheduled,
                decode=now - sequence.first_token,
            ),
        )

    async def _run(self) -> None:
        while True:
            if not self._waiting and not self._running:
                self._work.clear()
                await self._work.wait()
            seconds = self._step()
            await asyncio.sleep(seconds / self._speed if self._speed else 0)
            self._finish_step()

    def _step(self) -> float:
        """Schedule one step: a token for everything that decodes, and prompts into the room that is left."""
        decoding = sum(sequence.prefilled == sequence.prompt_tokens for sequence in self._running)
        room, encoded = self._roofline.batched_tokens - decoding, self._admit()
        prefilled = 0
        for sequence in self._running:
            chunk = min(sequence.prompt_tokens - sequence.prefilled, room - prefilled)
            sequence.prefilled += max(0, chunk)
            prefilled += max(0, chunk)
        context = sum(sequence.prefilled + sequence.decoded for sequence in self._running)
        return self._roofline.step_seconds(prefilled, decoding, context, encoded)

    def _admit(self) -> int:
        """Move waiting sequences into the KV cache while it has room; returns the visual tokens to be encoded."""
        encoded = 0
        used = sum(sequence.prompt_tokens + len(sequence.answer) for sequence in self._running)
        for sequence in sorted(self._waiting):
            used += sequence.prompt_tokens + len(sequence.answer)
            if used > self._roofline.kv_tokens and self._running:
                break
            self._waiting.remove(sequence)
            self._running.append(sequence)
            sequence.scheduled = time.monotonic()
            sequence.cached = sequence.prefilled = min(self._reuse(sequence.blocks), sequence.prompt_tokens - 1)
            encoded += sum(self._encode(key, tokens) for key, tokens in sequence.rasters.items())
            self._prompt += sequence.prompt_tokens
            self._cached += sequence.cached
        return encoded

    def _finish_step(self) -> None:
        now = time.monotonic()
        for sequence in [s for s in self._running if s.prefilled == s.prompt_tokens]:
            sequence.first_token = sequence.first_token or now
            sequence.decoded += 1
            if sequence.decoded >= len(sequence.answer):
                self._running.remove(sequence)
                self._generated += len(sequence.answer)
                if not sequence.done.done():
                    sequence.done.set_result(None)

    def _reuse(self, blocks: list[bytes]) -> int:
        hits = 0
        for block in blocks:
            if block not in self._blocks:
                break
            hits += 1
        for block in blocks:
            self._blocks[block] = None
            self._blocks.move_to_end(block)
        while len(self._blocks) > self._roofline.kv_tokens // _BLOCK:
            self._blocks.popitem(last=False)
        return hits * _BLOCK

    def _encode(self, key: str, tokens: int) -> int:
        known = key in self._encoded
        self._encoded[key] = None
        self._encoded.move_to_end(key)
        if len(self._encoded) > 64:
            self._encoded.popitem(last=False)
        self._processed += not known
        return 0 if known else tokens


def _tokens(chat: Sequence[Message], rasters: dict[str, int]) -> Iterator[str]:
    for message in chat:
        yield f"<{message.role}>"
        for part in message.parts:
            if isinstance(part, str):
                yield from re.findall(r"\s*\S{1,4}", part)
            else:
                yield from (f"{part.key}#{index}" for index in range(rasters[part.key]))
    yield "<assistant>"


def _chain(tokens: list[str]) -> list[bytes]:
    """Name each full block by all tokens up to its end, as prefix caches do."""
    digest, names = hashlib.blake2b(digest_size=16), []
    for start in range(0, len(tokens) - len(tokens) % _BLOCK, _BLOCK):
        digest.update("\0".join(tokens[start : start + _BLOCK]).encode())
        names.append(digest.digest())
    return names


def _answer(chat: Sequence[Message], sampling: Sampling, digest: str) -> list[str]:
    letters = _OPTION.findall(chat[-1].text) or ["A", "B", "C", "D"]
    choice = random.Random(f"{sampling.seed}:{digest}").choice(letters)
    return ["The", "answer", "is", f"{choice}."]
