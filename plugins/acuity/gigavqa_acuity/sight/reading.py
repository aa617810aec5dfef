"""Asks a checkpoint with transformers alone, greedily: what any engine of the same weights should answer."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from tokenizers import Tokenizer

from gigavqa.workers.engines.vllm.compat.torch_companions import repair_torch_companions
from gigavqa_acuity.sight.batches import patches, visual_tokens
from gigavqa_acuity.sight.chats import ChatEncoder
from gigavqa_acuity.sight.design import PATCH
from gigavqa_acuity.sight.lessons import Pixels

_AT_ONCE = 64
_MOST_TOKENS = 4


class RasterPrompt(NamedTuple):
    """A text behind rasters."""

    text: str
    pictures: tuple[Pixels, ...] = ()


class CheckpointReader:
    """A checkpoint's folder as transformers reads it."""

    def __init__(self, folder: Path) -> None:
        repair_torch_companions()
        import torch
        from transformers import Qwen3VLForConditionalGeneration

        self._torch = torch
        self._model: Any = Qwen3VLForConditionalGeneration.from_pretrained(folder, dtype=torch.float32).eval()
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.speech = ChatEncoder(self._tokenizer, (folder / "chat_template.jinja").read_text(encoding="utf-8"))

    def answer(self, asked: Sequence[RasterPrompt]) -> list[str]:
        """Return the texts of the answers, in order."""
        groups: dict[tuple[int, ...], list[int]] = {}
        prompts = [self.speech.prompt(one.text, tuple(map(visual_tokens, one.pictures))) for one in asked]
        for number, (one, prompt) in enumerate(zip(asked, prompts, strict=True)):
            key = (len(prompt), *(picture.shape[0] for picture in one.pictures))
            groups.setdefault(key, []).append(number)
        answers = [""] * len(asked)
        for group in groups.values():
            for start in range(0, len(group), _AT_ONCE):
                some = group[start : start + _AT_ONCE]
                told = self._generate([prompts[at] for at in some], [p for at in some for p in asked[at].pictures])
                for at, text in zip(some, told, strict=True):
                    answers[at] = text
        return answers

    def _generate(self, prompts: Sequence[Sequence[int]], pictures: Sequence[Pixels]) -> list[str]:
        """Answers to prompts of the same length with pictures of the same sizes."""
        torch = self._torch
        ids = torch.tensor(prompts)
        given: dict[str, Any] = {
            "input_ids": ids,
            "mm_token_type_ids": (ids == self._model.config.image_token_id).int(),
        }
        if pictures:
            sides = [picture.shape[0] // PATCH for picture in pictures]
            given["pixel_values"] = torch.from_numpy(np.concatenate([patches(picture) for picture in pictures]))
            given["image_grid_thw"] = torch.tensor([[1, side, side] for side in sides])
        told: list[Any] = []
        self._model.model.rope_deltas = None  # of the prompts before
        with torch.inference_mode():
            while len(told) < _MOST_TOKENS and not all(self.speech.end in row for row in _rows(told)):
                made = self._model(**given, logits_to_keep=1, use_cache=True)
                told.append(made.logits[:, -1].argmax(-1))
                given = {"input_ids": told[-1][:, None], "past_key_values": made.past_key_values}
        return [self._text(row) for row in _rows(told)]

    def _text(self, tokens: list[int]) -> str:
        end = tokens.index(self.speech.end) if self.speech.end in tokens else len(tokens)
        return str(self._tokenizer.decode(tokens[:end]))


def _rows(told: Sequence[Any]) -> list[list[int]]:
    """Tokens by prompt of tokens by step; one empty row before the first step."""
    return [list(row) for row in zip(*(step.tolist() for step in told), strict=True)] if told else [[]]
