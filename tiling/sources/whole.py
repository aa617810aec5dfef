"""Flat images of more than 8 bits a sample that only decode whole: JPEG 2000, and JPEG of 12 bits."""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import imagecodecs
from numpy.typing import NDArray

from gigavqa.tiling.displays.samples import NativeSamples, decoded_samples
from gigavqa.tiling.errors import ImageUnreadableError, translate_decoder_errors
from gigavqa.tiling.files import OpenFile
from gigavqa.tiling.formats import Container
from gigavqa.tiling.geometry import Region, Size
from gigavqa.tiling.limits import check_pixels
from gigavqa.tiling.pixel_types import PixelType
from gigavqa.tiling.sources.base import Decoder, Pixels, describe_levels
from gigavqa.tiling.sources.colours import ColourModel
from gigavqa.tiling.sources.whole_jpeg2000 import one_at_a_time

_BAND_ROWS = 256
_DECODERS: dict[Container, Callable[[bytes], NDArray[Any]]] = {
    "jp2": imagecodecs.jpeg2k_decode,
    "jpeg": imagecodecs.jpeg8_decode,
}


class WholeImageDecoder(Decoder):
    """Decodes the whole image for each region, one image at a time in a process; the limit of `jp2_whole` bounds it.

    Raises ImageTooLargeError.
    """

    is_sequential = True

    def __init__(self, file: OpenFile, container: Container, size_s: Size, pixel_type: PixelType) -> None:
        check_pixels(file.path, "jp2_whole", size_s)
        self._file, self._container, self._pixel_type = file, container, pixel_type
        self.levels = describe_levels([size_s])

    @cached_property
    def native(self) -> NativeSamples:
        """The samples of a pixel, of as many bits as the header says."""
        return decoded_samples(self._pixel_type)

    def bands(self, level: int, region_l: Region) -> Iterator[Pixels]:
        """Decode all, then yield bands of 256 rows."""
        x, y, width, height = region_l
        with translate_decoder_errors(self._file.path):
            samples = self._decode()
            for top in range(y, y + height, _BAND_ROWS):
                part = samples[top : min(top + _BAND_ROWS, y + height), x : x + width]
                yield (self.conversion or ColourModel(self._pixel_type.colours))(part)

    def close(self) -> None:
        """Nothing is held between regions."""

    def _decode(self) -> NDArray[Any]:
        with one_at_a_time, self._file.stream() as stream:
            samples = _DECODERS[self._container](stream.read())
        samples = samples.reshape(*samples.shape[:2], -1)
        size, expected = self.levels[0].size, self.native
        if samples.shape != (size.height, size.width, expected.channels) or samples.dtype != expected.dtype:
            raise ImageUnreadableError(f"{self._file.path}: is decoded to other samples than its header says")
        return samples
