"""The language model that the small checkpoints share: a decoder of two layers, its configuration and its tensors."""

from typing import Any

from workers.checkpoints.tensors import Shapes, gated_mlp, linear, prefixed, weight
from workers.checkpoints.vocabulary import NUM_TOKENS
from workers.checkpoints.writing import TokenIds

HIDDEN, MLP, HEADS, KV_HEADS, HEAD, LAYERS = 128, 256, 4, 2, 32, 2
CONTEXT = 8192
ROPE = {"rope_type": "default", "rope_theta": 500000.0}


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
        yield from prefixed(f"{prefix}.layers.{number}", layer)


def dense_layer(*, bias: bool = False, qk_norm: bool = False) -> Shapes:
    """A layer of attention and a gated MLP."""
    yield from norms()
    yield from prefixed("self_attn", attention(bias=bias, qk_norm=qk_norm))
    yield from prefixed("mlp", gated_mlp(HIDDEN, MLP))


def norms() -> Shapes:
    """The two norms of a layer."""
    yield "input_layernorm.weight", (HIDDEN,)
    yield "post_attention_layernorm.weight", (HIDDEN,)


def attention(head: int = HEAD, *, bias: bool = False, qk_norm: bool = False, gated: bool = False) -> Shapes:
    """Grouped-query attention; a gated one has its gate beside the queries."""
    make = linear if bias else weight
    yield from prefixed("q_proj", make(HEADS * head * (2 if gated else 1), HIDDEN))
    yield from prefixed("k_proj", make(KV_HEADS * head, HIDDEN))
    yield from prefixed("v_proj", make(KV_HEADS * head, HIDDEN))
    yield "o_proj.weight", (HIDDEN, HEADS * head)
    if qk_norm:
        yield "q_norm.weight", (head,)
        yield "k_norm.weight", (head,)
