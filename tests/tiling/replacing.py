"""Two contents of one size that take each other's place, in all the ways in which files do."""

import os
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np
import tifffile
from PIL import Image

from tests.tiling.pictures import Pixels

Side = Literal["one", "other"]
RED: dict[Side, int] = {"one": 40, "other": 220}
"""What the red of every pixel of a side is, but for loss."""
WIDTH, HEIGHT = 200, 500
TIME = 10**18


def painted(side: Side) -> Pixels:
    """A picture that is told by its red, and takes as many bytes as the other one where it is not encoded."""
    pixels = np.random.default_rng(1).integers(0, 256, (HEIGHT, WIDTH, 3), np.uint8)
    pixels[..., 0] = RED[side]
    return pixels


def side_of(pixels: Pixels) -> Side:
    """Which of both is seen."""
    reds = {side: abs(float(pixels[..., 0].mean()) - red) for side, red in RED.items()}
    assert min(reds.values()) < 8, "pixels of both, or of neither"
    assert pixels[..., 0].std() < 8
    return min(reds, key=lambda side: reds[side])


def _save_tiles(pixels: Pixels, path: Path) -> None:
    half = np.asarray(Image.fromarray(pixels).reduce(2))
    with tifffile.TiffWriter(path) as writer:
        for number, level in enumerate((pixels, half)):
            writer.write(level, tile=(128, 128), photometric="rgb", metadata=None, subfiletype=min(number, 1))


SAVE: dict[str, Callable[[Pixels, Path], object]] = {
    "png": lambda pixels, path: Image.fromarray(pixels).save(path, compress_level=0),
    "jpg": lambda pixels, path: Image.fromarray(pixels).save(path, quality=95, subsampling=0),
    "webp": lambda pixels, path: Image.fromarray(pixels).save(path, lossless=True, method=0),
    "jp2": lambda pixels, path: Image.fromarray(pixels).save(path, irreversible=False),
    "tif": _save_tiles,
}


@cache
def _encoded(suffix: str, side: Side) -> bytes:
    """Encode a side once for all tests."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"image.{suffix}"
        SAVE[suffix](painted(side), path)
        return path.read_bytes()


class Sides:
    """Both contents as files `stored`, and `path`, at which `put` lets one of them lie, in a way that is named."""

    def __init__(self, folder: Path, suffix: str) -> None:
        self.path = folder / f"image.{suffix}"
        self._store = folder.parent / "stored"
        for side in RED:
            file = self.stored(side)
            file.parent.mkdir(parents=True)
            file.write_bytes(_encoded(suffix, side))
            os.utime(file, ns=(TIME, TIME))

    def stored(self, side: Side) -> Path:
        """The file of a side, which stays where it is, but for its folder."""
        return self._store / side / self.path.name

    def put(self, side: Side, way: str) -> None:
        """Let it lie at `path`, as if nothing had happened."""
        _WAYS[way](self, side)

    def _copied(self, side: Side) -> None:
        new = Path(shutil.copy2(self.stored(side), self.path.with_suffix(".new")))
        new.replace(self.path)

    def _linked(self, side: Side) -> None:
        new = self.path.with_suffix(".new")
        new.hardlink_to(self.stored(side))
        new.replace(self.path)
        new.unlink(missing_ok=True)  # of one file with itself, renaming does nothing

    def _link(self, side: Side) -> None:
        new = self.path.with_suffix(".new")
        new.symlink_to(self.stored(side))
        new.replace(self.path)

    def _written(self, side: Side) -> None:
        if self.path.is_symlink() or (self.path.exists() and self.path.stat().st_nlink > 1):
            self._copied(side)
        with self.path.open("r+b" if self.path.exists() else "wb") as file:
            file.write(self.stored(side).read_bytes())
            file.truncate()
        os.utime(self.path, ns=(TIME, TIME))

    def _moved_folder(self, side: Side) -> None:
        """No time of the files changes when their folders do."""
        folder, new, old = self.path.parent, self.path.parent.with_name("new"), self.path.parent.with_name("old")
        shutil.rmtree(old, ignore_errors=True)
        new.mkdir()
        (new / self.path.name).hardlink_to(self.stored(side))
        folder.rename(old)
        new.rename(folder)


_WAYS: dict[str, Callable[[Sides, Side], None]] = {
    "by renaming a copy": Sides._copied,
    "by a hard link": Sides._linked,
    "by a symbolic link": Sides._link,
    "in place": Sides._written,
    "with its folder": Sides._moved_folder,
}
WAYS = tuple(_WAYS)
