"""One view by one reader, measured: run as a process of its own by `performance.views`, it prints one line of JSON."""

# ruff: noqa: PLC0415 - a reader imports its own library alone, so that memory is not charged for the others

import json
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

from catalogue.families.qwen import QwenBudget
from tiling.geometry import Region, Size, resolve_region
from tiling.views import View

BUDGET = QwenBudget(factor=32, min_pixels=65536, max_pixels=4096 * 4096)


def _by_gigavqa(path: Path, view: View) -> Callable[[], Size]:
    from tiling.rendering import render

    def read() -> Size:
        height, width, _ = render(path, view, BUDGET).pixels.shape
        return Size(width, height)

    return read


def _by_pillow(path: Path, view: View) -> Callable[[], Size]:
    from PIL import Image

    Image.MAX_IMAGE_PIXELS = None

    def read() -> Size:
        with Image.open(path) as image:
            region, target = _decide(Size(*image.size), view)
            box = (region.x, region.y, region.x + region.width, region.y + region.height)
            return Size(*image.crop(box).convert("RGB").resize(target, Image.Resampling.BICUBIC).size)

    return read


def _by_openslide(path: Path, view: View) -> Callable[[], Size]:
    from openslide import OpenSlide

    return lambda: _from_slide(OpenSlide(path), view, oversampling=1)


def _by_openslide_2x(path: Path, view: View) -> Callable[[], Size]:
    from openslide import OpenSlide

    return lambda: _from_slide(OpenSlide(path), view, oversampling=2)


def _by_tiffslide(path: Path, view: View) -> Callable[[], Size]:
    from tiffslide import TiffSlide

    return lambda: _from_slide(TiffSlide(path), view, oversampling=1)


def _by_tiffslide_2x(path: Path, view: View) -> Callable[[], Size]:
    from tiffslide import TiffSlide

    return lambda: _from_slide(TiffSlide(path), view, oversampling=2)


def _from_slide(slide, view: View, oversampling: int) -> Size:  # type: ignore[no-untyped-def]  # two libraries with one interface
    from PIL import Image

    region, target = _decide(Size(*slide.dimensions), view)
    wanted = min(region.width / target.width, region.height / target.height) / oversampling
    level = slide.get_best_level_for_downsample(wanted)
    scale = slide.level_downsamples[level]
    size = round(region.width / scale), round(region.height / scale)
    pixels = slide.read_region((region.x, region.y), level, size).convert("RGB")
    return Size(*pixels.resize(target, Image.Resampling.BICUBIC).size)


def _decide(size: Size, view: View) -> tuple[Region, Size]:
    region = resolve_region(view.region, size)
    return region, BUDGET.plan(view.downsampled(region.size)).raster


READERS = {
    "gigavqa": _by_gigavqa,
    "gigavqa, ingested": _by_gigavqa,
    "Pillow": _by_pillow,
    "OpenSlide": _by_openslide,
    "OpenSlide, level at 2x": _by_openslide_2x,
    "tiffslide": _by_tiffslide,
    "tiffslide, level at 2x": _by_tiffslide_2x,
}


def peak_mib() -> int:
    """Peak memory of this process; not getrusage's, which is inherited from the process that started this one."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(re.search(r"VmHWM:\s+(\d+) kB", status).group(1)) // 1024  # type: ignore[union-attr]


def main() -> None:
    reader, path, region, sizing = sys.argv[1:]
    read = READERS[reader](Path(path), View(image="x", region=region, sizing=sizing))
    wall, cpu = time.perf_counter(), time.process_time()
    width, height = read()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(json.dumps({"wall_s": wall, "cpu_s": cpu, "peak_mib": peak_mib(), "raster": [width, height]}))


if __name__ == "__main__":
    main()
