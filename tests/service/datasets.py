"""Small real data sets, written by the tests."""

import functools
import io
import json
from pathlib import Path
from typing import Any

from PIL import Image

NAME = "town"


def record(number: int, **changes: Any) -> dict[str, Any]:
    """One CCTV record; every second one asks about the second image."""
    return {
        "id": f"cctv-{number:04d}",
        "domain": "cctv",
        "category": "comparison",
        "image": f"images/plaza-{number % 2}.png",
        "question": "Which quadrant holds more people?",
        "options": {"A": "upper left", "B": "upper right", "C": "lower left", "D": "lower right"},
        "answer": "ABCD"[number % 4],
        "evidence": {"quadrants": ["upper-left", "lower-right"]},
        **changes,
    }


@functools.cache
def _plaza(number: int) -> bytes:
    """Encode a picture, which hundreds of tests write."""
    buffer = io.BytesIO()
    Image.new("RGB", (640, 480), (90 * number, 120, 60)).save(buffer, "PNG")
    return buffer.getvalue()


def write_dataset(root: Path, records: list[dict[str, Any]], name: str = NAME) -> Path:
    """Write a data set of these records with two images of 640 x 480 pixels below the data root."""
    folder = root / name
    (folder / "samples").mkdir(parents=True, exist_ok=True)
    (folder / "images").mkdir(exist_ok=True)
    (folder / "dataset.toml").write_text(
        f'name = "{name}"\nbenchmark = "ultravr"\ntitle = "Town"\ndescription = "Two small pictures"\n'
    )
    for number in range(2):
        (folder / f"images/plaza-{number}.png").write_bytes(_plaza(number))
    lines = "".join(json.dumps(each) + "\n" for each in records)
    (folder / "samples/cctv.jsonl").write_text(lines)
    return folder


def write_town(root: Path, num_samples: int = 4, name: str = NAME) -> Path:
    """Write a data set in which nothing is wrong."""
    return write_dataset(root, [record(number) for number in range(num_samples)], name)
