"""Kimi-VL's preprocessing: native resolution up to a number of patches, padded to whole tokens.

Behaviour: moonshotai/Kimi-VL-A3B-Thinking-2506, image_processing_kimi_vl.py; the size and its padding as in
`gigavqa.catalogue.families.kimi_vl`.
"""

from collections.abc import Sequence
from typing import Any

import torch
from PIL import Image

from gigavqa.catalogue.families.kimi_vl import KimiVLBudget
from gigavqa.tiling.geometry import Size
from gigavqa.workers.architectures.processing import ImageInput, VisionProcessor, normalize_pixels, to_pillow


class KimiImageProcessor:
    """Pictures in, patches out."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.patch_size: int = settings.get("patch_size", 14)
        self.in_token_limit: int = settings.get("in_token_limit", 16384)
        self.merge_kernel_size = tuple(settings.get("merge_kernel_size", (2, 2)))
        self._mean = settings.get("image_mean", (0.5, 0.5, 0.5))
        self._std = settings.get("image_std", (0.5, 0.5, 0.5))
        self._budget = KimiVLBudget(
            max_patches=self.in_token_limit, patch_size=self.patch_size, merge=self.merge_kernel_size[0]
        )

    def __call__(self, pictures: Sequence[ImageInput]) -> dict[str, torch.Tensor]:
        """Patches of all pictures (N x 3 x patch x patch) and the rows and columns of each (pictures x 2)."""
        patches = [self._patches(to_pillow(picture)) for picture in pictures]
        grids = [grid for _, grid in patches]
        return {"pixel_values": torch.cat([values for values, _ in patches]), "image_grid_hws": torch.tensor(grids)}

    def _patches(self, picture: Image.Image) -> tuple[torch.Tensor, tuple[int, int]]:
        decision = self._budget.decide(Size(*picture.size))
        if decision.target != Size(*picture.size):
            picture = picture.resize(decision.target, Image.Resampling.BICUBIC)
        canvas = Image.new("RGB", decision.canvas)  # black, to the right and at the bottom
        canvas.paste(picture)
        rows, columns = (side // self.patch_size for side in (canvas.height, canvas.width))
        pixels = normalize_pixels(canvas, self._mean, self._std)
        pixels = pixels.reshape(3, rows, self.patch_size, columns, self.patch_size)
        return pixels.permute(1, 3, 0, 2, 4).flatten(0, 1), (rows, columns)


class KimiProcessor(VisionProcessor):
    """Kimi-VL's tokenizer and image processor."""

    image_token = "<|media_pad|>"

    @staticmethod
    def make_image_processor(settings: dict[str, Any]) -> KimiImageProcessor:
        """Make the image processor from its settings."""
        return KimiImageProcessor(settings)


PROCESSOR = KimiProcessor
