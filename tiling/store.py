"""Rasters kept on the disk, for later jobs and for other workers of the machine.

A file holds the raw pixels, so that those who map it share the machine's page cache, and behind them where they come
from with a checksum of all. Files appear whole or not at all, and the least recently used leave for space.
"""

import json
import logging
import os
import shutil
import tempfile
import zlib
from pathlib import Path

import numpy as np

from gigavqa.tiling.passes import RecipePixels
from gigavqa.tiling.recipes import KEY_DIGITS, Recipe
from gigavqa.tiling.rendering import Raster
from gigavqa.tiling.sources.base import Pixels

log = logging.getLogger(__name__)

RASTER_SUFFIX = ".raster"
PARTIAL_SUFFIX = ".partial"
_FOOTER_BYTES = 128
_LEAST_FREE_BYTES = 2 * 2**30


class RasterStore:
    """Rasters in `folder`, at most `capacity` bytes of files, named by raster key. Thread- and process-safe."""

    def __init__(self, folder: Path, capacity: int) -> None:
        self._folder = folder
        self._capacity = capacity

    def get(self, recipe: Recipe) -> RecipePixels | None:
        """The pixels of a recipe, mapped and read-only, and the level they were made from; None where there are none.

        A file that is not what was written is deleted.
        """
        path = self._folder / f"{recipe.key}{RASTER_SUFFIX}"
        try:
            found = _read(path, recipe)
            if found is None:
                log.warning("%s is damaged, and is deleted", path)
                path.unlink(missing_ok=True)
            else:
                os.utime(path)  # used just now
        except FileNotFoundError:
            return None
        except OSError as error:
            log.warning("%s cannot be read: %s", path, error)
            return None
        return found

    def put(self, raster: Raster) -> bool:
        """Write a raster, unless it is there, or there is no room; returns whether it was written.

        A disk is left 2 GiB, which others of the installation need more. Raises OSError where it takes nothing.
        """
        path = self._folder / f"{raster.key}{RASTER_SUFFIX}"
        num_bytes = raster.pixels.nbytes + _FOOTER_BYTES
        if path.exists() or num_bytes > self._capacity:
            return False
        self._folder.mkdir(parents=True, exist_ok=True)
        self._make_room(num_bytes)
        if shutil.disk_usage(self._folder).free - num_bytes < _LEAST_FREE_BYTES:
            return False
        descriptor, partial = tempfile.mkstemp(suffix=PARTIAL_SUFFIX, dir=self._folder)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(raster.pixels.data)
                file.write(_footer(raster.pixels, raster.level, raster.downsample))
                file.flush()
                os.fsync(file.fileno())
            Path(partial).replace(path)
        finally:
            Path(partial).unlink(missing_ok=True)
        return True

    def _make_room(self, num_bytes: int) -> None:
        """Delete what is of earlier releases, and the least recently used until so many bytes fit."""
        kept = sorted(_files(self._folder), key=lambda file: (_is_current(file[2]), file[1]))
        total = sum(size for size, _, _ in kept)
        for size, _, path in kept:
            if _is_current(path) and total + num_bytes <= self._capacity:
                return
            path.unlink(missing_ok=True)  # whoever has mapped it keeps its pixels
            total -= size


def _is_current(path: Path) -> bool:
    """Return whether it is of this release: keys of earlier ones, which named no content for sure, were shorter."""
    return path.suffix == PARTIAL_SUFFIX or len(path.stem) == KEY_DIGITS


def _files(folder: Path) -> list[tuple[int, float, Path]]:
    """Bytes, time of last use and path of everything that the store has written, in whatever release."""
    found = []
    for path in folder.iterdir():
        if path.suffix in {RASTER_SUFFIX, PARTIAL_SUFFIX}:
            try:
                stat = path.stat()
            except FileNotFoundError:  # another worker makes room, too
                continue
            found.append((stat.st_size, stat.st_mtime, path))
    return found


def _footer(pixels: Pixels, level: int, downsample: float) -> bytes:
    fields = {"shape": pixels.shape, "level": level, "downsample": downsample, "crc": zlib.crc32(pixels.data)}
    return json.dumps(fields).encode().ljust(_FOOTER_BYTES)


def _read(path: Path, recipe: Recipe) -> RecipePixels | None:
    """Return what a file holds; None if it is not what was written. Raises OSError where there is none."""
    width, height = recipe.plan.raster
    num_bytes = height * width * 3
    if path.stat().st_size != num_bytes + _FOOTER_BYTES:
        return None
    mapped = np.memmap(path, np.uint8, "r")
    pixels = np.asarray(mapped[:num_bytes]).reshape(height, width, 3)
    footer = mapped[num_bytes:].tobytes()
    try:
        fields = json.loads(footer)
        level, downsample = int(fields["level"]), float(fields["downsample"])
    except (ValueError, LookupError, TypeError):
        return None
    if _footer(pixels, level, downsample) != footer:
        return None
    return RecipePixels(recipe, level, downsample, pixels)
