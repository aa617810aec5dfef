"""A Qwen3-VL checkpoint of a million random weights: every part of the architecture, small enough for any CPU.

Tensor names and shapes: transformers, models/qwen3_vl/modeling_qwen3_vl.py.
"""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file
from tokenizers import Tokenizer

from workers.checkpoints.vocabulary import ANSWER_LETTERS, NUM_TOKENS, SPECIAL_TOKENS, train_tokenizer

MIN_PIXELS, MAX_PIXELS = 65536, 262144
_PATCH, _MERGE, _FRAMES = 16, 2, 2
_VISION, _VISION_MLP, _VISION_HEADS, _VISION_LAYERS, _POSITIONS = 64, 128, 4, 2, 256
_HIDDEN, _MLP, _HEADS, _KV_HEADS, _HEAD, _LAYERS = 128, 256, 4, 2, 32, 2
_LOGIT_STD = 3.0

CHAT_TEMPLATE = """\
{%- for message in messages -%}
<|im_start|>{{ message.role }}
{% if message.content is string %}{{ message.content }}{% else -%}
{%- for part in message.content -%}
{%- if part.type in ('image', 'image_url') or 'image' in part -%}<|vision_start|><|image_pad|><|vision_end|>
{%- elif 'text' in part -%}{{ part.text }}{%- endif -%}
{%- endfor -%}
{%- endif %}<|im_end|>
{% endfor -%}
{%- if add_generation_prompt -%}<|im_start|>assistant
{% endif -%}
"""


def write_qwen3_vl(folder: Path, seed: int) -> None:
    """Write weights, configuration, tokenizer, chat template and preprocessing into the existing `folder`."""
    tokenizer = train_tokenizer()
    tokenizer.save(str(folder / "tokenizer.json"))
    save_file(_weights(tokenizer, seed), folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "chat_template.jinja").write_text(CHAT_TEMPLATE, encoding="utf-8")
    token_ids = {token: tokenizer.token_to_id(token) for token in SPECIAL_TOKENS}
    for name, content in {
        "config.json": _config(token_ids),
        "generation_config.json": {"eos_token_id": [token_ids["<|im_end|>"], token_ids["<|endoftext|>"]]},
        "tokenizer_config.json": _TOKENIZER_CONFIG,
        "preprocessor_config.json": _preprocessor("image"),
        "video_preprocessor_config.json": _preprocessor("video"),
    }.items():
        (folder / name).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


_TOKENIZER_CONFIG = {
    "tokenizer_class": "PreTrainedTokenizerFast",
    "eos_token": "<|im_end|>",
    "pad_token": "<|endoftext|>",
    "model_max_length": 8192,
    "clean_up_tokenization_spaces": False,
}


def _config(token_ids: dict[str, int]) -> dict[str, Any]:
    return {
        "architectures": ["Qwen3VLForConditionalGeneration"],
        "model_type": "qwen3_vl",
        "dtype": "float32",
        "tie_word_embeddings": False,
        "image_token_id": token_ids["<|image_pad|>"],
        "video_token_id": token_ids["<|video_pad|>"],
        "vision_start_token_id": token_ids["<|vision_start|>"],
        "vision_end_token_id": token_ids["<|vision_end|>"],
        "text_config": {
            "model_type": "qwen3_vl_text",
            "dtype": "float32",
            "vocab_size": NUM_TOKENS,
            "hidden_size": _HIDDEN,
            "intermediate_size": _MLP,
            "num_hidden_layers": _LAYERS,
            "num_attention_heads": _HEADS,
            "num_key_value_heads": _KV_HEADS,
            "head_dim": _HEAD,
            "max_position_embeddings": 8192,
            "eos_token_id": token_ids["<|im_end|>"],
            "pad_token_id": token_ids["<|endoftext|>"],
            "rope_parameters": {
                "rope_type": "default",
                "rope_theta": 500000.0,
                "mrope_section": [4, 6, 6],
                "mrope_interleaved": True,
            },
        },
        "vision_config": {
            "model_type": "qwen3_vl_vision",
            "depth": _VISION_LAYERS,
            "hidden_size": _VISION,
            "intermediate_size": _VISION_MLP,
            "num_heads": _VISION_HEADS,
            "out_hidden_size": _HIDDEN,
            "num_position_embeddings": _POSITIONS,
            "deepstack_visual_indexes": list(range(_VISION_LAYERS)),
            "patch_size": _PATCH,
            "spatial_merge_size": _MERGE,
            "temporal_patch_size": _FRAMES,
        },
    }


def _preprocessor(kind: str) -> dict[str, Any]:
    config: dict[str, Any] = {
        "processor_class": "Qwen3VLProcessor",
        "size": {"shortest_edge": MIN_PIXELS, "longest_edge": MAX_PIXELS},
        "patch_size": _PATCH,
        "temporal_patch_size": _FRAMES,
        "merge_size": _MERGE,
        "image_mean": [0.5, 0.5, 0.5],
        "image_std": [0.5, 0.5, 0.5],
    }
    if kind == "image":
        return config | {"image_processor_type": "Qwen2VLImageProcessorFast"}
    return config | {"video_processor_type": "Qwen3VLVideoProcessor"}


