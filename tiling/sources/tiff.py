"""TIFF containers through tifffile and imagecodecs: a damaged tile raises, where libvips silently reads it as grey."""

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import ExitStack
from itertools import pairwise, product, repeat
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tifffile import TiffFile, TiffPage

from gigavqa.tiling.decode_threads import decode_pool
from gigavqa.tiling.displays.samples import Conversion, NativeSamples
from gigavqa.tiling.errors import ImageUnreadableError, translate_decoder_errors
from gigavqa.tiling.files import OpenFile
from gigavqa.tiling.geometry import Region
from gigavqa.tiling.pixel_types import CHANNELS, PixelType
from gigavqa.tiling.sources.base import Decoder, Pixels, describe_levels
from gigavqa.tiling.sources.colours import Alpha, ColourModel
from gigavqa.tiling.tiff import LOSSY, TiffLayout, colour_table, page_size, photometric_kind

_BAND_ROWS = 256
_MOST_SCANNED_BYTES = 64 * 2**20
_LEAST_SCANNED_BYTES = 1024
_COMPRESSION_OVERHEAD = 64 * 1024
_EXPECTED_BYTES = 16 * 2**20  # of a file elsewhere, ahead of what is decoded
_GDAL_NODATA = 42113  # a text
_PROFILE = 34675
_ALPHA: dict[int, Alpha] = {1: "premultiplied", 2: "straight"}


