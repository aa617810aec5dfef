"""A picture of 100,000 x 100,000 pixels, made in seconds: a tiled JPEG pyramid whose tiles repeat."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from performance.view_files import write_tile_pyramid

SIDE = 100_000
_TILE = 1024


def write_huge_picture(path: Path) -> None:
    """Write the pyramid where it is missing; a reader decodes of it what it would decode of a photographed slide."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"partial-{path.name}")
    write_tile_pyramid(partial, (SIDE, SIDE), tile=_TILE, levels=8, quality=30)
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
