"""Vendor whole-slide formats through OpenSlide."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import numpy as np
import openslide
from PIL import Image

from gigavqa.tiling.errors import ImageUnreadableError, translate_decoder_errors
from gigavqa.tiling.files import OpenFile
from gigavqa.tiling.geometry import Region, Size
from gigavqa.tiling.sources.base import Decoder, Pixels, describe_levels

_BAND_ROWS = 256


class SlideDecoder(Decoder):
    """Reads the levels of a slide. Where no tissue was scanned, the slide's background colour is shown.

    OpenSlide takes positions in whole level-0 pixels: where a downsample is no whole number, a region begins up to half
    of one beside where it should.
    """

    is_lossy = True

    def __init__(self, file: OpenFile) -> None:
        self._file = file
        self._held = ExitStack()
        with _translate_slide_errors(file):
            self._slide = self._held.enter_context(openslide.OpenSlide(os.fspath(file)))
            properties = self._slide.properties
            self.vendor: str = properties[openslide.PROPERTY_NAME_VENDOR]
            self.levels = describe_levels([Size(*size) for size in self._slide.level_dimensions])
            microns = properties.get(openslide.PROPERTY_NAME_MPP_X)
            self.microns_per_pixel = float(microns) if microns else None
            self._background = "#" + properties.get(openslide.PROPERTY_NAME_BACKGROUND_COLOR, "FFFFFF")

    def bands(self, level: int, region_l: Region) -> Iterator[Pixels]:
        """Decode in bands of 256 rows; OpenSlide refuses everything after its first error, so a slide is reopened."""
        downsample = self._slide.level_downsamples[level]
        for top in range(0, region_l.height, _BAND_ROWS):
            rows = min(_BAND_ROWS, region_l.height - top)
            location = round(region_l.x * downsample), round((region_l.y + top) * downsample)
            yield self._read(location, level, (region_l.width, rows))

    def close(self) -> None:
        """Release the file, be it for the second time, which OpenSlide refuses."""
        self._held.close()

    def _read(self, location: tuple[int, int], level: int, size: tuple[int, int]) -> Pixels:
        with _translate_slide_errors(self._file):
            tile = self._slide.read_region(location, level, size)
        background = Image.new("RGB", size, self._background)
        background.paste(tile, mask=tile.getchannel("A"))
        pixels = np.asarray(background)
        return self.conversion(pixels) if self.conversion else pixels


@contextmanager
def _translate_slide_errors(file: OpenFile) -> Iterator[None]:
    with translate_decoder_errors(file.path):
        try:
            yield
        except openslide.OpenSlideError as error:
            raise ImageUnreadableError(f"{file.path}: {file.renamed(str(error))}") from error
