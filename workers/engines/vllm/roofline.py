"""Count the FLOPs and bytes of evaluations, and the seconds that a GPU takes for them: docs/plan.md has the sums."""

from dataclasses import dataclass
from functools import cached_property

from gigavqa.catalogue.gpus import GpuCard
from gigavqa.catalogue.shapes import ModelShape, VisionShape
from gigavqa.tiling.budgets.resolver import PreprocessingDecision

MOST_CHATS = 64
"""Chats that a worker plays at once unless its settings say otherwise."""


@dataclass(frozen=True)
class Rates:
    """Shares of a card's FLOPs, in matrices and in the encoder's attention, and of its bandwidth that are reached."""

    linear: float
    encoder_attention: float
    bandwidth: float


FULL_RATES = Rates(1, 1, 1)
REACHED_RATES = Rates(0.55, 0.45, 0.67)
MIXED_SHARE = 0.6
"""Of the speed that the reached rates give where phases take turns, what mixed loads reach at worst."""


@dataclass(frozen=True)
class EngineRoom:
    """One engine: `number` GPUs that hold its model, `chats` that it answers at once, `batched` tokens of a step at
    most, and bytes of a number in the model and in its KV cache.
    """

    card: GpuCard
    number: int
    chats: int
    batched: int
    itemsize: float = 2
    kv_itemsize: float = 2


@dataclass(frozen=True)
class Work:
    """What an evaluation asks of one model: `rasters` to encode, with FLOPs of matrices and of attention; tokens that
    are new to the cache, with the sum of contexts that they see; answers' tokens, with the sum of contexts likewise.
    """

    rasters: int = 0
    encoder: tuple[float, float] = (0, 0)
    prefilled: int = 0
    prefill_context: int = 0
    generated: int = 0
    decode_context: int = 0

    def __add__(self, other: "Work") -> "Work":
        mine, its = self.encoder, other.encoder
        return Work(
            self.rasters + other.rasters,
            (mine[0] + its[0], mine[1] + its[1]),
            self.prefilled + other.prefilled,
            self.prefill_context + other.prefill_context,
            self.generated + other.generated,
            self.decode_context + other.decode_context,
        )


def encoder_flops(vision: VisionShape, decision: PreprocessingDecision) -> tuple[float, float]:
    """FLOPs of one raster in the encoder: of matrices, and of attention, which stays within each tile."""
    columns, rows = decision.grid
    tile = decision.canvas.area / (columns * rows) / vision.patch**2
    pieces = [tile] * (columns * rows) + ([decision.overview.area / vision.patch**2] if decision.overview else [])
    patches = sum(pieces)
    linear = 2 * patches * (vision.block_parameters + vision.merger / vision.merged)
    near = vision.layers - vision.full_layers
    pairs = sum(vision.full_layers * piece**2 + near * piece * vision.window for piece in pieces)
    return linear, 4 * vision.hidden * pairs


@dataclass(frozen=True)
class SpeedRange:
    """Seconds of a work: the least that its GPUs allow, and the expected range; each is at least the one before."""

    least: float
    best: float
    worst: float


def speed_range(shape: ModelShape, work: Work, engine: EngineRoom) -> SpeedRange:
    """Return the seconds that an engine takes: where all overlaps, where phases share steps, where they take turns."""
    demand = _Demand(shape, work, engine)
    return SpeedRange(demand.overlapped(), demand.sharing_steps(), demand.taking_turns() / MIXED_SHARE)


