"""Table 2's filter, as far as it can be reckoned: size, and pictures that are nearly another one.

Whether entities are clearly visible, and whether a picture shows more than an icon or a collage, people or a model say.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from gigavqa.catalogue.families.qwen import QwenBudget
from gigavqa.tiling.geometry import Size
from gigavqa.tiling.headers import read_header
from gigavqa.tiling.rendering import render
from gigavqa.tiling.views import View

LEAST_PIXELS, LEAST_SIDE, LEAST_ENTITIES = 8_000_000, 2160, 2
MOST_BITS_APART = 6
"""Of the 64 bits of two pictures' hashes, for them to be near duplicates."""

_SIDE, _KEPT = 32, 8
_RASTER = QwenBudget(factor=2, min_pixels=4, max_pixels=256 * 256)
_DECIMALS = 3
"""Beyond these a coefficient is noise of the arithmetic, and an even picture would have a hash by chance."""


class FilteredPictures(NamedTuple):
    """The pictures that are kept, with their sizes, and of each other one the reason and a sentence."""

    kept: Mapping[str, Size]
    left_out: Mapping[str, tuple[str, str]]


def size_fault(size: Size) -> str:
    """Return why a picture is too small; empty where it is large enough."""
    if size.area < LEAST_PIXELS:
        return f"it has {size.area / 1e6:.2f} megapixels; at least {LEAST_PIXELS // 1_000_000}"
    if min(size) < LEAST_SIDE:
        return f"its shorter side has {min(size)} pixels; at least {LEAST_SIDE}"
    return ""


def filter_pictures(folder: Path, names: Iterable[str]) -> FilteredPictures:
    """Filter the pictures of a folder by header and hash; of near duplicates the one of most pixels stays.

    Raises TilingError.
    """
    sizes: dict[str, Size] = {}
    left_out: dict[str, tuple[str, str]] = {}
    for name in sorted(set(names)):
        size = read_header(folder / name).size
        if fault := size_fault(size):
            left_out[name] = "small", fault
        else:
            sizes[name] = size
    ordered = sorted(sizes, key=lambda name: (-sizes[name].area, name))
    twins = near_duplicates([(name, picture_hash(folder / name)) for name in ordered])
    left_out |= {name: ("near-duplicate", f"it shows what '{other}' shows") for name, other in twins.items()}
    return FilteredPictures({name: size for name, size in sizes.items() if name not in twins}, left_out)


def picture_hash(path: Path) -> int:
    """Return the perceptual hash of a picture file, whatever its size. Raises TilingError."""
    return perceptual_hash(render(path, View(image=path.name), _RASTER).pixels)


def perceptual_hash(pixels: NDArray[np.uint8]) -> int:
    """Return 64 bits of a picture, H x W x 3: which of the 8 x 8 lowest frequencies of its greys exceed their median.

    Of the cosine transform of a raster of 32 x 32; rows of frequencies from the lowest on, the first bit highest.
    """
    grey = Image.fromarray(pixels).convert("L").resize((_SIDE, _SIDE), Image.Resampling.LANCZOS)
    waves = _waves()
    low = np.round(waves @ np.asarray(grey, np.float64) @ waves.T, _DECIMALS)
    return int("".join("01"[bool(bit)] for bit in (low > np.median(low)).ravel()), 2)


def near_duplicates(hashes: Sequence[tuple[str, int]], most: int = MOST_BITS_APART) -> dict[str, str]:
    """Return the pictures that nearly show what an earlier one shows that stays, each with that one."""
    kept_names: list[str] = []
    kept = np.empty(len(hashes), np.uint64)
    twins: dict[str, str] = {}
    for name, bits in hashes:
        apart = np.bitwise_count(kept[: len(kept_names)] ^ np.uint64(bits))
        near = np.flatnonzero(apart <= most)
        if len(near):
            twins[name] = kept_names[int(near[np.argmin(apart[near])])]
        else:
            kept[len(kept_names)] = bits
            kept_names.append(name)
    return twins


@cache
def _waves() -> NDArray[np.float64]:
    """The lowest waves of the cosine transform (DCT-II, orthonormal), one a row."""
    rows, places = np.arange(_KEPT)[:, None], np.arange(_SIDE)
    waves = np.cos(math.pi * rows * (2 * places + 1) / (2 * _SIDE)) * math.sqrt(2 / _SIDE)
    waves[0] /= math.sqrt(2)
    return np.asarray(waves, np.float64)
