"""OME-Zarr through zarr-python, which decodes chunks and shards of both versions."""

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import zarr
from numpy.typing import NDArray
from zarr.storage import LocalStore

from gigavqa.tiling.displays.samples import Conversion, NativeSamples
from gigavqa.tiling.errors import ImageUnreadableError, translate_decoder_errors
from gigavqa.tiling.files import OpenFile
from gigavqa.tiling.geometry import Region
from gigavqa.tiling.slides.ngff import NgffLayout
from gigavqa.tiling.sources.base import Decoder, Pixels, describe_levels
from gigavqa.tiling.sources.colours import ColourModel

_BAND_ROWS = 256
_PIECE_BYTES = 32 * 2**20


class ZarrDecoder(Decoder):
    """Reads the plane of a layout in the store of an open folder; a chunk that is not there holds the fill value."""

    def __init__(self, file: OpenFile, layout: NgffLayout) -> None:
        self._file, self._layout = file, layout
        self.levels = describe_levels(list(layout.sizes))
        self.microns_per_pixel = layout.microns_per_pixel
        told = layout.pixel_type
        self._native = NativeSamples(told.bands, np.dtype(layout.array.dtype), bits=told.bits)
        self._colours = ColourModel(told.colours)
        with translate_decoder_errors(file.path):
            store = LocalStore(os.fspath(file), read_only=True)
            self._arrays = [zarr.open_array(store, path=name, mode="r") for name in layout.names]
        for array, size in zip(self._arrays, layout.sizes, strict=True):
            if array.shape[-2:] != (size.height, size.width) or array.dtype.newbyteorder("=") != self._native.dtype:
                raise ImageUnreadableError(f"{file.path}: an array has another shape than its metadata say")

    @property
    def native(self) -> NativeSamples:
        """The samples of a pixel: one of each channel."""
        return self._native

    def bands(self, level: int, region_l: Region) -> Iterator[Pixels]:
        """Decode in bands of a chunk's rows, 256 at most where that is more, and in pieces of 32 MiB of samples."""
        array = self._arrays[level]
        step = min(array.chunks[-2], _BAND_ROWS) if array.chunks[-2] >= _BAND_ROWS // 2 else _BAND_ROWS
        top, bottom = region_l.y, region_l.y + region_l.height
        with translate_decoder_errors(self._file.path):
            while top < bottom:
                rows = min(step - top % step, bottom - top)
                yield self._band(array, Region(region_l.x, top, region_l.width, rows))
                top += rows

    def close(self) -> None:
        """Nothing is held between regions."""

    def _band(self, array: "zarr.Array[Any]", region: Region) -> Pixels:
        convert: Conversion = self.conversion or self._colours
        band = np.empty((region.height, region.width, convert.channels), convert.dtype)
        pixel_bytes = region.height * self._native.channels * self._native.dtype.itemsize
        step = max(1, _PIECE_BYTES // (pixel_bytes * array.chunks[-1])) * array.chunks[-1]
        left, right = region.x, region.x + region.width
        while left < right:
            end = min(left - left % step + step, right)
            part = np.s_[region.y : region.y + region.height, left:end]
            band[:, left - region.x : end - region.x] = convert(self._read(array, part))
            left = end
        return band

    def _read(self, array: "zarr.Array[Any]", part: tuple[slice, ...]) -> NDArray[Any]:
        """Samples of a part of the plane, H x W x S in the machine's byte order."""
        place = tuple(slice(None) if at is None else at for at in self._layout.index)
        samples = np.asarray(array[(*place, *part)], self._native.dtype)
        return samples[..., None] if samples.ndim == 2 else np.ascontiguousarray(np.moveaxis(samples, 0, -1))
