"""Draw a scene as Sentinel-2 brings it, and a question about a place in it: python examples/earth.py FOLDER."""

import json
import sys
from pathlib import Path

import numpy as np
import tifffile

SIDE, METRES, LEFT, TOP = 2048, 10.0, 399_960.0, 5_800_020.0  # EPSG:32633
LAKE = (13.56, 52.20, 13.60, 52.22)  # west, south, east, north
TAGS = [
    (33550, "d", 3, (METRES, METRES, 0.0), True),
    (33922, "d", 6, (0.0, 0.0, 0.0, LEFT, TOP, 0.0), True),
    (34735, "H", 16, (1, 1, 0, 3, 1024, 0, 1, 1, 1025, 0, 1, 1, 3072, 0, 1, 32633), True),
]


def draw() -> np.ndarray:
    """Reflectances of blue, green, red and near infrared: fields, and a lake near 13.58 E, 52.21 N."""
    y, x = np.mgrid[:SIDE, :SIDE]
    fields = 300 * np.sin(x // 96) * np.cos(y // 64)
    bands = np.stack([fields + base for base in (700, 1100, 900, 3000)], axis=-1)
    lake = (x - 300) ** 2 + (y - 1468) ** 2 < 60**2
    bands[lake] = (1800, 900, 300, 100)
    return bands.astype(np.uint16)


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    level, tags = draw(), TAGS
    with tifffile.TiffWriter(folder / "scene.tif") as file:
        for number in range(3):
            file.write(
                level, tile=(256, 256), compression="zlib", predictor=True, photometric="minisblack",
                planarconfig="contig", subfiletype=int(number > 0), extratags=tags if not number else (),
            )  # fmt: skip
            height, width, count = level.shape
            halves = level.reshape(height // 2, 2, width // 2, 2, count)
            level = halves.mean(axis=(1, 3)).round().astype(np.uint16)
    place = "lonlat:" + ",".join(map(str, LAKE))
    question = {"id": "lake", "image": "scene.tif", "question": "Is there water?", "answer": "yes", "regions": [place]}
    (folder / "questions.jsonl").write_text(json.dumps(question) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
