"""Read the shape of a model from its config.json: what its size, its KV cache and its work are counted from.

Of the catalogue's models the fields that are read lie in `shapes/`, one file for each name on Hugging Face.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gigavqa.catalogue.checkpoints import folder_checkpoint
from gigavqa.catalogue.entry import BUILT_IN_PREFIX, CatalogueEntry
from gigavqa.catalogue.errors import CheckpointInvalidError, ShapeUnknownError
from gigavqa.catalogue.load import plugin_checkpoints

SHAPES = Path(__file__).parent / "shapes"
_LANGUAGE_PARTS = ("text_config", "llm_config", "language_config")
_LARGEST = 1 << 32
_SIGLIP = {"hidden": 1152, "layers": 27, "inner": 4304, "patch": 14, "heads": 16}
"""The tower that these families name, and may leave unsaid."""
_SIGLIP_FAMILIES = frozenset({"deepseek_vl_v2", "minicpmo", "minicpmv", "phi4-siglip", "kimi_vl"})


@dataclass(frozen=True)
class AttentionShape:
    """Layers that keep keys and values: `window` is how many tokens back they see, None for all."""

    layers: int
    heads: int
    kv_heads: int
    head: int
    window: int | None = None


@dataclass(frozen=True)
class LatentShape:
    """Latent attention (MLA): one vector of `rank` and `turned` numbers a token, the same for all heads."""

    layers: int
    heads: int
    rank: int
    plain: int
    turned: int
    value: int


@dataclass(frozen=True)
class RecurrentShape:
    """Linear attention (gated delta rule): a state for each sequence, of whatever length."""

    layers: int
    key_heads: int
    value_heads: int
    key: int
    value: int
    kernel: int


@dataclass(frozen=True)
class LanguageShape:
    """The language model. `dense_layers` have an MLP of `intermediate`, the others experts; `gated` queries are twice
    as wide; of experts each token goes through `active`, and through `shared` as one MLP of that width.
    """

    hidden: int
    vocabulary: int
    tied: bool
    gated: bool
    attention: tuple[AttentionShape, ...]
    latent: LatentShape | None
    recurrent: RecurrentShape | None
    intermediate: int
    dense_layers: int
    expert_layers: int = 0
    experts: int = 0
    active: int = 0
    expert_intermediate: int = 0
    shared: int = 0

    @property
    def layers(self) -> int:
        """Number of all layers."""
        others = (part.layers for part in (self.latent, self.recurrent) if part)
        return sum(part.layers for part in self.attention) + sum(others)

    @property
    def mixer_parameters(self) -> int:
        """Weights of attention of every kind."""
        count = 0
        for part in self.attention:
            query, both = part.heads * part.head, 2 * part.kv_heads * part.head
            count += part.layers * self.hidden * ((2 + self.gated) * query + both)
        if mla := self.latent:
            up = mla.rank * mla.heads * (mla.plain + mla.value)
            query, out = mla.heads * (mla.plain + mla.turned), mla.heads * mla.value
            count += mla.layers * (self.hidden * (query + out + mla.rank + mla.turned) + up)
        if rec := self.recurrent:
            keys, values = rec.key_heads * rec.key, rec.value_heads * rec.value
            convolution = (2 * keys + values) * rec.kernel
            count += rec.layers * (self.hidden * (2 * keys + 3 * values + 2 * rec.value_heads) + convolution)
        return count

    def mlp_parameters(self, experts: int) -> int:
        """Weights of dense MLPs, and of so many experts of each layer that has some, with their router."""
        routed = experts * self.expert_intermediate + self.shared
        dense = self.dense_layers * 3 * self.hidden * self.intermediate
        return dense + self.expert_layers * self.hidden * (3 * routed + self.experts)

    @property
    def head_parameters(self) -> int:
        """Weights that make a token's scores of the last layer's output."""
        return self.vocabulary * self.hidden

    @property
    def parameters(self) -> int:
        """All weights but those of norms."""
        tables = self.head_parameters * (1 if self.tied else 2)
        return self.mixer_parameters + self.mlp_parameters(self.experts) + tables

    @property
    def active_parameters(self) -> int:
        """Weights that a token is multiplied with before its scores."""
        return self.mixer_parameters + self.mlp_parameters(self.active)


@dataclass(frozen=True)
class VisionShape:
    """The vision encoder. `full_layers` see a whole picture or tile, the others `window` patches around; `merger` are
    the weights between it and the language model, `merged` patches become one of their inputs.
    """

    layers: int
    hidden: int
    intermediate: int
    matrices: int
    patch: int
    full_layers: int
    window: int
    merger: int
    merged: int
    levels: int = 1
    positions: int = 0
    heads: int = 0
    """0 where nothing says how many."""
    merger_intermediate: int = 0
    """Of an MLP in the merger whose width is another one; else 0."""

    @property
    def block_parameters(self) -> int:
        """Weights that each patch is multiplied with."""
        return self.layers * self.hidden * (4 * self.hidden + self.matrices * self.intermediate)

    @property
    def parameters(self) -> int:
        """All weights but those of norms."""
        return self.block_parameters + self.merger + self.positions * self.hidden


@dataclass(frozen=True)
class ModelShape:
    """A model's language model and vision encoder; `source` is the file that says so."""

    language: LanguageShape
    vision: VisionShape | None
    source: str
    quantized_bits: int | None = None
    """Of each weight of the language model's layers, where the checkpoint is quantized."""

    @property
    def parameters(self) -> int:
        """All weights but those of norms."""
        return self.language.parameters + (self.vision.parameters if self.vision else 0)


