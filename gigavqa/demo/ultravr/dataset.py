"""Makes the demo data set: five images at the paper's sizes, five smaller ones, and records whose truth was drawn."""

import json
import multiprocessing
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from pathlib import Path
from typing import NamedTuple

import tomli_w

from gigavqa.demo.building import complete
from gigavqa.demo.canvas import replacing
from gigavqa.demo.drawn import DrawnDataset
from gigavqa.demo.manifest import DemoManifest
from gigavqa.demo.ultravr.ad.grid import paint_grid, plan_grid
from gigavqa.demo.ultravr.ad.products import PRODUCTS
from gigavqa.demo.ultravr.ad.samples import grid_records
from gigavqa.demo.ultravr.cctv import samples as cctv
from gigavqa.demo.ultravr.cctv.paint import paint_plaza
from gigavqa.demo.ultravr.cctv.scene import plan_plaza
from gigavqa.demo.ultravr.records import write_lines, write_list
from gigavqa.demo.ultravr.rs import samples as rs
from gigavqa.demo.ultravr.rs.paint import paint_land
from gigavqa.demo.ultravr.rs.scene import plan_land
from gigavqa.demo.ultravr.second import paint_second, second_image, second_name, second_records, second_seed
from gigavqa.demo.ultravr.wsi import samples as wsi
from gigavqa.demo.ultravr.wsi.pyramid import paint_slide
from gigavqa.demo.ultravr.wsi.scene import plan_slide

_TITLE = "Demo: four synthetic ultra-resolution domains"
_DESCRIPTION = (
    "Drawn by a program from a seed: a plaza (CCTV), land from the air (RS), a slide (WSI) and two inspection grids "
    "(AD), at the sizes of the UltraVR paper, and a smaller picture of each for few-shot examples. Everything is "
    "synthetic, and the ground truth is what was drawn. "
    "The slide shows no patient and no pathology; its answers say which texture was painted where: one nest leaves an "
    "in-situ component open, a group of nests makes it secondary, and many make it substantial; a small satellite "
    "still leans toward unifocal growth, a second focus toward multifocal, and three foci are clearly multifocal. "
    "CCTV: in front means nearer to the camera, left means left in the image."
)
_LICENCE = "CC0-1.0"
GENERATOR = "2"
"""Raised whenever the same seed no longer gives the same records and pixels."""
_MAX_PAINTERS = 2
"""Images painted at once; the plaza alone takes 1.4 GB while it is painted."""


class Painting(NamedTuple):
    """One image to paint; the most expensive come first, so that the processes end together."""

    image: str
    paint: Callable[[int, Path, float], None]


def _paint_slide(seed: int, path: Path, scale: float) -> None:
    paint_slide(plan_slide(seed), path, scale)


def _paint_plaza(seed: int, path: Path, scale: float) -> None:
    paint_plaza(plan_plaza(seed), path, scale)


def _paint_land(seed: int, path: Path, scale: float) -> None:
    paint_land(plan_land(seed), path, scale)


def _paint_breakfast(seed: int, path: Path, scale: float) -> None:
    paint_grid(plan_grid(seed, PRODUCTS[0]), path, scale)


def _paint_pushpins(seed: int, path: Path, scale: float) -> None:
    paint_grid(plan_grid(seed, PRODUCTS[1]), path, scale)


_LARGE = (
    Painting(wsi.IMAGE, _paint_slide),
    Painting(cctv.IMAGE, _paint_plaza),
    Painting(rs.IMAGE, _paint_land),
    Painting(PRODUCTS[0].image, _paint_breakfast),
    Painting(PRODUCTS[1].image, _paint_pushpins),
)
PAINTINGS = (
    *_LARGE,
    *(Painting(second_image(large.image), partial(paint_second, large.paint)) for large in _LARGE),
)


def build_demo_dataset(
    folder: Path, *, seed: int = 7, scale: float = 1.0, progress: Callable[[str], None] = print
) -> Path:
    """Make the data set in `folder` and return the folder; what is complete for this seed and scale is kept.

    `scale` multiplies the images' sides: 1.0 for the paper's sizes; boxes are normalized and stay the same.
    Raises RecordInvalidError when a record breaks a check of the benchmark.
    """
    folder = folder.resolve()
    manifest = DemoManifest.open(folder, GENERATOR, seed, scale)
    missing = [painting for painting in PAINTINGS if not manifest.holds(painting.image)]

    def paint() -> None:
        (folder / "images").mkdir(parents=True, exist_ok=True)
        for image in _paint(missing, folder, seed, scale):
            manifest.add(image)
            progress(f"{image}: painted, {(folder / image).stat().st_size / 1e6:.0f} MB")

    write_records = partial(_write_records, folder, seed)
    return complete(folder, manifest, progress, draw_missing=paint if missing else None, write_records=write_records)


def _paint(paintings: list[Painting], folder: Path, seed: int, scale: float) -> Iterator[str]:
    """Paint images in separate processes, and yield each one's name when its file is complete."""
    if not paintings:
        return
    painters = min(_MAX_PAINTERS, os.cpu_count() or 1, len(paintings))
    # Spawned, since libvips' threads do not survive a fork.
    with ProcessPoolExecutor(painters, mp_context=multiprocessing.get_context("spawn")) as pool:
        running = {
            pool.submit(painting.paint, seed, folder / painting.image, scale): painting for painting in paintings
        }
        for done in as_completed(running):
            done.result()
            yield running[done].image


def _write_records(folder: Path, seed: int) -> None:
    """Write the records, one of the paper's file shapes each, and the data set's description."""
    samples = folder / "samples"
    (samples / "wsi").mkdir(exist_ok=True)
    own_file, flat = wsi.slide_records(plan_slide(seed))
    write_list(samples / "cctv.json", cctv.plaza_records(plan_plaza(seed)))
    write_lines(samples / "rs.jsonl", rs.land_records(plan_land(seed)))
    write_lines(samples / "wsi.jsonl", flat)
    (samples / "wsi" / f"{wsi.SLIDE}.json").write_text(json.dumps(own_file, indent=1) + "\n", encoding="utf-8")
    write_list(samples / "ad.json", [record for p in PRODUCTS for record in grid_records(plan_grid(seed, p))])
    _write_second_records(samples, second_seed(seed))
    with replacing(folder / "dataset.toml") as temporary:
        temporary.write_text(_settings(folder.name), encoding="utf-8")


def _write_second_records(samples: Path, seed: int) -> None:
    grids = [record for product in PRODUCTS for record in second_records(grid_records(plan_grid(seed, product)))]
    flat = [*second_records(cctv.plaza_records(plan_plaza(seed))), *second_records(rs.land_records(plan_land(seed)))]
    own_file, _ = wsi.slide_records(plan_slide(seed))
    slide = second_name(wsi.SLIDE)
    write_list(samples / "second.json", [*flat, *grids])
    text = json.dumps({**own_file, "slide": slide}, indent=1) + "\n"
    (samples / "wsi" / f"{slide}.json").write_text(text, encoding="utf-8")


def _settings(name: str) -> str:
    return tomli_w.dumps(
        {
            "name": name,
            "benchmark": "ultravr",
            "title": _TITLE,
            "description": _DESCRIPTION,
            "licence": _LICENCE,
        }
    )


DRAWN = DrawnDataset("demo", "ultravr", build_demo_dataset)
