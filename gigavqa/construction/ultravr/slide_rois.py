"""Cells of a slide's 6 x 6 grid that its marked areas make evidence."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from gigavqa.benchmarks.ultravr.evidence import ROI_GRID
from gigavqa.construction.annotations import AnnotatedImage, Annotation
from gigavqa.construction.ultravr.slide_findings import slide_table

MOST_ROIS = 6
_CELL = 256
"""Pixels of a cell's side at which areas are drawn: shares are right to about 1 % of a cell."""
_OF_CELL, _OF_KIND = 0.10, 0.25
_CELLS = ROI_GRID * ROI_GRID


class SlideAreas(NamedTuple):
    """For each kind of area its share of each cell, row by row; cells are numbered from 1."""

    shares: Mapping[str, NDArray[np.float64]]

    def rois(self, kinds: Iterable[str]) -> list[int]:
        """Return the cells that show kinds of areas, in the grid's order: of the first kind the largest, then others.

        A kind makes a cell evidence where it covers 10 % of it, or a quarter of all that is marked as that kind lies in
        it. There are six cells at most.
        """
        chosen: list[int] = []
        for kind in kinds:
            shares = self.shares.get(kind)
            if shares is None or not shares.sum():
                continue
            order = np.argsort(-shares, kind="stable").tolist()
            shown = [at for at in order if shares[at] >= _OF_CELL or shares[at] >= _OF_KIND * shares.sum()]
            chosen += [at + 1 for at in shown if at + 1 not in chosen]
        return sorted(chosen[:MOST_ROIS])

    def ratio(self, first: str, second: str) -> float | None:
        """Return how many times the area of the first kind is that of the second; None where one is not marked."""
        areas = [float(self.shares[kind].sum()) if kind in self.shares else 0.0 for kind in (first, second)]
        return areas[0] / areas[1] if all(areas) else None


def find_areas(image: AnnotatedImage) -> SlideAreas:
    """Return the areas that are marked in a slide, by the kinds that their classes stand for; others count nothing.

    What overlaps counts once. Holes of outlines are not known, and count as covered.
    """
    kinds = {name: kind for kind, names in slide_table()["regions"].items() for name in names}
    marked: dict[str, list[Annotation]] = {}
    for one in image.annotations:
        if kind := kinds.get(" ".join(one.category.casefold().translate(_SIGNS).split())):
            marked.setdefault(kind, []).append(one)
    return SlideAreas({kind: _shares(image, marks) for kind, marks in marked.items()})


_SIGNS = str.maketrans("-_*:/", "     ")


def _shares(image: AnnotatedImage, marks: Iterable[Annotation]) -> NDArray[np.float64]:
    side = ROI_GRID * _CELL
    drawing = Image.new("L", (side, side))
    pen, across, down = ImageDraw.Draw(drawing), side / image.width, side / image.height
    for one in marks:
        x1, y1, x2, y2 = one.box
        for ring in one.rings or ((x1, y1, x2, y1, x2, y2, x1, y2),):
            pen.polygon([(x * across, y * down) for x, y in zip(ring[::2], ring[1::2], strict=True)], fill=1)
    covered = np.asarray(drawing).reshape(ROI_GRID, _CELL, ROI_GRID, _CELL)
    shares: NDArray[np.float64] = covered.sum(axis=(1, 3), dtype=np.int64).reshape(_CELLS) / _CELL**2
    return shares
