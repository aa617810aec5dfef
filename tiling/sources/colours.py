"""Every pixel type that is shown as it is becomes RGB of 8 bits, by the rules of the models' own preprocessing.

Grey is repeated. CMYK is converted as Pillow does, without a profile: that is
what the families' processors see. Transparency is composited on white, as vLLM does. Embedded profiles are not applied.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from gigavqa.tiling.pixel_types import CHANNELS, ColourKind
from gigavqa.tiling.sources.base import Pixels

Alpha = Literal["straight", "premultiplied"]


@dataclass(frozen=True)
class ColourModel:
    """The meaning of a pixel's samples. `alpha` is the sample after the colours; `palette` is N x 3."""

    channels: ClassVar[int] = 3
    dtype: ClassVar[np.dtype[Any]] = np.dtype(np.uint8)

    kind: ColourKind
    is_inverted: bool = False
    alpha: Alpha | None = None
    palette: Pixels | None = None

    def __call__(self, samples: NDArray[Any]) -> Pixels:
        """Convert as `to_rgb` does."""
        return to_rgb(samples, self)


def to_rgb(samples: NDArray[Any], colours: ColourModel) -> Pixels:
    """Convert H x W x S samples (bool or uint8; a palette's also uint16) to H x W x 3 RGB.

    Raises ValueError for others, and where a pixel has more or fewer than its colours and alpha.
    """
    if colours.palette is not None:
        return np.take(colours.palette, samples[..., 0], axis=0)
    samples = _to_8_bit(samples)
    count = CHANNELS[colours.kind]
    if samples.shape[-1] != count + (colours.alpha is not None):
        raise ValueError(f"pixels are decoded to {samples.shape[-1]} bands, which its header does not say")
    rgb = _colour(samples[..., :count], colours)
    if colours.alpha is None:
        return rgb
    return _on_white(rgb, samples[..., count : count + 1], is_premultiplied=colours.alpha == "premultiplied")


def _to_8_bit(samples: NDArray[Any]) -> Pixels:
    if samples.dtype == np.bool_:
        return samples.astype(np.uint8) * 255
    if samples.dtype != np.uint8:
        raise ValueError(f"pixels are decoded to samples of type {samples.dtype}, which its header does not say")
    return samples


def _colour(samples: Pixels, colours: ColourModel) -> Pixels:
    if colours.is_inverted:
        samples = 255 - samples
    if colours.kind == "grey":
        return np.repeat(samples, 3, axis=2)
    if colours.kind == "cmyk":
        return np.asarray(Image.fromarray(np.ascontiguousarray(samples), "CMYK").convert("RGB"))
    return samples


def _on_white(rgb: Pixels, alpha: Pixels, *, is_premultiplied: bool) -> Pixels:
    opacity = alpha.astype(np.uint32)
    light = rgb.astype(np.uint32) * (255 if is_premultiplied else opacity) + 255 * (255 - opacity)
    light = np.minimum(light, 255 * 255) + 128  # rounded division by 255, as Pillow's paste does it
    result: Pixels = (((light >> 8) + light) >> 8).astype(np.uint8)
    return result
