"""Count the FLOPs and bytes of evaluations, and the seconds that a GPU takes for them: docs/plan.md has the sums."""

from dataclasses import dataclass, replace

from gigavqa.catalogue.gpus import GpuCard
from gigavqa.catalogue.shapes import LanguageShape, ModelShape, VisionShape
from gigavqa.tiling.budgets.resolver import PreprocessingDecision

MOST_CHATS = 64
"""Chats that a worker plays at once unless its settings say otherwise."""


@dataclass(frozen=True)
class Rates:
    """Shares of a card's FLOPs, in matrices and in the encoder's attention, and of its bandwidth that are reached."""

    linear: float
    encoder_attention: float
    bandwidth: float
    whole: float = 1.0
    """And of the speed that these give, where prefill and decode mix."""


@dataclass(frozen=True)
class EngineRoom:
    """One engine: `number` GPUs that hold its model, `chats` that it answers at once, and the bytes of a token in its
    KV cache on all of them.
    """

    card: GpuCard
    number: int
    chats: int
    token_bytes: int


ROOFLINE = Rates(1, 1, 1)
BEST = Rates(0.55, 0.45, 0.67)
WORST = replace(BEST, whole=0.6)


@dataclass(frozen=True)
class Work:
    """What an evaluation asks of one model: `encoder` as FLOPs of matrices and of attention; tokens that are new to
    the cache, with the sum of contexts that they see; answers' tokens, with the sum of contexts likewise.
    """

    encoder: tuple[float, float] = (0, 0)
    prefilled: int = 0
    prefill_context: int = 0
    generated: int = 0
    decode_context: int = 0

    def __add__(self, other: "Work") -> "Work":
        mine, its = self.encoder, other.encoder
        return Work(
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


def seconds(shape: ModelShape, work: Work, engine: EngineRoom, rates: Rates) -> float:
    """Seconds that an engine takes for the work at these rates: first encoder and prefill, by FLOPs, then decoding, by
    bytes.
    """
    encode = work.encoder[0] / rates.linear + work.encoder[1] / rates.encoder_attention
    prefill = 2 * shape.language.active_parameters * work.prefilled + _attention_flops(shape.language, work)
    computing = (encode + prefill / rates.linear) / (engine.card.flops * engine.number)
    reading = decode_bytes(shape, work, engine) / (engine.card.bandwidth * engine.number) / rates.bandwidth
    return (computing + reading) / rates.whole


def decode_bytes(shape: ModelShape, work: Work, engine: EngineRoom) -> float:
    """Bytes that decoding reads: weights once a step for all chats of it, and each chat's keys, values and states."""
    language = shape.language
    touched = (
        language.experts * (1 - (1 - language.active / language.experts) ** engine.chats) if language.experts else 0
    )
    layers = language.mixer_parameters + language.mlp_parameters(round(touched))
    weights = layers * (shape.quantized_bits or 16) / 8 + language.head_parameters * 2
    states = 0
    if rec := language.recurrent:
        states = 2 * 4 * rec.layers * rec.value_heads * rec.key * rec.value  # read and written each step
    return work.generated * (weights / engine.chats + states) + work.decode_context * engine.token_bytes


def _attention_flops(language: LanguageShape, work: Work) -> float:
    flops = 0.0
    for part in language.attention:
        seen = work.prefill_context if part.window is None else min(work.prefill_context, work.prefilled * part.window)
        flops += 4 * part.layers * part.heads * part.head * seen
    if mla := language.latent:
        flops += 2 * mla.layers * mla.heads * (mla.plain + mla.turned + mla.value) * work.prefill_context
    return flops
