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
from gigavqa.catalogue.quantization import Quantization, read_quantization

SHAPES = Path(__file__).parent / "shapes"
_LANGUAGE_PARTS = ("text_config", "llm_config", "language_config")
_LARGEST = 1 << 32
_MLP = ("gate_proj", "up_proj", "down_proj")
_KINDS = frozenset({"full_attention", "sliding_attention", "linear_attention"})
_UNCOUNTED = ("num_kv_shared_layers", "hidden_size_per_layer_input", "attention_chunk_size")
_MODELOPT_FILE = "hf_quant_config.json"
"""Where older checkpoints of NVIDIA's say how they are quantized; vLLM reads it, too."""
_SIGLIP = {"hidden": 1152, "layers": 27, "inner": 4304, "patch": 14}
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

    def token_bytes(self, number: int, itemsize: float) -> float:
        """Bytes of a token's keys and values in one layer, on each of `number` GPUs: heads are divided, or copied."""
        return 2 * max(1, -(-self.kv_heads // number)) * self.head * itemsize


@dataclass(frozen=True)
class LatentShape:
    """Latent attention (MLA): one vector of `rank` and `turned` numbers a token, the same for all heads."""

    layers: int
    heads: int
    rank: int
    plain: int
    turned: int
    value: int

    def token_bytes(self, itemsize: float) -> float:
        """Bytes of a token's vector in one layer, on every GPU."""
        return (self.rank + self.turned) * itemsize


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
class LinearShape:
    """Matrices of one name, in `layers` of the layers, with `parameters` in all; `is_routed` where experts have them,
    each its own.
    """

    name: str
    layers: int
    parameters: int
    is_routed: bool = False


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

    def divides_among(self, number: int) -> bool:
        """Whether vLLM divides its heads among so many GPUs: query heads evenly, and KV heads evenly or as copies (its
        0.32 asserts both in each model, llama.py).
        """
        counts = [(part.heads, part.kv_heads) for part in self.attention]
        counts += [(self.latent.heads, 1)] if self.latent else []
        rec = self.recurrent
        states = not rec or not (rec.key_heads % number or rec.value_heads % number)
        return states and all(not heads % number and (not kv % number or not number % kv) for heads, kv in counts)

    @property
    def linears(self) -> tuple[LinearShape, ...]:
        """Matrices of the layers, under the names that checkpoints give them; routers are none that is quantized."""
        found = [each for part in self.attention for each in self._attention_linears(part)]
        if mla := self.latent:
            query, out = mla.heads * (mla.plain + mla.turned), mla.heads * mla.value
            widths = {"q_proj": query, "kv_a_proj_with_mqa": mla.rank + mla.turned, "o_proj": out}
            found += self._linears("self_attn", mla.layers, widths)
            up = mla.layers * mla.rank * mla.heads * (mla.plain + mla.value)
            found.append(LinearShape("self_attn.kv_b_proj", mla.layers, up))
        if rec := self.recurrent:
            keys, values, heads = rec.key_heads * rec.key, rec.value_heads * rec.value, rec.value_heads
            inner = {"in_proj_qkv": 2 * keys + values, "in_proj_z": values, "in_proj_b": heads, "in_proj_a": heads}
            found += self._linears("linear_attn", rec.layers, inner | {"out_proj": values})
        mlps = {"mlp": (self.dense_layers, self.intermediate), "mlp.shared_experts": (self.expert_layers, self.shared)}
        for name, (layers, width) in mlps.items():
            found += self._linears(name, layers, dict.fromkeys(_MLP, width))
        routed = self._linears("mlp.experts.0", self.expert_layers, dict.fromkeys(_MLP, self.expert_intermediate))
        found += [LinearShape(each.name, each.layers, self.experts * each.parameters, True) for each in routed]
        return tuple(each for each in found if each.parameters)

    def _attention_linears(self, part: AttentionShape) -> list[LinearShape]:
        query, keys = part.heads * part.head, part.kv_heads * part.head
        widths = {"q_proj": (1 + self.gated) * query, "k_proj": keys, "v_proj": keys, "o_proj": query}
        return self._linears("self_attn", part.layers, widths)

    def _linears(self, within: str, layers: int, widths: Mapping[str, int]) -> list[LinearShape]:
        """Matrices between the hidden size and these widths."""
        each = {f"{within}.{name}": layers * self.hidden * width for name, width in widths.items()}
        return [LinearShape(name, layers, parameters) for name, parameters in each.items()]

    @property
    def other_parameters(self) -> int:
        """Weights of the layers beside those matrices: routers, and convolutions of linear attention."""
        rec = self.recurrent
        convolution = (2 * rec.key_heads * rec.key + rec.value_heads * rec.value) * rec.kernel if rec else 0
        return self.expert_layers * self.hidden * self.experts + (rec.layers * convolution if rec else 0)

    def layer_parameters(self, experts: float) -> float:
        """Weights of all layers, with so many experts of each layer that has some."""
        shares = ((each.parameters, experts / self.experts if each.is_routed else 1) for each in self.linears)
        return sum(parameters * share for parameters, share in shares) + self.other_parameters

    @property
    def head_parameters(self) -> int:
        """Weights that make a token's scores of the last layer's output."""
        return self.vocabulary * self.hidden

    @property
    def parameters(self) -> int:
        """All weights but those of norms."""
        tables = self.head_parameters * (1 if self.tied else 2)
        return round(self.layer_parameters(self.experts)) + tables

    @property
    def active_parameters(self) -> int:
        """Weights that a token is multiplied with before its scores."""
        return round(self.layer_parameters(self.active))


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
    quantization: Quantization | None = None

    @property
    def parameters(self) -> int:
        """All weights but those of norms."""
        return self.language.parameters + (self.vision.parameters if self.vision else 0)

    def quantized(self, experts: float) -> float:
        """Weights of the layers that are quantized, with so many experts of each layer that has some."""
        if (how := self.quantization) is None:
            return 0
        layers = self.language.layers
        return sum(
            each.parameters
            * how.share(each.name, each.layers, layers)
            * (experts / self.language.experts if each.is_routed else 1)
            for each in self.language.linears
        )

    def layer_bytes(self, experts: float, itemsize: float) -> float:
        """Bytes of the layers, with so many experts of each that has some; what is not quantized has `itemsize`."""
        saved = itemsize - self.quantization.bits / 8 if self.quantization else 0
        return self.language.layer_parameters(experts) * itemsize - self.quantized(experts) * saved

    def vision_bytes(self, itemsize: float) -> float:
        """Bytes of the vision encoder, and of what is between it and the language model."""
        if not self.vision:
            return 0
        is_quantized = self.quantization is not None and self.quantization.has_vision
        saved = itemsize - self.quantization.bits / 8 if self.quantization and is_quantized else 0
        return self.vision.parameters * itemsize - (self.vision.block_parameters + self.vision.merger) * saved

    def weight_bytes(self, itemsize: float) -> float:
        """Bytes of all weights; tables of tokens are never taken to be quantized."""
        tables = self.language.parameters - self.language.layer_parameters(self.language.experts)
        layers = self.layer_bytes(self.language.experts, itemsize)
        return layers + tables * itemsize + self.vision_bytes(itemsize)


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
        if not config.get("quantization_config") and (folder / _MODELOPT_FILE).is_file():
            told = {"quant_method": "modelopt", **folder_checkpoint(folder).read(_MODELOPT_FILE)}
            config = {**config, "quantization_config": told}
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
    said = config.get("quantization_config") or config.get("compression_config")
    inner = config[name].get("quantization_config") if name else None
    quantization = read_quantization(said or inner, source)
    if vision is None:
        return ModelShape(language, None, source, quantization)
    if not isinstance(vision, dict):
        raise ConfigFields(config, source, "").wrong("vision_config", "is no object")
    tower = _vision(ConfigFields(vision, source, "vision_config"), str(config.get("model_type")), language)
    return ModelShape(language, tower, source, quantization)


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
    if unknown := next((name for name in _UNCOUNTED if fields.values.get(name)), None):
        raise fields.wrong(
            unknown, f"is {fields.values[unknown]}, and neither its weights nor its cache are counted here"
        )
    hidden, layers = fields.number("hidden_size"), fields.number("num_hidden_layers")
    heads = fields.number("num_attention_heads")
    latent = _latent(fields, layers, heads) if fields.has("kv_lora_rank") else None
    full, recurrent = layers, None
    if fields.has("linear_num_value_heads"):
        full = _full_layers(fields, layers)
        if not 0 < full < layers:
            raise fields.wrong("full_attention_interval", f"leaves {full} of {layers} layers that see everything")
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
    near = 0 if fields.has("linear_num_value_heads") else layers - _full_layers(fields, layers)
    wide = fields.number("num_global_key_value_heads", default=kv_heads) if near else kv_heads
    broad = fields.number("global_head_dim", default=head) if near else head
    parts: tuple[AttentionShape, ...] = (AttentionShape(full - near, heads, wide, broad),) if full > near else ()
    if near:
        parts += (AttentionShape(near, heads, kv_heads, head, fields.number("sliding_window")),)
    return parts


def _full_layers(fields: ConfigFields, layers: int) -> int:
    """Count the layers that see everything; the others see a window or keep a state, as vLLM 0.32 makes them."""
    kinds = fields.values.get("layer_types")
    if isinstance(kinds, list):
        if len(kinds) != layers:
            raise fields.wrong("layer_types", f"names {len(kinds)} layers, and num_hidden_layers {layers}")
        if unknown := sorted(set(map(str, kinds)) - _KINDS):
            raise fields.wrong("layer_types", f"names '{unknown[0]}', whose cache is not counted here")
        return sum(kind == "full_attention" for kind in kinds)
    if fields.has("linear_num_value_heads"):
        return layers // fields.number("full_attention_interval", default=4)
    slides = fields.values.get("use_sliding_window", not fields.has("max_window_layers"))
    if not (fields.values.get("sliding_window") and slides):
        return layers
    if fields.has("sliding_window_pattern"):
        return layers // fields.number("sliding_window_pattern")
    full = min(layers, fields.number("max_window_layers", default=0))
    if 0 < full < layers:
        raise fields.wrong("max_window_layers", f"is {full} of {layers}, which vLLM 0.32 does not serve")
    return full


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
    )


def _merged(vision: ConfigFields, kind: str) -> int:
    if kind in ("phi4-siglip", "llava_onevision"):
        return 1
    side = vision.number("spatial_merge_size", "merge_kernel_size", "pooling_kernel_size", default=2)
    return 1 if kind == "gemma4" else side**2
