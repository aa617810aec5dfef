"""JPEG 2000 in parts: the rows of an area, at the resolution levels that every such file has.

A level is the low-pass band of the wavelet, whose samples lie on every second, fourth ... pixel of the first row and
column, where the mean of as many pixels would lie in their middle. So levels say how far beside they lie.
"""

from collections.abc import Iterator
from functools import cached_property

from gigavqa.tiling.displays.samples import NativeSamples, decoded_samples
from gigavqa.tiling.errors import ImageUnreadableError, ImageUnsupportedError, translate_decoder_errors
from gigavqa.tiling.files import OpenFile
from gigavqa.tiling.geometry import Region, Size
from gigavqa.tiling.jpeg2000 import Jpeg2000Coding
from gigavqa.tiling.pixel_types import PixelType
from gigavqa.tiling.sources.base import Decoder, Level, Pixels
from gigavqa.tiling.sources.colours import ColourModel
from gigavqa.tiling.sources.openjpeg import decode_area
from gigavqa.tiling.sources.whole_jpeg2000 import one_at_a_time

_BAND_BYTES = 256 * 2**20
_SAMPLE_BYTES = 12  # of a decoder's two copies of 32 bits, and of ours
_LEAST_ROWS = 64  # a code block's; each band decodes again what of the wavelet reaches into it
_LEAST_SIDE = 16
_MOST_PARTS = 2**20  # a decoder keeps 256 bytes of each
_MOST_ENCODED_BYTES = 512 * 2**20
_MOST_TILE_BYTES = 256 * 2**20
_TILE_BYTES, _COMPONENT_BYTES = 6000, 1200  # of what a decoder keeps of each tile from the header on


class Jpeg2000Decoder(Decoder):
    """Decodes the tiles and code blocks under a region, at any of the file's levels, one band at a time in a process.

    Raises ImageUnsupportedError for coding that would take much memory however small the region is.
    """

    is_nested = True

    def __init__(self, file: OpenFile, coding: Jpeg2000Coding, pixel_type: PixelType) -> None:
        self._file, self._coding, self._pixel_type = file, coding, pixel_type
        _require_bounded(file, coding)
        self.levels = tuple(_levels(coding))

    @cached_property
    def native(self) -> NativeSamples:
        """The samples of a pixel, of as many bits as the header says."""
        return decoded_samples(self._pixel_type)

    def bands(self, level: int, region_l: Region) -> Iterator[Pixels]:
        """Decode so many rows at once as a bounded memory holds, whole rows of tiles where it holds them."""
        x, y, width, height = region_l
        convert = self.conversion or ColourModel(
            self._pixel_type.colours, alpha="straight" if self._pixel_type.has_alpha else None
        )
        rows = self._band_rows(level, width)
        tops = [y, *range(y - y % rows + rows, y + height, rows)]
        for top, below in zip(tops, [*tops[1:], y + height], strict=True):
            part = Region(x, top, width, below - top)
            with translate_decoder_errors(self._file.path), one_at_a_time:
                samples = decode_area(self._file, level, self._area(level, part), self.native.dtype)
            if samples.shape != (part.height, part.width, self.native.channels):
                raise ImageUnreadableError(f"{self._file.path}: is decoded to other samples than its header says")
            yield convert(samples)

    def close(self) -> None:
        """Nothing is held between regions."""

    def _area(self, level: int, part: Region) -> Region:
        x, y, width, height = (side << level for side in part)
        size = self._coding.size
        return Region(x, y, min(width, size.width - x), min(height, size.height - y))

    def _band_rows(self, level: int, width: int) -> int:
        most = max(_LEAST_ROWS, _BAND_BYTES // (_SAMPLE_BYTES * self._coding.components * width))
        tile = self._coding.tile.height >> level
        return most // tile * tile if tile and most >= tile else most // _LEAST_ROWS * _LEAST_ROWS


def _levels(coding: Jpeg2000Coding) -> Iterator[Level]:
    for number in range(coding.num_levels + 1):
        step = 1 << number
        size = Size(*(-(-side // step) for side in coding.size))
        if number and min(size) < _LEAST_SIDE:
            return
        yield Level(size, float(step), 0.5 - 0.5 / step)


def _require_bounded(file: OpenFile, coding: Jpeg2000Coding) -> None:
    least = _LEAST_ROWS * coding.size.width * coding.components * _SAMPLE_BYTES
    kept = coding.num_tiles * (_TILE_BYTES + _COMPONENT_BYTES * coding.components)
    wrong = (
        f"{coding.num_parts} code blocks or precincts in a tile" if coding.num_parts > _MOST_PARTS
        else f"{coding.most_bytes} bytes in a tile" if coding.most_bytes > _MOST_ENCODED_BYTES
        else f"{coding.num_tiles} tiles" if kept > _MOST_TILE_BYTES
        else f"rows of {coding.size.width} pixels of {coding.components} bands" if least > 2 * _BAND_BYTES
        else ""
    )  # fmt: skip
    if wrong:
        raise ImageUnsupportedError(f"{file.path}: has {wrong}, too many to read a part of it; convert it to a COG")
