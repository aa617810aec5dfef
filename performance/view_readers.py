"""Views by one reader, measured: run as a process of its own by `performance.views`, it prints one line of JSON.

    python -m performance.view_readers READER IMAGE VIEW... [--raster FILE]

A view is REGION;SIZING;OWN;TARGET: x,y,w,h of level 0, the view's own sizing and the size that it gives, and that of
the raster, as WxH. Needs the reader's own library and Pillow alone, so that peers can be installed apart.
"""

# ruff: noqa: PLC0415 - a reader imports its own library alone, so that memory is not charged for the others

import argparse
import importlib
import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

MAX_PIXELS = 4096 * 4096
_LOSSLESS, _LOSSY = 4, 3  # of levels: how many times the raster gigavqa reads at least (tiling/levels.py)
_SCENE_RANGE = (200, 3000)
_SHOW = "bands=1,2,3 stretch=range:200:3000"


class ViewCase(NamedTuple):
    """One view: region in level-0 pixels, its own sizing and the size that it gives, and the size of its raster."""

    region: tuple[int, int, int, int]
    sizing: str
    own: tuple[int, int]
    target: tuple[int, int]


def parse(text: str) -> ViewCase:
    region, sizing, own, target = text.split(";")
    x, y, w, h = map(int, region.split(","))
    return ViewCase((x, y, w, h), sizing, _size(own), _size(target))


def _size(text: str) -> tuple[int, int]:
    width, height = map(int, text.split("x"))
    return width, height


def _by_gigavqa(path: Path, asks: list[ViewCase]) -> Iterator[Any]:
    """Yield each view by itself."""
    from gigavqa.tiling.rendering import render

    for view in _views(path, asks):
        yield render(path, view.model_copy(update={"show": display_of(path)}), _budget()).pixels


def display_of(path: Path) -> str:
    """Return how the samples of a file are shown."""
    return _SHOW if path.name.startswith("scene") else ""


def _in_one_pass(path: Path, asks: list[ViewCase]) -> Iterator[Any]:
    """As a worker does it for the requests that wait."""
    from gigavqa.tiling.renderer import Renderer, ViewRequest
    from gigavqa.tiling.roots import ImageRoot

    library = Renderer(ImageRoot(path.parent), path.parent / "none", cache_bytes=0)
    awaited, work = library.plan([ViewRequest(view) for view in _views(path, asks)], _budget())
    for make in work:
        make(lambda: True)
    yield from (each.result().pixels for each in awaited)


def _budget() -> Any:
    from gigavqa.catalogue.families.qwen import QwenBudget

    return QwenBudget(factor=32, min_pixels=65536, max_pixels=MAX_PIXELS)


def _views(path: Path, asks: list[ViewCase]) -> list[Any]:
    from gigavqa.tiling.views import View

    return [View(image=path.name, region=",".join(map(str, ask.region)), sizing=ask.sizing) for ask in asks]


def _by_pillow(path: Path, asks: list[ViewCase]) -> Iterator[Any]:
    """Decodes the image once, and crops and resizes it for each view."""
    from PIL import Image

    Image.MAX_IMAGE_PIXELS = None
    with Image.open(path) as image:
        for (x, y, w, h), _, own, target in asks:
            picture = image.crop((x, y, x + w, y + h)).convert("RGB")
            if own != (w, h):
                picture = picture.resize(own, Image.Resampling.BICUBIC)
            yield picture.resize(target, Image.Resampling.BICUBIC)


