"""An engine that generates nothing: its steps take as long as a real one's on an H100, with the same caches.

For tests of everything around an engine. docs/performance/simulated.md says how far it can be believed.
"""

import asyncio
import hashlib
import math
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.contract.models import EngineInfo, OnTokens, Sampling, Timings, TurnResponse, Usage
from gigavqa.store.worker_registry import EnginePhase
from gigavqa.tiling.geometry import Size
from gigavqa.workers.engines.encoder_cache import encoder_cache_tokens
from gigavqa.workers.engines.engine import ContextExceededError, EngineDeadError, EngineStats, Message, with_cache_salt
from gigavqa.workers.engines.kv_admission import ChatSlots, chat_slots
from gigavqa.workers.engines.prefix_warmup import PrefixWarmer
from gigavqa.workers.engines.simulation.answer_script import AnswerScript
from gigavqa.workers.engines.simulation.prompts import SimulatedPrompt, count_tokens, first_tokens, lay_out_prompt
from gigavqa.workers.engines.simulation.roofline import MEMORY_BYTES, Roofline
from gigavqa.workers.engines.simulation.scheduler import Scheduler, WorkCounts
from gigavqa.workers.engines.simulation.scheduler import SimulatedSequence as Scheduled
from gigavqa.workers.engines.vllm.arguments import RECURRENT_ARGUMENTS

_OPTION = re.compile(r"^\s*\(?([A-H])[.):]", re.MULTILINE)
_TIMER_SECONDS = 0.001
"""What an event loop's timers can tell apart."""


def roofline_of(entry: CatalogueEntry) -> Roofline:
    """One H100 with a model like the entry's: Qwen3.5-27B where the family's attention is linear, else Qwen3-VL-8B.

    The entry's `max_num_batched_tokens` and `max_num_seqs` bound a step as they do in vLLM.
    """
    family, said = entry.known_family, entry.engine
    roofline = Roofline.of("h100", "27b" if family and family.linear_attention else "8b")
    model = roofline.model
    batched = int(said.get("max_num_batched_tokens") or roofline.batched_tokens)
    # As `gigavqa.workers.engines.encoder_cache` tells vLLM; what is kept beyond one step's is taken from the KV cache.
    kept = max(
        batched, entry.visual_budget.max_visual_tokens, encoder_cache_tokens(entry, model.embedding_bytes, MEMORY_BYTES)
    )
    return replace(
        roofline,
        batched_tokens=batched,
        encoder_tokens=kept,
        kv_tokens=roofline.kv_tokens - (kept - batched) * model.embedding_bytes // model.kv_bytes,
        sequences=int(said.get("max_num_seqs") or roofline.sequences),
        watermark=float(said.get("watermark", RECURRENT_ARGUMENTS["watermark"] if model.state_bytes else 0)),
    )


@dataclass
class _SimulatedGeneration:
    scheduled: Scheduled
    text: str
    done: asyncio.Future[None]
    arrived: float
    grow: OnTokens | None = None
    told: int = 0

    def tell(self, tokens: int) -> None:
        """Tell what so many tokens of the answer say beyond what was told."""
        if self.grow:
            text = first_tokens(self.text, tokens)
            if len(text) > self.told:
                self.grow(self.told, text[self.told :], None)
                self.told = len(text)


