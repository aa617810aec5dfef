"""Say which parts of a model vLLM does not divide among GPUs: it says so itself only as it makes their layers.

vLLM 0.32 divides query heads, MLPs and vocabulary evenly, KV heads evenly or as copies (models/llama.py,
layers/linear.py, layers/vocab_parallel_embedding.py, layers/fused_moe/config.py), and heads of linear attention evenly
(layers/mamba/mamba_utils.py). So it does with vision encoders, but for those named here; of some it keeps one whole on
each GPU where `mm_encoder_tp_mode=data` asks for that (`supports_encoder_tp_data` of their classes).
"""

from collections.abc import Iterator
from dataclasses import dataclass

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.catalogue.errors import CatalogueError
from gigavqa.catalogue.shape_configs import shape_of
from gigavqa.catalogue.shapes import LanguageShape, ModelShape, VisionShape
from gigavqa.workers.errors import EngineArgumentError

_VOCABULARY_UNIT = 64  # of rows, to which vLLM pads it
_MOST_GPUS = 16  # that are named as a choice
_MODE = "mm_encoder_tp_mode"
_WHOLE_ENCODER = frozenset({"gemma-4"})
"""Families whose encoder is transformers' own, whole on each GPU (gemma4_mm.py)."""
_WHOLE_ENCODER_HEADS = frozenset({"internvl3.5", "internvl3.5-chat", "deepseek-vl2"})
"""And those of which the MLPs alone are divided, the heads where they can be or not at all (intern_vit.py,
interns1_vit.py, deepseek_vl2.py)."""
_DIVIDED_WHERE_EVEN = "internvl3.5-chat"
"""The one of these whose heads are divided where they can be (InternParallelAttention)."""
DATA_PARALLEL_ENCODERS = frozenset(
    {
        "qwen2-vl",
        "qwen2.5-vl",
        "qwen3-vl",
        "qwen3.5",
        "glm-4.5v",
        "internvl3.5-chat",
        "kimi-vl",
        "minicpm-o-2.6",
        "minicpm-v-4.5",
    }
)
"""Families whose encoder can be kept whole."""


@dataclass(frozen=True)
class Division:
    """Parts of a model that vLLM does not divide among so many GPUs, in words, and what to do."""

    parts: tuple[str, ...] = ()
    remedy: str = ""


def divide(entry: CatalogueEntry, shape: ModelShape, number: int) -> Division:
    """Find what of a model vLLM does not divide among `number` GPUs, with the entry's arguments."""
    parts = tuple(_undivided(entry, shape, number))
    return Division(parts, _remedy(entry, shape, number)) if parts else Division()


def spread_over(entry: CatalogueEntry, shape: ModelShape, number: int) -> CatalogueEntry:
    """Return an entry of the same model over so many GPUs, its encoder whole on each where that alone can be."""
    spread = entry.model_copy(update={"engine": {**entry.engine, "tensor_parallel_size": number}})
    whole = _with_whole_encoder(spread)
    return whole if divide(spread, shape, number).parts and not divide(whole, shape, number).parts else spread


def keeps_encoder_whole(entry: CatalogueEntry) -> bool:
    """Whether each GPU holds the whole vision encoder of a model that several hold."""
    asked = entry.engine.get(_MODE) == "data" and entry.family in DATA_PARALLEL_ENCODERS
    return asked or entry.family in _WHOLE_ENCODER


def whole_encoder_share(entry: CatalogueEntry, shape: ModelShape, number: int) -> float:
    """Return the share of the vision encoder's weights that each of `number` GPUs holds, and not a part of."""
    vision = shape.vision
    if vision is None or number == 1:
        return 0
    if keeps_encoder_whole(entry):
        return 1
    if entry.family not in _WHOLE_ENCODER_HEADS:
        return 0
    is_whole = entry.family != _DIVIDED_WHERE_EVEN or vision.heads % number
    return vision.layers * 4 * vision.hidden**2 / vision.parameters if is_whole else 0


