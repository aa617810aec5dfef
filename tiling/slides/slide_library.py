"""OpenSlide's own words for a slide, as facts; and what is wrong with one that lacks files."""

import configparser
from collections.abc import Iterator, Mapping
from pathlib import Path

import openslide

from gigavqa.tiling.geometry import MicronsPerPixel, Region, Size
from gigavqa.tiling.image_folders import DICOM_SUFFIX
from gigavqa.tiling.slides.slide_facts import SlideFacts

_SERIES = "dicom.SeriesInstanceUID"
_MOST_DICOM_FILES = 128
_PROFILE = "openslide.icc-size"


def look_at_slide(path: Path, *, is_folder: bool) -> SlideFacts:
    """Open a slide and say what it is; one whose folder was named must be alone in it.

    Raises OSError, ValueError and OpenSlideError, which say what is missing or wrong.
    """
    if is_folder:
        _require_one_series(path.parent)
    _require_parts(path)
    with openslide.OpenSlide(str(path)) as slide:
        return facts_of(slide)


def facts_of(slide: openslide.OpenSlide) -> SlideFacts:
    """Return what an open slide's properties say."""
    told = slide.properties
    microns = [_number(told, name) for name in (openslide.PROPERTY_NAME_MPP_X, openslide.PROPERTY_NAME_MPP_Y)]
    return SlideFacts(
        vendor=told[openslide.PROPERTY_NAME_VENDOR],
        levels=tuple(Size(*size) for size in slide.level_dimensions),
        downsamples=tuple(slide.level_downsamples),
        microns_per_pixel=MicronsPerPixel.of(microns[0], microns[1]) if microns[0] and microns[1] else None,
        objective_power=_number(told, openslide.PROPERTY_NAME_OBJECTIVE_POWER),
        associated=tuple(_associated(told)),
        scenes=tuple(_scenes(told)),
        scanned=_region(told, "openslide.bounds-"),
        background=told.get(openslide.PROPERTY_NAME_BACKGROUND_COLOR, "FFFFFF"),
        has_profile=_PROFILE in told,
    )


def _number(told: Mapping[str, str], name: str) -> float | None:
    try:
        number = float(told.get(name, ""))
    except ValueError:
        return None
    return number if 0 < number < float("inf") else None


def _associated(told: Mapping[str, str]) -> Iterator[tuple[str, Size]]:
    for name in told:
        if name.startswith("openslide.associated.") and name.endswith(".width"):
            one = name.removesuffix(".width")
            size = Size(int(told[name]), int(told[f"{one}.height"]))
            yield one.removeprefix("openslide.associated."), size


def _scenes(told: Mapping[str, str]) -> Iterator[Region]:
    number = 0
    while region := _region(told, f"openslide.region[{number}]."):
        yield region
        number += 1


def _region(told: Mapping[str, str], name: str) -> Region | None:
    sides = [told.get(f"{name}{side}") for side in ("x", "y", "width", "height")]
    return Region(*(int(side) for side in sides if side)) if all(sides) else None


def _require_parts(path: Path) -> None:
    """Say which files of a slide are not there, and which series of a folder is not named; OpenSlide says it late."""
    match path.suffix.lower():
        case ".mrxs":
            _require_mirax_files(path)
        case ".vms" | ".vmu":
            _require_named_files(path)


def _require_mirax_files(path: Path) -> None:
    folder = path.with_suffix("")
    settings = folder / "Slidedat.ini"
    if not settings.is_file():
        raise FileNotFoundError(f"its folder {folder.name}/ with Slidedat.ini is missing beside it; copy both together")
    lines = configparser.ConfigParser(strict=False, interpolation=None, allow_no_value=True)
    lines.read_string(settings.read_bytes()[: 2**20].decode("utf-8-sig", "replace"))
    named = [lines.get("HIERARCHICAL", "INDEXFILE", fallback="")]
    named += [name or "" for key, name in lines.items("DATAFILE") if key.startswith("file_") and key != "file_count"]
    _require_files(folder, named, f"{folder.name}/")


def _require_named_files(path: Path) -> None:
    lines = path.read_bytes()[: 2**20].decode("latin-1").splitlines()
    values = (line.partition("=") for line in lines)
    named = [value.strip() for key, _, value in values if key.startswith(("ImageFile", "MapFile"))]
    _require_files(path.parent, named, "")


def _require_files(folder: Path, names: list[str], told: str) -> None:
    missing = [name for name in names if name and not (folder / name).is_file()]
    if missing:
        more = f" and {len(missing) - 1} more of its files" if len(missing) > 1 else ""
        raise FileNotFoundError(f"{told}{missing[0]}{more} is missing; copy the slide with all its files")


def _require_one_series(folder: Path) -> None:
    files = sorted(each for each in folder.iterdir() if each.suffix.lower() == DICOM_SUFFIX)
    if len(files) > _MOST_DICOM_FILES:
        raise ValueError(f"the folder holds {len(files)} DICOM files; name one .dcm of the slide that is meant")
    found: dict[str, str] = {}
    for file in files:
        try:
            with openslide.OpenSlide(str(file)) as slide:
                found.setdefault(slide.properties.get(_SERIES, ""), file.name)
        except openslide.OpenSlideError:  # no slide, or a part of none
            continue
    if len(found) > 1:
        named = ", ".join(sorted(found.values()))
        raise ValueError(f"the folder holds {len(found)} slides; name one .dcm of the one that is meant: {named}")
