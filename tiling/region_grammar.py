"""The grammar of regions: what somebody writes, taken apart by its scheme, before any image is looked at.

Pixels and percentages are IIIF's; the other schemes are places outside the image, and resolved by what its file says of
where it lies (`gigavqa.tiling.geometry.resolve_region`). A new scheme is one entry of `_FORMS`.
"""

import re
from typing import Literal, NamedTuple

from gigavqa.tiling.errors import RegionError, quote_text

RegionScheme = Literal["full", "pixels", "pct", "um", "lonlat", "projected", "epsg"]

INTEGER = r"(\d{1,9})"
DECIMAL = r"(\d{1,9}(?:\.\d{1,30})?)"
"""What numbers of regions and sizes look like: within what every integer and every float can say."""
_SIGNED = r"[+-]?\d{1,12}(?:\.\d{1,30})?"
_MOST_VERTICES = 2000
_LONGEST_TEXT = 100_000


class RegionForm(NamedTuple):
    """How a scheme is written, and what an image's file lacks that the scheme does not fit."""

    shape: str
    pattern: re.Pattern[str]
    lack: str = ""


class RegionText(NamedTuple):
    """A region as it is written: the scheme, its numbers in that scheme's order, and the code of `epsg:CODE:...`."""

    scheme: RegionScheme
    numbers: tuple[float, ...]
    text: str
    code: int | None = None

    def __str__(self) -> str:
        return quote_text(self.text)


def _form(shape: str, number: str, lack: str = "") -> RegionForm:
    scheme, colon, _ = shape.rpartition(":")
    return RegionForm(shape, re.compile(scheme + colon + ",".join([number] * 4), re.ASCII), lack)


def _place(shape: str, head: str) -> RegionForm:
    """Return the form of two corners, or of three vertices and more, on the ground."""
    numbers = rf"({_SIGNED}(?:,{_SIGNED}){{3}}(?:,{_SIGNED},{_SIGNED}){{0,{_MOST_VERTICES - 2}}})"
    return RegionForm(shape, re.compile(f"{head}{numbers}", re.ASCII), "no georeference")


_FORMS: dict[RegionScheme, RegionForm] = {
    "full": RegionForm("full", re.compile("full")),
    "pixels": _form("x,y,w,h", INTEGER),
    "pct": _form("pct:x,y,w,h", DECIMAL),
    "lonlat": _place("lonlat:W,S,E,N", "lonlat:"),
    "projected": _place("projected:XMIN,YMIN,XMAX,YMAX", "projected:"),
    "epsg": _place("epsg:CODE:XMIN,YMIN,XMAX,YMAX", r"epsg:(\d{4,6}):"),
    "um": _form("um:x,y,w,h", DECIMAL, "no microns per pixel"),
}


PLACE_SCHEMES = frozenset(scheme for scheme, form in _FORMS.items() if form.lack)
"""The schemes of places outside the image, whose pixels its file must tell."""
PLACE_HEADS = tuple(f"{scheme}:" for scheme in sorted(PLACE_SCHEMES))
"""What the text of a place begins with."""


def parse_region(text: str) -> RegionText:
    """Take a region's text apart. Raises RegionError for a text of no scheme."""
    if len(text) > _LONGEST_TEXT:
        raise RegionError(f"region '{quote_text(text)}' has {len(text)} characters, more than {_LONGEST_TEXT}")
    for scheme, form in _FORMS.items():
        if match := form.pattern.fullmatch(text):
            groups = match.groups()
            code = int(groups[0]) if scheme == "epsg" else None
            numbers = ",".join(groups if code is None else groups[1:])
            return RegionText(scheme, tuple(map(float, numbers.split(","))) if numbers else (), text, code)
    *most, last = (form.shape for form in _FORMS.values())
    raise RegionError(f"region '{quote_text(text)}' is none of {', '.join(most)} and {last}")


def describe_lack(scheme: RegionScheme) -> str:
    """Say what a file lacks, in which a scheme has no meaning: `no georeference`."""
    return _FORMS[scheme].lack
