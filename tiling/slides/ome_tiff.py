"""The plane of an OME-TIFF that is shown: which pages are its channels, and how large its pixels are."""

from math import prod
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as ET

from tifffile import TiffFile, TiffFrame, TiffPage, TiffPageSeries

from gigavqa.tiling.errors import ImageUnreadableError, ImageUnsupportedError
from gigavqa.tiling.geometry import MicronsPerPixel
from gigavqa.tiling.image_part import Axis, ImagePart, require_no_slide, resolve_part

_MICRONS = {"nm": 1e-3, "µm": 1.0, "μm": 1.0, "mm": 1e3, "cm": 1e4, "m": 1e6}
"""Microns of a unit, of which two write the same sign otherwise."""
_PLANE_AXES = "YXS"
_MOST_CHANNELS = 256


class OmePlane(NamedTuple):
    """The pages of a plane, one for each channel, or one alone whose samples are its colours; and its microns."""

    pages: tuple[TiffPage, ...]
    microns_per_pixel: MicronsPerPixel | None


def ome_counts(file: TiffFile, scene: int) -> dict[Axis, int]:
    """Return how many scenes, focal planes and times there are, the latter of a scene (from 1)."""
    series = _series(file)
    sizes = _sizes(series[min(scene, len(series)) - 1])
    return {"scene": len(series), "z": sizes.get("Z", 1), "t": sizes.get("T", 1)}


def ome_plane(file: TiffFile, path: Path, part: ImagePart) -> OmePlane | None:
    """Find the declared plane of an open OME-TIFF; None where its metadata tell no images.

    Raises ImageUnsupportedError for what is not declared, or not there, and ImageUnreadableError where pages are not.
    """
    metadata = _metadata(file, path)
    series = _series(file)
    if not series:
        return None
    require_no_slide(path, part)
    if part.scene or len(series) == 1:
        chosen = resolve_part(path, part, ome_counts(file, part.scene or 1))
    else:
        chosen = resolve_part(path, part, {"scene": len(series)})
    one = series[chosen.scene - 1]
    pages = _channels(one, path, chosen)
    if len(pages) > 1 and pages[0].samplesperpixel > 1:
        raise ImageUnsupportedError(f"{path}: channels that have colours of their own are not served")
    return OmePlane(pages, _microns(metadata, chosen.scene))


def _metadata(file: TiffFile, path: Path) -> ET.Element:
    """Return the metadata of a file that holds all of its images."""
    try:
        metadata = ET.fromstring(file.ome_metadata or "")
    except ET.ParseError as error:
        raise ImageUnreadableError(
            f"{path}: its OME metadata are no XML ({error}); save it as OME-TIFF anew"
        ) from error
    own, meant = metadata.get("UUID"), {told.text for told in metadata.iterfind(".//{*}TiffData/{*}UUID")}
    is_one = len(meant) <= 1 and (own is None or meant <= {own})
    if not is_one or metadata.find("{*}BinaryOnly") is not None:
        raise ImageUnsupportedError(f"{path}: is a part of an OME-TIFF of several files; save all of it as one")
    return metadata


def _series(file: TiffFile) -> list[TiffPageSeries]:
    return [one for one in file.series if one.kind == "ome"]


def _sizes(series: TiffPageSeries) -> dict[str, int]:
    return dict(zip(series.get_axes(squeeze=False), series.get_shape(squeeze=False), strict=True))


def _channels(series: TiffPageSeries, path: Path, part: ImagePart) -> tuple[TiffPage, ...]:
    leading = {axis: size for axis, size in _sizes(series).items() if axis not in _PLANE_AXES}
    if unknown := sorted(axis for axis, size in leading.items() if axis not in "TCZ" and size > 1):
        raise ImageUnsupportedError(f"{path}: images along an axis {', '.join(unknown)} are not served")
    if leading.get("C", 1) > _MOST_CHANNELS:
        raise ImageUnsupportedError(f"{path}: has {leading['C']} channels, more than {_MOST_CHANNELS}")
    at = {"T": part.t - 1, "Z": part.z - 1}
    return tuple(_page(series, path, leading, {**at, "C": channel}) for channel in range(leading.get("C", 1)))


def _page(series: TiffPageSeries, path: Path, leading: dict[str, int], at: dict[str, int]) -> TiffPage:
    sizes = list(leading.values())
    number = sum(at.get(axis, 0) * prod(sizes[place + 1 :]) for place, axis in enumerate(leading))
    page = series.pages[number] if number < len(series.pages) else None
    if isinstance(page, TiffFrame):
        page = page.aspage()
    if not isinstance(page, TiffPage):
        raise ImageUnreadableError(
            f"{path}: its metadata tell of a plane that is not in the file; OME-TIFF of several files is not served"
        )
    return page


def _microns(metadata: ET.Element, scene: int) -> MicronsPerPixel | None:
    try:
        images = metadata.findall("{*}Image")
        told = images[scene - 1].find("{*}Pixels")
        if told is None:
            return None
        x, y = (
            float(told.get(f"PhysicalSize{axis}", "")) * _MICRONS[told.get(f"PhysicalSize{axis}Unit", "µm")]
            for axis in "XY"
        )
    except (IndexError, KeyError, ValueError):
        return None
    return MicronsPerPixel.of(x, y)
