"""Types of pixels by a file's header, and those that are shown as they are: the one place that decides.

How a wider range becomes the 8 bits that models are shown, and which of many bands are red, green and blue, no file
says; so it is refused here, by a sentence that every door shows.
"""

import shlex
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from gigavqa.tiling.errors import PixelTypeError

ColourKind = Literal["grey", "rgb", "cmyk", "palette"]
SampleKind = Literal["unsigned", "signed", "floating point", "complex"]

CHANNELS: dict[ColourKind, int] = {"grey": 1, "rgb": 3, "cmyk": 4, "palette": 1}
"""Bands of a pixel without its alpha."""

_NAMES: dict[ColourKind, str] = {"grey": "grey", "rgb": "RGB", "cmyk": "CMYK", "palette": "a palette"}
_SHOWN = "what is shown as it is has 8 bits a sample and is grey or RGB, with or without alpha"


@dataclass(frozen=True)
class PixelType:
    """Bits and kind of each sample, the colours that bands are meant as, their number, alpha among them.

    `is_premultiplied` where alpha is in the colours already.
    """

    bits: int
    colours: ColourKind
    bands: int
    has_alpha: bool = False
    kind: SampleKind = "unsigned"
    is_premultiplied: bool = False

    def __str__(self) -> str:
        """Return the sentence's half that says what the file is: `16 bits a sample, 1 band`."""
        kind = "" if self.kind == "unsigned" else f" ({self.kind})"
        bands = f"{self.bands} band{'s' if self.bands != 1 else ''}"
        return f"{self.bits} bit{'s' if self.bits != 1 else ''} a sample{kind}, {bands}{self._excess()}"

    @property
    def has_own_bands(self) -> bool:
        """Whether every band has a meaning: its colours' own, and alpha where the file says so."""
        return self._num_unknown() == 0

    def _num_unknown(self) -> int:
        return self.bands - CHANNELS[self.colours] - self.has_alpha

    def _excess(self) -> str:
        if self.has_own_bands:
            return ""
        known, unknown = _NAMES[self.colours] + (", alpha" if self.has_alpha else ""), self._num_unknown()
        if unknown < 0:
            return f" for {known}"
        meant = ", which no tag marks as alpha" if not self.has_alpha else ""
        return f" ({known} and {unknown} more{meant})"


def check_pixel_type(
    path: Path, found: PixelType, exact_bits: Collection[int] = (8,), *, is_declared: bool = False
) -> None:
    """Raise PixelTypeError for pixels that are not shown as they are, with what they are and what helps.

    Where it `is_declared` how they are shown, only complex ones are refused.

    `exact_bits` are the depths that the format's decoder spreads over 8 bits without a loss; a palette's colours have
    8, however many its indices have.
    """
    is_deep = found.kind != "unsigned" or (found.bits not in exact_bits and found.colours != "palette")
    if is_declared and found.kind != "complex":
        return
    if is_deep or not found.has_own_bands:
        raise PixelTypeError(f"{path}: has {found}; {_SHOWN}. {_remedy(path, found)}")


def _remedy(path: Path, found: PixelType) -> str:
    if found.kind == "complex":
        return "Convert what you mean of it, such as the amplitude, to real samples"
    return f"`gigavqa show {shlex.quote(str(path))}` proposes how it could be shown, with the line that declares it"
