"""Which pictures make which grid: one anomalous picture among normal ones, at a drawn cell (appendix A.4)."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from gigavqa.benchmarks.ultravr.taxonomy import Category
from gigavqa.construction.annotations import AnnotatedImage, Annotation, AttributeValue, Box, Omissions
from gigavqa.construction.build_folder import canonical_json
from gigavqa.construction.draws import stream
from gigavqa.construction.errors import BuildError
from gigavqa.construction.ultravr.defects import DefectTable

KINDS: Mapping[str, Category] = {
    "logical_anomalies": "logical_anomaly",
    "structural_anomalies": "structural_anomaly",
}
"""UltraVR's categories, by the folders of anomalous pictures."""
_NORMAL = "good"
_LEAST_SIDE = 24
"""Pixels of the shorter side of a mask's box, from which on an anomaly counts as visible."""


class GridShape(NamedTuple):
    """Rows and columns of the grids, and how many there are at most of one product and kind of anomaly."""

    rows: int = 10
    columns: int = 10
    most: int = 10


@dataclass(frozen=True)
class GridPlan:
    """One grid before it is composed: the pictures of its cells by rows, and what is wrong with one of them.

    `cell` is its row and column, from 1; `violated` are indices of the product's conditions.
    """

    product: str
    kind: Category
    rows: int
    columns: int
    sources: tuple[str, ...]
    digests: tuple[str, ...]
    cell: tuple[int, int]
    violated: tuple[int, ...]
    anomaly: AnnotatedImage

    @property
    def image(self) -> str:
        """Name of the grid's file, by its content: it tells neither kind nor cell."""
        content = canonical_json([self.rows, self.columns, self.digests])
        return f"grid-{blake2b(content.encode(), digest_size=8).hexdigest()}.tif"

    def annotated(self) -> AnnotatedImage:
        """Return the grid as an image with the anomaly's marks in their cell, and labels of what is known of it."""
        width, height = self.anomaly.width, self.anomaly.height
        left, top = (self.cell[1] - 1) * width, (self.cell[0] - 1) * height
        marks = tuple(_moved(one, left, top) for one in self.anomaly.annotations)
        told: dict[str, AttributeValue] = {"product": self.product, "kind": self.kind, "anomaly": self.anomaly.image}
        told |= {"violated": ",".join(map(str, self.violated)), "rows": self.rows, "columns": self.columns}
        told |= {"row": self.cell[0], "column": self.cell[1]}
        return AnnotatedImage(self.image, self.columns * width, self.rows * height, marks, told)

    def document(self) -> dict[str, Any]:
        """Return the grid as `composition.json` has it: the source and digest of every cell, and the truth."""
        cells = [{"source": name, "digest": digest} for name, digest in zip(self.sources, self.digests, strict=True)]
        truth = {"cell": self.cell, "kind": self.kind, "violated": [f"S{4 + index}" for index in self.violated]}
        size = [self.anomaly.width, self.anomaly.height]
        shape = {"product": self.product, "rows": self.rows, "columns": self.columns, "cell_size": size}
        return {"image": self.image, **shape, "anomaly": truth, "cells": cells}


def _moved(one: Annotation, left: int, top: int) -> Annotation:
    x1, y1, x2, y2 = one.box
    return replace(one, box=Box(x1 + left, y1 + top, x2 + left, y2 + top))


class _Product(NamedTuple):
    """The usable pictures of a product, anomalous ones with the conditions that they violate."""

    name: str
    normal: list[AnnotatedImage]
    anomalous: Mapping[Category, list[tuple[AnnotatedImage, tuple[int, ...]]]]


