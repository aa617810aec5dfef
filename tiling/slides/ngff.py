"""OME-Zarr images (OME-NGFF 0.4 and 0.5): which arrays are the levels of the plane that is shown.

Metadata alone, which are JSON, so that a header can be read on any machine. Source: ngff.openmicroscopy.org, versions
0.4 (Zarr 2) and 0.5 (Zarr 3).
"""

from dataclasses import dataclass
from itertools import pairwise
from math import prod
from pathlib import Path, PurePosixPath
from typing import Any

from gigavqa.tiling.errors import ImageUnreadableError, ImageUnsupportedError
from gigavqa.tiling.geometry import MicronsPerPixel, Size
from gigavqa.tiling.image_part import WHOLE, ImagePart, require_no_slide, resolve_part
from gigavqa.tiling.pixel_types import PixelType
from gigavqa.tiling.slides.ngff_arrays import ArrayHeader, read_array_header, read_json

_MOST_LEVELS = 64
_AXES = "tczyx"
_MICRONS = {"nanometer": 1e-3, "micrometer": 1.0, "millimeter": 1e3, "centimeter": 1e4, "meter": 1e6}
_RGB = ("FF0000", "00FF00", "0000FF")


@dataclass(frozen=True)
class NgffLayout:
    """The levels of a plane, largest first: names of arrays in the store, and their sizes.

    `index` is where the plane lies in an array, by its axes before y and x, of which None is that of channels.
    """

    names: tuple[str, ...]
    sizes: tuple[Size, ...]
    array: ArrayHeader
    index: tuple[int | None, ...]
    pixel_type: PixelType
    microns_per_pixel: MicronsPerPixel | None


def read_ngff(store: Path, part: ImagePart = WHOLE) -> NgffLayout:
    """Find the declared plane of an OME-Zarr store in a folder.

    Raises ImageUnsupportedError for what is not declared, not there or no image, and ImageUnreadableError for metadata
    that are missing or contradict each other.
    """
    require_no_slide(store, part)
    folder, images = _images(store, part)
    if part.scene > len(images) or (len(images) > 1 and not part.scene):
        resolve_part(store, part, {"scene": len(images)})
    image = images[max(0, part.scene - 1)]
    folder = folder / str(image.get("path", "")) if image.get("is_apart") else folder
    try:
        return _layout(store, folder, image, part, len(images))
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise ImageUnreadableError(f"{store}: its metadata are no OME-Zarr of 0.4 or 0.5: {error}") from error


def _images(store: Path, part: ImagePart) -> tuple[Path, list[dict[str, Any]]]:
    """Return the images of a store, each as its entry of `multiscales`, with the channels that are told of it."""
    told = _metadata(store, store)
    if "multiscales" in told:
        shown = [{**one, "omero": told.get("omero")} for one in told["multiscales"] if isinstance(one, dict)]
        if shown:
            return store, shown
    if "plate" in told or "well" in told:
        raise ImageUnsupportedError(f"{store}: is a plate or well of many images; name the folder of one in it")
    if "bioformats2raw.layout" in told:
        folders = sorted((each for each in store.iterdir() if each.name.isdecimal()), key=lambda each: int(each.name))
        chosen = (folders[part.scene - 1 : part.scene] if part.scene else []) or folders[:1]
        images = [_images(each, WHOLE)[1][0] | {"is_apart": True, "path": each.name} for each in chosen]
        if images:
            return store, [images[0]] * len(folders)
    raise ImageUnsupportedError(f"{store}: is a Zarr store without an image of OME-NGFF; name the folder of one in it")


