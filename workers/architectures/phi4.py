"""Phi-4-Reasoning-Vision's preprocessing: SigLIP2's NaFlex with as many patches as the picture has, within limits.

The published code does not import on transformers 5.19. Behaviour: microsoft/Phi-4-reasoning-vision-15B,
processing_phi4_visionr.py; the size as in `gigavqa.catalogue.families.phi4`.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image

from gigavqa.catalogue.families.phi4 import Phi4VisionBudget
from gigavqa.tiling.geometry import Size
from gigavqa.workers.architectures.pixel_table import INTERLEAVED
from gigavqa.workers.architectures.processing import ImageInput, PixelOutput, VisionProcessor, pixels_of, resize


class Phi4ImageProcessor:
    """Pictures in, patches out; all padded to one length, because vLLM stacks them."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self._output = PixelOutput(settings, INTERLEAVED)
        self._budget = Phi4VisionBudget(
            patch_size=settings.get("patch_size", 16),
            min_patches=settings.get("min_num_patches", 256),
            max_patches=settings.get("max_num_patches", 3600),
        )

    def __call__(self, pictures: Sequence[ImageInput], *, do_normalize: bool = True) -> dict[str, torch.Tensor]:
        """Patches (pictures x most x values), which of them are padding, and rows and columns of each picture."""
        most, side = self._budget.max_patches, self._budget.patch_size
        values = np.zeros((len(pictures), most, side * side * 3), np.uint8)
        mask = torch.zeros(len(pictures), most, dtype=torch.int32)
        shapes = [self._fill(values[index], pixels_of(picture)) for index, picture in enumerate(pictures)]
        for index, (rows, columns) in enumerate(shapes):
            mask[index, : rows * columns] = 1
        return {
            "pixel_values": self._output(values, do_normalize=do_normalize),
            "pixel_attention_mask": mask,
            "spatial_shapes": torch.tensor(shapes),
        }

    def _fill(self, patches: NDArray[np.uint8], pixels: NDArray[np.uint8]) -> tuple[int, int]:
        """Write the patches of one picture; returns its rows and columns."""
        target, side = self._budget.decide(Size(*pixels.shape[1::-1])).target, self._budget.patch_size
        pixels = resize(pixels, target, Image.Resampling.BILINEAR)
        rows, columns = target.height // side, target.width // side
        whole = patches[: rows * columns].reshape(rows, columns, side, side, 3)
        whole[:] = pixels.reshape(rows, side, columns, side, 3).transpose(0, 2, 1, 3, 4)
        return rows, columns


class Phi4VisionProcessor(VisionProcessor):
    """Phi-4-Reasoning-Vision's tokenizer and image processor."""

    image_token = "<image>"

    @staticmethod
    def make_image_processor(settings: dict[str, Any]) -> Phi4ImageProcessor:
        """Make the image processor from its settings."""
        return Phi4ImageProcessor(settings)


PROCESSOR = Phi4VisionProcessor
