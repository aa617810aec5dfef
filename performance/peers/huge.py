"""A picture of 100,000 x 100,000 pixels, made in seconds: a tiled JPEG pyramid whose tiles repeat."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import imagecodecs
import numpy as np
import tifffile

from performance.view_files import texture

SIDE = 100_000
_TILE = 1024
_PATTERN = 4  # tiles of the pattern in each direction


def write_huge_picture(path: Path) -> None:
    """Write the pyramid where it is missing; a reader decodes of it what it would decode of a photographed slide."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    pattern = texture(_PATTERN * _TILE)
    corners = range(0, _PATTERN * _TILE, _TILE)
    tiles = [
        imagecodecs.jpeg8_encode(np.ascontiguousarray(pattern[y : y + _TILE, x : x + _TILE]), level=30)
        for y in corners
        for x in corners
    ]
    partial = path.with_name(f"partial-{path.name}")
    with tifffile.TiffWriter(partial, bigtiff=True) as writer:
        for level in range(8):
            side = SIDE >> level
            places = range(-(-side // _TILE))
            writer.write(
                (tiles[row % _PATTERN * _PATTERN + column % _PATTERN] for row in places for column in places),
                shape=(side, side, 3),
                dtype=np.uint8,
                tile=(_TILE, _TILE),
                photometric="ycbcr",
                compression="jpeg",
                subsampling=(2, 2),
                subfiletype=1 if level else 0,
                metadata=None,
            )
    partial.replace(path)


def huge_records(questions: int) -> Iterator[dict[str, Any]]:
    """Questions of UltraVR's remote sensing kind, whose local evidence is quarters of the picture."""
    for number in range(questions):
        yield {
            "id": f"huge-{number + 1}",
            "domain": "rs",
            "category": "comparison",
            "image": "images/huge.tiff",
            "question": f"Which quarter of the picture shows most of the texture number {number + 1}?",
            "options": {"A": "upper left", "B": "upper right", "C": "lower left", "D": "lower right"},
            "answer": "ABCD"[number % 4],
            "evidence": {"quadrants": ["upper-left", "lower-right"]},
        }
