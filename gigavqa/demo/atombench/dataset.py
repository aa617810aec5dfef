"""Makes ATOM-Bench's demo data set: five street scenes of an invented country, and 28 questions about them."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import tomli_w

from gigavqa.demo.atombench.paint import paint_scene
from gigavqa.demo.atombench.questions import records
from gigavqa.demo.atombench.scenes import StreetScene, plan_scenes
from gigavqa.demo.building import complete
from gigavqa.demo.canvas import replacing
from gigavqa.demo.drawn import DrawnDataset
from gigavqa.demo.manifest import DemoManifest

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
    manifest, scenes = DemoManifest.open(folder, _GENERATOR, seed), plan_scenes(seed)
    missing = [scene for scene in scenes if not manifest.holds(scene.image)]

    def draw() -> None:
        (folder / "images").mkdir(parents=True, exist_ok=True)
        for scene in missing:
            paint_scene(scene, seed, folder / scene.image)
            manifest.add(scene.image)
            progress(f"{scene.image}: painted, {(folder / scene.image).stat().st_size / 1e6:.1f} MB")

    write_records = partial(_write_records, folder, scenes, seed)
    return complete(folder, manifest, progress, draw_missing=draw if missing else None, write_records=write_records)


def _write_records(folder: Path, scenes: list[StreetScene], seed: int) -> None:
    lines = (json.dumps(record) + "\n" for record in records(scenes, seed))
    (folder / "samples" / "streets.jsonl").write_text("".join(lines), encoding="utf-8")
    with replacing(folder / "dataset.toml") as temporary:
        temporary.write_text(tomli_w.dumps({"name": folder.name, **_SETTINGS}), encoding="utf-8")


DRAWN = DrawnDataset("demo-atombench", "atombench", build_dataset)
