"""Writes a checkpoint as a folder: weights, configuration, tokenizer, chat template and preprocessing."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file
from tokenizers import Tokenizer

from workers.checkpoints.tensors import draw_all, legibility, queries
from workers.checkpoints.vocabulary import TEXT_TOKENS, train_tokenizer

TokenIds = Mapping[str, int]

_CHAT_TEMPLATE = """\
{%- for message in messages -%}
<|im_start|>{{ message.role }}
{% if message.content is string %}{{ message.content }}{% else -%}
{%- for part in message.content -%}
{%- if part.type in ('image', 'image_url') or 'image' in part -%}IMAGE
{%- elif 'text' in part -%}{{ part.text }}{%- endif -%}
{%- endfor -%}
{%- endif %}<|im_end|>
{% endfor -%}
{%- if add_generation_prompt -%}<|im_start|>assistant
{% endif -%}
"""


@dataclass(frozen=True)
class Design:
    """One family's checkpoint; `image` is what a chat template writes for a picture, `head` the tensor of the logits.

    `special_tokens` are the family's own beside those of every chat. `special_marks` and `plain_marks` are tokens that
    its models write, special or not as in the published tokenizers; `processing` maps names of JSON files to their
    contents; `tokenizer` adds to the tokenizer's configuration. `focus` scales the queries: with more of it attention
    goes to few tokens, and the answers depend more on the picture. `distant_tokens` have ids of their own.
    """

    image: str
    special_tokens: tuple[str, ...]
    config: Callable[[TokenIds], dict[str, Any]]
    shapes: Callable[[], Iterable[tuple[str, tuple[int, ...]]]]
    processing: Mapping[str, Any]
    special_marks: tuple[str, ...] = ()
    plain_marks: tuple[str, ...] = ()
    head: str = "lm_head.weight"
    tokenizer: Mapping[str, Any] = field(default_factory=dict)
    distant_tokens: Mapping[str, int] = field(default_factory=dict)
    focus: float = 4.0


def write_checkpoint(design: Design, folder: Path, seed: int) -> None:
    """Write a checkpoint of random weights into the existing `folder`; the same bytes for the same seed."""
    tokens = (*TEXT_TOKENS, *design.special_tokens)
    tokenizer = train_tokenizer(tokens, design.special_marks, design.plain_marks)
    tensors = draw_all(design.shapes(), design.head, seed)
    tensors[design.head] *= legibility(tokenizer, design.plain_marks)[:, None]
    for name in queries(tensors):
        tensors[name] *= np.float32(design.focus)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    _save_tokenizer(tokenizer, design.distant_tokens, folder / "tokenizer.json")
    (folder / "chat_template.jinja").write_text(_CHAT_TEMPLATE.replace("IMAGE", design.image), encoding="utf-8")
    token_ids = {token: tokenizer.token_to_id(token) for token in tokens}
    for name, content in {
        "config.json": design.config(token_ids),
        "generation_config.json": {"eos_token_id": [token_ids["<|im_end|>"], token_ids["<|endoftext|>"]]},
        "tokenizer_config.json": _TOKENIZER_CONFIG | dict(design.tokenizer),
        **design.processing,
    }.items():
        (folder / name).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def _save_tokenizer(tokenizer: Tokenizer, distant_tokens: Mapping[str, int], path: Path) -> None:
    content = json.loads(tokenizer.to_str(pretty=False))
    for token, token_id in distant_tokens.items():
        content["model"]["vocab"][token] = token_id
        content["added_tokens"].append(content["added_tokens"][0] | {"id": token_id, "content": token})
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")


_TOKENIZER_CONFIG = {
    "tokenizer_class": "PreTrainedTokenizerFast",
    "eos_token": "<|im_end|>",
    "pad_token": "<|endoftext|>",
    "model_max_length": 8192,
    "clean_up_tokenization_spaces": False,
}