class TiffDecoder(Decoder):
    """Reads the tiles or strips of the levels in a TIFF's layout. Takes over what holds the TIFF open; not the file."""

    def __init__(self, file: OpenFile, tiff: TiffFile, layout: TiffLayout, held: ExitStack) -> None:
        self._path = file.path
        self._byteorder = tiff.byteorder
        self._held = held
        self._pages = layout.pages
        self._channels = {channels[0].offset: channels for channels in layout.channels}
        self.levels = describe_levels([page_size(page) for page in layout.pages])
        self.microns_per_pixel = layout.microns_per_pixel
        self.incomplete = frozenset(
            number
            for number, (finer, page) in enumerate(pairwise(layout.pages), start=1)
            if 0 in page.databytecounts and 0 not in finer.databytecounts
        )
        self.is_lossy = any(page.compression in LOSSY for page in layout.pages)
        self._colours = _colours(layout.pages[0])
        self._native = _native(layout.pages[0], layout.pixel_type, colour_table(layout.pages[0]))
        self._changes_of: dict[int, list[float]] = {}
        self._file = file
        self._num_bytes = file.size

    @property
    def native(self) -> NativeSamples:
        """The samples of a page, with alpha, nodata and colours of classes as its tags have them."""
        return self._native

    @property
    def _convert(self) -> Conversion:
        return self.conversion or self._colours

    def bands(self, level: int, region_l: Region) -> Iterator[Pixels]:
        """Decode the rows of tiles or strips that the region touches; a damaged one raises."""
        page = self._pages[level]
        with translate_decoder_errors(self._path):
            is_alone = len(self._channels[page.offset]) == 1 and page.planarconfig == 1
            if is_alone and page.is_contiguous and not page.is_tiled:
                yield from self._plain_bands(page, region_l)
            else:
                yield from self._segment_bands(page, region_l)

    def expect(self, level: int, regions: Sequence[Region]) -> None:
        """Let the file know where their tiles or strips lie."""
        page = self._pages[level]
        if self._file.is_remote:
            self._file.expect(span for region in regions for span in self._spans(page, region))

    def landmarks(self, level: int) -> list[Region]:
        """Return the tile of each quarter that took most bytes to encode, which is where most is to be seen.

        Of tiles that are not encoded, of which as much is read as 64 MiB allow, the one that changes most.
        """
        page = self._pages[level]
        if not page.is_tiled:
            return super().landmarks(level)
        width, length = page.tilewidth, page.tilelength
        rows, columns = -(-page.imagelength // length), -(-page.imagewidth // width)
        if page.compression == 1 and level not in self._changes_of:  # each is compared with both its neighbours
            self._changes_of[level] = self._changes(page)
        weights = self._changes_of.get(level, page.databytecounts)
        counts = np.asarray(weights[: rows * columns]).reshape(rows, columns)
        found = []
        for top, left in product({0, rows // 2}, {0, columns // 2}):
            part = counts[top : top + -(-rows // 2), left : left + -(-columns // 2)]
            row, column = np.unravel_index(part.argmax(), part.shape)
            x, y = (left + int(column)) * width, (top + int(row)) * length
            found.append(Region(x, y, min(width, page.imagewidth - x), min(length, page.imagelength - y)))
        return found

    def _changes(self, page: TiffPage) -> list[float]:
        """Return how much neighbouring samples of each tile differ at the mean, of tiles that are not encoded."""
        dtype = np.dtype(page.dtype).newbyteorder(self._byteorder)
        step, pixel_bytes = page.samplesperpixel, page.samplesperpixel * dtype.itemsize
        most = max(_MOST_SCANNED_BYTES // len(page.dataoffsets), _LEAST_SCANNED_BYTES)
        changes = []
        for offset, count in zip(page.dataoffsets, page.databytecounts, strict=True):
            scanned = min(count, most) // pixel_bytes
            before = (count // pixel_bytes - scanned) // 2
            data = self._read(offset + before * pixel_bytes, scanned * pixel_bytes)
            samples = np.frombuffer(data, dtype).astype(np.int32)
            changes.append(float(np.abs(samples[step:] - samples[:-step]).mean()) if samples.size > step else 0.0)
        return changes

    def close(self) -> None:
        self._held.close()

    def _plain_bands(self, page: TiffPage, region: Region) -> Iterator[Pixels]:
        """Rows of an uncompressed page, which may be one strip of any size."""
        dtype = np.dtype(page.dtype).newbyteorder(self._byteorder)
        row_samples = page.imagewidth * page.samplesperpixel
        for top in range(region.y, region.y + region.height, _BAND_ROWS):
            rows = min(_BAND_ROWS, region.y + region.height - top)
            start = page.dataoffsets[0] + top * row_samples * dtype.itemsize
            data = self._read(start, rows * row_samples * dtype.itemsize)
            samples = np.frombuffer(data, dtype).reshape(rows, page.imagewidth, page.samplesperpixel)
            samples = samples[:, region.x : region.x + region.width]
            yield np.ascontiguousarray(self._convert(samples.astype(page.dtype, copy=False)))

    def _segment_bands(self, page: TiffPage, region: Region) -> Iterator[Pixels]:
        """Bands of whole rows of tiles or strips; the next one is decoded while the caller works on this one."""
        height = _segment_height(page)
        step = height * max(1, _BAND_ROWS // height)
        bands = list(_rows_of(region, step))
        expecting = self._expect_ahead(page, bands) if self._file.is_remote else repeat(None)
        ahead: _PendingBand | None = None
        try:
            for band, _ in zip(bands, expecting, strict=False):
                ready, ahead = ahead, self._start(page, band, height)
                if ready:
                    yield ready.result()
            if ahead:
                yield ahead.result()
        finally:
            if ahead:
                wait(ahead.tasks)  # they read from the file that will be closed

    def _expect_ahead(self, page: TiffPage, bands: Sequence[Region]) -> Iterator[None]:
        """Say before each band which bytes it and those behind it will read, as far as they may lie here unread."""
        ends, unread = deque[int](), 0
        coming = iter(bands)
        for _ in bands:
            expected: list[tuple[int, int]] = []
            most = _EXPECTED_BYTES if not ends or unread < _EXPECTED_BYTES // 2 else 0
            while unread < most and (band := next(coming, None)):
                spans = self._spans(page, band)
                ends.append(sum(stop - start for start, stop in spans))
                unread += ends[-1]
                expected += spans
            self._file.expect(expected)
            yield
            unread -= ends.popleft()

    def _spans(self, page: TiffPage, region: Region) -> list[tuple[int, int]]:
        """Return where the tiles or strips lie that a region of a page touches."""
        height = _segment_height(page)
        width = page.tilewidth if page.is_tiled else page.imagewidth
        per_row = -(-page.imagewidth // width)
        per_plane = len(page.dataoffsets) // (page.samplesperpixel if page.planarconfig != 1 else 1)
        indices = [
            first + row * per_row + column
            for first in range(0, len(page.dataoffsets), per_plane)
            for row in range(region.y // height, (region.y + region.height - 1) // height + 1)
            for column in range(region.x // width, (region.x + region.width - 1) // width + 1)
        ]
        places = ((page.dataoffsets[index], page.databytecounts[index]) for index in indices)
        most = _most_encoded_bytes(page)
        return [(at, at + count) for at, count in places if 0 < count <= most and at + count <= self._num_bytes]

    def _start(self, page: TiffPage, region: Region, segment_height: int) -> "_PendingBand":
        """Begin to decode the region of a page whose tiles or strips are `segment_height` high."""
        width = page.tilewidth if page.is_tiled else page.imagewidth
        per_row = -(-page.imagewidth // width)
        pixels = np.empty((region.height, region.width, self._convert.channels), self._convert.dtype)

        def place(row: int, column: int) -> None:
            samples = self._segment(page, row * per_row + column)
            _copy(self._convert(samples), column * width, row * segment_height, pixels, region)

        rows = range(region.y // segment_height, (region.y + region.height - 1) // segment_height + 1)
        columns = range(region.x // width, (region.x + region.width - 1) // width + 1)
        return _PendingBand(pixels, [decode_pool().submit(place, row, column) for row in rows for column in columns])

    def _segment(self, page: TiffPage, index: int) -> NDArray[Any]:
        """Samples of one tile or strip of all channels, H x W x S."""
        channels = self._channels[page.offset]
        found = [self._samples(each, index) for each in channels]
        return found[0] if len(found) == 1 else np.concatenate(found, axis=2)

    def _samples(self, page: TiffPage, index: int) -> NDArray[Any]:
        if page.planarconfig == 1:
            return self._plane(page, index)
        per_plane = len(page.dataoffsets) // page.samplesperpixel
        planes = [self._plane(page, plane * per_plane + index) for plane in range(page.samplesperpixel)]
        return np.concatenate(planes, axis=2)

    def _plane(self, page: TiffPage, index: int) -> NDArray[Any]:
        offset, count = page.dataoffsets[index], page.databytecounts[index]
        if count > _most_encoded_bytes(page):
            raise ImageUnreadableError(f"{self._path}: a tile or strip claims {count} bytes, more than its pixels have")
        data = self._read(offset, count) if count else None
        samples, _, shape = page.decode(data, index, jpegtables=page.jpegtables)
        if samples is None:  # the file says that it left this tile out
            return np.full(shape[1:], page.nodata, page.dtype)
        plane: NDArray[Any] = samples[0]
        return plane

    def _read(self, offset: int, count: int) -> bytes:
        data = self._file.read_at(offset, count) if offset + count <= self._num_bytes else b""
        if len(data) < count:
            raise ImageUnreadableError(f"{self._path}: the file ends within its pixels")
        return data


class _PendingBand(NamedTuple):
    """Pixels that tasks are about to fill."""

    pixels: Pixels
    tasks: "list[Future[None]]"

    def result(self) -> Pixels:
        """Wait for the pixels; raises what a task raised, when none runs any more."""
        wait(self.tasks)
        for task in self.tasks:
            task.result()
        return self.pixels


def _rows_of(region: Region, step: int) -> Iterator[Region]:
    """Cut a region where rows of tiles or strips end, each `step` pixels high."""
    below = region.y + region.height
    for top in range(region.y // step * step, below, step):
        first = max(top, region.y)
        yield Region(region.x, first, region.width, min(top + step, below) - first)


def _segment_height(page: TiffPage) -> int:
    """Return how many rows a tile or strip of a page has."""
    return int(page.tilelength if page.is_tiled else min(page.rowsperstrip, page.imagelength))


def _most_encoded_bytes(page: TiffPage) -> int:
    """Return the most that a tile or strip of a page may claim to take."""
    return int(2 * prod(page.chunks) * page.dtype.itemsize + _COMPRESSION_OVERHEAD)


def _copy(tile: Pixels, x: int, y: int, pixels: Pixels, region: Region) -> None:
    """Copy the part of a tile at (x, y) that lies in the region to where it belongs in the region's pixels."""
    left, top = max(x, region.x), max(y, region.y)
    right = min(x + tile.shape[1], region.x + region.width)
    bottom = min(y + tile.shape[0], region.y + region.height)
    pixels[top - region.y : bottom - region.y, left - region.x : right - region.x] = tile[
        top - y : bottom - y, left - x : right - x
    ]


def _native(page: TiffPage, told_type: PixelType, table: Pixels | None) -> NativeSamples:
    first = CHANNELS[told_type.colours]
    alphas = [first + at for at, extra in enumerate(page.extrasamples) if int(extra) in _ALPHA]
    told = page.tags.valueof(_GDAL_NODATA)
    return NativeSamples(
        told_type.bands,
        np.dtype(page.dtype),
        bits=told_type.bits,
        alpha=alphas[0] if alphas else None,
        nodata=_read_nodata(told) if isinstance(told, str) else None,
        table=tuple(map(tuple, table.tolist())) if table is not None else (),
        is_inverted=page.photometric == 0,
        is_premultiplied=told_type.is_premultiplied,
        profile=bytes(profile) if isinstance(profile := page.tags.valueof(_PROFILE), bytes) else None,
    )


def _read_nodata(told: str) -> float | None:
    try:
        return float(told.strip("\0 "))
    except ValueError:
        return None


def _colours(page: TiffPage) -> ColourModel:
    kind = photometric_kind(page)
    palette = colour_table(page) if kind == "palette" else None
    extra = page.extrasamples[0] if page.extrasamples else None
    alpha = _ALPHA.get(int(extra)) if extra is not None else None
    return ColourModel(kind, is_inverted=page.photometric == 0, alpha=alpha, palette=palette)
