"""Time and memory of the benchmark's views, side by side with Pillow, OpenSlide and tiffslide.

    python -m performance.views [--quick] [--json FILE] [--repeats N] [--files FOLDER]

Each measurement is a fresh process on a warm page cache; readers take turns, so that a busy machine is busy for all.
Medians are printed, and peers as ratios to gigavqa reading the same file: above 1, gigavqa needs less.
OpenSlide and tiffslide read the level that they call best, at least as large as the raster; "level at 2x" is the level
that gigavqa reads, at least twice as large, without which the pixels are not those of the full image (45 dB).
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import psutil
from PIL import Image

from performance.view_files import FULL, QUICK, make_files
from tiling.ingest import ingest

CROP = "1024 pixels square"  # placed by _place

VIEWS = {
    "thumbnail 1024": ("full", "longest:1024"),
    "full, 4096² budget": ("full", "native"),
    "quadrant, 4096² budget": ("pct:50,50,50,50", "native"),
    "crop 1024²": (CROP, "native"),
}
READERS = {
    "jpeg": ("gigavqa", "gigavqa, ingested", "Pillow"),
    "png": ("gigavqa", "gigavqa, ingested", "Pillow"),
    "pyramid": ("gigavqa", "OpenSlide", "OpenSlide, level at 2x", "tiffslide", "tiffslide, level at 2x"),
}
MEASURES = ("wall_s", "cpu_s", "peak_mib")

Results = dict[tuple[str, str, str], dict[str, float]]
"""By layout, view and reader."""


def main() -> None:
    arguments = _arguments()
    files = make_files(arguments.files, QUICK if arguments.quick else FULL)
    pyramids, ingest_seconds = _ingest_flat(files, arguments.files / "pyramids")
    results = measure(files, pyramids, arguments.repeats)
    print(f"{_machine()}; median of {arguments.repeats}\n")
    for layout, seconds in ingest_seconds.items():
        print(f"ingest of {files[layout].name}: {seconds:.1f} s once")
    print("\n" + table(files, results))
    if arguments.json:
        rows = [dict(zip(("layout", "view", "reader"), key, strict=True)) | value for key, value in results.items()]
        report = {"machine": _machine(), "repeats": arguments.repeats, "ingest_s": ingest_seconds, "results": rows}
        arguments.json.write_text(json.dumps(report, indent=1), encoding="utf-8")


def measure(files: dict[str, Path], pyramids: dict[str, Path], repeats: int) -> Results:
    """Medians of fresh processes; a repeat goes through all readers before the next begins."""
    runs: dict[tuple[str, str, str], list[dict[str, Any]]] = defaultdict(list)
    for layout, path in files.items():
        for file in (path, pyramids.get(layout, path)):
            _warm(file)
        for view, (region, sizing) in VIEWS.items():
            for _ in range(repeats):
                for reader in READERS[layout]:
                    file = pyramids[layout] if reader == "gigavqa, ingested" else path
                    runs[layout, view, reader].append(_run(reader, file, _place(path, region), sizing))
    return {
        key: {name: statistics.median(run[name] for run in some) for name in MEASURES} for key, some in runs.items()
    }


def table(files: dict[str, Path], results: Results) -> str:
    """Markdown; a peer's cell is its own figure and its ratio to gigavqa."""
    lines = ["| file | view | reader | wall s | CPU s | peak MiB |", "|---|---|---|---|---|---|"]
    for (layout, view, reader), values in results.items():
        ours = results[layout, view, "gigavqa"]
        cells = [_cell(name, values[name], ours[name], is_ours=reader == "gigavqa") for name in MEASURES]
        lines.append(f"| {files[layout].name} | {view} | {reader} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(name: str, value: float, ours: float, *, is_ours: bool) -> str:
    figure = f"{value:.0f}" if name == "peak_mib" else f"{value:.2f}"
    return figure if is_ours else f"{figure} ({value / ours:.1f}x)"


def _run(reader: str, path: Path, region: str, sizing: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "performance.view_readers", reader, str(path), region, sizing]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    result: dict[str, Any] = json.loads(output)
    return result


def _place(path: Path, region: str) -> str:
    """The crop of 1024 pixels, placed off every tile's border at six tenths of the image."""
    if region != CROP:
        return region
    Image.MAX_IMAGE_PIXELS = None
    with Image.open(path) as image:
        return f"{image.width * 6 // 10},{image.height * 6 // 10},1024,1024"


def _ingest_flat(files: dict[str, Path], folder: Path) -> tuple[dict[str, Path], dict[str, float]]:
    pyramids, seconds = {}, {}
    for layout in ("jpeg", "png"):
        start = time.perf_counter()
        pyramids[layout] = ingest(files[layout], folder)
        seconds[layout] = time.perf_counter() - start
    return pyramids, seconds


def _warm(path: Path) -> None:
    with path.open("rb") as file:
        while file.read(2**24):
            pass


def _machine() -> str:
    memory = psutil.virtual_memory().total / 2**30
    return f"{os.cpu_count()} cores ({platform.machine()}), {memory:.0f} GiB, Python {platform.python_version()}"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="smaller files, one minute in all")
    parser.add_argument("--json", type=Path, help="write the figures to this file too")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--files", type=Path, default=Path(tempfile.gettempdir()) / "gigavqa-benchmark-views")
    return parser.parse_args()


if __name__ == "__main__":
    main()
