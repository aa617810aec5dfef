"""Conformance of pixel sources, for authors of a decoder: what it reads, what it holds, and how it fails.

    from gigavqa.testing.sources import SourceSuite

    class TestPpm(SourceSuite):
        name = "picture.ppm"

        def write(self, path: Path, pixels: Pixels) -> None:
            Image.fromarray(pixels).save(path)

        def source(self, file: OpenFile) -> Source:
            return Source(file, "ppm", PpmDecoder(file), orientation=1)

pytest runs them, on real files. Formats that gigavqa knows need no `source`.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

import numpy as np
from PIL import Image

from gigavqa.testing.pictures import textured
from gigavqa.testing.process import is_open, new_pages, resident_bytes
from gigavqa.tiling.errors import ImageUnreadableError, RegionError
from gigavqa.tiling.files import OpenFile
from gigavqa.tiling.geometry import Region, Size
from gigavqa.tiling.sources import Level, Source, source_of
from gigavqa.tiling.sources.base import Pixels

_KEPT = (0.02, 0.3, 0.9)
_THREADS = 8
_UNLIKE = 16
"""Steps of 255 at the mean, by which two levels of one picture never differ and those of two pictures do."""


class SourceSuite:
    """Check what holds of every source, of files that `write` makes and `source` opens."""

    name: ClassVar[str]
    """Of the file, by whose ending some formats are known."""
    size: ClassVar[Size] = Size(701, 501)
    """Of the image that is written: odd, and more than one tile, strip and band of most formats."""
    num_levels: ClassVar[int] = 1
    """How many levels a file of that size has."""
    large: ClassVar[Size] = Size(2048, 4096)
    """Of the image whose reading is measured, which is to hide what a library holds at least."""
    loss: ClassVar[float] = 0
    """Steps of 255 by which what is read differs from what was written, at the mean; 0 where it is the same."""
    held: ClassVar[float] = 0.5
    """Most memory to read all of an image in bands, in parts of its pixels' bytes; more where a codec keeps all."""

    def write(self, path: Path, pixels: Pixels) -> None:
        """Write H x W x 3 RGB as a file of the format."""
        raise NotImplementedError

    def source(self, file: OpenFile) -> Source:
        """Return the source of an open file, which it takes over."""
        return source_of(file)

    def test_the_first_level_is_the_image_and_others_are_smaller(self, tmp_path: Path) -> None:
        """With downsamples that their sizes have."""
        with self._open(self._written(tmp_path)) as source:
            size, levels = source.size, source.levels
        assert size == self.size, f"the image is {self.size}, and {size} is said"
        assert levels[0] == Level(self.size, 1.0), f"the first level is {levels[0]}"
        assert len(levels) == self.num_levels, f"there are {len(levels)} levels, not {self.num_levels}: {levels}"
        for finer, level in pairwise(levels):
            assert max(level.size) < max(finer.size), f"{level} is not smaller than {finer}"
            off = [abs(side * level.downsample - full) for side, full in zip(level.size, self.size, strict=True)]
            assert max(off) < 2 * level.downsample, f"{level} is no level of {self.size}"

    def test_what_was_written_is_read(self, tmp_path: Path) -> None:
        """Every sample in its place, as RGB of 8 bits."""
        with self._open(self._written(tmp_path)) as source:
            found = source.read(0, _whole(source.levels[0]))
        is_rgb = found.shape == (*reversed(self.size), 3) and found.dtype == np.uint8
        assert is_rgb, f"what is read is {found.shape} of {found.dtype}"
        assert found.flags.c_contiguous, "what is read is not contiguous"
        differs = _difference(found, self._picture)
        assert differs <= self.loss, f"what is read differs by {differs:.3g} of 255 at the mean"

    def test_colours_are_red_green_and_blue(self, tmp_path: Path) -> None:
        """In that order."""
        pixels = np.zeros((*reversed(self.size), 3), np.uint8)
        middles = []
        for colour in range(3):
            left, right = (self.size.width * (colour + end) // 3 for end in (0, 1))
            pixels[:, left:right, colour] = 255
            middles.append((left + right) // 2)
        with self._open(self._written(tmp_path, pixels)) as source:
            found = source.read(0, _whole(source.levels[0]))[self.size.height // 2, middles]
        assert (np.abs(found.astype(int) - 255 * np.eye(3, dtype=int)) < 64).all(), f"red, green and blue are {found}"

    def test_smaller_levels_show_the_same(self, tmp_path: Path) -> None:
        """As the mean of the first does, where nothing is smaller than a level's pixels."""
        picture = Image.fromarray(textured(24, 18)).resize(self.size, Image.Resampling.BICUBIC)
        with self._open(self._written(tmp_path, np.asarray(picture))) as source:
            for number, level in enumerate(source.levels):
                expected = picture.resize(level.size, Image.Resampling.BOX)
                differs = _difference(source.read(number, _whole(level)), np.asarray(expected))
                assert differs < _UNLIKE, f"level {number} differs by {differs:.3g} of 255 at the mean from the first"

    def test_a_region_is_that_part_of_its_level(self, tmp_path: Path) -> None:
        """To the last row, column and pixel, and across tiles, strips and bands."""
        with self._open(self._written(tmp_path)) as source:
            for number, level in enumerate(source.levels):
                whole = source.read(number, _whole(level))
                for region in _regions(level.size):
                    found = source.read(number, region)
                    assert np.array_equal(found, _part(whole, region)), f"level {number} is another at {region}"

    def test_a_region_outside_its_level_is_refused(self, tmp_path: Path) -> None:
        """As is one without pixels."""
        with self._open(self._written(tmp_path)) as source:
            for number, ((width, height), *_) in enumerate(source.levels):
                outside = ((-1, 0, 5, 5), (0, -1, 5, 5), (width - 1, 0, 2, 1), (0, height - 1, 1, 2))
                for region in (*outside, (0, 0, 0, 1), (0, 0, 1, 0), (width, height, 1, 1)):
                    try:
                        source.read(number, Region(*region))
                    except RegionError:
                        continue
                    raise AssertionError(f"level {number} of {width}x{height} has pixels at {region}")

    def test_bands_lie_one_below_another(self, tmp_path: Path) -> None:
        """Each of the region's width, and all of them its rows."""
        with self._open(self._written(tmp_path)) as source:
            for number, level in enumerate(source.decoder.levels):
                region = Region(3, 5, level.size.width - 4, level.size.height - 6)
                bands = [*source.decoder.bands(number, region)]
                wrong = {band.shape for band in bands if not (band.shape[0] and band.shape[1:] == (region.width, 3))}
                assert not wrong, f"bands of {region} in level {number} have the shapes {wrong}"
                rows = sum(band.shape[0] for band in bands)
                assert rows == region.height, f"bands of {region} in level {number} have {rows} rows"

    def test_landmarks_lie_within_their_level(self, tmp_path: Path) -> None:
        """There is one at least, and each has pixels."""
        with self._open(self._written(tmp_path)) as source:
            for number, level in enumerate(source.decoder.levels):
                found = source.decoder.landmarks(number)
                assert found, f"level {number} has no landmark"
                for x, y, width, height in found:
                    right, below = level.size.width - x - width, level.size.height - y - height
                    is_within = min(x, y, right, below) >= 0 and min(width, height) > 0
                    assert is_within, f"a landmark of level {number}, {level.size}, is {(x, y, width, height)}"

    def test_memory_is_bounded_while_all_is_read(self, tmp_path: Path) -> None:
        """By a part of what the pixels take, and what is loaded but once."""
        with self._open(self._written(tmp_path)) as source:
            source.read(0, _whole(source.levels[0]))
        with self._open(self._written(tmp_path, _drawn(*self.large))) as source:
            level = source.decoder.levels[0]
            share = _share_held(source, level)
            if share > self.held:  # others of this process may have held more meanwhile
                share = _share_held(source, level)
        assert share <= self.held, f"{share:.2f} bytes are held for each of the image, {self.held} at most"

    def test_threads_that_read_at_once_read_the_same(self, tmp_path: Path) -> None:
        """Each with a source of its own, of one file."""
        path = self._written(tmp_path)
        with self._open(path) as source:
            whole = source.read(0, _whole(source.levels[0]))

        def read(number: int) -> bool:
            regions = [Region(number * 13, (number + 3 * again) * 7, 300, 200) for again in range(2)]
            with self._open(path) as own:
                return all(np.array_equal(own.read(0, region), _part(whole, region)) for region in regions)

        with ThreadPoolExecutor(_THREADS) as threads:
            same = [*threads.map(read, range(_THREADS))]
        assert all(same), f"{same.count(False)} of {_THREADS} threads read something else"

    def test_a_closed_source_holds_no_file(self, tmp_path: Path) -> None:
        """Though it was read in part alone, and is closed twice."""
        path = self._written(tmp_path)
        source = self._open(path)
        bands = source.decoder.bands(0, _whole(source.decoder.levels[0]))
        next(bands)
        del bands
        for _ in range(2):
            source.close()
        assert not is_open(path), f"{path} is still open"

    def test_a_truncated_file_is_unreadable_by_its_name(self, tmp_path: Path) -> None:
        """And is held open by nobody; where what is cut off lies behind the image, all of it is read."""
        path = self._written(tmp_path)
        with self._open(path) as source:
            whole = source.read(0, _whole(source.levels[0]))
        content = path.read_bytes()
        for kept in (0, *_KEPT):
            path.write_bytes(content[: int(kept * len(content))])
            try:
                with self._open(path) as source:
                    found = source.read(0, _whole(source.levels[0]))
            except ImageUnreadableError as error:
                assert str(path) in str(error), f"the error does not name {path}: {error}"
            else:
                assert kept > min(_KEPT), f"of {kept:.0%} of a file something is read"
                assert np.array_equal(found, whole), f"of {kept:.0%} of a file something else is read"
            assert not is_open(path), f"{path} is still open"

    def test_a_file_that_is_opened_again_is_read_again(self, tmp_path: Path) -> None:
        """And another one of its name is another."""
        path = self._written(tmp_path)
        found = []
        for pixels in (None, None, _drawn(*self.size, seed=1)):
            if pixels is not None:
                self._written(tmp_path / "other", pixels).replace(path)
            with self._open(path) as source:
                found.append(source.read(0, _whole(source.levels[0])))
        assert np.array_equal(found[0], found[1]), "what is opened again shows something else"
        assert _difference(found[0], found[2]) > _UNLIKE, "a file of other pixels shows those of the one before"

    @property
    def _picture(self) -> Pixels:
        return _drawn(*self.size)

    def _open(self, path: Path) -> Source:
        with ExitStack() as on_error:
            source = self.source(on_error.enter_context(OpenFile(path)))
            on_error.pop_all()
        return source

    def _written(self, folder: Path, pixels: Pixels | None = None) -> Path:
        folder.mkdir(exist_ok=True)
        self.write(folder / self.name, self._picture if pixels is None else pixels)
        return folder / self.name


@lru_cache(maxsize=8)
def _drawn(width: int, height: int, seed: int = 0) -> Pixels:
    """Draw a picture once for all tests, which takes longer than most of them; nobody can change it."""
    picture = textured(width, height, seed)
    picture.setflags(write=False)
    return picture


def _share_held(source: Source, level: Level) -> float:
    """Read all of a level in bands, and return the most bytes held meanwhile for each byte of its pixels."""
    with new_pages():
        before = resident_bytes()
        most = max(resident_bytes() for _ in source.decoder.bands(0, _whole(level))) - before
    return most / (3 * level.size.area)


def _whole(level: Level) -> Region:
    return Region(0, 0, *level.size)


def _regions(size: Size) -> Iterator[Region]:
    """One pixel and more at the begin, amid and at the end of a level, and its edges."""
    width, height = size
    for x, y in ((0, 0), (width // 2, height // 2), (width - 1, height - 1)):
        yield Region(x, y, 1, 1)
        yield Region(x, 0, 1, height)
        yield Region(0, y, width, 1)
        yield Region(x, y, width - x, height - y)
    yield Region(width // 3, height // 4, width // 2, height // 2)


def _part(whole: Pixels, region: Region) -> Pixels:
    x, y, width, height = region
    return whole[y : y + height, x : x + width]


def _difference(one: Pixels, other: Pixels) -> float:
    return float(np.abs(one.astype(np.int16) - other).mean())
