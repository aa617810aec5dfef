"""What the references share that are put together: prompts written by hand, embeddings in the pictures' places."""

import json
import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from PIL import Image
from safetensors.torch import load_file

from tests.workers.references.reference import Part, Reference, whole

Tensors = dict[str, torch.Tensor]


class ComposedReference(Reference):
    """A language model of transformers that reads the embeddings of a vision tower in its prompt.

    `mark` is what the chat template writes for a picture, `place` the token that each of its embeddings stands for.
    """

    mark: ClassVar[str]
    place: ClassVar[str]

    def __init__(self, checkpoint: Path) -> None:
        from transformers import PreTrainedTokenizerFast

        self.config: dict[str, Any] = json.loads((checkpoint / "config.json").read_text())
        self.tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(checkpoint / "tokenizer.json"))
        self._template = (checkpoint / "chat_template.jinja").read_text()
        self.assemble(load_file(checkpoint / "model.safetensors"))

    @abstractmethod
    def assemble(self, tensors: Tensors) -> None:
        """Make the parts of the checkpoint's tensors; `model` is what generates."""

    @abstractmethod
    def see(self, picture: Image.Image, number: int, of: int) -> tuple[str, torch.Tensor]:
        """Text that stands for a picture, its number counted from 0, and the embeddings (N x hidden) of its places."""

    def inputs(self, parts: Sequence[Part]) -> Mapping[str, Any]:
        """The prompt's embeddings, the pictures' in their places."""
        content = [{"type": "text", "text": p} if isinstance(p, str) else {"type": "image"} for p in parts]
        text = self.tokenizer.apply_chat_template(
            [{"role": "user", "content": content}],
            chat_template=self._template,
            tokenize=False,
            add_generation_prompt=True,
        )
        pictures = [part for part in parts if isinstance(part, Image.Image)]
        seen = [self.see(picture, number, len(pictures)) for number, picture in enumerate(pictures)]
        for written, _ in seen:
            text = text.replace(self.mark, written.replace(self.mark, "\0"), 1)
        ids = torch.tensor([self.tokenizer.encode(text.replace("\0", self.mark), add_special_tokens=False)])
        embeddings = self.model.get_input_embeddings()(ids)
        places = ids == self.tokenizer.convert_tokens_to_ids(self.place)
        if seen:
            embeddings[places] = torch.cat([found for _, found in seen])
        return {"inputs_embeds": embeddings, "attention_mask": torch.ones_like(ids)}


def model_of(kind: Any, config: Any, tensors: Tensors) -> Any:
    """A model of transformers with the tensors, which are named as in published checkpoints."""
    return whole(kind.from_pretrained(None, config=config, state_dict=tensors, output_loading_info=True))


def within(tensors: Tensors, prefix: str) -> Tensors:
    """The tensors below a prefix, without it."""
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def perceptron(tensors: Tensors, first: str, second: str) -> torch.nn.Sequential:
    """Two linear layers with biases and GELU between."""
    layers = [linear(within(tensors, f"{name}.")) for name in (first, second)]
    return torch.nn.Sequential(layers[0], torch.nn.GELU(), layers[1])


def linear(tensors: Tensors) -> torch.nn.Linear:
    """One linear layer."""
    layer = torch.nn.Linear(*reversed(tensors["weight"].shape), bias="bias" in tensors)
    layer.load_state_dict(tensors)
    return layer


def values(
    picture: Image.Image, mean: Sequence[float] = (0.5, 0.5, 0.5), std: Sequence[float] = (0.5, 0.5, 0.5)
) -> torch.Tensor:
    """3 x H x W normalized values."""
    pixels = torch.from_numpy(np.array(picture)).permute(2, 0, 1).float() / 255
    return (pixels - torch.tensor(mean)[:, None, None]) / torch.tensor(std)[:, None, None]


def cut(picture: Image.Image, columns: int, rows: int) -> list[Image.Image]:
    """Equal pieces, row by row."""
    width, height = picture.width // columns, picture.height // rows
    return [
        picture.crop((x * width, y * height, (x + 1) * width, (y + 1) * height))
        for y in range(rows)
        for x in range(columns)
    ]


def patches(pixels: torch.Tensor, side: int) -> torch.Tensor:
    """Patches of 3 x H x W values, row by row: N x 3 x side x side."""
    rows = pixels.unfold(1, side, side).unfold(2, side, side)
    return rows.permute(1, 2, 0, 3, 4).flatten(0, 1)


def to_whole(length: float, unit: int) -> int:
    """The next whole number of units at or above a length."""
    return math.ceil(length / unit) * unit
