"""The views of a sample under V0 to V4 (section 4.2, appendix D.1).

V0 nothing, V1 the full image downsampled, V2 the full image natively, V3 local evidence, V4 the full image, then the
local evidence. Local evidence is made of crops in level-0 pixels at their original resolution.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from gigavqa.answers.cells import only_cell
from gigavqa.answers.coordinates import Coordinate
from gigavqa.benchmarks.ultravr.condition_texts import (
    CURRENT_VERSION,
    ConditionTextVersion,
    LocalEvidence,
    condition_text,
)
from gigavqa.benchmarks.ultravr.evidence import CellBlock, block_at, draw_block, quadrant_region, roi_region
from gigavqa.benchmarks.ultravr.samples import BLOCK_SIZE, WHOLE_GRID, UltraVRSample
from gigavqa.benchmarks.ultravr.taxonomy import QUADRANTS
from gigavqa.contract.requests import Condition
from gigavqa.evaluation.benchmark import LOCAL_CONDITIONS, Scene
from gigavqa.evaluation.errors import EvidenceMissingError
from gigavqa.tiling.errors import RegionError
from gigavqa.tiling.geometry import Region, Size
from gigavqa.tiling.views import View

OPTIONS_OUTSIDE = (
    "the AD prompt says where the sheet lies, and some of its options lie outside it: they can be ruled out without "
    "looking"
)


@dataclass(frozen=True)
class ConditionViews:
    """The views of a prompt in order, and the sentence that says what they are.

    `outside` are the letters of the options that the sentence rules out: cells that a sheet does not hold.
    """

    views: tuple[View, ...]
    context: str
    outside: tuple[str, ...] = ()


@dataclass(frozen=True)
class _EvidenceCrops:
    views: tuple[View, ...]
    told: LocalEvidence
    outside: tuple[str, ...] = ()


def show_condition(
    sample: UltraVRSample, scene: Scene, condition: Condition, version: ConditionTextVersion = CURRENT_VERSION
) -> ConditionViews:
    """Declare what a condition shows. Raises EvidenceMissingError for V3 and V4 without usable evidence."""
    crops = _evidence_crops(sample, scene, version) if condition in LOCAL_CONDITIONS else None
    views = scene.views(condition, lambda: crops.views if crops else ())
    context = condition_text(version, condition, len(scene.images), crops.told if crops else None)
    outside = crops.outside if crops and (condition == "V3" or version != CURRENT_VERSION) else ()
    return ConditionViews(views, context, outside)


def _evidence_crops(sample: UltraVRSample, scene: Scene, version: ConditionTextVersion) -> _EvidenceCrops:
    try:
        if sample.domain == "ad":
            return _block_crops(sample, scene, version)
        return _roi_crops(sample, scene) if sample.domain == "wsi" else _quadrant_crops(sample, scene)
    except RegionError as error:
        raise EvidenceMissingError(f"sample '{sample.id}': {error}") from error


def _quadrant_crops(sample: UltraVRSample, scene: Scene) -> _EvidenceCrops:
    annotated = sample.evidence.quadrants if sample.evidence else ()
    names = [name for name in QUADRANTS if name in annotated] or list(QUADRANTS)
    views = _crops(scene, lambda size: [quadrant_region(size, name) for name in names])
    return _EvidenceCrops(views, LocalEvidence("quadrants", len(views), {"names": ", ".join(names)}))


def _roi_crops(sample: UltraVRSample, scene: Scene) -> _EvidenceCrops:
    # In the grid's own order: the annotators' order may say which region mattered most.
    indices = sorted(set(annotated_rois(sample)))
    views = _crops(scene, lambda size: [roi_region(size, index) for index in indices])
    return _EvidenceCrops(views, LocalEvidence("rois", len(views), {}))


def _block_crops(sample: UltraVRSample, scene: Scene, version: ConditionTextVersion) -> _EvidenceCrops:
    sheet, grid = _locate_block(sample, scene, version)
    views = (_crop(scene.images[0], sheet.region),)
    last_row, last_column = sheet.first_row + BLOCK_SIZE[0] - 1, sheet.first_column + BLOCK_SIZE[1] - 1
    slots: dict[str, object] = {"grid_rows": grid[0], "grid_columns": grid[1], "first_row": sheet.first_row}
    slots |= {"last_row": last_row, "first_column": sheet.first_column, "last_column": last_column}
    cells = option_cells(sample)
    outside = tuple(letter for letter, cell in cells.items() if not sheet.holds(cell, BLOCK_SIZE))
    return _EvidenceCrops(views, LocalEvidence("sheet", 1, slots), outside)


def _locate_block(
    sample: UltraVRSample, scene: Scene, version: ConditionTextVersion
) -> tuple[CellBlock, tuple[int, int]]:
    """Return the sheet that the record names, else one drawn around the cell, with as many options as one holds.

    The grid.
    """
    cell, grid = anomalous_cell(sample)
    first = sample.evidence.sheet if sample.evidence else None
    if first:
        return block_at(_image_size(scene), first, grid, BLOCK_SIZE), grid
    others = tuple(option_cells(sample).values()) if version == CURRENT_VERSION else ()
    return draw_block(_image_size(scene), cell, scene.seed, grid, BLOCK_SIZE, others=others), grid


def option_cells(sample: UltraVRSample) -> dict[str, Coordinate]:
    """Return the cells that options name, by their letters; those that name none are left out."""
    named = ((letter, only_cell(text)) for letter, text in (sample.options or {}).items())
    return {letter: cell for letter, cell in named if cell}


def _image_size(scene: Scene) -> Size:
    return scene.size_of(scene.images[0])


def _crops(scene: Scene, regions_of: Callable[[Size], list[Region]]) -> tuple[View, ...]:
    return tuple(_crop(image, region) for image in scene.images for region in regions_of(scene.size_of(image)))


def _crop(image: str, region: Region) -> View:
    return View(image=image, region=str(region))


def annotated_rois(sample: UltraVRSample) -> tuple[int, ...]:
    """ROIs of a WSI sample: its evidence, else the ground truth of step Q2.1. Raises EvidenceMissingError."""
    if sample.evidence and sample.evidence.rois:
        return sample.evidence.rois
    chosen = next((step.ground_truth for step in sample.steps if step.step_id == "Q2.1"), None)
    if isinstance(chosen, str):
        chosen = [int(number) for number in re.findall(r"\d+", chosen)]
    if isinstance(chosen, list) and chosen and all(type(roi) is int and 1 <= roi <= 36 for roi in chosen):
        return tuple(chosen)
    raise EvidenceMissingError(f"sample '{sample.id}': neither evidence.rois nor step Q2.1 names ROIs from 1 to 36")


def anomalous_cell(sample: UltraVRSample) -> tuple[tuple[int, int], tuple[int, int]]:
    """Cell and grid of an AD sample: its evidence, else a coordinate answer on 10 x 10. Raises EvidenceMissingError."""
    grid = sample.evidence.grid if sample.evidence else WHOLE_GRID
    cell = sample.evidence.cell if sample.evidence else None
    answer = sample.options.get(sample.answer, "") if sample.options else sample.answer
    cell = cell or only_cell(answer)
    if cell is None:
        raise EvidenceMissingError(
            f"sample '{sample.id}': neither evidence.cell nor a coordinate answer names the cell"
        )
    return cell, grid
