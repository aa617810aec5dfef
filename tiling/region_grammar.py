"""The grammar of regions: what somebody writes, taken apart by its scheme, before any image is looked at.

Pixels and percentages are IIIF's; the other schemes are places outside the image, and resolved by what its file says of
where it lies (`gigavqa.tiling.geometry.resolve_region`). A new scheme is one entry of `_FORMS`.
"""

import re
from typing import Literal, NamedTuple

from gigavqa.tiling.errors import RegionError, quote_text

RegionScheme = Literal["full", "pixels", "pct", "lonlat", "projected"]

INTEGER = r"(\d{1,9})"
DECIMAL = r"(\d{1,9}(?:\.\d{1,30})?)"
"""What numbers of regions and sizes look like: within what every integer and every float can say."""
SIGNED = r"([+-]?\d{1,12}(?:\.\d{1,30})?)"
"""A coordinate outside the image, in degrees or units of length."""


class RegionForm(NamedTuple):
    """How a scheme is written, and what an image's file lacks that the scheme does not fit."""

    shape: str
    pattern: re.Pattern[str]
    lack: str = ""


class RegionText(NamedTuple):
    """A region as it is written: the scheme, and its numbers in that scheme's order."""

    scheme: RegionScheme
    numbers: tuple[float, ...]
    text: str

    def __str__(self) -> str:
        return quote_text(self.text)


def _form(shape: str, number: str, lack: str = "") -> RegionForm:
    scheme, colon, _ = shape.rpartition(":")
    return RegionForm(shape, re.compile(scheme + colon + ",".join([number] * 4), re.ASCII), lack)


_FORMS: dict[RegionScheme, RegionForm] = {
    "full": RegionForm("full", re.compile("full")),
    "pixels": _form("x,y,w,h", INTEGER),
    "pct": _form("pct:x,y,w,h", DECIMAL),
    "lonlat": _form("lonlat:W,S,E,N", SIGNED, "no georeference"),
    "projected": _form("projected:XMIN,YMIN,XMAX,YMAX", SIGNED, "no georeference"),
}


def parse_region(text: str) -> RegionText:
    """Take a region's text apart. Raises RegionError for a text of no scheme."""
    for scheme, form in _FORMS.items():
        if match := form.pattern.fullmatch(text):
            return RegionText(scheme, tuple(map(float, match.groups())), text)
    *most, last = (form.shape for form in _FORMS.values())
    raise RegionError(f"region '{quote_text(text)}' is none of {', '.join(most)} and {last}")


def describe_lack(scheme: RegionScheme) -> str:
    """Say what a file lacks, in which a scheme has no meaning: `no georeference`."""
    return _FORMS[scheme].lack