def _by_pillow_draft(path: Path, asks: list[ViewCase]) -> Iterator[Any]:
    """As an expert does: a JPEG decoded anew for each view, at the scale that is at least twice as large."""
    from PIL import Image

    Image.MAX_IMAGE_PIXELS = None
    for (x, y, w, h), _, _, target in asks:
        with Image.open(path) as image:
            full = image.size
            factor = max(1, min(w // (2 * target[0]), h // (2 * target[1])))
            image.draft("RGB", (full[0] // factor, full[1] // factor))
            scale = image.width / full[0]
            box = (x * scale, y * scale, (x + w) * scale, min((y + h) * scale, image.height))
            yield image.convert("RGB").resize(target, Image.Resampling.BICUBIC, box=box)


def _by_vips_thumbnail(path: Path, asks: list[ViewCase]) -> Iterator[Any]:
    """libvips' own thumbnail: of the file where all of it is shown, else of the crop."""
    import pyvips

    for (x, y, w, h), _, _, (width, height) in asks:
        options = {"height": height, "size": "force"}
        if x == y == 0 and _is_whole(path, w, h):
            image = pyvips.Image.thumbnail(str(path), width, **options)
        else:
            access = "random" if path.suffix == ".tif" else "sequential"
            crop = pyvips.Image.new_from_file(str(path), access=access).crop(x, y, w, h)
            image = crop.thumbnail_image(width, **options)
        yield image.numpy()


def _is_whole(path: Path, width: int, height: int) -> bool:
    import pyvips

    header = pyvips.Image.new_from_file(str(path))
    return bool((header.width, header.height) == (width, height))


def _by_openslide(path: Path, asks: list[ViewCase]) -> Iterator[Any]:
    from openslide import OpenSlide

    return _from_slide(OpenSlide(path), asks, oversampling=1)


def _by_tiffslide(path: Path, asks: list[ViewCase]) -> Iterator[Any]:
    from tiffslide import TiffSlide

    return _from_slide(TiffSlide(path), asks, oversampling=1)


def _by_tiffslide_2x(path: Path, asks: list[ViewCase]) -> Iterator[Any]:
    from tiffslide import TiffSlide

    return _from_slide(TiffSlide(path), asks, oversampling=2)


def _from_slide(slide: Any, asks: list[ViewCase], oversampling: int) -> Iterator[Any]:
    from PIL import Image

    for (x, y, w, h), _, _, target in asks:
        level = slide.get_best_level_for_downsample(min(w / target[0], h / target[1]) / oversampling)
        scale = slide.level_downsamples[level]
        pixels = slide.read_region((x, y), level, (round(w / scale), round(h / scale))).convert("RGB")
        yield pixels.resize(target, Image.Resampling.BICUBIC)


def _by_openslide_finer(path: Path, asks: list[ViewCase]) -> Iterator[Any]:
    from openslide import OpenSlide

    return _from_slide(OpenSlide(path), asks, oversampling=_LOSSY)


def _by_rasterio(path: Path, asks: list[ViewCase]) -> Iterator[Any]:
    """As its documentation says: a window, resampled by GDAL from the overview that it chooses."""
    import rasterio
    from rasterio.enums import Resampling
    from rasterio.windows import Window

    with rasterio.open(path) as scene:
        for (x, y, w, h), _, _, (width, height) in asks:
            shape = (scene.count, height, width)
            samples = scene.read(window=Window(x, y, w, h), out_shape=shape, resampling=Resampling.cubic)
            yield _in_range(samples.transpose(1, 2, 0))


def _by_rasterio_finer(path: Path, asks: list[ViewCase]) -> Iterator[Any]:
    """From the level that gigavqa reads, shown in 8 bits, and resized by Pillow."""
    import rasterio
    from rasterio.windows import Window

    with rasterio.open(path) as scene:
        scales = [1, *scene.overviews(1)]
    for (x, y, w, h), _, _, target in asks:
        number = _level_at(scales, w, h, target, _LOSSLESS)
        chosen = {"overview_level": number - 1} if number else {}
        scale = scales[number]
        with rasterio.open(path, **chosen) as level:
            samples = level.read(window=Window(x // scale, y // scale, w // scale, h // scale))
        yield _resized(_in_range(samples.transpose(1, 2, 0)), target)


def _by_tifffile_finer(path: Path, asks: list[ViewCase]) -> Iterator[Any]:
    """tifffile with zarr: the level that gigavqa reads, and Pillow."""
    import tifffile
    import zarr

    with tifffile.TiffFile(path) as tiff:
        levels = tiff.series[0].levels
        scales = [round(levels[0].shape[0] / level.shape[0]) for level in levels]
        for (x, y, w, h), _, _, target in asks:
            number = _level_at(scales, w, h, target, _LOSSLESS if display_of(path) else _LOSSY)
            scale, pixels = scales[number], zarr.open(tiff.series[0].aszarr(level=number), mode="r")
            part = pixels[y // scale : (y + h) // scale, x // scale : (x + w) // scale]
            yield _resized(part if part.dtype == "uint8" else _in_range(part), target)


def _level_at(scales: list[int], width: int, height: int, target: tuple[int, int], oversampling: int) -> int:
    wanted = min(width / target[0], height / target[1]) / oversampling
    return max(number for number, scale in enumerate(scales) if scale <= max(1, wanted) * 1.001)


def _in_range(samples: Any) -> Any:
    import numpy as np

    low, high = _SCENE_RANGE
    return (np.clip((samples.astype(np.float32) - low) / (high - low), 0, 1) * 255 + 0.5).astype(np.uint8)


def _resized(pixels: Any, target: tuple[int, int]) -> Any:
    from PIL import Image

    return Image.fromarray(pixels).resize(target, Image.Resampling.BICUBIC)


def _by_cucim_2x(path: Path, asks: list[ViewCase]) -> Iterator[Any]:
    """cuCIM on the CPU, the level at 2x, with two threads; it resizes nothing itself, so Pillow does."""
    import numpy as np
    from cucim import CuImage
    from PIL import Image

    slide = CuImage(str(path))
    scales = list(slide.resolutions["level_downsamples"])
    for (x, y, w, h), _, _, target in asks:
        wanted = min(w / target[0], h / target[1]) / 2
        level = max(number for number, scale in enumerate(scales) if scale <= max(1, wanted) * 1.001)
        size = round(w / scales[level]), round(h / scales[level])
        pixels = np.asarray(slide.read_region((x, y), size, level, num_workers=2))
        yield Image.fromarray(pixels).resize(target, Image.Resampling.BICUBIC)


READERS: dict[str, Callable[[Path, list[ViewCase]], Iterator[Any]]] = {
    "gigavqa": _by_gigavqa,
    "gigavqa, one pass": _in_one_pass,
    "gigavqa, ingested": _by_gigavqa,
    "Pillow": _by_pillow,
    "Pillow, draft mode": _by_pillow_draft,
    "libvips thumbnail": _by_vips_thumbnail,
    "OpenSlide": _by_openslide,
    "OpenSlide, finer level": _by_openslide_finer,
    "rasterio": _by_rasterio,
    "rasterio, finer level": _by_rasterio_finer,
    "tifffile, finer level": _by_tifffile_finer,
    "tiffslide": _by_tiffslide,
    "tiffslide, level at 2x": _by_tiffslide_2x,
    "cuCIM on the CPU, level at 2x": _by_cucim_2x,
}


IMPORTS = {
    "gigavqa": ("gigavqa.catalogue.families.qwen", "gigavqa.tiling.renderer"),
    "Pillow": ("PIL.Image", "PIL.JpegImagePlugin", "PIL.PngImagePlugin"),
    "libvips": ("pyvips", "numpy"),
    "OpenSlide": ("openslide", "PIL.Image"),
    "rasterio": ("rasterio", "numpy", "PIL.Image"),
    "tifffile": ("tifffile", "imagecodecs", "zarr", "PIL.Image"),
    "tiffslide": ("tiffslide", "PIL.Image"),
    "cuCIM": ("cucim", "numpy", "PIL.Image"),
}
"""By the first word of a reader's name: what is imported before its time begins."""


def peak_mib() -> int:
    """Peak memory of this process; not getrusage's, which is inherited from the process that started this one."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(re.search(r"VmHWM:\s+(\d+) kB", status).group(1)) // 1024  # type: ignore[union-attr]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("reader", choices=READERS)
    parser.add_argument("image", type=Path)
    parser.add_argument("views", nargs="+", type=parse)
    parser.add_argument("--raster", type=Path, help="where to write the last view's raster")
    arguments = parser.parse_args()
    read = READERS[arguments.reader]
    for module in IMPORTS[re.split("[ ,]", arguments.reader)[0]]:
        importlib.import_module(module)
    wall, cpu = time.perf_counter(), time.process_time()
    raster = None
    for each in read(arguments.image, arguments.views):
        raster = each
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = peak_mib()
    if arguments.raster:
        import numpy as np

        np.save(arguments.raster, np.asarray(raster)[..., :3])
    print(json.dumps({"wall_s": wall, "cpu_s": cpu, "peak_mib": peak}))


if __name__ == "__main__":
    main()
