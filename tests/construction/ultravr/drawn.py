"""Drawn scenes with their annotation files, for builds from end to end."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from PIL import Image

SIZE = (1200, 900)
Rectangle = tuple[str, int, int, int, int]
"""A category, and left, top, right and bottom in pixels."""


def write_dota(folder: Path, number: int, seed: int = 0) -> Path:
    """Write images of ships that lie flat or upright, none near a line between quadrants, and DOTA's labels of them."""
    for name in ("images", "labels"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for at in range(number):
        marks = list(_ships(np.random.default_rng([seed, at])))
        write_picture(folder / "images" / f"P{at:04}.png", marks)
        lines = [f"{x1} {y1} {x2} {y1} {x2} {y2} {x1} {y2} {kind} 0" for kind, x1, y1, x2, y2 in marks]
        (folder / "labels" / f"P{at:04}.txt").write_text("\n".join([*lines, ""]), encoding="utf-8")
    return folder


def write_picture(path: Path, marks: Iterable[Rectangle]) -> None:
    """Paint a rectangle for each mark."""
    picture = Image.new("RGB", SIZE, "grey")
    for _, x1, y1, x2, y2 in marks:
        picture.paste("red", (x1, y1, x2, y2))
    picture.save(path)


def _ships(rng: np.random.Generator) -> Iterable[Rectangle]:
    for _ in range(int(rng.integers(4, 9))):
        x, y = int(rng.integers(30, SIZE[0] - 30)), int(rng.integers(30, SIZE[1] - 30))
        wide, high = (20, 7) if rng.integers(2) else (7, 20)
        if abs(x - SIZE[0] // 2) > 2 * wide and abs(y - SIZE[1] // 2) > 2 * high:
            yield "ship", x - wide, y - high, x + wide, y + high
