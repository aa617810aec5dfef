"""Makes the eye chart's data set: 128 drawn pictures of a gigapixel with a ring each, and two questions about it."""

import json
import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from pathlib import Path

import tomli_w

from gigavqa.demo.acuity.pictures import SIDE
from gigavqa.demo.acuity.plan import PICTURES, ChartItem, plan_chart, records
from gigavqa.demo.acuity.scenes import draw_scene
from gigavqa.demo.building import complete
from gigavqa.demo.canvas import replacing
from gigavqa.demo.drawn import DrawnDataset
from gigavqa.demo.manifest import DemoManifest
from gigavqa.demo.pyramids import write_pyramid

GENERATOR = "1"
"""Raised whenever the same seed no longer gives the same records and pixels."""
_STEP, _SMALLEST = 4, 512
"""How much smaller each level is, as in many pyramids of slides, and the sides of the last."""
_SETTINGS = {
    "benchmark": "acuity",
    "title": "Eye chart",
    "description": "Drawn by a program from a seed: boards, plates, walls and fields of a gigapixel each, with one "
    "Landolt ring of 2 to 16384 pixels. What is asked is the ring's colour, and the direction of its gap.",
    "licence": "CC0-1.0",
}


def build_dataset(
    folder: Path,
    *,
    seed: int = 7,
    pictures: int = PICTURES,
    side: int = SIDE,
    progress: Callable[[str], None] = print,
) -> Path:
    """Make the data set in `folder` and return the folder; what is complete for these settings is kept.

    Raises RecordInvalidError when a record breaks a check.
    """
    folder = folder.resolve()
    manifest = DemoManifest.open(folder, f"{GENERATOR}, {pictures} pictures", seed, side / SIDE)
    planned = plan_chart(seed, pictures, side)
    missing = [one for one in planned if not manifest.holds(one.image)]

    def draw() -> None:
        (folder / "images").mkdir(parents=True, exist_ok=True)
        for image in _paint(missing, folder):
            manifest.add(image)
        total = sum((folder / one.image).stat().st_size for one in missing)
        progress(f"{folder.name}: {len(missing)} pictures painted, {total / 1e6:.1f} MB")

    write_records = partial(_write_records, folder, planned)
    return complete(folder, manifest, progress, draw_missing=draw if missing else None, write_records=write_records)


def _paint(planned: Sequence[ChartItem], folder: Path) -> Iterator[str]:
    """Paint pictures in separate processes, and yield the file of each when it is complete."""
    # Spawned, since libvips' threads do not survive a fork.
    with ProcessPoolExecutor(os.cpu_count() or 1, mp_context=multiprocessing.get_context("spawn")) as pool:
        running = {pool.submit(paint_picture, one, folder): one.image for one in planned}
        for done in as_completed(running):
            done.result()
            yield running[done]


def paint_picture(planned: ChartItem, folder: Path) -> None:
    """Paint a picture into a data set's folder."""
    write_pyramid(draw_scene(planned.picture, planned.seed), folder / planned.image, _STEP, _SMALLEST)


def _write_records(folder: Path, planned: Sequence[ChartItem]) -> None:
    lines = (json.dumps(record) for one in planned for record in records(one))
    with replacing(folder / "samples" / "signs.jsonl") as temporary:
        temporary.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    with replacing(folder / "dataset.toml") as temporary:
        temporary.write_text(tomli_w.dumps({"name": folder.name, **_SETTINGS}), encoding="utf-8")


DRAWN = DrawnDataset("demo-acuity", "acuity", build_dataset, options={"thumbnail": 64})
