"""Makes the demo data set: five images at the paper's sizes, five smaller ones, and records whose truth was drawn."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from gigavqa.demo.building import AT_ONCE, Painting, complete
from gigavqa.demo.drawn import DrawnDataset
from gigavqa.demo.manifest import DemoManifest
from gigavqa.demo.records import Record, write_lines
from gigavqa.demo.ultravr.ad.grid import paint_grid, plan_grid
from gigavqa.demo.ultravr.ad.products import PRODUCTS
from gigavqa.demo.ultravr.ad.samples import grid_records
from gigavqa.demo.ultravr.cctv import samples as cctv
from gigavqa.demo.ultravr.cctv.paint import paint_plaza
from gigavqa.demo.ultravr.cctv.scene import plan_plaza
from gigavqa.demo.ultravr.rs import samples as rs
from gigavqa.demo.ultravr.rs.paint import paint_land
from gigavqa.demo.ultravr.rs.scene import plan_land
from gigavqa.demo.ultravr.second import SECOND_SCALE, second_image, second_name, second_records, second_seed
from gigavqa.demo.ultravr.wsi import samples as wsi
from gigavqa.demo.ultravr.wsi.pyramid import paint_slide
from gigavqa.demo.ultravr.wsi.scene import plan_slide

_SETTINGS = {
    "benchmark": "ultravr",
    "title": "Demo: four synthetic ultra-resolution domains",
    "description": "Drawn by a program from a seed: a plaza (CCTV), land from the air (RS), a slide (WSI) and two "
    "inspection grids (AD), at the sizes of the UltraVR paper, and a smaller picture of each for few-shot examples. "
    "Everything is synthetic, and the ground truth is what was drawn. "
    "The slide shows no patient and no pathology; its answers say which texture was painted where: one nest leaves an "
    "in-situ component open, a group of nests makes it secondary, and many make it substantial; a small satellite "
    "still leans toward unifocal growth, a second focus toward multifocal, and three foci are clearly multifocal. "
    "CCTV: in front means nearer to the camera, left means left in the image.",
    "licence": "CC0-1.0",
}
GENERATOR = "2"
"""Raised whenever the same seed no longer gives the same records and pixels."""


class _Large(NamedTuple):
    """One image at the paper's size: its file, what plans it from a seed, and what paints the plan at a scale."""

    image: str
    plan: Callable[[int], Any]
    paint: Callable[[Any, Path, float], None]


_LARGE = (
    _Large(wsi.IMAGE, plan_slide, paint_slide),
    _Large(cctv.IMAGE, plan_plaza, paint_plaza),
    _Large(rs.IMAGE, plan_land, paint_land),
    *(_Large(product.image, partial(plan_grid, product=product), paint_grid) for product in PRODUCTS),
)
IMAGES = (*(large.image for large in _LARGE), *(second_image(large.image) for large in _LARGE))


def build_demo_dataset(
    folder: Path, *, seed: int = 7, scale: float = 1.0, progress: Callable[[str], None] = print
) -> Path:
    """Make the data set in `folder` and return the folder; what is complete for this seed and scale is kept.

    `scale` multiplies the images' sides: 1.0 for the paper's sizes; boxes are normalized and stay the same.
    Raises RecordInvalidError when a record breaks a check of the benchmark.
    """
    folder = folder.resolve()
    drawn = ((seed, scale), (second_seed(seed), scale * SECOND_SCALE))
    paints = [partial(_paint, large, *how) for how in drawn for large in _LARGE]
    paintings = [Painting(image, partial(paint, folder / image)) for image, paint in zip(IMAGES, paints, strict=True)]
    manifest, write_records = DemoManifest.open(folder, GENERATOR, seed, scale), partial(_write_records, folder, seed)
    return complete(manifest, paintings, write_records, _SETTINGS, progress, at_once=AT_ONCE)


def _paint(large: _Large, seed: int, scale: float, path: Path) -> None:
    large.paint(large.plan(seed), path, scale)


def _write_records(folder: Path, seed: int) -> None:
    """Write the records, one of the paper's file shapes each; of the second pictures in a file and a slide's own."""
    samples = folder / "samples"
    (samples / "wsi").mkdir(exist_ok=True)
    own_file, flat = wsi.slide_records(plan_slide(seed))
    _write_json(samples / "cctv.json", cctv.plaza_records(plan_plaza(seed)))
    write_lines(samples / "rs.jsonl", rs.land_records(plan_land(seed)))
    write_lines(samples / "wsi.jsonl", flat)
    _write_json(samples / "wsi" / f"{wsi.SLIDE}.json", own_file)
    _write_json(samples / "ad.json", [one for product in PRODUCTS for one in grid_records(plan_grid(seed, product))])
    seed, slide = second_seed(seed), second_name(wsi.SLIDE)
    grids = [grid_records(plan_grid(seed, product)) for product in PRODUCTS]
    kinds = (cctv.plaza_records(plan_plaza(seed)), rs.land_records(plan_land(seed)), *grids)
    _write_json(samples / "second.json", [one for records in kinds for one in second_records(records)])
    own_file, _ = wsi.slide_records(plan_slide(seed))
    _write_json(samples / "wsi" / f"{slide}.json", {**own_file, "slide": slide})


def _write_json(path: Path, content: Record | list[Record]) -> None:
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


DRAWN = DrawnDataset("demo", "ultravr", build_demo_dataset)
