"""The base of our processors: how they are loaded, how a picture reaches them, and how they answer vLLM."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from transformers import AutoTokenizer, BatchFeature, ProcessorMixin
from transformers.image_processing_utils import BaseImageProcessor

from gigavqa.tiling.geometry import Size
from gigavqa.workers.architectures.pixel_table import PixelTable, every_byte

ImageInput: TypeAlias = "Image.Image | NDArray[np.uint8] | torch.Tensor"
"""A Pillow image, an array H x W x 3, or a tensor 3 x H x W; uint8 RGB."""


class VisionProcessor(ProcessorMixin):  # type: ignore[misc]
    """A tokenizer and an image processor of ours; `settings` are those of preprocessor_config.json."""

    image_token: ClassVar[str]

    def __init__(self, tokenizer: Any, settings: dict[str, Any]) -> None:
        self.tokenizer = tokenizer
        self.chat_template = None
        self.image_processor = self.make_image_processor(settings)

    @classmethod
    def from_pretrained(cls, name: str, tokenizer: Any = None, **options: Any) -> "VisionProcessor":
        """Load from a folder or a Hugging Face id, with arguments of the image processor among `options`."""
        revision = options.pop("revision", None)
        settings = own_settings(name, revision)
        tokenizer = tokenizer or AutoTokenizer.from_pretrained(name, revision=revision)
        return cls(tokenizer, settings | options)

    @staticmethod
    @abstractmethod
    def make_image_processor(settings: dict[str, Any]) -> Any:
        """Make the image processor from its settings."""

    def __call__(
        self, text: Any = None, images: Sequence[ImageInput] | None = None, *, do_normalize: bool = True, **_: Any
    ) -> BatchFeature:
        """Tokenize `text` and preprocess `images`; placeholders are left as they are, vLLM expands them.

        With `do_normalize` false, which vLLM says by `mm_device_do_normalize`, pixels stay bytes.
        """
        tokens = self.tokenizer(text if isinstance(text, list) else [text or ""], return_tensors="pt")
        pictures = self.image_processor(images, do_normalize=do_normalize) if images else {}
        return BatchFeature({"input_ids": tokens["input_ids"], **pictures})


def own_settings(name: str, revision: str | None) -> dict[str, Any]:
    """Settings of a checkpoint's image processor, as its own file has them."""
    settings, _ = BaseImageProcessor.get_image_processor_dict(name, revision=revision)
    return dict(settings)


def normalized_bytes(settings: dict[str, Any]) -> torch.Tensor:
    """What these settings make of each byte, 3 x 256 in float32: from 0 to 1, less the mean, by the deviation."""
    mean, std = (
        np.asarray(settings.get(f"image_{name}") or settings.get(f"norm_{name}") or (0.5, 0.5, 0.5), np.float32)
        for name in ("mean", "std")
    )
    pixels = every_byte().numpy().astype(np.float32) / 255
    return torch.from_numpy((pixels - mean[:, None, None]) / std[:, None, None]).reshape(3, 256)


class PixelOutput:
    """How pixels leave a processor of these settings: as they are, or normalized in float32; `axis` as PixelTable's."""

    def __init__(self, settings: dict[str, Any], axis: int) -> None:
        self._table = PixelTable(normalized_bytes(settings), torch.float32, axis)

    def __call__(self, pixels: NDArray[np.uint8], *, do_normalize: bool) -> torch.Tensor:
        """Return bytes or numbers, in the order in which they lie."""
        found = torch.from_numpy(pixels)
        return self._table(found) if do_normalize else found


def pixels_of(picture: ImageInput) -> NDArray[np.uint8]:
    """Return the picture's pixels, H x W x 3; a tensor's and an array's are not copied."""
    if isinstance(picture, torch.Tensor):
        picture = picture.permute(1, 2, 0).numpy()
    return np.asarray(picture if isinstance(picture, np.ndarray) else picture.convert("RGB"))


def resize(pixels: NDArray[np.uint8], size: Size, resampling: Image.Resampling) -> NDArray[np.uint8]:
    """Return the pixels at this size; those that have it are not copied."""
    if pixels.shape[1::-1] == size:
        return pixels
    return np.asarray(Image.fromarray(np.ascontiguousarray(pixels)).resize(size, resampling))
