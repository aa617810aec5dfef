"""MiniCPM-V 4.5's preprocessing: a small view of the whole picture, and slices of it, each reshaped to rows of patches.

Behaviour: openbmb/MiniCPM-V-4_5, image_processing_minicpmv.py; grids and sizes as in `catalogue.families.minicpmv`.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image

from gigavqa.catalogue.families.minicpmv import MiniCPMVBudget
from gigavqa.tiling.geometry import Size
from gigavqa.workers.architectures.processing import ImageInput, PixelOutput, VisionProcessor, pixels_of, resize

CHANNEL_AXIS = 0


class MiniCPMVImageProcessor:
    """Pictures in, slices out, and the text that stands for a picture in a prompt."""

    im_id_start: ClassVar[str] = "<image_id>"
    im_id_end: ClassVar[str] = "</image_id>"

    def __init__(self, settings: dict[str, Any]) -> None:
        self.max_slice_nums: int = settings.get("max_slice_nums", 9)
        self.image_feature_size: int = settings.get("image_feature_size", 64)
        self._side: int = settings.get("scale_resolution", 448)
        self._patch: int = settings.get("patch_size", 14)
        self._output = PixelOutput(settings, CHANNEL_AXIS)

    def __call__(self, prompts: Sequence[Sequence[ImageInput]], *, do_normalize: bool = True) -> dict[str, Any]:
        """For each prompt's pictures: slices as 3 x patch x (patches * patch), rows and columns, and sizes."""
        pictures = [[pixels_of(picture) for picture in prompt] for prompt in prompts]
        slices = [[piece for picture in prompt for piece in self._slices(picture)] for prompt in pictures]
        return {
            "pixel_values": [
                [self._output(self._rows(piece), do_normalize=do_normalize) for piece in pieces] for pieces in slices
            ],
            "tgt_sizes": [torch.tensor([self._shape(piece) for piece in pieces]) for pieces in slices],
            "image_sizes": [torch.tensor([picture.shape[1::-1] for picture in prompt]) for prompt in pictures],
        }

    def get_sliced_grid(self, image_size: Any, max_slice_nums: int | None = None) -> tuple[int, int] | None:
        """Columns and rows of slices for a picture of (width, height); None where it is not sliced."""
        decision = self._budget(max_slice_nums).decide(Size(image_size[0], image_size[1]))
        return decision.grid if decision.overview else None

    def get_slice_image_placeholder(
        self, image_size: Any, image_idx: int = 0, max_slice_nums: int | None = None, use_image_id: bool = True
    ) -> str:
        """Return the text that stands for a picture.

        Its number, its view and its slices, a line for each row of them.
        """
        unknown = "<unk>" * self.image_feature_size
        text = f"<image>{unknown}</image>"
        if use_image_id:
            text = f"{self.im_id_start}{image_idx}{self.im_id_end}{text}"
        columns, rows = self.get_sliced_grid(image_size, max_slice_nums) or (0, 0)
        return text + "\n".join([f"<slice>{unknown}</slice>" * columns] * rows)

    def _budget(self, max_slice_nums: int | None = None) -> MiniCPMVBudget:
        return MiniCPMVBudget(
            slice=self._side,
            max_slices=max_slice_nums or self.max_slice_nums,
            patch_size=self._patch,
            tokens_per_slice=self.image_feature_size,
        )

    def _slices(self, picture: NDArray[np.uint8]) -> list[NDArray[np.uint8]]:
        decision = self._budget().decide(Size(*picture.shape[1::-1]))
        whole = resize(picture, decision.overview or decision.target, Image.Resampling.BICUBIC)
        if decision.overview is None:
            return [whole]
        columns, rows = decision.grid
        large = resize(picture, decision.target, Image.Resampling.BICUBIC)
        width, height = decision.target.width // columns, decision.target.height // rows
        corners = [(x * width, y * height) for y in range(rows) for x in range(columns)]
        return [whole, *(large[y : y + height, x : x + width] for x, y in corners)]

    def _shape(self, piece: NDArray[np.uint8]) -> tuple[int, int]:
        return piece.shape[0] // self._patch, piece.shape[1] // self._patch

    def _rows(self, piece: NDArray[np.uint8]) -> NDArray[np.uint8]:
        (rows, columns), side = self._shape(piece), self._patch
        patches = piece.reshape(rows, side, columns, side, 3).transpose(4, 1, 0, 2, 3)
        return patches.reshape(3, side, -1)


class MiniCPMVOwnProcessor(VisionProcessor):
    """MiniCPM-V's tokenizer and image processor."""

    image_token = "(<image>./</image>)"

    @staticmethod
    def make_image_processor(settings: dict[str, Any]) -> MiniCPMVImageProcessor:
        """Make the image processor from its settings."""
        return MiniCPMVImageProcessor(settings)


PROCESSOR = MiniCPMVOwnProcessor
