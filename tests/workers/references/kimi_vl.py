"""Kimi-VL: transformers' Kimi-K2.5, whose tower and language model are of the same architecture, on single pictures."""

import math

import torch
from PIL import Image

from tests.workers.references.composed import ComposedReference, Tensors, model_of, patches, to_whole, values

_NAMES = {
    "multi_modal_projector.pre_norm": "mm_projector.pre_norm",
    "multi_modal_projector.linear_1": "mm_projector.proj.0",
    "multi_modal_projector.linear_2": "mm_projector.proj.2",
}
MOST_PATCHES = 1024
"""Of a picture before it is padded, as preprocessor_config.json of the small checkpoint has it."""


class KimiVLReference(ComposedReference):
    """One embedding for every square of 2 x 2 patches of a picture in its native resolution."""

    mark = place = "<|media_pad|>"

    def assemble(self, tensors: Tensors) -> None:
        """The language model, the tower and the projector are one model."""
        from transformers import Kimi_K25Config, Kimi_K25ForConditionalGeneration

        vision = self.config["vision_config"]
        self._side, self._merge = vision["patch_size"], vision["merge_kernel_size"][0]
        sizes = ("hidden_size", "intermediate_size", "num_attention_heads", "num_hidden_layers", "patch_size")
        tower = {name: vision[name] for name in sizes}
        tower |= {f"pos_emb_{side}": vision[f"init_pos_emb_{side}"] for side in ("height", "width")}
        config = Kimi_K25Config(
            text_config=self.config["text_config"],
            vision_config=tower,
            projection_hidden_size=vision["hidden_size"],
            tie_word_embeddings=False,
        )
        renamed = {_renamed(name): tensor for name, tensor in tensors.items()}
        self.model = model_of(Kimi_K25ForConditionalGeneration, config, renamed)

    def see(self, picture: Image.Image, number: int, of: int) -> tuple[str, torch.Tensor]:
        """The picture scaled down to the most patches, and padded with black to whole embeddings."""
        own = (picture.width // self._side) * (picture.height // self._side)
        if own > MOST_PATCHES:
            scale = math.sqrt(MOST_PATCHES / own)
            size = int(picture.width * scale), int(picture.height * scale)
            picture = picture.resize(size, Image.Resampling.BICUBIC)
        canvas = Image.new("RGB", tuple(to_whole(length, self._side * self._merge) for length in picture.size))
        canvas.paste(picture, (0, 0))
        grid = torch.tensor([[1, canvas.height // self._side, canvas.width // self._side]])
        found = self.model.model.get_image_features(patches(values(canvas), self._side), grid)
        embeddings = found.pooler_output[0].flatten(0, -2)
        return self.place * len(embeddings), embeddings


def _renamed(name: str) -> str:
    for old, new in _NAMES.items():
        name = name.replace(old, new)
    return name
