"""Rasters as an expert makes them with Pillow and OpenSlide: each picture is decoded once, no larger than needed."""

from collections.abc import Iterable
from pathlib import Path

import openslide
from PIL import Image

from performance.peers.scenario import PromptView, RaceItem

Image.MAX_IMAGE_PIXELS = None


def looks_by_path(items: Iterable[RaceItem]) -> dict[str, list[PromptView]]:
    """The different looks at each file, the cheapest files first, so that the engine has something to do early."""
    looks: dict[str, dict[str, PromptView]] = {}
    for item in items:
        for look in item.looks:
            looks.setdefault(look.path, {})[look.key] = look
    return {path: list(looks[path].values()) for path in sorted(looks, key=lambda path: Path(path).stat().st_size)}


def render_file(path: str, looks: Iterable[PromptView]) -> dict[str, Image.Image]:
    """Render looks at one file, by their keys."""
    if Path(path).suffix in {".tif", ".tiff", ".svs"}:
        with openslide.OpenSlide(path) as slide:
            return {look.key: _from_slide(slide, look) for look in looks}
    looks = list(looks)
    with Image.open(path) as image:
        full = image.size
        # Of a JPEG, libjpeg decodes an eighth, a quarter or a half for a fraction of the time.
        image.draft("RGB", _least_size(looks))
        pixels = image.convert("RGB")
        return {look.key: _resized(pixels, look, pixels.width / full[0]) for look in looks}


def _least_size(looks: Iterable[PromptView]) -> tuple[int, int]:
    """Return the size at which no look has fewer pixels than twice its raster, as its filter wants them."""
    scale = min(1.0, max(2 * look.raster[0] / look.region[2] for look in looks))
    look = next(iter(looks))
    return round(look.size[0] * scale), round(look.size[1] * scale)


def _resized(pixels: Image.Image, look: PromptView, scale: float) -> Image.Image:
    x, y, width, height = (side * scale for side in look.region)
    box = (x, y, min(x + width, pixels.width), min(y + height, pixels.height))
    return pixels.resize(look.raster, Image.Resampling.BICUBIC, box=box, reducing_gap=2.0)


def _from_slide(slide: openslide.OpenSlide, look: PromptView) -> Image.Image:
    x, y, width, height = look.region
    level = slide.get_best_level_for_downsample(width / look.raster[0] / 2)
    scale = slide.level_downsamples[level]
    pixels = slide.read_region((x, y), level, (round(width / scale), round(height / scale))).convert("RGB")
    return pixels.resize(look.raster, Image.Resampling.BICUBIC, reducing_gap=2.0)
