"""Vendor whole-slide formats through OpenSlide."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import numpy as np
import openslide
from PIL import Image

from gigavqa.tiling.decode_threads import decode_pool
from gigavqa.tiling.displays.samples import NativeSamples
from gigavqa.tiling.errors import ImageUnreadableError, translate_decoder_errors
from gigavqa.tiling.files import OpenFile
from gigavqa.tiling.geometry import Region
from gigavqa.tiling.image_part import WHOLE, ImagePart, require_associated
from gigavqa.tiling.limits import check_pixels
from gigavqa.tiling.slides.slide_facts import part_of_slide
from gigavqa.tiling.slides.slide_library import facts_of
from gigavqa.tiling.sources.base import Decoder, Pixels, describe_levels

_BAND_ROWS = 256
_TILE_ROWS = range(64, 513)
_PIECE_COLUMNS = 2048


class SlideDecoder(Decoder):
    """Reads the levels of a slide, or of the declared part. Where nothing was scanned, its background colour is shown.

    OpenSlide takes positions in whole level-0 pixels: where a downsample is no whole number, a region begins up to half
    of one beside where it should.
    """

    is_lossy = True

    def __init__(self, file: OpenFile, part: ImagePart = WHOLE) -> None:
        self._file = file
        self._held = ExitStack()
        with _translate_slide_errors(file), ExitStack() as on_error:
            self._slide = on_error.enter_context(openslide.OpenSlide(os.fspath(file)))
            facts = facts_of(self._slide)
            self._place = part_of_slide(file.path, facts, part)
            self.vendor: str = facts.vendor
            self.levels = describe_levels(list(facts.sizes_within(self._place)))
            self.microns_per_pixel = facts.microns_per_pixel
            self._background = f"#{facts.background}"
            self._held = on_error.pop_all()

    @property
    def native(self) -> NativeSamples:
        """RGB of 8 bits, with the slide's ICC profile."""
        profile = self._slide.color_profile
        return NativeSamples(3, np.dtype(np.uint8), bits=8, profile=profile.tobytes() if profile else None)

    def bands(self, level: int, region_l: Region) -> Iterator[Pixels]:
        """Decode in bands of a tile's rows; OpenSlide refuses everything after its first error, so a slide is reopened.

        A band is read in pieces, several at a time, so that beside its pixels little is held.
        """
        step = self._rows(level)
        top, bottom = region_l.y, region_l.y + region_l.height
        while top < bottom:
            rows = min(step - top % step, bottom - top)
            yield self._band(level, Region(region_l.x, top, region_l.width, rows))
            top += rows

    def close(self) -> None:
        """Release the file, be it for the second time, which OpenSlide refuses."""
        self._held.close()

    def _rows(self, level: int) -> int:
        told = self._slide.properties.get(f"openslide.level[{level}].tile-height", "")
        return int(told) if told.isdecimal() and int(told) in _TILE_ROWS else _BAND_ROWS

    def _band(self, level: int, region: Region) -> Pixels:
        pixels = np.empty((region.height, region.width, 3), np.uint8)

        def fill(left: int) -> None:
            width = min(_PIECE_COLUMNS, region.width - left)
            piece = self._read(level, Region(region.x + left, region.y, width, region.height))
            pixels[:, left : left + width] = piece

        list(decode_pool().map(fill, range(0, region.width, _PIECE_COLUMNS)))
        return self.conversion(pixels) if self.conversion else pixels

    def _read(self, level: int, region: Region) -> Pixels:
        downsample = self._slide.level_downsamples[level]
        location = (round(region.x * downsample) + self._place.x, round(region.y * downsample) + self._place.y)
        with _translate_slide_errors(self._file):
            tile = self._slide.read_region(location, level, region.size)
        return _on_background(tile, self._background)


class AssociatedImageDecoder(Decoder):
    """Reads an associated image of a slide, whole; at most 100 megapixels."""

    is_lossy = True
    is_sequential = True

    def __init__(self, file: OpenFile, name: str) -> None:
        self._file = file
        with _translate_slide_errors(file), openslide.OpenSlide(os.fspath(file)) as slide:
            sizes = dict(facts_of(slide).associated)
            require_associated(file.path, name, sizes)
            check_pixels(file.path, "jp2", sizes[name])
            self._pixels = _on_background(slide.associated_images[name], "white")
        self.levels = describe_levels([sizes[name]])

    def bands(self, level: int, region_l: Region) -> Iterator[Pixels]:
        """Yield bands of 256 rows of what was decoded."""
        x, y, width, height = region_l
        for top in range(y, y + height, _BAND_ROWS):
            band = np.ascontiguousarray(self._pixels[top : min(top + _BAND_ROWS, y + height), x : x + width])
            yield self.conversion(band) if self.conversion else band

    def close(self) -> None:
        """The slide was closed when its picture had been read."""


def _on_background(tile: Image.Image, colour: str) -> Pixels:
    background = Image.new("RGB", tile.size, colour)
    background.paste(tile, mask=tile.getchannel("A"))
    return np.asarray(background)


@contextmanager
def _translate_slide_errors(file: OpenFile) -> Iterator[None]:
    with translate_decoder_errors(file.path):
        try:
            yield
        except openslide.OpenSlideError as error:
            raise ImageUnreadableError(f"{file.path}: {file.renamed(str(error))}") from error
