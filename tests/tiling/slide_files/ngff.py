"""Write OME-Zarr images with zarr-python."""

from pathlib import Path
from typing import Any, Literal

import numpy as np
import zarr
from numpy.typing import NDArray

_COLOURS = ("FF0000", "00FF00", "0000FF")


def write_ngff(
    path: Path,
    levels: list[NDArray[Any]],
    axes: str,
    *,
    version: Literal["0.4", "0.5"] = "0.5",
    chunk: int = 64,
    shard: int | None = None,
    is_rgb: bool = False,
    num_images: int = 1,
) -> Path:
    """Write the levels of an image, each half of the one before; a pixel is 0.5 microns wide and 0.25 high.

    With several images each has the levels under a name of its own, and those after the first are inverted.
    """
    form: Literal[2, 3] = 2 if version == "0.4" else 3
    root = zarr.open_group(path, mode="w", zarr_format=form)
    images = []
    for number in range(num_images):
        datasets = []
        for at, level in enumerate(levels):
            name = f"{number}_{at}"
            chunks = (1,) * (level.ndim - 2) + (chunk, chunk)
            shards = (1,) * (level.ndim - 2) + (shard, shard) if shard else None
            array = root.create_array(name, shape=level.shape, chunks=chunks, shards=shards, dtype=level.dtype)
            array[:] = level if number == 0 else np.iinfo(level.dtype).max - level
            scale = [1.0] * (level.ndim - 2) + [0.25 * 2**at, 0.5 * 2**at]
            datasets.append({"path": name, "coordinateTransformations": [{"type": "scale", "scale": scale}]})
        units = {"y": {"unit": "micrometer"}, "x": {"unit": "micrometer"}}
        told = [{"name": axis, "type": "space", **units.get(axis, {})} for axis in axes]
        images.append({"version": version, "axes": told, "datasets": datasets})
    omero = {"omero": {"channels": [{"color": colour} for colour in _COLOURS]}} if is_rgb else {}
    attributes = {"multiscales": images, **omero}
    root.attrs.update(attributes if form == 2 else {"ome": {"version": version, **attributes}})
    return path