class SimulatedEngine:
    """Answers a random option's letter after as long as a real engine would take, divided by `speed`.

    Text is a function of the sampling seed and the prompt alone. `speed` 0 takes no time at all. An answer is preceded
    by `thought_tokens` that take time and room, and are not told. With a `script` its texts are those, and it is called
    scripted.
    """

    def __init__(
        self,
        entry: CatalogueEntry,
        *,
        speed: float = 1.0,
        roofline: Roofline | None = None,
        thought_tokens: int = 0,
        script: AnswerScript | None = None,
    ) -> None:
        self._entry = entry
        self._speed = speed
        self._roofline = roofline or roofline_of(entry)
        self._thought_tokens = thought_tokens
        self._script = script
        self._plan = lru_cache(maxsize=4096)(entry.visual_budget.plan)
        self._scheduler = Scheduler(self._roofline)
        self._primers = PrefixWarmer.of(entry, self._roofline.batched_tokens, self._prefill)
        self._generations: dict[int, _SimulatedGeneration] = {}
        self._arrivals = 0
        self._work = asyncio.Event()
        self._loop: asyncio.Task[None] | None = None

    @property
    def info(self) -> EngineInfo:
        """What this engine is: simulated or scripted, in so many words."""
        name = "scripted" if self._script else "simulated"
        budget = str(self._entry.visual_budget)
        return EngineInfo(name=name, version="2", device="simulated", simulated=True, budget=budget)

    @property
    def phase(self) -> EnginePhase | None:
        """None: it starts at once."""
        return None

    @property
    def places(self) -> ChatSlots | None:
        """How many chats may be played at once, of a model with recurrent states."""
        return chat_slots(self._entry, self._roofline.kv_tokens)

    @property
    def counts(self) -> WorkCounts:
        """Work since the start, in more detail than `stats`."""
        return self._scheduler.counts

    async def start(self) -> None:
        """Start the loop of steps."""
        self._loop = asyncio.create_task(self._run(), name="simulated-engine")

    async def generate(
        self,
        chat: Sequence[Message],
        sampling: Sampling,
        request_id: str,
        priority: int = 0,
        grow: OnTokens | None = None,
    ) -> TurnResponse:
        """Answer the chat's last message; lower `priority` goes first. Raises EngineError and EngineDeadError.

        `grow` hears the first of the answer's tokens when it is made, and what each further step makes.
        """
        if not await self.healthy():
            raise EngineDeadError("the simulated engine is not running")
        prompt = self._prompt(chat)
        if prompt.tokens >= self._entry.max_model_len:
            context = self._entry.max_model_len
            message = f"the prompt has {prompt.tokens} tokens; the context holds {context}"
            raise ContextExceededError(message, excess=prompt.tokens - context + 1)
        written = self._script.write(chat) if self._script else self._drawn(chat, sampling, prompt)
        answer = first_tokens(_cut_at_stop(written, sampling), sampling.max_tokens)
        tokens = min(sampling.max_tokens, count_tokens(answer) + self._thought_tokens)
        async with self._primers.primed(chat, priority) as primed:
            generation = self._generation(prompt, primed.priority, tokens, answer)
            generation.grow = grow
            await self._play(generation)
        if generation.scheduled.cached < primed.tokens:
            self._primers.forget(chat)
        return _turn_response(generation, sampling)

    async def stats(self) -> EngineStats:
        """Counters and gauges of now."""
        return EngineStats(
            running=len(self._scheduler.running),
            waiting=len(self._scheduler.waiting),
            prompt_tokens=self.counts.prompt_tokens,
            cached_prompt_tokens=self.counts.cached_tokens,
            generated_tokens=self.counts.generated_tokens,
            processed_rasters=self.counts.encoder_runs,
            encoder_runs=self.counts.encoder_runs,
            primers=self._primers.count,
        )

    async def healthy(self) -> bool:
        """Return whether the loop runs."""
        return self._loop is not None and not self._loop.done()

    async def sleep(self, host_bytes: int) -> int:
        """Stop the loop and forget what is cached; returns the bytes of the weights, 0 when they are too many."""
        if not await self.healthy():
            raise EngineDeadError("the simulated engine is not running")
        weights = int(self._roofline.model.weight_bytes)
        if weights > host_bytes:
            return 0
        await self.stop()
        return weights

    async def wake(self) -> None:
        """Start the loop again."""
        await self.start()

    async def stop(self) -> None:
        """End the loop; what it was generating and what was cached is gone. Safe to call twice."""
        if self._loop is not None:
            self._loop.cancel()
            await asyncio.gather(self._loop, return_exceptions=True)
        for generation in self._generations.values():
            if not generation.done.done():
                generation.done.set_exception(EngineDeadError("the simulated engine was stopped"))
        self._generations.clear()
        self._primers.forget_all()
        self._scheduler = Scheduler(self._roofline, self.counts)

    async def _play(self, generation: _SimulatedGeneration) -> None:
        scheduled = generation.scheduled
        self._generations[scheduled.arrival] = generation
        self._scheduler.add(scheduled)
        self._work.set()
        try:
            await generation.done
        finally:
            if self._generations.pop(scheduled.arrival, None):
                self._scheduler.drop(scheduled)

    async def _prefill(self, chat: Sequence[Message], priority: int) -> int:
        """Keep what is made of `chat` up to the end of its last view; returns how many tokens others will find."""
        prompt = self._prompt(chat, is_answered=False)
        await self._play(self._generation(prompt, priority))
        unit = self._roofline.model.match_tokens
        return prompt.pictures[-1].end // unit * unit

    def _generation(
        self, prompt: SimulatedPrompt, priority: int, tokens: int = 1, answer: str = ""
    ) -> _SimulatedGeneration:
        self._arrivals += 1
        said = "" if self._thought_tokens else answer
        return _SimulatedGeneration(
            Scheduled(priority, self._arrivals, prompt, tokens, said),
            text=answer,
            done=asyncio.get_running_loop().create_future(),
            arrived=time.monotonic(),
        )

    def _drawn(self, chat: Sequence[Message], sampling: Sampling, prompt: SimulatedPrompt) -> str:
        plain = (
            self._prompt(with_cache_salt(chat, "")) if chat[0].salt else prompt
        )  # salts are the caches', not the answers'
        return _draw_answer(chat, sampling, plain.digest)

    def _prompt(self, chat: Sequence[Message], *, is_answered: bool = True) -> SimulatedPrompt:
        shown = [raster for message in chat for raster in message.rasters]
        visual = {raster.key: self._visual_tokens(raster.pixels.shape[:2], len(shown)) for raster in shown}
        return lay_out_prompt(chat, visual, self._roofline.model.match_tokens, is_answered=is_answered)

    def _visual_tokens(self, shape: tuple[int, ...], num_images: int) -> int:
        height, width = shape
        return self._plan(Size(width, height), num_images).visual_tokens

    async def _run(self) -> None:
        due = time.monotonic()
        while True:
            if not self._generations:
                self._work.clear()
                await self._work.wait()
                due = time.monotonic()
            # Timers are coarse: a step that ends before they can tell is followed by the next, and time is made up for.
            most = self._speed * _TIMER_SECONDS if self._speed else math.inf
            seconds = self._scheduler.step(time.monotonic(), most)
            due += seconds / self._speed if self._speed else 0
            ahead = due - time.monotonic() if self._speed else 0
            await asyncio.sleep(ahead if ahead > _TIMER_SECONDS else 0)
            self._finish_step()

    def _finish_step(self) -> None:
        ended_now = self._scheduler.finish(time.monotonic())
        for generation in self._generations.values():
            if generation.grow:
                generation.tell(generation.scheduled.decoded - self._thought_tokens)
        for ended in ended_now:
            generation = self._generations.pop(ended.arrival)
            if not generation.done.done():
                generation.done.set_result(None)


