"""A source as somebody else would write it, of binary PPM; docs/extending.md shows it."""

import os
import re
from collections.abc import Iterator

import numpy as np

from gigavqa.tiling.errors import ImageUnreadableError
from gigavqa.tiling.files import OpenFile
from gigavqa.tiling.geometry import Region, Size
from gigavqa.tiling.sources.base import Decoder, Pixels, describe_levels


class PpmDecoder(Decoder):
    """Rows of RGB behind three numbers."""

    def __init__(self, file: OpenFile) -> None:
        self._file = file
        head = re.match(rb"P6\s(\d+)\s(\d+)\s255\s", os.pread(file.descriptor, 64, 0))
        if head is None:
            raise ImageUnreadableError(f"{file.path}: it does not begin as a binary PPM of 8 bits")
        self._start = head.end()
        self.levels = describe_levels([Size(int(head[1]), int(head[2]))])

    def bands(self, level: int, region_l: Region) -> Iterator[Pixels]:
        """Read 64 rows at a time."""
        x, y, width, height = region_l
        row_bytes = 3 * self.levels[level].size.width
        for top in range(y, y + height, 64):
            wanted = row_bytes * min(64, y + height - top)
            data = os.pread(self._file.descriptor, wanted, self._start + top * row_bytes)
            if len(data) < wanted:
                raise ImageUnreadableError(f"{self._file.path}: the file ends within its pixels")
            yield np.frombuffer(data, np.uint8).reshape(-1, row_bytes // 3, 3)[:, x : x + width]

    def close(self) -> None:
        """Nothing but the file is held."""
