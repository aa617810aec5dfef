"""Declares the views of `gigavqa view`: those of a data set's sample, or of any image with evidence named by hand."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cli.errors import ArgumentError
from tiling.geometry import Region, Size
from tiling.views import View

if TYPE_CHECKING:
    from catalogue.entry import CatalogueEntry

DeclaredView = tuple[Path, View]
"""The file that is read, and what is read of it."""


@dataclass(frozen=True)
class Evidence:
    """Local evidence as the command line names it; `cell` is `row,column`, 1-based from the top left."""

    quadrants: tuple[str, ...] = ()
    rois: tuple[int, ...] = ()
    cell: str | None = None
    regions: tuple[str, ...] = ()

    def regions_of(self, image: Path, size: Size) -> list[str]:
        """Every named part as a IIIF region of an image of `size` level-0 pixels. Raises ArgumentError."""
        from benchmarks.ultravr.evidence import quadrant_region, roi_region
        from tiling.errors import RegionError
        from tiling.geometry import resolve_region

        try:
            parts: list[Region] = [quadrant_region(size, name) for name in self.quadrants]
            parts += [roi_region(size, index) for index in self.rois]
            parts += [self._sheet(image, size)] if self.cell else []
            parts += [resolve_region(region, size) for region in self.regions]
        except RegionError as error:
            raise ArgumentError(f"{image.name}: {error}") from error
        return [str(part) for part in parts]

    def _sheet(self, image: Path, size: Size) -> Region:
        from benchmarks.ultravr.evidence import sheet_region

        try:
            row, column = (int(number) for number in str(self.cell).split(","))
        except ValueError:
            raise ArgumentError(f"--cell '{self.cell}' is not ROW,COL") from None
        return sheet_region(size, (row, column), seed=image.name).region


def views_of_image(image: Path, condition: str, evidence: Evidence, thumbnail: int) -> list[DeclaredView]:
    """Views of one image under a condition; V3 and V4 show the evidence. Raises ArgumentError."""
    from tiling.headers import read_header

    condition = _showing(condition)
    if condition in {"V1", "V2"} and evidence != Evidence():
        raise ArgumentError(
            f"{condition} shows no local evidence; --quadrant, --roi, --cell and --region need V3 or V4"
        )
    full = View(image=image.name)
    if condition == "V1":
        return [(image, full.model_copy(update={"sizing": f"longest:{thumbnail}"}))]
    if condition == "V2":
        return [(image, full)]
    regions = evidence.regions_of(image, read_header(image).size)
    if not regions:
        raise ArgumentError(f"{condition} shows local evidence: give --quadrant, --roi, --cell or --region")
    local = [(image, View(image=image.name, region=region)) for region in regions]
    return local if condition == "V3" else [(image, full), *local]


def views_of_sample(
    dataset: Path, sample: str, condition: str, entry: "CatalogueEntry", thumbnail: int
) -> list[DeclaredView]:
    """Views of a sample exactly as a job with seed 0 shows them. Raises what the expansion of a job raises."""
    from cli.requests import request_of_sample

    condition = _showing(condition)
    request, root = request_of_sample(dataset, sample, "S0", condition, entry, options={"thumbnail": thumbnail})
    return [(root.locate(view.image), view) for view in request.views]


def _showing(condition: str) -> str:
    if condition.upper() not in {"V1", "V2", "V3", "V4"}:
        raise ArgumentError(f"condition '{condition}' shows no image: there are V1, V2, V3 and V4")
    return condition.upper()