def shape_of(entry: CatalogueEntry) -> ModelShape:
    """Return the shape of an entry's model: of the catalogue's table, or of config.json in a folder of weights.

    Raises ShapeUnknownError, CheckpointInvalidError.
    """
    known = SHAPES / f"{entry.weights.replace('/', '--')}.toml"
    if known.is_file():
        return read_shape(tomllib.loads(known.read_text(encoding="utf-8")), known.name)
    built_in = plugin_checkpoints().get(entry.weights.removeprefix(BUILT_IN_PREFIX))
    folder = built_in or Path(entry.weights).expanduser()
    if folder.is_dir():
        config, source = folder_checkpoint(folder).read("config.json"), str(folder / "config.json")
        shape = read_shape(config, source)
        if entry.takes_pictures and shape.vision is None:
            raise ConfigFields(config, source, "").wrong("vision_config", "is missing")
        return shape
    if entry.is_closed:
        raise ShapeUnknownError(f"'{entry.id}' is served elsewhere alone: there is no engine here to plan GPUs for")
    if entry.weights.startswith(BUILT_IN_PREFIX):
        raise ShapeUnknownError(
            f"'{entry.id}' is made when it is first served: name its folder in GIGAVQA_HOME/checkpoints as MODEL"
        )
    raise ShapeUnknownError(
        f"the shape of '{entry.id}' is unknown: put the config.json and preprocessor_config.json of {entry.weights} "
        "into a folder and name that folder as MODEL; no weights are needed"
    )


def read_shape(config: Mapping[str, Any], source: str) -> ModelShape:
    """Read the shape that a config.json declares; raises CheckpointInvalidError naming file and field."""
    name = next((part for part in _LANGUAGE_PARTS if isinstance(config.get(part), dict)), "")
    fields = ConfigFields({**config, **config[name]} if name else config, source, name)
    language = _language(fields)
    vision = config.get("vision_config")
    if isinstance(tower := config.get("vit_config"), dict):
        vision = {**tower, "visual_vocab_size": config.get("visual_vocab_size")}
    bits = _quantized_bits(ConfigFields(config.get("quantization_config") or {}, source, "quantization_config"))
    if vision is None:
        return ModelShape(language, None, source, bits)
    if not isinstance(vision, dict):
        raise ConfigFields(config, source, "").wrong("vision_config", "is no object")
    tower = _vision(ConfigFields(vision, source, "vision_config"), str(config.get("model_type")), language)
    return ModelShape(language, tower, source, bits)


