"""Grids of pictures of one size, row by row, without gap, border or resampling: UltraVR's inspection images.

A grid is a decoder like any other, so that what writes pyramids of images writes it: a stream of bands, of which a
band of each picture in one row of the grid is all that is held.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from gigavqa.construction.errors import BuildError
from gigavqa.tiling.geometry import Region, Size
from gigavqa.tiling.levels import rechunk_bands
from gigavqa.tiling.pyramid import OnProgress, write_levels
from gigavqa.tiling.sources import Source, open_source
from gigavqa.tiling.sources.base import Decoder, Level, Pixels

_BAND_ROWS = 128
_UPRIGHT = 1


class GridDecoder(Decoder):
    """Shows pictures as the cells of one image; `cells` are their files in the order of rows.

    Raises BuildError where their number is not that of the grid, where one comes twice, or where sizes differ.
    """

    is_sequential = True

    def __init__(self, cells: Sequence[Path], rows: int, columns: int) -> None:
        if len(cells) != rows * columns:
            raise BuildError(f"a grid of {rows} x {columns} has {rows * columns} cells, not {len(cells)}")
        if twice := [path for path, number in Counter(cells).items() if number > 1]:
            raise BuildError(f"{twice[0]} would be in two cells of one grid; each picture stands once")
        self._cells, self._columns = tuple(cells), columns
        with self._open(cells[0]) as first:
            self.cell = first.size
        self.levels = (Level(Size(columns * self.cell.width, rows * self.cell.height), 1.0),)

    def bands(self, level: int, region_l: Region) -> Iterator[Pixels]:
        """Yield the whole grid in bands of at most 128 rows, whatever region is asked for.

        Raises as `open_source` does.
        """
        for start in range(0, len(self._cells), self._columns):
            with ExitStack() as opened:
                row = [opened.enter_context(self._open(path)) for path in self._cells[start : start + self._columns]]
                cell = Region(0, 0, *self.cell)
                parts = (rechunk_bands(source.decoder.bands(0, cell), _BAND_ROWS) for source in row)
                for bands in zip(*parts, strict=True):
                    yield np.concatenate(bands, axis=1)

    def close(self) -> None:
        """Nothing is held between rows of the grid."""

    def _open(self, path: Path) -> Source:
        source = open_source(path)
        if source.orientation != _UPRIGHT:
            source.close()
            raise BuildError(f"{path}: its EXIF orientation turns it; write its pixels upright")
        expected = getattr(self, "cell", source.size)
        if source.size != expected:
            told = f"{source.size.width} x {source.size.height}"
            source.close()
            raise BuildError(
                f"{path} is {told}, and the first picture of its grid {expected.width} x {expected.height}; a grid has "
                "pictures of one size"
            )
        return source


def write_grid(cells: Sequence[Path], rows: int, columns: int, path: Path, progress: OnProgress | None = None) -> Size:
    """Write a grid to `path` as a lossless pyramid, whole or not at all, and return the size of a cell.

    Needs memory for a few bands of 512 rows of the grid, and beside `path` room for a third of its pixels. Raises
    BuildError, and TilingError for a picture that cannot be read.
    """
    decoder = GridDecoder(cells, rows, columns)
    draft = path.with_name(f".{path.name}.draft")
    try:
        write_levels(decoder, draft, progress)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    return decoder.cell
