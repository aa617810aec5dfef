"""Time and memory of the benchmark's views, side by side with Pillow, libvips, OpenSlide, rasterio and others.

    python -m performance.views [--quick] [--json FILE] [--repeats N] [--files FOLDER] [--cucim PYTHON]

Each measurement is a fresh process on a warm page cache; readers take turns, so that a busy machine is busy for all.
Medians are printed, and peers as ratios to gigavqa reading the same file: above 1, gigavqa needs less.
OpenSlide and tiffslide read the level that they call best, at least as large as the raster, and so does GDAL; "finer
level" is the one that gigavqa reads, four times the raster or more (three of a lossy pyramid): see decision 0006.
The last column says how near the pixels of a flat file's view are to Pillow's, which decodes all of it. "All six" are
a thumbnail, the full image and four quadrants, one after the other or in one pass; dB is the last one's. cuCIM is read
where `--cucim` names a Python that has `cucim-cu12` and Pillow. Takes ten minutes on two cores, two with `--quick`.
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

import numpy as np
import psutil
from numpy.typing import NDArray

from gigavqa.catalogue.families.qwen import QwenBudget
from gigavqa.tiling.headers import read_header
from gigavqa.tiling.ingest import ingest
from gigavqa.tiling.views import View, plan_view
from performance.view_files import FULL, QUICK, make_files
from performance.view_readers import MAX_PIXELS, display_of

BUDGET = QwenBudget(factor=32, min_pixels=65536, max_pixels=MAX_PIXELS)

CROP = "1024 pixels square"  # placed by _asks

QUADRANTS = [f"pct:{x},{y},50,50" for y in (0, 50) for x in (0, 50)]
ALL_SIX = "all six, 4096² budget"
VIEWS = {
    "thumbnail 1024": [("full", "longest:1024")],
    "full, 4096² budget": [("full", "native")],
    "quadrant, 4096² budget": [("pct:50,50,50,50", "native")],
    "crop 1024²": [(CROP, "native")],
    ALL_SIX: [("full", "longest:1024"), ("full", "native"), *((quadrant, "native") for quadrant in QUADRANTS)],
}
FLAT = ("gigavqa", "gigavqa, ingested", "libvips thumbnail", "Pillow")
READERS = {
    "jpeg": (*FLAT, "Pillow, draft mode"),
    "png": FLAT,
    "pyramid": (
        "gigavqa",
        "libvips thumbnail",
        "OpenSlide",
        "OpenSlide, finer level",
        "tifffile, finer level",
        "tiffslide",
        "tiffslide, level at 2x",
    ),
    "scene": ("gigavqa", "rasterio", "rasterio, finer level", "tifffile, finer level"),
}
CUCIM = "cuCIM on the CPU, level at 2x"
MEASURES = ("wall_s", "cpu_s", "peak_mib")

Results = dict[tuple[str, str, str], dict[str, float]]
"""By layout, view and reader."""


def main() -> None:
    arguments = _arguments()
    files = make_files(arguments.files, QUICK if arguments.quick else FULL)
    pyramids, ingest_seconds = _ingest_flat(files, arguments.files / "pyramids")
    results = measure(files, pyramids, arguments.repeats, arguments.cucim)
    print(f"{_machine()}; median of {arguments.repeats}\n")
    for layout, seconds in ingest_seconds.items():
        print(f"ingest of {files[layout].name}: {seconds:.1f} s once")
    print("\n" + table(files, results))
    if arguments.json:
        rows = [dict(zip(("layout", "view", "reader"), key, strict=True)) | value for key, value in results.items()]
        report = {"machine": _machine(), "repeats": arguments.repeats, "ingest_s": ingest_seconds, "results": rows}
        arguments.json.write_text(json.dumps(report, indent=1), encoding="utf-8")


def measure(files: dict[str, Path], pyramids: dict[str, Path], repeats: int, cucim: str | None = None) -> Results:
    """Medians of fresh processes; a repeat goes through all readers before the next begins. Flat files have `psnr`."""
    runs: dict[tuple[str, str, str], list[dict[str, Any]]] = defaultdict(list)
    for layout, path in files.items():
        for file in (path, pyramids.get(layout, path)):
            _warm(file)
        for view in VIEWS:
            asks = _asks(path, view)
            for _ in range(repeats):
                for reader, python in _readers(layout, view, cucim):
                    file = pyramids[layout] if reader == "gigavqa, ingested" else path
                    runs[layout, view, reader].append(_run(python, reader, file, asks))
    results = {
        key: {name: statistics.median(run[name] for run in some) for name in MEASURES} for key, some in runs.items()
    }
    for (layout, view, reader), values in results.items():
        if layout in pyramids:
            mine, pillows = (runs[layout, view, each][-1]["raster"] for each in (reader, "Pillow"))
            values["psnr"] = _psnr(mine, pillows)
    return results


def table(files: dict[str, Path], results: Results) -> str:
    """Markdown; a peer's cell is its own figure and its ratio to gigavqa."""
    lines = ["| file | view | reader | wall s | CPU s | peak MiB | dB |", "|---|---|---|---|---|---|---|"]
    for (layout, view, reader), values in results.items():
        ours = results[layout, view, "gigavqa"]
        cells = [_cell(name, values[name], ours[name], is_ours=reader == "gigavqa") for name in MEASURES]
        cells.append(f"{values['psnr']:.0f}" if "psnr" in values and reader != "Pillow" else "")
        lines.append(f"| {files[layout].name} | {view} | {reader} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(name: str, value: float, ours: float, *, is_ours: bool) -> str:
    figure = f"{value:.0f}" if name == "peak_mib" else f"{value:.2f}"
    return figure if is_ours else f"{figure} ({value / ours:.1f}x)"


def _readers(layout: str, view: str, cucim: str | None) -> list[tuple[str, str]]:
    """Return who reads a view, with the Python that has it."""
    readers = [(reader, sys.executable) for reader in READERS[layout]]
    if view == ALL_SIX and layout != "pyramid":
        readers.insert(1, ("gigavqa, one pass", sys.executable))
    return [*readers, (CUCIM, cucim)] if cucim and layout == "pyramid" else readers


def _run(python: str, reader: str, path: Path, asks: list[str]) -> dict[str, Any]:
    raster = path.parent / "raster.npy"
    command = [python, "-m", "performance.view_readers", reader, str(path), *asks, "--raster", str(raster)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    result: dict[str, Any] = json.loads(output)
    result["raster"] = np.load(raster)
    raster.unlink()
    return result


def _asks(path: Path, view: str) -> list[str]:
    """Return what the readers are asked.

    The crop of 1024 pixels lies off every tile's border at six tenths of the image.
    """
    size = read_header(path, display_of(path)).size
    asks = []
    for text, sizing in VIEWS[view]:
        place = f"{size.width * 6 // 10},{size.height * 6 // 10},1024,1024" if text == CROP else text
        region, own, plan = plan_view(size, View(image=path.name, region=place, sizing=sizing), BUDGET)
        asks.append(f"{region};{sizing};{own.width}x{own.height};{plan.raster.width}x{plan.raster.height}")
    return asks


def _psnr(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> float:
    error = np.square(one.astype(np.float32) - other).mean()
    return 99.0 if error == 0 else float(10 * np.log10(255**2 / error))


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
    parser.add_argument("--cucim", metavar="PYTHON", help="interpreter of an environment with cucim-cu12 and Pillow")
    parser.add_argument("--files", type=Path, default=Path(tempfile.gettempdir()) / "gigavqa-benchmark-views")
    return parser.parse_args()


if __name__ == "__main__":
    main()
