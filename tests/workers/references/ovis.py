"""Ovis2.5: SigLIP2 with rotary positions and windows, tokens that are mixtures of a table of words, and Qwen3."""

import math
from typing import Any

import torch
from PIL import Image
from torch.nn import functional

from tests.workers.references.composed import ComposedReference, Tensors, model_of, patches, values, within

_LEAST, _MOST, _UNIT, _PATCH = 448**2, 1792**2, 32, 16


class OvisReference(ComposedReference):
    """Pictures at their own shape; a word of the table before each and one behind it."""

    mark = "<image>"
    place = "<|image_pad|>"

    def assemble(self, tensors: Tensors) -> None:
        """The tower is written out here; the language model is that of transformers."""
        from transformers import Qwen3Config, Qwen3ForCausalLM

        self._vit = within(tensors, "visual_tokenizer.vit.vision_model.")
        self._head = within(tensors, "visual_tokenizer.head.")
        self._words = tensors["vte.weight"]
        language = {name: value for name, value in self.config["llm_config"].items() if name != "architectures"}
        self.model: Any = model_of(Qwen3ForCausalLM, Qwen3Config(**language), within(tensors, "llm."))

    def see(self, picture: Image.Image, number: int, of: int) -> tuple[str, torch.Tensor]:
        """The four last words of the table are the marks: those of a picture's begin and end are first."""
        width, height = _size(*picture.size)
        pixels = values(picture.resize((width, height), Image.Resampling.BILINEAR))
        found = self._tower(pixels, height // _PATCH, width // _PATCH)
        logits = functional.layer_norm(found @ self._head["0.weight"].T, self._head["1.weight"].shape, eps=1e-5)
        logits = logits * self._head["1.weight"] + self._head["1.bias"]
        begin, end = self._words[-4:-2].split(1)
        embeddings = torch.cat([begin, logits.softmax(-1) @ self._words[:-4], end])
        return self.place * len(embeddings), embeddings

    def _tower(self, pixels: torch.Tensor, rows: int, columns: int) -> torch.Tensor:
        """Patches row by row to tokens row by row, of four patches each."""
        config, vit = self.config["vit_config"], self._vit
        states = functional.linear(
            patches(pixels, _PATCH).flatten(1),
            vit["embeddings.patch_embedding.weight"],
            vit["embeddings.patch_embedding.bias"],
        )
        table = vit["embeddings.position_embedding.weight"]
        side = math.isqrt(len(table))
        grid = functional.interpolate(
            table.unflatten(0, (side, side)).permute(2, 0, 1)[None], size=(rows, columns), mode="bicubic"
        )
        states = states + grid[0].permute(1, 2, 0).flatten(0, 1)
        row, column = torch.meshgrid(torch.arange(rows), torch.arange(columns), indexing="ij")
        row, column = row.flatten(), column.flatten()
        window = config["window_size"] // 2 // _PATCH * 2  # of whole tokens
        windows = row // window * columns + column // window
        turned = _turns(row, column, config["hidden_size"] // config["num_attention_heads"])
        for layer in range(config["num_hidden_layers"]):
            sees_all = str(layer) in config["fullatt_block_indexes"].split("|")
            visible = None if sees_all else windows[:, None] == windows[None]
            states = _block(states, within(vit, f"encoder.layers.{layer}."), config, turned, visible)
        return states.unflatten(0, (rows // 2, 2, columns // 2, 2)).transpose(1, 2).flatten(0, 1).flatten(1)


def _block(
    states: torch.Tensor,
    tensors: Tensors,
    config: dict[str, Any],
    turned: tuple[torch.Tensor, torch.Tensor],
    visible: torch.Tensor | None,
) -> torch.Tensor:
    def apply(name: str, given: torch.Tensor) -> torch.Tensor:
        return functional.linear(given, tensors[f"{name}.weight"], tensors[f"{name}.bias"])

    def norm(name: str, given: torch.Tensor) -> torch.Tensor:
        return functional.layer_norm(given, given.shape[-1:], tensors[f"{name}.weight"], tensors[f"{name}.bias"], 1e-6)

    normed, heads = norm("layer_norm1", states), config["num_attention_heads"]
    query, key, value = (
        apply(f"self_attn.{name}_proj", normed).unflatten(1, (heads, -1)).transpose(0, 1) for name in "qkv"
    )
    read = functional.scaled_dot_product_attention(_turn(query, *turned), _turn(key, *turned), value, attn_mask=visible)
    states = states + apply("self_attn.out_proj", read.transpose(0, 1).flatten(1))
    inner = functional.gelu(apply("mlp.fc1", norm("layer_norm2", states)), approximate="tanh")
    return states + apply("mlp.fc2", inner)


def _turns(row: torch.Tensor, column: torch.Tensor, head: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Cosines and sines of a half of each head: its first half by the row, its second by the column."""
    frequencies = 10000.0 ** -(torch.arange(0, head // 2, 2) / (head // 2))
    angles = torch.cat([torch.outer(place.float(), frequencies) for place in (row, column)], 1)
    return angles.cos(), angles.sin()


def _turn(heads: torch.Tensor, cosines: torch.Tensor, sines: torch.Tensor) -> torch.Tensor:
    first, second = heads.chunk(2, -1)
    return torch.cat([first * cosines - second * sines, second * cosines + first * sines], -1)


def _size(width: int, height: int) -> tuple[int, int]:
    """The nearest whole units, or those that are within the limits."""
    near = round(width / _UNIT) * round(height / _UNIT) * _UNIT**2
    if near > _MOST:
        scale = math.sqrt(_MOST / (width * height))
        return int(width * scale / _UNIT) * _UNIT, int(height * scale / _UNIT) * _UNIT
    if near < _LEAST:
        scale = math.sqrt(_LEAST / (width * height))
        return math.ceil(width * scale / _UNIT) * _UNIT, math.ceil(height * scale / _UNIT) * _UNIT
    return round(width / _UNIT) * _UNIT, round(height / _UNIT) * _UNIT
