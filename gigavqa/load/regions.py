"""Regions of pictures: which, so that none comes twice."""

import math
import random

from gigavqa.tiling.geometry import Region, Size


class RegionSequence:
    """All regions of one size in a picture, each once, in a drawn order that takes no memory."""

    def __init__(self, size: Size, side: int, seed: str) -> None:
        self._region = Size(min(side, size.width), min(side, size.height))
        self._columns = size.width - self._region.width + 1
        self._rows = size.height - self._region.height + 1
        drawn = random.Random(seed)
        self._first = drawn.randrange(len(self))
        self._step = next(step for step in iter(lambda: drawn.randint(1, len(self)), 0) if self._visits_all(step))

    def __len__(self) -> int:
        return self._columns * self._rows

    def __getitem__(self, place: int) -> Region:
        row, column = divmod((self._first + place * self._step) % len(self), self._columns)
        return Region(column, row, *self._region)

    def _visits_all(self, step: int) -> bool:
        return math.gcd(step, len(self)) == 1
