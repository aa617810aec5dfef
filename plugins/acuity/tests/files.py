"""Writes data sets of signs on pictures that are not drawn: records alone."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from gigavqa.tiling.geometry import Size

PICTURE = Size(400, 300)
SIGN: dict[str, Any] = {
    "id": "001-colour",
    "images": ["images/001.png"],
    "question": "Which colour is the ring?",
    "options": {"A": "blue", "B": "green", "C": "red", "D": "yellow"},
    "answer": "C",
    "attribute": "colour",
    "scene": "board",
    "place": "centre",
    "optotype": {"x": 120, "y": 90, "diameter": 30, "colour": "red", "direction": "left"},
    "evidence": "100,80,80,80",
}
DIRECTION: dict[str, Any] = SIGN | {
    "id": "001-direction",
    "question": "Which way does the gap of the ring point?",
    "options": {"A": "left", "B": "up", "C": "right", "D": "down"},
    "answer": "A",
    "attribute": "direction",
}


def write(folder: Path, records: Sequence[Mapping[str, Any]]) -> Path:
    """A data set of records about one small picture."""
    for name in ("samples", "images"):
        (folder / name).mkdir(parents=True)
    (folder / "dataset.toml").write_text(f'name = "{folder.name}"\nbenchmark = "acuity"\n')
    (folder / "samples" / "a.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    Image.fromarray(np.full((PICTURE.height, PICTURE.width, 3), 120, np.uint8)).save(folder / "images" / "001.png")
    return folder
