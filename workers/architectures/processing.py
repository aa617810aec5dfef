"""What our processors share: how they are loaded, how a picture reaches them, and how they answer vLLM."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from transformers import AutoTokenizer, BatchFeature, ProcessorMixin
from transformers.image_processing_utils import BaseImageProcessor

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
        settings, _ = BaseImageProcessor.get_image_processor_dict(name, revision=revision)
        tokenizer = tokenizer or AutoTokenizer.from_pretrained(name, revision=revision)
        return cls(tokenizer, settings | options)

    @staticmethod
    @abstractmethod
    def make_image_processor(settings: dict[str, Any]) -> Any:
        """Make the image processor from its settings."""

    def __call__(self, text: Any = None, images: Sequence[ImageInput] | None = None, **_: Any) -> BatchFeature:
        """Tokenize `text` and preprocess `images`; placeholders are left as they are, vLLM expands them."""
        tokens = self.tokenizer(text if isinstance(text, list) else [text or ""], return_tensors="pt")
        pictures = self.image_processor(images) if images else {}
        return BatchFeature({"input_ids": tokens["input_ids"], **pictures})


def to_pillow(picture: ImageInput) -> Image.Image:
    """Return the picture as a Pillow image in RGB."""
    if isinstance(picture, torch.Tensor):
        picture = picture.permute(1, 2, 0).contiguous().numpy()
    if isinstance(picture, np.ndarray):
        picture = Image.fromarray(picture)
    return picture.convert("RGB")


def normalize_pixels(picture: Image.Image, mean: Sequence[float], std: Sequence[float]) -> torch.Tensor:
    """Tensor 3 x H x W of the pixels from 0 to 1, normalized by channel."""
    pixels = np.asarray(picture, np.float32) / 255
    pixels = (pixels - np.asarray(mean, np.float32)) / np.asarray(std, np.float32)
    return torch.from_numpy(pixels.transpose(2, 0, 1).copy())
