"""Makes the eye chart's data set: 128 drawn pictures of a gigapixel with a ring each, and two questions about it."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

from gigavqa.demo.building import Painting, complete
from gigavqa.demo.drawn import DrawnDataset
from gigavqa.demo.manifest import DemoManifest
from gigavqa.demo.pyramids import write_pyramid
from gigavqa.demo.records import write_lines
from gigavqa_acuity.chart.pictures import SIDE
from gigavqa_acuity.chart.plan import PICTURES, ChartItem, plan_chart, records
from gigavqa_acuity.chart.scenes import draw_scene

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
    paintings = [Painting(one.image, partial(paint_picture, one, folder)) for one in planned]

    def write_records() -> None:
        write_lines(folder / "samples" / "signs.jsonl", (record for one in planned for record in records(one)))

    return complete(manifest, paintings, write_records, _SETTINGS, progress, at_once=os.cpu_count() or 1)


def paint_picture(planned: ChartItem, folder: Path) -> None:
    """Paint a picture into a data set's folder."""
    write_pyramid(draw_scene(planned.picture, planned.seed), folder / planned.image, _STEP, _SMALLEST)


DRAWN = DrawnDataset("demo-acuity", "acuity", build_dataset, options={"thumbnail": 64}, model="demo-sight")
