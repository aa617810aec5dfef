"""JPEG 2000 of other colours than grey and RGB, or of subsampled ones, through Pillow, which knows them."""

import threading
from collections.abc import Iterator

import numpy as np
from PIL import Image, Jpeg2KImagePlugin

from gigavqa.tiling.errors import translate_decoder_errors
from gigavqa.tiling.files import OpenFile
from gigavqa.tiling.geometry import Region, Size
from gigavqa.tiling.sources.base import Decoder, Pixels, describe_levels
from gigavqa.tiling.sources.colours import Alpha, ColourModel, to_rgb

_BAND_ROWS = 256


one_at_a_time = threading.Lock()
"""Held while an image is decoded whole.

OpenJPEG takes about 16 bytes a pixel meanwhile: 1 GB at the limit on pixels of `jp2_whole`.
"""


class WholeJpeg2000Decoder(Decoder):
    """Decodes the whole image for each region: the limit on pixels of `jp2_whole` bounds its memory and time.

    A process decodes one such image at a time, however many threads render.
    """

    is_sequential = True

    def __init__(self, file: OpenFile, size_s: Size) -> None:
        self._file = file
        self.levels = describe_levels([size_s])

    def bands(self, level: int, region_l: Region) -> Iterator[Pixels]:
        """Decode all, then yield bands of 256 rows."""
        with one_at_a_time:
            image = self._decode()
        x, y, width, height = region_l
        for top in range(y, y + height, _BAND_ROWS):
            part = image.crop((x, top, x + width, min(top + _BAND_ROWS, y + height)))
            samples = np.asarray(part)
            yield to_rgb(samples.reshape(*samples.shape[:2], -1), _COLOURS[part.mode])

    def close(self) -> None:
        """Nothing is held between regions."""

    def _decode(self) -> Image.Image:
        with translate_decoder_errors(self._file.path), self._file.stream() as stream:
            loaded = Jpeg2KImagePlugin.Jpeg2KImageFile(stream)
            loaded.load()
        return loaded if loaded.mode in _COLOURS else loaded.convert("RGBA" if "A" in loaded.mode else "RGB")


_STRAIGHT: Alpha = "straight"
_COLOURS = {
    "L": ColourModel("grey"),
    "LA": ColourModel("grey", alpha=_STRAIGHT),
    "RGB": ColourModel("rgb"),
    "RGBA": ColourModel("rgb", alpha=_STRAIGHT),
    "CMYK": ColourModel("cmyk"),
}
