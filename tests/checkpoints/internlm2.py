"""A small InternVL2 checkpoint on InternLM2. Tensors: vLLM, models/internvl.py and internlm2.py."""

from dataclasses import replace
from typing import Any

from gigavqa.workers.checkpoints.tensors import (
    HEAD,
    HEADS,
    HIDDEN,
    KV_HEADS,
    LAYERS,
    MLP,
    NUM_TOKENS,
    Shapes,
    TokenIds,
    add_prefix,
    text_config,
)
from tests.checkpoints.internvl import INTERNVL_CHAT


def _config(token_ids: TokenIds) -> dict[str, Any]:
    """As published: a name that transformers does not know, and code that it would bring."""
    language = text_config("internlm2", token_ids) | {
        "architectures": ["InternLM2ForCausalLM"],
        "auto_map": {"AutoConfig": "configuration_internlm2.InternLM2Config"},  # which is not there
        "bias": False,
        "rope_theta": 1000000,
        "rope_scaling": {"factor": 2.0, "type": "dynamic"},
    }
    del language["rope_parameters"], language["head_dim"]
    return INTERNVL_CHAT.config(token_ids) | {"llm_config": language}


def _shapes() -> Shapes:
    yield from (named for named in INTERNVL_CHAT.shapes() if not named[0].startswith("language_model."))
    yield "language_model.output.weight", (NUM_TOKENS, HIDDEN)
    yield "language_model.model.tok_embeddings.weight", (NUM_TOKENS, HIDDEN)
    yield "language_model.model.norm.weight", (HIDDEN,)
    for layer in range(LAYERS):
        yield from add_prefix(f"language_model.model.layers.{layer}", _layer())


def _layer() -> Shapes:
    yield "attention_norm.weight", (HIDDEN,)
    yield "ffn_norm.weight", (HIDDEN,)
    yield "attention.wqkv.weight", ((HEADS + 2 * KV_HEADS) * HEAD, HIDDEN)
    yield "attention.wo.weight", (HIDDEN, HEADS * HEAD)
    yield "feed_forward.w1.weight", (MLP, HIDDEN)
    yield "feed_forward.w3.weight", (MLP, HIDDEN)
    yield "feed_forward.w2.weight", (HIDDEN, MLP)


INTERNVL2 = replace(
    INTERNVL_CHAT,
    config=_config,
    shapes=_shapes,
    head="language_model.output.weight",
    focus=2.0,  # of queries and keys, which are scaled together
)
