"""Small pictures of what a question is about, for the page of a build."""

import io
from collections.abc import Mapping
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


def draw_evidence(images: Path, record: Mapping[str, Any]) -> bytes:
    """Return a JPEG of the part of an image that holds a question's boxes, with the boxes drawn."""
    size = read_header(images / record["image"]).size
    region = _around(record["boxes"], size.width, size.height)
    budget = QwenBudget(factor=2, min_pixels=4, max_pixels=_PIXELS)
    pixels = render(images / record["image"], View(image=record["image"], region=str(region)), budget).pixels
    picture = Image.fromarray(pixels)
    across, down = picture.width / region.width, picture.height / region.height
    drawing = ImageDraw.Draw(picture)
    for x1, y1, x2, y2 in record["boxes"]:
        left, top, right, bottom = x1 - region.x, y1 - region.y, x2 - region.x, y2 - region.y
        drawing.rectangle((left * across, top * down, right * across, bottom * down), outline=_INK)
    written = io.BytesIO()
    picture.save(written, "JPEG", quality=80)
    return written.getvalue()


def _around(boxes: list[list[float]], width: int, height: int) -> Region:
    x1, y1 = min(box[0] for box in boxes), min(box[1] for box in boxes)
    x2, y2 = max(box[2] for box in boxes), max(box[3] for box in boxes)
    across, down = max(x2 - x1, 32) * _MARGIN, max(y2 - y1, 32) * _MARGIN
    left, top = max(0, int(x1 - across)), max(0, int(y1 - down))
    return Region(left, top, min(width, int(x2 + across) + 1) - left, min(height, int(y2 + down) + 1) - top)
