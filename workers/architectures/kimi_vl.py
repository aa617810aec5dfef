"""Kimi-VL's preprocessing: native resolution up to a number of patches, padded to whole tokens.

Behaviour: moonshotai/Kimi-VL-A3B-Thinking-2506, image_processing_kimi_vl.py; the size and its padding as in
`gigavqa.catalogue.families.kimi_vl`.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image

from gigavqa.catalogue.families.kimi_vl import KimiVLBudget
from gigavqa.tiling.geometry import Size
from gigavqa.workers.architectures.processing import ImageInput, PixelOutput, VisionProcessor, pixels_of, resize

CHANNEL_AXIS = 1


class KimiImageProcessor:
    """Turn pictures into patches."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.patch_size: int = settings.get("patch_size", 14)
        self.in_token_limit: int = settings.get("in_token_limit", 16384)
        self.merge_kernel_size = tuple(settings.get("merge_kernel_size", (2, 2)))
        self._output = PixelOutput(settings, CHANNEL_AXIS)
        self._budget = KimiVLBudget(
            max_patches=self.in_token_limit, patch_size=self.patch_size, merge=self.merge_kernel_size[0]
        )

    def __call__(self, pictures: Sequence[ImageInput], *, do_normalize: bool = True) -> dict[str, torch.Tensor]:
        """Patches of all pictures (N x 3 x patch x patch) and the rows and columns of each (pictures x 2)."""
        found = [self._patches(pixels_of(picture)) for picture in pictures]
        patches = [self._output(patches, do_normalize=do_normalize) for patches, _ in found]
        grids = torch.tensor([grid for _, grid in found])
        return {"pixel_values": patches[0] if len(patches) == 1 else torch.cat(patches), "image_grid_hws": grids}

    def _patches(self, pixels: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], tuple[int, int]]:
        decision, side = self._budget.decide(Size(*pixels.shape[1::-1])), self.patch_size
        pixels = resize(pixels, decision.target, Image.Resampling.BICUBIC)
        rows, columns = decision.canvas.height // side, decision.canvas.width // side
        if decision.canvas != decision.target:  # black, to the right and at the bottom
            canvas = np.zeros((decision.canvas.height, decision.canvas.width, 3), np.uint8)
            canvas[: len(pixels), : pixels.shape[1]] = pixels
            pixels = canvas
        patches = pixels.reshape(rows, side, columns, side, 3).transpose(0, 2, 4, 1, 3)
        return patches.reshape(-1, 3, side, side), (rows, columns)


class KimiProcessor(VisionProcessor):
    """Kimi-VL's tokenizer and image processor."""

    image_token = "<|media_pad|>"

    @staticmethod
    def make_image_processor(settings: dict[str, Any]) -> KimiImageProcessor:
        """Make the image processor from its settings."""
        return KimiImageProcessor(settings)


PROCESSOR = KimiProcessor
