"""Writes a checkpoint as a folder: weights, configuration, tokenizer, chat template and preprocessing."""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file
from tokenizers import AddedToken, Tokenizer, decoders, pre_tokenizers
from tokenizers.models import BPE
from tokenizers.trainers import BpeTrainer

from gigavqa.workers.checkpoints.tensors import NUM_TOKENS, TokenIds, draw_weights, query_tensors

TEXT_TOKENS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
ANSWER_LETTERS = ("A", "B", "C", "D")

_SENTENCES = """
Question: how many people are there in the image? Answer with the letter of the correct option. The correct answer is A.
The person at the bottom of the picture wears a red coat and carries a yellow bag. The vehicle is turning left.
Options: A. two B. three C. four D. five. Answer with the option's letter directly. The answer is B.
There are several ships in the harbour, an airplane on the runway, storage tanks beside the bridge and a tennis court.
The tissue in the upper left region shows dense cells with dark nuclei; the lower right region shows normal stroma.
Which region of the whole slide image contains the tumor? Think step by step, then write the final answer as a letter.
Which product in the grid is different? Give its coordinate as (row, column), starting at the top left.
The anomaly is a scratch, a lost screw, a color, a broken edge, a bent cable or a missing part. The answer is C.
First locate the objects, then count them in each quadrant: upper-left, upper-right, lower-left and lower-right.
Compare the number of objects between both halves of the scene and choose the largest, the smallest, or none of them.
Step 1: the camera looks from above. Step 2: the background is grey and green. Step 3: the total is 0, 1, 2, 3, 4, 5, 6,
7, 8, 9 or 10. Therefore the difference is zero, and the final answer is D. Yes, no, true, false, left, right, near.
"""

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
_TOKENIZER_CONFIG = {
    "tokenizer_class": "PreTrainedTokenizerFast",
    "eos_token": "<|im_end|>",
    "pad_token": "<|endoftext|>",
    "model_max_length": 8192,
    "clean_up_tokenization_spaces": False,
}


@dataclass(frozen=True)
class CheckpointDesign:
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
    sentences: str = _SENTENCES


def write_checkpoint(design: CheckpointDesign, folder: Path, seed: int) -> None:
    """Write a checkpoint of random weights into the existing `folder`; the same bytes for the same seed."""
    tokenizer = write_without_weights(design, folder)
    tensors = draw_weights(design.shapes(), design.head, seed)
    tensors[design.head] *= _legibility(tokenizer, design.plain_marks)[:, None]
    for name in query_tensors(tensors):
        tensors[name] *= np.float32(design.focus)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


def write_without_weights(design: CheckpointDesign, folder: Path) -> Tokenizer:
    """Write all of a checkpoint but its weights into the existing `folder`; returns the tokenizer."""
    tokens = (*TEXT_TOKENS, *design.special_tokens)
    tokenizer = _train_tokenizer(tokens, design.special_marks, design.plain_marks, design.sentences)
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
    return tokenizer


def _save_tokenizer(tokenizer: Tokenizer, distant_tokens: Mapping[str, int], path: Path) -> None:
    content = json.loads(tokenizer.to_str(pretty=False))
    for token, token_id in distant_tokens.items():
        content["model"]["vocab"][token] = token_id
        content["added_tokens"].append(content["added_tokens"][0] | {"id": token_id, "content": token})
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")


def _train_tokenizer(
    special_tokens: Sequence[str], special_marks: Sequence[str], plain_marks: Sequence[str], sentences: str
) -> Tokenizer:
    """Train the tokenizer; the same vocabulary every time. The special tokens have the lowest ids, in their order.

    Marks have the highest ids, so that they change no other token's; the plain ones are tokens without being special.
    """
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = BpeTrainer(
        vocab_size=NUM_TOKENS - len(special_marks) - len(plain_marks),
        min_frequency=1,
        special_tokens=[AddedToken(token, special=True) for token in special_tokens],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(sentences.strip().splitlines(), trainer)
    tokenizer.add_special_tokens([AddedToken(mark, special=True, normalized=False) for mark in special_marks])
    tokenizer.add_tokens([AddedToken(mark, special=False, normalized=False) for mark in plain_marks])
    return tokenizer


def _legibility(tokenizer: Tokenizer, marks: Collection[str] = ()) -> NDArray[np.float32]:
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