def _quantized_bits(fields: "ConfigFields") -> int | None:
    if not isinstance(fields.values, dict):
        raise CheckpointInvalidError(f"{fields.source}: quantization_config is no object; take it as it was published")
    if not fields.values:
        return None
    return 8 if "fp8" in str(fields.values.get("quant_method")) else fields.number("bits", "w_bit")


class ConfigFields:
    """Fields of a part of a config.json, read under whichever name a family gives them."""

    def __init__(self, values: Mapping[str, Any], source: str, part: str) -> None:
        self.values = values
        self.source = source
        self._part = part

    def has(self, name: str) -> bool:
        """Whether it says something under this name."""
        return self.values.get(name) is not None

    def number(self, *names: str, default: int | None = None) -> int:
        """Read a positive whole number, of one of these names; of two sides of a square, one."""
        name = next((each for each in names if self.has(each)), names[0])
        value = self.values.get(name, default)
        value = default if value is None else value[0] if isinstance(value, list) and value else value
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _LARGEST:
            raise self.wrong(name, "is missing" if value is None else f"is {value!r}, and no positive whole number")
        if value == 0 and default != 0:
            raise self.wrong(name, "is 0, and no positive whole number")
        return value

    def count(self, name: str) -> int:
        """Count the entries of a list; 0 where there is none."""
        value = self.values.get(name) or []
        if not isinstance(value, list):
            raise self.wrong(name, f"is {value!r}, and no list")
        return len(value)

    def wrong(self, name: str, fault: str) -> CheckpointInvalidError:
        """Return the error of a field."""
        field = f"{self._part}.{name}" if self._part else name
        return CheckpointInvalidError(f"{self.source}: {field} {fault}; take the config.json that the model came with")


def _language(fields: ConfigFields) -> LanguageShape:
    hidden, layers = fields.number("hidden_size"), fields.number("num_hidden_layers")
    heads = fields.number("num_attention_heads")
    latent = _latent(fields, layers, heads) if fields.has("kv_lora_rank") else None
    full, recurrent = layers, None
    if fields.has("linear_num_value_heads"):
        full = _full_layers(fields, layers, "full_attention_interval", 4)
        recurrent = RecurrentShape(
            layers - full,
            fields.number("linear_num_key_heads"),
            fields.number("linear_num_value_heads"),
            fields.number("linear_key_head_dim"),
            fields.number("linear_value_head_dim"),
            fields.number("linear_conv_kernel_dim", default=4),
        )
    experts = fields.number("n_routed_experts", "num_experts", "num_local_experts", default=0)
    dense = (
        layers if not experts or fields.has("enable_moe_block") else fields.number("first_k_dense_replace", default=0)
    )
    width = fields.number("moe_intermediate_size") if experts else 0
    shared = fields.number("n_shared_experts", default=0) * width
    return LanguageShape(
        hidden=hidden,
        vocabulary=fields.number("vocab_size"),
        tied=fields.values.get("tie_word_embeddings") is True,
        gated=fields.values.get("attn_output_gate") is True,
        attention=() if latent else _attention(fields, layers, full, heads, hidden),
        latent=latent,
        recurrent=recurrent,
        intermediate=fields.number("intermediate_size", default=1 if not dense else None),
        dense_layers=dense,
        expert_layers=(layers if dense == layers else layers - dense) if experts else 0,
        experts=experts,
        active=fields.number("num_experts_per_tok", "top_k_experts") if experts else 0,
        expert_intermediate=width,
        shared=shared or fields.number("shared_expert_intermediate_size", default=0),
    )


def _latent(fields: ConfigFields, layers: int, heads: int) -> LatentShape:
    names = ("kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim")
    return LatentShape(layers, heads, *(fields.number(name) for name in names))


