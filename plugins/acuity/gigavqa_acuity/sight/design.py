"""The small model's architecture: Qwen3-VL's own, a million weights, and a tokenizer that knows the chart's words."""

from dataclasses import replace
from typing import Any

from gigavqa.catalogue.families.qwen import QwenBudget
from gigavqa.tiling.geometry import Size
from gigavqa.workers.checkpoints.qwen3_vl import MERGE, QWEN3_VL, processing_config
from gigavqa.workers.checkpoints.tensors import TokenIds
from gigavqa_acuity.prompts import read_texts
from gigavqa_acuity.taxonomy import COLOURS, DIRECTIONS, LETTERS

PATCH = 16
SMALLEST, LARGEST = Size(64, 64), Size(192, 192)
"""The rasters of least and most pixels; demo-sight's visual budget says the same."""
NUM_TOKENS = 512
TOLD = {"colour": "The ring is {word}.", "direction": "The gap of the ring points {word}."}
ONE_WORD = "Answer with the word alone."
_GRID = LARGEST.width // PATCH
_HIDDEN, _HEADS, _MLP, _LAYERS = 96, 3, 240, 3
_VISION, _VISION_HEADS, _VISION_MLP, _VISION_LAYERS = 96, 3, 192, 4


def _config(token_ids: TokenIds) -> dict[str, Any]:
    small = QWEN3_VL.config(token_ids)
    text = {
        "vocab_size": NUM_TOKENS,
        "hidden_size": _HIDDEN,
        "intermediate_size": _MLP,
        "num_hidden_layers": _LAYERS,
        "num_attention_heads": _HEADS,
        "num_key_value_heads": _HEADS,
        "tie_word_embeddings": True,
    }
    vision = {
        "depth": _VISION_LAYERS,
        "hidden_size": _VISION,
        "intermediate_size": _VISION_MLP,
        "num_heads": _VISION_HEADS,
        "out_hidden_size": _HIDDEN,
        "num_position_embeddings": _GRID**2,
        "deepstack_visual_indexes": [_VISION_LAYERS // 2],
    }
    return small | {
        "tie_word_embeddings": True,
        "text_config": small["text_config"] | text,
        "vision_config": small["vision_config"] | vision,
    }


def _sentences() -> str:
    """Return every text that the model is taught with, so that each of its words is one token."""
    direct, shown = read_texts("direct"), read_texts("shown")
    said = [direct["prompt"], direct["colour"], direct["direction"], ONE_WORD, *shown.values()]
    options = [f"{letter}. {word}" for letter in LETTERS for word in (*COLOURS, *DIRECTIONS)]
    told = [TOLD["colour"].format(word=word) for word in COLOURS]
    told += [TOLD["direction"].format(word=word) for word in DIRECTIONS]
    return "\n".join([*said, *options, *told, "user", "assistant"])


def budget() -> QwenBudget:
    """Return how large its rasters are, as the catalogue says."""
    return QwenBudget(kind="qwen", factor=PATCH * MERGE, min_pixels=SMALLEST.area, max_pixels=LARGEST.area)


SIGHT = replace(
    QWEN3_VL,
    config=_config,
    processing=processing_config("Qwen3VL", PATCH, min_pixels=SMALLEST.area, max_pixels=LARGEST.area),
    sentences=_sentences(),
)
