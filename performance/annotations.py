"""Measures the reader of COCO: a million boxes over a thousand images, in a process of its own.

    python -m performance.annotations               # sections as tools write them
    python -m performance.annotations --shuffled    # annotations before images and categories, of all images in turn

Prints seconds of CPU and the largest resident memory; images are small files whose headers alone are read.
"""

import argparse
import json
import random
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from PIL import Image

from gigavqa.construction.annotations import Omissions
from gigavqa.construction.images import FolderImages
from gigavqa.construction.readers.reader import ReaderOptions
from gigavqa.construction.readers.registry import find_reader

_SIDE = 4000


def main() -> None:
    """Write, read, and print what it took."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    arguments.add_argument("--boxes", type=int, default=1_000_000)
    arguments.add_argument("--images", type=int, default=1000)
    arguments.add_argument("--polygons", action="store_true", help="give each box an outline of twelve points")
    arguments.add_argument("--shuffled", action="store_true", help="annotations first, those of an image far apart")
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        images = Path(folder) / "images"
        images.mkdir()
        for number in range(chosen.images):
            Image.new("1", (_SIDE, _SIDE)).save(images / f"{number}.png")
        source = Path(folder) / "annotations.json"
        with source.open("w") as file:
            file.writelines(_document(chosen))
        print(f"{chosen.boxes} boxes, {source.stat().st_size / 2**20:.0f} MiB")
        began, cpu = time.perf_counter(), time.process_time()
        omissions = Omissions()
        read = find_reader(source).read(source, FolderImages(images), omissions, ReaderOptions())
        count = sum(len(image.annotations) for image in read)
        took, busy = time.perf_counter() - began, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{count} annotations, {len(omissions)} left out: {took:.1f} s, {busy:.1f} s of CPU, peak RSS {peak:.0f} MiB")


def _document(chosen: argparse.Namespace) -> Iterator[str]:
    draws = random.Random(7)
    images = [{"id": at, "file_name": f"{at}.png", "width": _SIDE, "height": _SIDE} for at in range(chosen.images)]
    head = (
        f'"images": {json.dumps(images)}, "categories": {json.dumps([{"id": at, "name": f"c{at}"} for at in range(5)])}'
    )
    yield "{" if chosen.shuffled else "{" + head + ", "
    yield '"annotations": ['
    for at in range(chosen.boxes):
        image = at % chosen.images if chosen.shuffled else at * chosen.images // chosen.boxes
        yield ("" if at == 0 else ", ") + json.dumps(_annotation(at, image, draws, has_outline=chosen.polygons))
    yield "], " + head + "}" if chosen.shuffled else "]}"


def _annotation(at: int, image: int, draws: random.Random, *, has_outline: bool) -> dict[str, object]:
    x, y = round(draws.uniform(0, _SIDE - 60), 2), round(draws.uniform(0, _SIDE - 60), 2)
    width, height = round(draws.uniform(5, 50), 2), round(draws.uniform(5, 50), 2)
    ring = [round(side + draws.uniform(0, extent), 2) for _ in range(12) for side, extent in ((x, width), (y, height))]
    return {
        "id": at, "image_id": image, "category_id": at % 5, "bbox": [x, y, width, height], "iscrowd": 0,
        "area": round(width * height, 2), "segmentation": [ring] if has_outline else [],
    }  # fmt: skip


if __name__ == "__main__":
    main()