def _attention(fields: ConfigFields, layers: int, full: int, heads: int, hidden: int) -> tuple[AttentionShape, ...]:
    kv_heads = fields.number("num_key_value_heads", default=heads)
    head = fields.number("head_dim", default=max(1, hidden // heads))
    if heads % kv_heads:
        raise fields.wrong("num_key_value_heads", f"is {kv_heads}, which does not divide {heads} heads")
    window = fields.values.get("sliding_window")
    if not window or fields.values.get("use_sliding_window") is False or not _slides(fields):
        return (AttentionShape(full, heads, kv_heads, head),)
    full = _full_layers(fields, layers, "sliding_window_pattern", 6)
    wide = fields.number("num_global_key_value_heads", default=kv_heads)
    return (
        AttentionShape(full, heads, wide, fields.number("global_head_dim", default=head)),
        AttentionShape(layers - full, heads, kv_heads, head, fields.number("sliding_window")),
    )


def _slides(fields: ConfigFields) -> bool:
    kinds = fields.values.get("layer_types")
    return fields.has("sliding_window_pattern") or (isinstance(kinds, list) and "sliding_attention" in kinds)


def _full_layers(fields: ConfigFields, layers: int, interval: str, default: int) -> int:
    kinds = fields.values.get("layer_types")
    if isinstance(kinds, list):
        if len(kinds) != layers:
            raise fields.wrong("layer_types", f"names {len(kinds)} layers, and num_hidden_layers {layers}")
        return sum(kind == "full_attention" for kind in kinds)
    return layers // fields.number(interval, default=default)


def _vision(vision: ConfigFields, kind: str, language: LanguageShape) -> VisionShape:
    known = _SIGLIP if kind in _SIGLIP_FAMILIES else {}
    hidden = vision.number("embed_dim", "hidden_size", "width", default=known.get("hidden"))
    layers = vision.number("num_hidden_layers", "depth", "layers", default=known.get("layers"))
    is_glm, is_qwen25 = kind.startswith("glm4v"), kind.startswith("qwen2_5")
    inner = hidden * vision.number("mlp_ratio") if kind == "qwen2_vl" else 0
    inner = inner or vision.number("intermediate_size", default=known.get("inner"))
    if is_glm:
        inner = vision.number("out_hidden_size")
    patch = vision.number("patch_size", default=known.get("patch"))
    window = (vision.number("window_size") // patch) ** 2 if is_qwen25 else 0
    full = vision.count("fullatt_block_indexes") if is_qwen25 else layers
    levels = 1 + vision.count("deepstack_visual_indexes")
    merged = _merged(vision, kind)
    wide = hidden * merged
    merger = levels * wide * (wide + language.hidden)
    if is_glm:
        merger = merged * hidden * inner + inner * inner + 3 * inner * vision.number("intermediate_size")
    elif kind in ("internvl", "internvl_chat", "llava_onevision"):
        merger = wide * language.hidden + language.hidden**2
    elif kind in ("minicpmo", "minicpmv"):
        merger = 5 * language.hidden**2 + hidden * language.hidden
    elif kind == "ovis2_5":
        merger = (wide + language.hidden) * vision.number("visual_vocab_size")
    elif kind in ("gemma4", "idefics3"):
        merger = wide * language.hidden
    return VisionShape(
        layers=layers,
        hidden=hidden,
        intermediate=inner,
        matrices=3 if is_glm or is_qwen25 or kind == "gemma4" else 2,
        patch=patch,
        full_layers=full,
        window=window,
        merger=merger,
        merged=merged,
        levels=levels,
        positions=vision.number("num_position_embeddings", default=0),
        merger_intermediate=vision.number("intermediate_size") if is_glm else 0,
        heads=vision.number("num_heads", "num_attention_heads", "heads", default=known.get("heads", 0)),
    )


def _merged(vision: ConfigFields, kind: str) -> int:
    if kind in ("phi4-siglip", "llava_onevision"):
        return 1
    side = vision.number("spatial_merge_size", "merge_kernel_size", "pooling_kernel_size", default=2)
    return 1 if kind == "gemma4" else side**2