def describe_undivided(model: str, number: int, division: Division) -> str:
    """Say that a model cannot be spread over so many GPUs."""
    parts = ", ".join(division.parts)
    return f"'{model}' cannot be spread over {number} GPUs, among which vLLM does not divide {parts}"


def require_divided(entry: CatalogueEntry) -> None:
    """Raise EngineArgumentError for a model that vLLM does not divide among as many GPUs as its entry says.

    Of one whose shape is unknown nothing is said.
    """
    number = entry.tensor_parallel_size
    try:
        division = divide(entry, shape_of(entry), number)
    except CatalogueError:
        return
    if division.parts:
        raise EngineArgumentError(f"{describe_undivided(entry.id, number, division)}; {division.remedy}")


def _remedy(entry: CatalogueEntry, shape: ModelShape, number: int) -> str:
    sizes = [str(size) for size in range(1, _MOST_GPUS + 1) if not any(_undivided(entry, shape, size))]
    listed = " or ".join([*([", ".join(sizes[:-1])] if sizes[1:] else []), sizes[-1]])
    remedy = f"set engine.tensor_parallel_size of its entry to {listed}"
    if any(_undivided(_with_whole_encoder(entry), shape, number)):
        return remedy
    return f"{remedy}, or engine.{_MODE} to data, which keeps its vision encoder whole on each GPU"


def _with_whole_encoder(entry: CatalogueEntry) -> CatalogueEntry:
    return entry.model_copy(update={"engine": {**entry.engine, _MODE: "data"}})


def _undivided(entry: CatalogueEntry, shape: ModelShape, number: int) -> Iterator[str]:
    split = [*_language_parts(shape.language, experts_are_split=not entry.engine.get("enable_expert_parallel"))]
    if shape.vision is not None and not keeps_encoder_whole(entry):
        split += _encoder_parts(shape.vision, heads_are_split=entry.family not in _WHOLE_ENCODER_HEADS)
    yield from dict.fromkeys(f"{count:,} {name}" for count, name in split if count % number)
    yield from dict.fromkeys(_torn_groups(shape, number))
    heads = dict.fromkeys(part.kv_heads for part in shape.language.attention)
    yield from (f"{count} KV heads" for count in heads if count % number and number % count)


def _torn_groups(shape: ModelShape, number: int) -> Iterator[str]:
    """Yield rows of dense layers that cannot be divided so that no group of quantized weights is torn.

    Of experts vLLM divides the groups themselves (fused_moe/oracle/fp8.py).
    """
    language, how = shape.language, shape.quantization
    if how is None or number == 1 or not how.group:
        return
    heads = [(part.heads * part.head, "outputs of attention", "self_attn.o_proj") for part in language.attention]
    mlps = [(language.intermediate if language.dense_layers else 0, "rows of its MLPs", "mlp.down_proj")]
    for count, name, module in (*heads, *mlps):
        if how.share(module, language.layers, language.layers) and count % (number * how.group):
            yield f"{count:,} {name} in groups of {how.group}"


def _language_parts(language: LanguageShape, *, experts_are_split: bool) -> Iterator[tuple[int, str]]:
    for part in language.attention:
        yield part.heads, "query heads"
    if language.latent:
        yield language.latent.heads, "query heads"
    if rec := language.recurrent:
        yield rec.key_heads, "key heads of linear attention"
        yield rec.value_heads, "value heads of linear attention"
    if language.dense_layers:
        yield language.intermediate, "rows of its MLPs"
    if language.experts and experts_are_split:
        yield language.expert_intermediate, "rows of its experts"
    yield language.shared, "rows of its shared experts"
    yield -(-language.vocabulary // _VOCABULARY_UNIT) * _VOCABULARY_UNIT, "rows of its vocabulary"


def _encoder_parts(vision: VisionShape, *, heads_are_split: bool) -> Iterator[tuple[int, str]]:
    if heads_are_split:
        yield vision.heads, "heads of its vision encoder"
    yield vision.intermediate, "rows of its vision encoder's MLPs"
    yield vision.merger_intermediate, "rows of its vision encoder's merger"
