"""Lessons drawn once, kept on disk as arrays of equal rasters, and read while the model learns."""

import json
import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from gigavqa.tiling.geometry import Region
from gigavqa_acuity.sight.lessons import WHOLE, Lesson, Pixels, draw_lesson, shown_pixels
from gigavqa_acuity.taxonomy import COLOURS, DIRECTIONS

_AT_ONCE = 50


class PoolRaster(NamedTuple):
    """A raster in the pool: its side, its number among those of this side, and the pixels of its ring."""

    side: int
    number: int
    shown: float


class PoolLesson(NamedTuple):
    """A lesson in the pool; colour and direction are their places among all."""

    colour: int
    direction: int
    diameter: float
    whole: PoolRaster
    small: PoolRaster
    parts: tuple[PoolRaster, ...]
    close: PoolRaster


class Pool:
    """Lessons of a folder, their pixels mapped and not read."""

    def __init__(self, folder: Path) -> None:
        listed = json.loads((folder / "rows.json").read_text(encoding="utf-8"))
        self.rows = [
            PoolLesson(
                colour,
                direction,
                diameter,
                PoolRaster(*whole),
                PoolRaster(*small),
                tuple(PoolRaster(*part) for part in parts),
                PoolRaster(*close),
            )
            for colour, direction, diameter, whole, small, parts, close in listed
        ]
        self._pixels = {
            int(path.stem): np.memmap(path, np.uint8, "r").reshape(-1, int(path.stem), int(path.stem), 3)
            for path in folder.glob("*.bin")
        }

    def pixels(self, kept: PoolRaster) -> Pixels:
        """Return a raster's pixels, H x W x 3."""
        pixels: Pixels = self._pixels[kept.side][kept.number]
        return pixels


def write_pool(folder: Path, seed: int, count: int, *, processes: int = 2) -> None:
    """Draw so many lessons into a folder; the same for the same seed, whatever the number of processes."""
    folder.mkdir(parents=True, exist_ok=True)
    rows: list[PoolLesson] = []
    numbers: dict[int, int] = {}
    starts = range(0, count, _AT_ONCE)
    context = multiprocessing.get_context("spawn")
    with ExitStack() as files, ProcessPoolExecutor(processes, mp_context=context) as painters:
        open_files: dict[int, BinaryIO] = {}

        def keep(pixels: Pixels, shown: float) -> PoolRaster:
            side = pixels.shape[0]
            if side not in open_files:
                open_files[side] = files.enter_context((folder / f"{side}.bin").open("wb"))
            open_files[side].write(pixels.tobytes())
            numbers[side] = numbers.get(side, 0) + 1
            return PoolRaster(side, numbers[side] - 1, round(shown, 3))

        for lessons in painters.map(_draw, ((seed, start, min(_AT_ONCE, count - start)) for start in starts)):
            rows += [_row(lesson, keep) for lesson in lessons]
    (folder / "rows.json").write_text(json.dumps(rows), encoding="utf-8")


def _draw(asked: tuple[int, int, int]) -> list[Lesson]:
    seed, start, count = asked
    return [
        draw_lesson(np.random.default_rng([seed, number]), large=number % 2 == 1)
        for number in range(start, start + count)
    ]


def _row(lesson: Lesson, keep: Callable[[Pixels, float], PoolRaster]) -> PoolLesson:
    one = lesson.optotype

    def kept(region: Region, pixels: Pixels) -> PoolRaster:
        return keep(pixels, shown_pixels(one, region, pixels.shape[0]))

    return PoolLesson(
        COLOURS.index(one.colour),
        DIRECTIONS.index(one.direction),
        one.diameter,
        kept(WHOLE, lesson.whole),
        kept(WHOLE, lesson.small),
        tuple(kept(*part) for part in lesson.parts),
        kept(*lesson.close),
    )
