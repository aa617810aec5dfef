"""Continuous batching: which tokens of which sequences each step computes, and what the caches spare it.

After vLLM's scheduler (vllm/v1/core/sched/scheduler.py, release 0.32), without preemption: a sequence is admitted when
its whole prompt and its answer fit, so that nothing that runs is ever put back.
"""

from bisect import insort
from dataclasses import dataclass, field, replace
from math import inf

from gigavqa.workers.engines.simulation.encoder_cache import EncoderCache
from gigavqa.workers.engines.simulation.prefix_cache import PrefixCache, SequenceBlocks
from gigavqa.workers.engines.simulation.prompts import RasterSpan, SimulatedPrompt, first_tokens
from gigavqa.workers.engines.simulation.roofline import Roofline, StepWork


@dataclass(order=True)
class SimulatedSequence:
    """A prompt to be answered in `answer_tokens`; lower priority and earlier arrival go first. Times are a clock's.

    `answer` is their text, where later prompts may go on from it.
    """

    priority: int
    arrival: int
    prompt: SimulatedPrompt = field(compare=False)
    answer_tokens: int = field(compare=False, default=1)
    answer: str = field(compare=False, default="")
    computed: int = field(compare=False, default=0)
    decoded: int = field(compare=False, default=0)
    cached: int = field(compare=False, default=0)
    scheduled: float | None = field(compare=False, default=None)
    first_token: float | None = field(compare=False, default=None)
    held: SequenceBlocks = field(compare=False, default_factory=SequenceBlocks)
    pictures: list[RasterSpan] = field(compare=False, default_factory=list)
    """Those whose embeddings it holds."""

    @property
    def is_decoding(self) -> bool:
        """Whether its prompt is computed."""
        return self.computed >= self.prompt.tokens


@dataclass
class WorkCounts:
    """Work since the start."""

    prompt_tokens: int = 0
    cached_tokens: int = 0
    """Those of the prompts that the prefix cache spared."""
    prefilled_tokens: int = 0
    generated_tokens: int = 0
    encoder_runs: int = 0
    """Pictures that were encoded."""
    encoded_tokens: int = 0
    busy_seconds: float = 0.0
    """Of the machine, in its own time."""


