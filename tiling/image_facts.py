"""What a file says of an image beside its pixels, in words for people and as data: scale, scenes, planes, profile."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gigavqa.tiling.headers import header_of, slide_facts_of
from gigavqa.tiling.image_part import WHOLE, ImagePart
from gigavqa.tiling.opening import open_file
from gigavqa.tiling.slides.slide_facts import SlideFacts

ImageFacts = dict[str, Any]


def image_facts(path: Path, part: ImagePart = WHOLE) -> ImageFacts:
    """Read what a file says of a part of it: size, format, microns per pixel, and of a slide what OpenSlide knows.

    Raises as `gigavqa.tiling.headers.read_header` does.
    """
    with open_file(path) as file:
        header = header_of(file, part, is_declared=True).oriented
        slide = slide_facts_of(file)
    microns = header.size.microns_per_pixel
    told: ImageFacts = {"size": list(header.size), "format": header.format}
    told |= {"microns_per_pixel": list(microns)} if microns else {}
    told |= {"has_profile": True} if header.has_profile else {}
    return told | (_facts_of_slide(slide) if slide else {})


def describe_facts(told: ImageFacts) -> Iterator[str]:
    """Yield the facts as lines for people."""
    scale = []
    if microns := told.get("microns_per_pixel"):
        x, y = microns
        scale.append(f"{x:.4g} microns per pixel" if x == y else f"{x:.4g} x {y:.4g} microns per pixel")
    if power := told.get("objective_power"):
        scale.append(f"{power:g}-fold objective")
    yield ", ".join([f"{told['size'][0]} x {told['size'][1]} pixels, {told['format']}", *scale])
    for number, scene in enumerate(told.get("scenes", []), start=1):
        yield f'scene {number} is {",".join(map(str, scene))}; show = "scene={number}" shows it alone'
    if scanned := told.get("scanned"):
        yield f'scanned was {",".join(map(str, scanned))}; show = "crop=scanned" shows it alone'
    for name, (width, height) in told.get("associated", {}).items():
        yield f'associated image {name}, {width} x {height}; show = "associated={name}" shows it'
    if told.get("has_profile"):
        yield "has an ICC profile, which is not applied: colours are as stored"


def _facts_of_slide(slide: SlideFacts) -> ImageFacts:
    told: ImageFacts = {"vendor": slide.vendor, "levels": [list(size) for size in slide.levels]}
    told |= {"objective_power": slide.objective_power} if slide.objective_power else {}
    told |= {"associated": {name: list(size) for name, size in slide.associated}} if slide.associated else {}
    told |= {"scenes": [list(scene) for scene in slide.scenes]} if slide.scenes else {}
    return told | ({"scanned": list(slide.scanned)} if slide.scanned else {})