@dataclass(frozen=True)
class GridPlanner:
    """Plans the grids of a seed, equally many of each kind of anomaly, each anomalous picture in one at most.

    Cell and normal pictures of a grid are drawn by streams of its anomaly's own. `digest_of` is that of a picture by
    its name. What cannot be used goes into `omissions`.
    """

    shape: GridShape
    defects: DefectTable
    digest_of: Callable[[str], str]
    omissions: Omissions
    seed: int = 0

    def plan(self, pictures: Iterable[AnnotatedImage]) -> list[GridPlan]:
        """Return the grids of pictures that are labelled with product and kind, as the reader of MVTec LOCO AD does.

        Raises BuildError where a product's pictures differ in size, or are too few, or of one kind of anomaly none can
        be used.
        """
        by_product: defaultdict[str, list[AnnotatedImage]] = defaultdict(list)
        for picture in pictures:
            by_product[str(picture.labels.get("product", ""))].append(picture)
        return [plan for name in sorted(by_product) for plan in self._grids_of(self._sort_out(name, by_product[name]))]

    def _sort_out(self, name: str, pictures: Sequence[AnnotatedImage]) -> _Product:
        first, seen = pictures[0], dict[str, str]()
        found = _Product(name, [], {kind: [] for kind in KINDS.values()})
        for one in pictures:
            if (one.width, one.height) != (first.width, first.height):
                told = f"is {one.width} x {one.height}, and {first.image} {first.width} x {first.height}"
                raise BuildError(f"{name}: {one.image} {told}; a grid has pictures of one size: give them apart")
            kind, known = str(one.labels.get("kind", "")), seen.setdefault(self.digest_of(one.image), one.image)
            if known != one.image:
                self.omissions.add("same-picture", f"{one.image}: is the same file as {known}; the first is used")
            elif kind == _NORMAL:
                found.normal.append(one)
            elif kind in KINDS:
                violated = self.defects.violated(name, one.image, {mark.category for mark in one.annotations})
                if fault := _fault(name, one, violated):
                    self.omissions.add(*fault)
                else:
                    found.anomalous[KINDS[kind]].append((one, violated))
        return found

    def _grids_of(self, product: _Product) -> Iterator[GridPlan]:
        needed = self.shape.rows * self.shape.columns - 1
        if len(product.normal) < needed:
            told = f"a grid of {self.shape.rows} x {self.shape.columns} needs {needed} normal pictures"
            raise BuildError(f"{product.name}: {told}, and there are {len(product.normal)}; give more")
        usable = {kind: len(found) for kind, found in product.anomalous.items()}
        if not all(usable.values()):
            told = " and ".join(f"{number} of kind {kind}" for kind, number in usable.items())
            sentences = "".join(f"; {omission.sentence}" for omission in self.omissions)
            raise BuildError(
                f"{product.name}: {told} can be used, and both kinds make grids in equal numbers{sentences[:2000]}"
            )
        number = min(self.shape.most, *usable.values())
        for kind, found in product.anomalous.items():
            order = stream(self.seed, "anomalies", product.name, kind).permutation(len(found))
            yield from (self._grid(product, kind, *found[int(at)]) for at in sorted(order[:number]))
            if left := len(found) - number:
                told = f"{product.name}: {left} more of kind {kind} are in no grid: kinds make as many, `grids` at most"
                self.omissions.add("not-needed", told, left)

    def _grid(self, product: _Product, kind: Category, anomaly: AnnotatedImage, violated: tuple[int, ...]) -> GridPlan:
        rows, columns = self.shape.rows, self.shape.columns
        total, key = rows * columns, self.digest_of(anomaly.image)
        at = int(stream(self.seed, "cell", key).integers(total))
        drawn = stream(self.seed, "normal", key).choice(len(product.normal), total - 1, replace=False)
        sources = [product.normal[int(index)].image for index in drawn]
        sources.insert(at, anomaly.image)
        digests = tuple(map(self.digest_of, sources))
        cell = (at // columns + 1, at % columns + 1)
        return GridPlan(product.name, kind, rows, columns, tuple(sources), digests, cell, violated, anomaly)


def _fault(product: str, one: AnnotatedImage, violated: tuple[int, ...]) -> tuple[str, str] | None:
    """Return why an anomalous picture is not used, in a word and a sentence."""
    if one.incomplete or not one.annotations:
        return "unlabelled", f"{one.image}: a mask of it is missing or was left out; mend it"
    if not violated:
        told = ", ".join(sorted({mark.category for mark in one.annotations}))
        key = PurePosixPath(*PurePosixPath(one.image).parts[-3:])
        said = f'say which in a file for --set defects=FILE: [{product}] "{key}" = ["S4"]'
        return "unmapped", f"{one.image}: which conditions '{told}' violates is not known; {said}"
    shortest = min(min(mark.box.x2 - mark.box.x1, mark.box.y2 - mark.box.y1) for mark in one.annotations)
    if shortest < _LEAST_SIDE:
        return "too_small", f"{one.image}: a mask is {shortest:g} pixels wide or high, below {_LEAST_SIDE}"
    return None
