"""DeepSeek-VL2: timm's SigLIP tower on tiles, a projector of 2 x 2 patches, and DeepSeek-V2."""

import math
from typing import Any

import torch
from PIL import Image, ImageOps

from tests.workers.references.composed import ComposedReference, Tensors, cut, model_of, perceptron, values, within

MOST_CROPPED = 2
"""Pictures in a prompt; with more of them each is one tile."""


class DeepseekVL2Reference(ComposedReference):
    """A padded global view, a separator, and the rows of the tiles' embeddings with an end of line behind each."""

    mark = place = "<image>"

    def assemble(self, tensors: Tensors) -> None:
        """The tower without its pooling head, which nobody uses."""
        import timm
        from transformers import DeepseekV2Config, DeepseekV2ForCausalLM

        vision, projector = self.config["vision_config"], self.config["projector_config"]
        self._tile, self._merge = vision["image_size"], projector["downsample_ratio"]
        self._tower = timm.create_model(
            vision["model_name"],
            num_classes=0,
            dynamic_img_size=True,
            dynamic_img_pad=True,
            embed_dim=vision["width"],
            depth=vision["layers"],
            num_heads=vision["heads"],
            mlp_ratio=vision["mlp_ratio"],
        ).eval()
        self._tower.load_state_dict(within(tensors, "vision."))
        self._project = perceptron(tensors, "projector.layers.0", "projector.layers.2")
        self._line_end, self._separator = tensors["image_newline"], tensors["view_seperator"]
        config = DeepseekV2Config(**self.config["language_config"])
        self.model: Any = model_of(DeepseekV2ForCausalLM, config, within(tensors, "language."))

    def see(self, picture: Image.Image, number: int, of: int) -> tuple[str, torch.Tensor]:
        """The picture is contained in its canvas and centred on grey."""
        columns, rows = self._grid(picture) if of <= MOST_CROPPED else (1, 1)
        tiles = cut(self._padded(picture, columns, rows), columns, rows)
        whole, *pieces = self._embeddings([self._padded(picture, 1, 1), *tiles])
        lines = [torch.cat(pieces[row * columns : (row + 1) * columns], dim=1) for row in range(rows)]
        found = torch.cat([self._ended(whole), self._separator[None], *map(self._ended, lines)])
        return self.place * len(found), found

    def _embeddings(self, tiles: list[Image.Image]) -> list[torch.Tensor]:
        """Of every tile, side x side x hidden; patches without a neighbour are merged with zeros."""
        found = self._tower.forward_features(torch.stack([values(tile) for tile in tiles]))
        side = math.isqrt(found.shape[1])
        found = found.unflatten(1, (side, side)).permute(0, 3, 1, 2)
        more = -side % self._merge
        found = torch.nn.functional.pad(found, (0, more, 0, more))
        found = torch.nn.functional.pixel_unshuffle(found, self._merge).permute(0, 2, 3, 1)
        return list(self._project(found))

    def _ended(self, found: torch.Tensor) -> torch.Tensor:
        ends = self._line_end.expand(len(found), 1, -1)
        return torch.cat([found, ends], dim=1).flatten(0, 1)

    def _padded(self, picture: Image.Image, columns: int, rows: int) -> Image.Image:
        return ImageOps.pad(picture, (columns * self._tile, rows * self._tile), color=(127, 127, 127))

    def _grid(self, picture: Image.Image) -> tuple[int, int]:
        """The canvas that keeps most of the pixels, and of those the one that wastes least."""

        def merit(canvas: list[int]) -> tuple[int, int]:
            scale = min(canvas[0] / picture.width, canvas[1] / picture.height)
            kept = min(int(picture.width * scale) * int(picture.height * scale), picture.width * picture.height)
            return kept, kept - canvas[0] * canvas[1]

        width, height = max(self.config["candidate_resolutions"], key=merit)
        return width // self._tile, height // self._tile