@dataclass(frozen=True)
class _Demand:
    """FLOPs and bytes of a work by what makes them: the encoder, matrices and attention of prefill and of decoding."""

    shape: ModelShape
    work: Work
    engine: EngineRoom

    def overlapped(self) -> float:
        """All FLOPs, or all bytes: whichever takes longer; no engine is faster."""
        linear, attention = self.work.encoder
        computed = linear + attention + (self._prefill_flops + self._decode_flops) / self._quickening
        flops = computed + self._prefill_attention[0] + self._decode_attention[0]
        read = self._shared_weights + self._prefill_attention[1] + self._decode_attention[1]
        return self._seconds(flops, read + self._vision_bytes(self._prefill_steps), FULL_RATES)

    def sharing_steps(self) -> float:
        """Tokens of prompts and of answers meet in steps: their matrices are read once, and other kernels follow."""
        flops = (self._prefill_flops + self._decode_flops) / self._quickening
        shared = self._seconds(flops, self._shared_weights, REACHED_RATES)
        return shared + self._encoding(self._prefill_steps) + self._attending

    def taking_turns(self) -> float:
        """Steps of prompts alone, and of answers alone; each raster is encoded by itself."""
        prefill = self._seconds(self._prefill_flops, self._prefill_steps * self._prefill_weights, REACHED_RATES)
        decode = self._seconds(self._decode_flops, self._decode_steps * self._decode_weights, REACHED_RATES)
        return prefill + decode + self._encoding(self.work.rasters) + self._attending

    def _seconds(self, flops: float, read: float, rates: Rates) -> float:
        card, number = self.engine.card, self.engine.number
        return max(flops / (card.flops * number) / rates.linear, read / (card.bandwidth * number) / rates.bandwidth)

    def _encoding(self, passes: float) -> float:
        linear, attention = self.work.encoder
        flops = linear + attention * REACHED_RATES.linear / REACHED_RATES.encoder_attention
        return self._seconds(flops, self._vision_bytes(passes), REACHED_RATES)

    def _vision_bytes(self, passes: float) -> float:
        return min(passes, self.work.rasters) * self.shape.vision_bytes(self.engine.itemsize)

    @property
    def _attending(self) -> float:
        parts = (self._prefill_attention, self._decode_attention)
        return sum(self._seconds(flops, read, REACHED_RATES) for flops, read in parts)

    @property
    def _prefill_steps(self) -> float:
        return self.work.prefilled / self.engine.batched

    @property
    def _decode_steps(self) -> float:
        return self.work.generated / self.engine.chats

    @cached_property
    def _prefill_weights(self) -> float:
        return self._weights_of_step(max(self.engine.batched, self.engine.chats))

    @cached_property
    def _decode_weights(self) -> float:
        return self._weights_of_step(self.engine.chats)

    @property
    def _shared_weights(self) -> float:
        """Bytes of weights where as many steps as can be are of prompts and of answers."""
        both = min(self._prefill_steps, self._decode_steps)
        alone = (self._decode_steps - both) * self._decode_weights
        return self._prefill_steps * self._prefill_weights + alone

    def _weights_of_step(self, tokens: int) -> float:
        """Bytes of weights that a step reads: of experts those that so many tokens touch."""
        language = self.shape.language
        touched = language.experts * (1 - (1 - language.active / language.experts) ** tokens) if language.experts else 0
        head = language.head_parameters * self.engine.itemsize
        return self.shape.layer_bytes(touched, self.engine.itemsize) + head

    @cached_property
    def _quickening(self) -> float:
        """How much faster the matrices are where the card computes in a quantized type, at twice the FLOPs."""
        how, language = self.shape.quantization, self.shape.language
        if how is None or how.native is None or self.engine.card.capability < how.native:
            return 1
        return 1 / (1 - self.shape.quantized(language.active) / language.active_parameters / 2)

    @property
    def _prefill_flops(self) -> float:
        return 2 * self.shape.language.active_parameters * self.work.prefilled

    @property
    def _decode_flops(self) -> float:
        language = self.shape.language
        return 2 * (language.active_parameters + language.head_parameters) * self.work.generated

    @cached_property
    def _prefill_attention(self) -> tuple[float, float]:
        """FLOPs of pairs of tokens, and bytes: each step reads the keys and values of the contexts it goes on with."""
        work = self.work
        flops, language = self._pairs(work.prefill_context, work.prefilled), self.shape.language
        if mla := language.latent:
            flops += 2 * mla.layers * mla.heads * (mla.plain + mla.turned + mla.value) * work.prefill_context
        steps = self.engine.batched
        return flops, self._cache_bytes(work.prefilled + work.prefill_context / steps, work.prefilled)

    @cached_property
    def _decode_attention(self) -> tuple[float, float]:
        """The same of answers; latent vectors are not unfolded, and states are read and written each step."""
        work, language = self.work, self.shape.language
        flops, read = self._pairs(work.decode_context, work.generated), 0.0
        if mla := language.latent:
            flops += 2 * mla.layers * mla.heads * (2 * mla.rank + mla.turned) * work.decode_context
        if rec := language.recurrent:
            read = work.generated * 2 * 4 * rec.layers * rec.value_heads * rec.key * rec.value
        return flops, read + self._cache_bytes(work.decode_context, work.generated)

    def _pairs(self, context: float, tokens: int) -> float:
        parts = self.shape.language.attention
        return sum(4 * part.layers * part.heads * part.head * _seen(part.window, context, tokens) for part in parts)

    def _cache_bytes(self, context: float, tokens: int) -> float:
        """Bytes of the KV cache, on all GPUs, that tokens read which see so much together."""
        language, number, itemsize = self.shape.language, self.engine.number, self.engine.kv_itemsize
        found = sum(
            part.layers * part.token_bytes(number, itemsize) * _seen(part.window, context, tokens)
            for part in language.attention
        )
        latent = language.latent.layers * language.latent.token_bytes(itemsize) * context if language.latent else 0
        return number * (found + latent)


def _seen(window: int | None, context: float, tokens: int) -> float:
    return context if window is None else min(context, tokens * window)