def _turn_response(generation: _SimulatedGeneration, sampling: Sampling) -> TurnResponse:
    scheduled, now = generation.scheduled, time.monotonic()
    begun, first = scheduled.scheduled or now, scheduled.first_token or now
    return TurnResponse(
        text=generation.text,
        finish_reason="length" if scheduled.answer_tokens == sampling.max_tokens else "stop",
        usage=Usage(
            prompt_tokens=scheduled.prompt.tokens,
            completion_tokens=scheduled.answer_tokens,
            cached_tokens=scheduled.cached,
        ),
        timings=Timings(queued=begun - generation.arrived, prefill=first - begun, decode=now - first),
    )


def _cut_at_stop(text: str, sampling: Sampling) -> str:
    """Return what stands before the first of the texts that are to stop it."""
    stops = sampling.steering.stop if sampling.steering else ()
    return text[: min((at for stop in stops if (at := text.find(stop)) >= 0), default=len(text))]


def _draw_answer(chat: Sequence[Message], sampling: Sampling, digest: int) -> str:
    held = sampling.steering.structure.choice if sampling.steering and sampling.steering.structure else None
    letters = held or _OPTION.findall(chat[-1].text) or ["A", "B", "C", "D"]
    drawn = hashlib.blake2b(f"{sampling.seed}:{digest}".encode(), digest_size=8).digest()
    letter = letters[int.from_bytes(drawn, "big") % len(letters)]
    return letter if held else f"The answer is {letter}."
