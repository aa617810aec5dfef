"""Small pictures of what a question is about, for the page of a build."""

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

from gigavqa.catalogue.families.qwen import QwenBudget
from gigavqa.tiling.geometry import Region
from gigavqa.tiling.headers import read_header
from gigavqa.tiling.rendering import render
from gigavqa.tiling.views import View

_PIXELS = 320 * 320
_MARGIN = 0.15
_INK = (255, 64, 64)
Ink = tuple[int, int, int]
"""Red, green and blue, 0 to 255."""


def draw_evidence(images: Path, record: Mapping[str, Any]) -> bytes:
    """Return a JPEG of the part of an image that holds a question's boxes, with the boxes drawn."""
    picture = draw_boxes(images, record["image"], [(box, _INK) for box in record["boxes"]], _PIXELS)
    written = io.BytesIO()
    picture.save(written, "JPEG", quality=80)
    return written.getvalue()


def draw_boxes(
    images: Path, name: str, boxes: Sequence[tuple[Sequence[float], Ink]], most_pixels: int, line: int = 1
) -> Image.Image:
    """Return the part of an image that holds some boxes, with each drawn in its ink by a line of so many pixels.

    It has `most_pixels` at most, and is never larger than in the image. A wider line lies around its box.
    """
    size = read_header(images / name).size
    region = region_around([box for box, _ in boxes], size.width, size.height)
    budget = QwenBudget(factor=2, min_pixels=4, max_pixels=most_pixels)
    picture = Image.fromarray(render(images / name, View(image=name, region=str(region)), budget).pixels)
    across, down = picture.width / region.width, picture.height / region.height
    drawing, out = ImageDraw.Draw(picture), line - 1
    for (x1, y1, x2, y2), ink in boxes:
        left, top, right, bottom = x1 - region.x, y1 - region.y, x2 - region.x, y2 - region.y
        corners = (left * across - out, top * down - out, right * across + out, bottom * down + out)
        drawing.rectangle(corners, outline=ink, width=line)
    return picture


def region_around(boxes: Sequence[Sequence[float]], width: int, height: int) -> Region:
    """Return the part of an image of this size that holds boxes in pixels, and a margin."""
    x1, y1 = min(box[0] for box in boxes), min(box[1] for box in boxes)
    x2, y2 = max(box[2] for box in boxes), max(box[3] for box in boxes)
    across, down = max(x2 - x1, 32) * _MARGIN, max(y2 - y1, 32) * _MARGIN
    left, top = max(0, int(x1 - across)), max(0, int(y1 - down))
    return Region(left, top, min(width, int(x2 + across) + 1) - left, min(height, int(y2 + down) + 1) - top)