class Scheduler:
    """The steps of one engine. `step` begins one and says how long it takes, `finish` ends it."""

    def __init__(self, roofline: Roofline, counts: WorkCounts | None = None) -> None:
        self.counts = counts or WorkCounts()
        self.waiting: list[SimulatedSequence] = []
        self.running: list[SimulatedSequence] = []
        self._roofline = roofline
        self._prefixes = PrefixCache(roofline)
        self._encoder = EncoderCache(roofline.encoder_tokens)
        self._repeats = 1

    def add(self, sequence: SimulatedSequence) -> None:
        """Let a sequence wait for its turn."""
        insort(self.waiting, sequence)

    def drop(self, sequence: SimulatedSequence) -> None:
        """Forget a sequence, whether it waits, runs or has ended."""
        if sequence in self.running:
            self.running.remove(sequence)
            self._let_go(sequence)
        elif sequence in self.waiting:
            self.waiting.remove(sequence)

    def step(self, now: float, most_seconds: float = inf) -> float:
        """Begin a step at `now`; returns its seconds.

        Steps in which the same sequences do nothing but decode are taken together, as long as they take no more than
        `most_seconds` (one at least).
        """
        self._prefixes.begin_step()
        decoding = [sequence for sequence in self.running if sequence.is_decoding]
        batch = _Batch(self._roofline.batched_tokens - len(decoding), self._roofline.batched_tokens)
        if len(decoding) < len(self.running):
            for sequence in [sequence for sequence in self.running if not sequence.is_decoding]:
                self._prefill(sequence, batch)
        while self.waiting and batch.room > 0 and len(self.running) < self._roofline.sequences:
            if not self._admit(self.waiting[0], batch, now):
                break
        context = sum(sequence.prompt.tokens + sequence.decoded for sequence in decoding)
        return self._take(batch.work(len(decoding), context), decoding, most_seconds)

    def finish(self, now: float) -> list[SimulatedSequence]:
        """End the step at `now`; returns the sequences whose answers are complete."""
        ended = []
        for sequence in self.running:
            if sequence.first_token is not None:
                sequence.decoded += self._repeats
            else:
                self._release_pictures(sequence)
                if not sequence.is_decoding:
                    continue
                sequence.first_token, sequence.decoded = now, 1
            if sequence.decoded >= sequence.answer_tokens:
                ended.append(sequence)
        for sequence in ended:
            self.running.remove(sequence)
            # The last token is told and not computed.
            self._let_go(sequence, first_tokens(sequence.answer, sequence.answer_tokens - 1))
            self.counts.generated_tokens += sequence.answer_tokens
        return ended

    def _admit(self, sequence: SimulatedSequence, batch: "_Batch", now: float) -> bool:
        """Move the first waiting sequence into the KV cache and begin its prompt; False when something is full."""
        held = self._prefixes.enter(sequence.prompt, sequence.answer_tokens, alone=not self.running)
        if held is None:
            return False
        sequence.held = held
        sequence.computed = sequence.cached = held.found
        if not self._prefill(sequence, batch):
            self._let_go(sequence)
            return False
        sequence.scheduled = now
        self.waiting.pop(0)
        self.running.append(sequence)
        self.counts.prompt_tokens += sequence.prompt.tokens
        self.counts.cached_tokens += sequence.cached
        return True

    def _prefill(self, sequence: SimulatedSequence, batch: "_Batch") -> int:
        """Compute as much of a prompt as the step has room for, and encode the pictures in it."""
        start, end = sequence.computed, min(sequence.prompt.tokens, sequence.computed + batch.room)
        for picture in sequence.prompt.pictures:
            if picture.start >= end:
                break
            if picture.end > start and not self._see(sequence, picture, batch):
                end = max(start, picture.start)
        end = self._prefixes.end_of_step(sequence.prompt, sequence.held, start, end)
        if end > start:
            batch.add(start, end)
            sequence.computed = end
            self._prefixes.compute(sequence.prompt, sequence.held, end)
        return end - start

    def _see(self, sequence: SimulatedSequence, picture: RasterSpan, batch: "_Batch") -> bool:
        """Hold a picture's embeddings, encoded now where they are not cached; False when there is no room for that."""
        if picture in sequence.pictures:
            return True
        if picture.key in self._encoder:
            self._encoder.hold(picture.key)
        elif batch.encodes(picture.tokens) and self._encoder.make_room(picture.tokens):
            self._encoder.add(picture.key, picture.tokens)
            batch.pictures.append(picture.tokens)
        else:
            return False
        sequence.pictures.append(picture)
        return True

    def _release_pictures(self, sequence: SimulatedSequence) -> None:
        """Let the embeddings go whose tokens are all computed."""
        for picture in [picture for picture in sequence.pictures if picture.end <= sequence.computed]:
            self._encoder.release(picture.key)
            sequence.pictures.remove(picture)

    def _let_go(self, sequence: SimulatedSequence, said: str = "") -> None:
        self._prefixes.leave(sequence.prompt, sequence.held, said)
        for picture in sequence.pictures:
            self._encoder.release(picture.key)
        sequence.held, sequence.pictures = SequenceBlocks(), []

    def _take(self, work: StepWork, decoding: list[SimulatedSequence], most_seconds: float) -> float:
        seconds, self._repeats = self._roofline.seconds(work), 1
        if decoding and not work.prefilled:
            left = min(sequence.answer_tokens - sequence.decoded for sequence in decoding)
            self._repeats = max(1, int(min(left, most_seconds / seconds)))
            grown = work.context + len(decoding) * (self._repeats - 1) // 2
            seconds = self._repeats * self._roofline.seconds(replace(work, context=grown))
        self.counts.prefilled_tokens += work.prefilled
        self.counts.encoder_runs += len(work.pictures)
        self.counts.encoded_tokens += sum(work.pictures)
        self.counts.busy_seconds += seconds
        return seconds


@dataclass
class _Batch:
    """The prompts of one step: tokens that it has `room` for, and visual tokens that it may encode."""

    room: int
    encodable: int
    prefilled: int = 0
    attention: float = 0.0
    pictures: list[int] = field(default_factory=list)

    def add(self, start: int, end: int) -> None:
        new = end - start
        self.room -= new
        self.prefilled += new
        self.attention += new * (end - new / 2)

    def encodes(self, tokens: int) -> bool:
        """Return whether a picture may be encoded in this step; the first one always, however large."""
        return not self.pictures or sum(self.pictures) + tokens <= self.encodable

    def work(self, decoding: int, context: int) -> StepWork:
        return StepWork(self.prefilled, self.attention, decoding, context, tuple(self.pictures))
