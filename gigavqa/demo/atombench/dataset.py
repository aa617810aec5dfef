"""Makes ATOM-Bench's demo data set: five street scenes of an invented country, and 28 questions about them."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from gigavqa.demo.atombench.paint import paint_scene
from gigavqa.demo.atombench.questions import records
from gigavqa.demo.atombench.scenes import plan_scenes
from gigavqa.demo.building import Painting, complete
from gigavqa.demo.drawn import DrawnDataset
from gigavqa.demo.manifest import DemoManifest
from gigavqa.demo.records import write_lines

_GENERATOR = "1"
_SETTINGS = {
    "benchmark": "atombench",
    "title": "Demo: streets of an invented country",
    "description": "Drawn by a program from a seed: roofs, towers, cloaks, lane marks, buses, flags, plates, signs in "
    "an invented script, ridges, rocks and snow. The ground truth is what was drawn; a conclusion question states its "
    "rule. Some options name what was drawn nowhere.",
    "licence": "CC0-1.0",
}


def build_dataset(folder: Path, *, seed: int = 7, progress: Callable[[str], None] = print) -> Path:
    """Make the data set in `folder` and return the folder; what is complete for this seed is kept.

    Raises RecordInvalidError when a record breaks a check of the benchmark.
    """
    folder = folder.resolve()
    scenes = plan_scenes(seed)
    paintings = [Painting(one.image, partial(paint_scene, one, seed, folder / one.image)) for one in scenes]

    def write_records() -> None:
        write_lines(folder / "samples" / "streets.jsonl", records(scenes, seed))

    return complete(DemoManifest.open(folder, _GENERATOR, seed), paintings, write_records, _SETTINGS, progress)


DRAWN = DrawnDataset("demo-atombench", "atombench", build_dataset)
