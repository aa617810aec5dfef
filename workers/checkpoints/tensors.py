"""Names and shapes of tensors, those of the decoder that small checkpoints share, and the weights drawn for them."""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Shapes = Iterator[tuple[str, tuple[int, ...]]]
"""Tensors by their names, as a checkpoint stores them."""

TokenIds = Mapping[str, int]

NUM_TOKENS = 1024
HIDDEN, MLP, HEADS, KV_HEADS, HEAD, LAYERS = 128, 256, 4, 2, 32, 2
CONTEXT = 8192
ROPE = {"rope_type": "default", "rope_theta": 500000.0}

LOGIT_STD = 3.0
_POSITION_STD = 0.3  # so that a patch is more than its place
_POSITIONS = (
    "pos_emb.weight",
    "pos_embed",
    "position_embedding",
    "position_embedding.weight",
    "position_embeddings",
)
_TABLES = ("embed_tokens.weight", "pos_embed.weight", "position_embedding_table")


def add_prefix(prefix: str, *groups: Shapes) -> Shapes:
    """Put `prefix` and a dot before every name."""
    return ((f"{prefix}.{name}", shape) for shapes in groups for name, shape in shapes)


def linear(*shape: int) -> Shapes:
    """Yield a weight (outputs first) and a bias; also of norms and convolutions."""
    yield "weight", shape
    yield "bias", shape[:1]


def weight(*shape: int) -> Shapes:
    """Yield the shape of a weight without a bias."""
    yield "weight", shape


def gated_mlp(hidden: int, inner: int) -> Shapes:
    """Yield the gate, up and down projections of a gated MLP without biases."""
    yield "gate_proj.weight", (inner, hidden)
    yield "up_proj.weight", (inner, hidden)
    yield "down_proj.weight", (hidden, inner)


def text_config(model_type: str, token_ids: TokenIds, **changes: Any) -> dict[str, Any]:
    """Configuration of the decoder, with what a family names or sizes otherwise."""
    return {
        "model_type": model_type,
        "dtype": "float32",
        "vocab_size": NUM_TOKENS,
        "hidden_size": HIDDEN,
        "intermediate_size": MLP,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "num_key_value_heads": KV_HEADS,
        "head_dim": HEAD,
        "max_position_embeddings": CONTEXT,
        "bos_token_id": token_ids["<|endoftext|>"],
        "eos_token_id": token_ids["<|im_end|>"],
        "pad_token_id": token_ids["<|endoftext|>"],
        "tie_word_embeddings": False,
        "rope_parameters": ROPE,
    } | changes


def decoder(prefix: str, *layers: Shapes) -> Shapes:
    """Embedding, layers and the last norm of a decoder."""
    yield f"{prefix}.embed_tokens.weight", (NUM_TOKENS, HIDDEN)
    yield f"{prefix}.norm.weight", (HIDDEN,)
    for number, layer in enumerate(layers):
        yield from add_prefix(f"{prefix}.layers.{number}", layer)


def dense_layer(*, bias: bool = False, qk_norm: bool = False) -> Shapes:
    """Yield a layer of attention and a gated MLP."""
    yield from norms()
    yield from add_prefix("self_attn", attention(bias=bias, qk_norm=qk_norm))
    yield from add_prefix("mlp", gated_mlp(HIDDEN, MLP))


def norms() -> Shapes:
    """Yield the two norms of a layer."""
    yield "input_layernorm.weight", (HIDDEN,)
    yield "post_attention_layernorm.weight", (HIDDEN,)


def attention(head: int = HEAD, *, bias: bool = False, qk_norm: bool = False, gated: bool = False) -> Shapes:
    """Grouped-query attention; a gated one has its gate beside the queries."""
    make = linear if bias else weight
    yield from add_prefix("q_proj", make(HEADS * head * (2 if gated else 1), HIDDEN))
    yield from add_prefix("k_proj", make(KV_HEADS * head, HIDDEN))
    yield from add_prefix("v_proj", make(KV_HEADS * head, HIDDEN))
    yield "o_proj.weight", (HIDDEN, HEADS * head)
    if qk_norm:
        yield "q_norm.weight", (head,)
        yield "k_norm.weight", (head,)


def draw_weights(shapes: Iterable[tuple[str, tuple[int, ...]]], head: str, seed: int) -> dict[str, NDArray[np.float32]]:
    """Draw each tensor from its own stream of `seed`, so that none depends on the order of the others."""
    return {
        name: _draw(name, shape, name == head, np.random.default_rng([seed, index]))
        for index, (name, shape) in enumerate(sorted(shapes))
    }


def _draw(name: str, shape: tuple[int, ...], is_head: bool, random: np.random.Generator) -> NDArray[np.float32]:
    if name.endswith(".bias"):
        return np.zeros(shape, np.float32)
    if len(shape) == 1:
        return np.ones(shape, np.float32)
    return random.standard_normal(shape, np.float32) * np.float32(_std(name, shape, is_head))


def _std(name: str, shape: tuple[int, ...], is_head: bool) -> float:
    if is_head:
        return LOGIT_STD / math.sqrt(shape[1])
    if name.endswith(_TABLES):
        return 1.0
    if name.endswith(_POSITIONS):
        return _POSITION_STD
    if ".experts." in name:  # all experts of a layer in one tensor
        return 1 / math.sqrt(shape[-1])
    return 1 / math.sqrt(math.prod(shape[1:]))


def query_tensors(names: Iterable[str]) -> list[str]:
    """Return the tensors that scale queries, of a language model's attention and of a resampler's.

    They are the queries' norms, or their projections where no norm follows; where those are joined with keys and
    values, the norms before them, which scale all three.
    """
    own = [name for name in names if "vision" not in name and "visual" not in name]
    norms = [name for name in own if name.endswith("q_norm.weight")]
    joined = [name for name in own if name.endswith("in_proj_weight")]
    projections = [name for name in own if name.endswith(("q_proj.weight", "q_proj.bias", "qkv_proj.weight"))]
    before = [name for name in own if name.endswith(".attention_norm.weight")]
    return joined + (norms or projections or before)
