"""Read the shape of a model from its config.json.

Of the catalogue's models the fields that are read lie in `shapes/`, one file for each name on Hugging Face.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gigavqa.catalogue.checkpoints import folder_checkpoint
from gigavqa.catalogue.config_fields import ConfigFields
from gigavqa.catalogue.entry import BUILT_IN_PREFIX, CatalogueEntry
from gigavqa.catalogue.errors import ShapeUnknownError
from gigavqa.catalogue.load import plugin_checkpoints
from gigavqa.catalogue.quantization import read_quantization
from gigavqa.catalogue.shapes import (
    AttentionShape,
    LanguageShape,
    LatentShape,
    ModelShape,
    RecurrentShape,
    VisionShape,
)

SHAPES = Path(__file__).parent / "shapes"
_LANGUAGE_PARTS = ("text_config", "llm_config", "language_config")
_KINDS = frozenset({"full_attention", "sliding_attention", "linear_attention"})
_UNCOUNTED = ("num_kv_shared_layers", "hidden_size_per_layer_input", "attention_chunk_size")
_GEMMA4_DEFAULTS = {"hidden_size_per_layer_input": 256}
"""What transformers takes where a file leaves it out, and leaves out where it writes one."""
_MODELOPT_FILE = "hf_quant_config.json"
"""Where older checkpoints of NVIDIA's say how they are quantized; vLLM reads it, too."""
_SIGLIP = {"hidden": 1152, "layers": 27, "inner": 4304, "patch": 14, "heads": 16}
"""The tower that these families name, and may leave unsaid."""
_HEADS = ("num_heads", "num_attention_heads", "heads")
_SIGLIP_FAMILIES = frozenset({"deepseek_vl_v2", "minicpmo", "minicpmv", "phi4-siglip", "kimi_vl"})


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


def _language(fields: ConfigFields) -> LanguageShape:
    is_gemma = str(fields.values.get("model_type")).startswith("gemma4")
    said = {**(_GEMMA4_DEFAULTS if is_gemma else {}), **fields.values}
    if unknown := next((name for name in _UNCOUNTED if said.get(name)), None):
        raise fields.wrong(unknown, f"is {said[unknown]}, and neither its weights nor its cache are counted here")
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
    dense = _dense_layers(fields, layers, experts)
    width = fields.number("moe_intermediate_size") if experts else 0
    active = fields.number("num_experts_per_tok", "top_k_experts") if experts else 0
    if active > experts:
        raise fields.wrong("num_experts_per_tok", f"is {active}, and there are {experts} experts")
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
        expert_layers=(layers if fields.has("enable_moe_block") else layers - dense) if experts else 0,
        experts=experts,
        active=active,
        expert_intermediate=width,
        shared=shared or fields.number("shared_expert_intermediate_size", default=0),
    )


def _dense_layers(fields: ConfigFields, layers: int, experts: int) -> int:
    """Count the layers with one MLP for all tokens; Gemma 4's have one beside their experts, in each layer."""
    if not experts or fields.has("enable_moe_block"):
        return layers
    first, every = fields.number("first_k_dense_replace", default=0), fields.number("moe_layer_freq", default=1)
    step, named = fields.number("decoder_sparse_step", default=1), fields.whole_numbers("mlp_only_layers")
    if outside := sorted(named - set(range(layers))):
        raise fields.wrong("mlp_only_layers", f"names layer {outside[0]} of {layers}")
    sparse = (
        at for at in range(layers) if at >= first and at % every == 0 and (at + 1) % step == 0 and at not in named
    )
    return layers - sum(1 for _ in sparse)


def _latent(fields: ConfigFields, layers: int, heads: int) -> LatentShape:
    names = ("kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim")
    return LatentShape(layers, heads, *(fields.number(name) for name in names))


def _attention(fields: ConfigFields, layers: int, full: int, heads: int, hidden: int) -> tuple[AttentionShape, ...]:
    kv_heads = fields.number("num_key_value_heads", default=heads)
    if not fields.has("head_dim"):
        _require_divided(fields, "num_attention_heads", heads, hidden)
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


def _require_divided(fields: ConfigFields, name: str, heads: int, hidden: int) -> None:
    if hidden % heads:
        raise fields.wrong(name, f"is {heads}, which does not divide the hidden size of {hidden}")


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
    heads = known.get("heads", 0)
    if heads_name := next(filter(vision.has, _HEADS), None):
        heads = vision.number(heads_name)
        _require_divided(vision, heads_name, heads, hidden)
    out_name = "hidden_size" if kind == "qwen2_vl" else "out_hidden_size"
    if (out := vision.number(out_name, default=language.hidden)) != language.hidden:
        raise vision.wrong(out_name, f"is {out}, and the language model's hidden_size {language.hidden}")
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
        heads=heads,
    )


def _merged(vision: ConfigFields, kind: str) -> int:
    if kind in ("phi4-siglip", "llava_onevision"):
        return 1
    side = vision.number("spatial_merge_size", "merge_kernel_size", "pooling_kernel_size", default=2)
    return 1 if kind == "gemma4" else side**2