def _layout(store: Path, folder: Path, image: dict[str, Any], part: ImagePart, num_scenes: int) -> NgffLayout:
    axes = [axis["name"] if isinstance(axis, dict) else axis for axis in image.get("axes", ())]
    if not axes or axes[-2:] != ["y", "x"] or sorted(set(axes)) != sorted(axes) or not set(axes) <= set(_AXES):
        raise ImageUnsupportedError(f"{store}: axes {axes} are not those of t, c, z, y and x that end in y and x")
    datasets = image["datasets"][:_MOST_LEVELS]
    names = tuple(_name(store, folder, dataset["path"]) for dataset in datasets)
    arrays = [read_array_header(store, name) for name in names]
    first = arrays[0]
    if any(len(one.shape) != len(axes) or one.dtype != first.dtype for one in arrays):
        raise ImageUnreadableError(f"{store}: its levels are not alike in axes or samples")
    shape = dict(zip(axes, first.shape, strict=True))
    chosen = resolve_part(store, part, {"scene": num_scenes, "z": shape.get("z", 1), "t": shape.get("t", 1)})
    sizes = [Size(one.shape[-1], one.shape[-2]) for one in arrays]
    if any(one.area > finer.area for finer, one in pairwise(sizes)):
        raise ImageUnreadableError(f"{store}: its levels are not listed from the largest to the smallest")
    count = next((n for n, (finer, one) in enumerate(pairwise(arrays), 1) if not _is_level(finer, one)), len(sizes))
    place = {"z": chosen.z - 1, "t": chosen.t - 1}
    return NgffLayout(
        names=names[:count],
        sizes=tuple(sizes[:count]),
        array=first,
        index=tuple(place.get(axis) for axis in axes[:-2]),
        pixel_type=_pixel_type(first, shape.get("c", 1), image),
        microns_per_pixel=_microns(image, datasets[0]),
    )


def _is_level(finer: ArrayHeader, one: ArrayHeader) -> bool:
    """Whether an array is smaller in y and x than the one before, and the same along all other axes."""
    smaller = prod(one.shape[-2:]) < prod(finer.shape[-2:]) and all(
        side <= most for side, most in zip(one.shape[-2:], finer.shape[-2:], strict=True)
    )
    return smaller and one.shape[:-2] == finer.shape[:-2]


def _name(store: Path, folder: Path, path: str) -> str:
    """Return the name of an array within its store, which no path leads out of."""
    pure = PurePosixPath(folder.relative_to(store).as_posix()) / path
    if pure.is_absolute() or ".." in pure.parts or "\0" in path or "\\" in path:
        raise ImageUnreadableError(f"{store}: a level's path leads out of the store")
    return pure.as_posix()


def _pixel_type(array: ArrayHeader, num_channels: int, image: dict[str, Any]) -> PixelType:
    is_rgb = num_channels == len(_RGB) and array.bits == 8 and _channel_colours(image) == _RGB
    return PixelType(array.bits, "rgb" if is_rgb else "grey", num_channels, kind=array.kind)


def _channel_colours(image: dict[str, Any]) -> tuple[str, ...]:
    """Return the colours that the viewer's metadata give to channels: red, green and blue are those of a photograph."""
    channels = (image.get("omero") or {}).get("channels", ())
    return tuple(str(channel.get("color", "")).upper() for channel in channels if isinstance(channel, dict))


def _microns(image: dict[str, Any], dataset: dict[str, Any]) -> MicronsPerPixel | None:
    """Return the scale of a level in microns: its own, times that of all levels. None of a level without one.

    Raises ValueError for a scale of other axes than the image's.
    """
    axes = image["axes"]
    units = [_MICRONS.get(axis.get("unit", "")) if isinstance(axis, dict) else None for axis in (axes[-1], axes[-2])]
    own, shared = (_scales(told, len(axes)) for told in (dataset, image))
    if None in units or not own:
        return None
    sides = [
        prod((unit or 0.0, *(each[at] for each in own + shared))) for unit, at in zip(units, (-1, -2), strict=True)
    ]
    return MicronsPerPixel.of(*sides)


def _scales(told: dict[str, Any], num_axes: int) -> list[list[float]]:
    found = [each["scale"] for each in told.get("coordinateTransformations", ()) if each.get("type") == "scale"]
    if wrong := [scale for scale in found if len(scale) != num_axes]:
        raise ValueError(f"a scale has {len(wrong[0])} numbers, and there are {num_axes} axes")
    return [[float(side) for side in scale] for scale in found]


def _metadata(store: Path, folder: Path) -> dict[str, Any]:
    """Return the attributes of a group of OME: of Zarr 3 those that stand under `ome`."""
    told = read_json(store, folder / "zarr.json")
    if told is not None:
        attributes = told.get("attributes") or {}
        found = attributes.get("ome", attributes)
    else:
        found = read_json(store, folder / ".zattrs") or {}
    return found if isinstance(found, dict) else {}
