"""Georeferenced files, written by GDAL (rasterio), whose word is the reference of ours."""

from pathlib import Path

import numpy as np
import rasterio
from affine import Affine
from numpy.typing import NDArray

CENTRES = {
    32633: (450_000.0, 5_800_000.0),  # UTM, where Berlin is
    32760: (300_000.0, 8_000_000.0),  # UTM in the south, at the antimeridian
    25832: (690_000.0, 5_335_000.0),  # ETRS89
    2263: (990_000.0, 210_000.0),  # New York, in US survey feet
    3857: (1_490_000.0, 6_894_000.0),  # Web Mercator
    2154: (652_000.0, 6_862_000.0),  # Lambert's cone
    3413: (-500_000.0, -1_200_000.0),  # polar, by Greenland
    3031: (1_000_000.0, 500_000.0),  # polar, of the south
    2193: (1_750_000.0, 5_920_000.0),  # New Zealand, whose axes EPSG has the other way round
    27700: (530_000.0, 180_000.0),  # Great Britain, of another datum
    4326: (13.4, 52.5),
    4269: (-74.0, 40.7),
}
"""Some systems, and the place of an image in each."""

PIXEL = 10.0
SIZE = (96, 64)


def north_up(x: float, y: float, side: float) -> Affine:
    """Return the grid of square pixels with north up."""
    return Affine(side, 0, x, 0, -side, y)


GRIDS = {
    "north up": north_up,
    "oblong": lambda x, y, side: Affine(side, 0, x, 0, -3 * side, y),
    "south up": lambda x, y, side: Affine(side, 0, x, 0, side, y),
    "rotated": lambda x, y, side: Affine.translation(x, y) @ Affine.rotation(30) @ Affine.scale(side, -side),
    "sheared": lambda x, y, side: Affine(side, 0.25 * side, x, -0.5 * side, -side, y),
}


def pixel_side(code: int) -> float:
    """Return about ten metres in the unit of a system."""
    return PIXEL / 111_320 if code in (4326, 4269) else PIXEL


def grid_in(code: int, name: str = "north up") -> Affine:
    """Return one of the grids at the place of an image in a system."""
    return GRIDS[name](*CENTRES[code], pixel_side(code))


def write_geotiff(
    path: Path,
    code: int | None = 32633,
    transform: Affine | None = None,
    pixels: NDArray[np.generic] | None = None,
    **tags: str,
) -> Path:
    """Write bands x rows x columns, by default a grey ramp of 96 x 64."""
    if pixels is None:
        pixels = np.tile(np.arange(SIZE[0], dtype=np.uint8), (1, SIZE[1], 1))
    bands, height, width = pixels.shape
    described = {} if code is None else {"crs": f"EPSG:{code}"}
    with rasterio.open(
        path, "w", driver="GTiff", width=width, height=height, count=bands, dtype=pixels.dtype,
        transform=transform or grid_in(code or 32633), **described,
    ) as file:  # fmt: skip
        file.write(pixels)
        file.update_tags(**tags)
    return path
