"""Phi-4-Reasoning-Vision's preprocessing: SigLIP2's NaFlex with as many patches as the picture has, within limits.

The published code does not import on transformers 5.19. Behaviour: microsoft/Phi-4-reasoning-vision-15B,
processing_phi4_visionr.py; the size as in `gigavqa.catalogue.families.phi4`.
"""

from collections.abc import Sequence
from typing import Any

import torch
from PIL import Image

from gigavqa.catalogue.families.phi4 import Phi4VisionBudget
from gigavqa.tiling.geometry import Size
from gigavqa.workers.architectures.processing import ImageInput, VisionProcessor, normalize_pixels, to_pillow


class Phi4ImageProcessor:
    """Pictures in, patches out; all padded to one length, because vLLM stacks them."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self._mean = settings.get("image_mean", (0.5, 0.5, 0.5))
        self._std = settings.get("image_std", (0.5, 0.5, 0.5))
        self._budget = Phi4VisionBudget(
            patch_size=settings.get("patch_size", 16),
            min_patches=settings.get("min_num_patches", 256),
            max_patches=settings.get("max_num_patches", 3600),
        )

    def __call__(self, pictures: Sequence[ImageInput]) -> dict[str, torch.Tensor]:
        """Patches (pictures x most x values), which of them are padding, and rows and columns of each picture."""
        found = [self._patches(to_pillow(picture)) for picture in pictures]
        most, width = self._budget.max_patches, found[0][0].shape[1]
        values, mask = torch.zeros(len(found), most, width), torch.zeros(len(found), most, dtype=torch.int32)
        for index, (patches, _) in enumerate(found):
            values[index, : len(patches)] = patches
            mask[index, : len(patches)] = 1
        shapes = torch.tensor([shape for _, shape in found])
        return {"pixel_values": values, "pixel_attention_mask": mask, "spatial_shapes": shapes}

    def _patches(self, picture: Image.Image) -> tuple[torch.Tensor, tuple[int, int]]:
        target, side = self._budget.decide(Size(*picture.size)).target, self._budget.patch_size
        if target != Size(*picture.size):
            picture = picture.resize(target, Image.Resampling.BILINEAR)
        rows, columns = target.height // side, target.width // side
        pixels = normalize_pixels(picture, self._mean, self._std).reshape(3, rows, side, columns, side)
        return pixels.permute(1, 3, 2, 4, 0).reshape(rows * columns, -1), (rows, columns)


class Phi4VisionProcessor(VisionProcessor):
    """Phi-4-Reasoning-Vision's tokenizer and image processor."""

    image_token = "<image>"

    @staticmethod
    def make_image_processor(settings: dict[str, Any]) -> Phi4ImageProcessor:
        """Make the image processor from its settings."""
        return Phi4ImageProcessor(settings)


PROCESSOR = Phi4VisionProcessor
