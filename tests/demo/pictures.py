"""Reads parts of the images that the tests look at."""

from pathlib import Path

import numpy as np
import pyvips
from numpy.typing import NDArray

from gigavqa.demo.ultravr.placing import PixelBox


def read_pixels(path: Path) -> NDArray[np.int16]:
    """The whole picture, H x W x 3, signed so that differences can be taken."""
    return pyvips.Image.new_from_file(str(path)).numpy().astype(np.int16)


def cut(pixels: NDArray[np.int16], box: PixelBox, scale: float) -> NDArray[np.int16]:
    """The part of a picture inside a box given in pixels of the full-size image."""
    x1, y1, x2, y2 = (round(edge * scale) for edge in box)
    return pixels[max(0, y1) : y2, max(0, x1) : x2]


def share_of_color(pixels: NDArray[np.int16], color: tuple[int, int, int], tolerance: int) -> float:
    """Share of the pixels of which every channel lies within the tolerance of the color's."""
    return float((np.abs(pixels - np.array(color)) <= tolerance).all(axis=-1).mean())
