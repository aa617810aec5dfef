"""Names and shapes of tensors, and the weights that are drawn for them."""

import math
from collections.abc import Collection, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from workers.checkpoints.vocabulary import ANSWER_LETTERS, NUM_TOKENS

Shapes = Iterator[tuple[str, tuple[int, ...]]]
"""Tensors by their names, as a checkpoint stores them."""

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


def prefixed(prefix: str, *groups: Shapes) -> Shapes:
    """Put `prefix` and a dot before every name."""
    return ((f"{prefix}.{name}", shape) for shapes in groups for name, shape in shapes)


def linear(*shape: int) -> Shapes:
    """A weight (outputs first) and a bias; also of norms and convolutions."""
    yield "weight", shape
    yield "bias", shape[:1]


def weight(*shape: int) -> Shapes:
    """A weight alone."""
    yield "weight", shape


def gated_mlp(hidden: int, inner: int) -> Shapes:
    """The gate, up and down projections of a gated MLP without biases."""
    yield "gate_proj.weight", (inner, hidden)
    yield "up_proj.weight", (inner, hidden)
    yield "down_proj.weight", (hidden, inner)


def draw_all(shapes: Iterable[tuple[str, tuple[int, ...]]], head: str, seed: int) -> dict[str, NDArray[np.float32]]:
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


def queries(names: Iterable[str]) -> list[str]:
    """The tensors that scale queries, of a language model's attention and of a resampler's.

    They are the queries' norms, or their projections where no norm follows.
    """
    own = [name for name in names if "vision" not in name and "visual" not in name]
    norms = [name for name in own if name.endswith("q_norm.weight")]
    joined = [name for name in own if name.endswith("in_proj_weight")]
    projections = [name for name in own if name.endswith(("q_proj.weight", "q_proj.bias", "qkv_proj.weight"))]
    return joined + (norms or projections)


def legibility(tokenizer: Tokenizer, marks: Collection[str] = ()) -> NDArray[np.float32]:
    """Factor per token: none for marks and what is no text, more for the letters that answers are parsed for.

    Random weights answer gibberish; this makes it readable gibberish in which an answer's letter often occurs.
    """
    factors = np.ones(NUM_TOKENS, np.float32)
    for token_id in range(NUM_TOKENS):
        text = tokenizer.decode([token_id], skip_special_tokens=True)
        if not text or text in marks or "\ufffd" in text or not text.isprintable():
            factors[token_id] = 0.0
        elif text.strip() in ANSWER_LETTERS:
            factors[token_id] = 2.0
    return factors
