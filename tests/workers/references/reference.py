"""What a reference is asked and what it answers; the families that transformers has a class of."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from PIL import Image

torch.set_num_threads(1)  # on busy cores a model this small waits ten times longer for a second thread than it reckons

Part = str | Image.Image
"""A part of a question: a text, or a picture of RGB."""


@dataclass(frozen=True)
class Step:
    """A written token, its logprob, the second likeliest, and the lead on that: how far their logits are apart."""

    token: str
    logprob: float
    second: str
    lead: float


@dataclass(frozen=True)
class Answer:
    """The tokens of a prompt, and the steps of the answer to it."""

    prompt_tokens: int
    steps: tuple[Step, ...]


class Reference(ABC):
    """A model that answers a question greedily."""

    tokenizer: Any
    model: Any

    @abstractmethod
    def inputs(self, parts: Sequence[Part]) -> Mapping[str, Any]:
        """Make of a user's question what the model generates from: `attention_mask` has a column for every token."""

    @torch.no_grad()
    def answer(self, parts: Sequence[Part], tokens: int) -> Answer:
        """Answer one question with as many tokens."""
        inputs = self.inputs(parts)
        options = {"max_new_tokens": tokens, "min_new_tokens": tokens, "do_sample": False}
        said = self.model.generate(**inputs, **options, output_logits=True, return_dict_in_generate=True)
        return Answer(inputs["attention_mask"].shape[1], tuple(self._step(logits[0]) for logits in said.logits))

    def _step(self, logits: torch.Tensor) -> Step:
        found, tokens = logits.float().log_softmax(-1).topk(2)
        first, second = (self.tokenizer.decode([token], skip_special_tokens=False) for token in tokens.tolist())
        return Step(first, float(found[0]), second, float(found[0] - found[1]))


class TransformersReference(Reference):
    """The family's own class and processor of transformers, with the published preprocessing."""

    def __init__(self, checkpoint: Path, overrides: Mapping[str, Any]) -> None:
        from transformers import AutoConfig, AutoModelForImageTextToText, AutoProcessor

        config = AutoConfig.from_pretrained(checkpoint)
        for name, changes in overrides.items():
            getattr(config, name).update(changes)
        self._processor = AutoProcessor.from_pretrained(checkpoint)
        self.tokenizer = self._processor.tokenizer
        # In float32 also where the engine's dtype is another.
        self.model = whole(
            AutoModelForImageTextToText.from_pretrained(
                checkpoint, config=config, dtype=torch.float32, output_loading_info=True
            )
        )

    def inputs(self, parts: Sequence[Part]) -> Mapping[str, Any]:
        """By the processor's own template and preprocessing."""
        inputs: Mapping[str, Any] = self._processor.apply_chat_template(
            _chat(parts), tokenize=True, add_generation_prompt=True, return_dict=True, return_tensors="pt"
        )
        return inputs


class FlatTransformersReference(TransformersReference):
    """The same with pictures that are given one by one, each as if it were the only one."""

    def inputs(self, parts: Sequence[Part]) -> Mapping[str, Any]:
        """By the processor's own template and preprocessing."""
        text = self._processor.apply_chat_template(_chat(parts), tokenize=False, add_generation_prompt=True)
        pictures = [part for part in parts if isinstance(part, Image.Image)]
        inputs: Mapping[str, Any] = self._processor(text=text, images=pictures or None, return_tensors="pt")
        return inputs


def _chat(parts: Sequence[Part]) -> list[dict[str, Any]]:
    content = [
        {"type": "text", "text": part} if isinstance(part, str) else {"type": "image", "image": part} for part in parts
    ]
    return [{"role": "user", "content": content}]


def whole(loaded: tuple[Any, Mapping[str, Any]]) -> Any:
    """The model that transformers loaded, if every tensor found its place and no place was left without one."""
    model, found = loaded
    wrong = {name: tensors for name, tensors in found.items() if tensors}
    assert not wrong, wrong
    return model.eval()
