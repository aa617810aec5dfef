"""The samples of a pixel as they lie in a file, and what a decoder makes of them. Needs no decoder."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gigavqa.tiling.pixel_types import CHANNELS, PixelType

_TYPES = {"unsigned": "u", "signed": "i", "floating point": "f", "complex": "c"}
_SIZES = (1, 2, 4, 8)


class Conversion(Protocol):
    """What a decoder makes of samples, H x W x S: H x W x `channels` of `dtype`.

    Raises ValueError for samples that the header did not tell.
    """

    @property
    def channels(self) -> int: ...

    @property
    def dtype(self) -> np.dtype[Any]: ...

    def __call__(self, samples: NDArray[Any]) -> NDArray[Any]: ...


@dataclass(frozen=True)
class NativeSamples:
    """The samples of a pixel as they lie in a file, `channels` of one type; as a conversion, they stay what they are.

    `bits` of each are used. `alpha` is the number of the band that says what is opaque, `nodata` the value that the
    file itself gives to pixels without any, `table` the RGB of each class of a palette. `is_inverted` where the least
    sample is white, `is_premultiplied` where alpha is in the colours already. `profile` is the file's ICC profile, None
    where it has none, empty where nobody has read it so far.
    """

    channels: int
    dtype: np.dtype[Any]
    bits: int
    alpha: int | None = None
    nodata: float | None = None
    table: tuple[tuple[int, ...], ...] = ()
    is_inverted: bool = False
    is_premultiplied: bool = False
    profile: bytes | None = None

    def __call__(self, samples: NDArray[Any]) -> NDArray[Any]:
        """Return H x W x S samples as they are."""
        return samples


def decoded_samples(told: PixelType) -> NativeSamples:
    """Return what decoders of JPEG and JPEG 2000 make of whole samples: all bands of one type, alpha the last."""
    kind = "i" if told.kind == "signed" else "u"
    dtype = np.dtype(f"{kind}{1 if told.bits <= 8 else 2 if told.bits <= 16 else 4}")
    return NativeSamples(told.bands, dtype, bits=told.bits, alpha=told.bands - 1 if told.has_alpha else None)


def native_samples(told: PixelType, *, has_table: bool = False, has_profile: bool = False) -> NativeSamples:
    """Return what a header says of samples; where its palette is no `table`, decoders yield the colours of classes."""
    if told.colours == "palette" and not has_table:
        channels = CHANNELS["rgb"] + told.has_alpha
        return NativeSamples(channels, np.dtype(np.uint8), bits=8, alpha=channels - 1 if told.has_alpha else None)
    size = next(size for size in _SIZES if told.bits <= 8 * size)
    dtype = np.dtype(f"{_TYPES[told.kind]}{size}")
    alpha = CHANNELS[told.colours] if told.has_alpha else None
    table = ((0, 0, 0),) if has_table else ()
    profile = b"" if has_profile else None
    return NativeSamples(
        told.bands, dtype, told.bits, alpha, table=table, is_premultiplied=told.is_premultiplied, profile=profile
    )