def _weights(tokenizer: Tokenizer, seed: int) -> dict[str, NDArray[np.float32]]:
    """Draw each tensor from its own stream of `seed`, so that none depends on the order of the others."""
    tensors = {
        name: _draw(name, shape, np.random.default_rng([seed, index]))
        for index, (name, shape) in enumerate(sorted(_shapes()))
    }
    tensors["lm_head.weight"] *= _legibility(tokenizer)[:, None]
    return tensors


def _draw(name: str, shape: tuple[int, ...], random: np.random.Generator) -> NDArray[np.float32]:
    if name.endswith(".bias"):
        return np.zeros(shape, np.float32)
    if len(shape) == 1:
        return np.ones(shape, np.float32)
    if name.endswith(("embed_tokens.weight", "pos_embed.weight")):
        std = 1.0
    elif name == "lm_head.weight":
        std = _LOGIT_STD / math.sqrt(shape[1])
    else:
        std = 1 / math.sqrt(math.prod(shape[1:]))
    return random.standard_normal(shape, np.float32) * np.float32(std)


def _legibility(tokenizer: Tokenizer) -> NDArray[np.float32]:
    """Factor per token: none for what is no text, more for the letters that answers are parsed for.

    Random weights answer gibberish; this makes it readable gibberish in which an answer's letter often occurs.
    """
    factors = np.ones(NUM_TOKENS, np.float32)
    for token_id in range(NUM_TOKENS):
        text = tokenizer.decode([token_id], skip_special_tokens=True)
        if not text or "\ufffd" in text or not text.isprintable():
            factors[token_id] = 0.0
        elif text.strip() in ANSWER_LETTERS:
            factors[token_id] = 2.0
    return factors


def _shapes() -> Iterator[tuple[str, tuple[int, ...]]]:
    yield "lm_head.weight", (NUM_TOKENS, _HIDDEN)
    yield "model.language_model.embed_tokens.weight", (NUM_TOKENS, _HIDDEN)
    yield "model.language_model.norm.weight", (_HIDDEN,)
    for layer in range(_LAYERS):
        yield from _prefixed(f"model.language_model.layers.{layer}", _text_layer())
    visual = "model.visual"
    yield from _prefixed(f"{visual}.patch_embed.proj", _linear(_VISION, 3, _FRAMES, _PATCH, _PATCH))
    yield f"{visual}.pos_embed.weight", (_POSITIONS, _VISION)
    for layer in range(_VISION_LAYERS):
        yield from _prefixed(f"{visual}.blocks.{layer}", _vision_block())
        yield from _prefixed(f"{visual}.deepstack_merger_list.{layer}", _merger(_VISION * _MERGE**2))
    yield from _prefixed(f"{visual}.merger", _merger(_VISION))


_Shapes = Iterator[tuple[str, tuple[int, ...]]]


def _prefixed(prefix: str, shapes: _Shapes) -> _Shapes:
    return ((f"{prefix}.{name}", shape) for name, shape in shapes)


def _linear(*shape: int) -> _Shapes:
    yield "weight", shape
    yield "bias", shape[:1]


def _text_layer() -> _Shapes:
    yield "input_layernorm.weight", (_HIDDEN,)
    yield "post_attention_layernorm.weight", (_HIDDEN,)
    yield "self_attn.q_proj.weight", (_HEADS * _HEAD, _HIDDEN)
    yield "self_attn.k_proj.weight", (_KV_HEADS * _HEAD, _HIDDEN)
    yield "self_attn.v_proj.weight", (_KV_HEADS * _HEAD, _HIDDEN)
    yield "self_attn.o_proj.weight", (_HIDDEN, _HEADS * _HEAD)
    yield "self_attn.q_norm.weight", (_HEAD,)
    yield "self_attn.k_norm.weight", (_HEAD,)
    yield "mlp.gate_proj.weight", (_MLP, _HIDDEN)
    yield "mlp.up_proj.weight", (_MLP, _HIDDEN)
    yield "mlp.down_proj.weight", (_HIDDEN, _MLP)


def _vision_block() -> _Shapes:
    yield from _prefixed("norm1", _linear(_VISION))
    yield from _prefixed("norm2", _linear(_VISION))
    yield from _prefixed("attn.qkv", _linear(3 * _VISION, _VISION))
    yield from _prefixed("attn.proj", _linear(_VISION, _VISION))
    yield from _prefixed("mlp.linear_fc1", _linear(_VISION_MLP, _VISION))
    yield from _prefixed("mlp.linear_fc2", _linear(_VISION, _VISION_MLP))


def _merger(norm: int) -> _Shapes:
    merged = _VISION * _MERGE**2
    yield from _prefixed("norm", _linear(norm))
    yield from _prefixed("linear_fc1", _linear(merged, merged))
    yield from _prefixed("linear_fc2", _linear(_HIDDEN, merged))
