"""Masks: what of a view is hidden, at no change of its size, so that a model spends as many tokens on it.

A mask is written as `black`, `mean` or `blur:RADIUS`, and hides the whole view; with `@REGION` behind it, or several
regions with `;` between them, in level-0 pixels or percent of the image as IIIF has them, it hides those alone.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Literal, NamedTuple

from gigavqa.tiling.errors import RegionError, quote_text
from gigavqa.tiling.geometry import Region, Size, resolve_region
from gigavqa.tiling.region_grammar import parse_region

MaskKind = Literal["black", "mean", "blur"]

_MASK = re.compile(r"(?:(black|mean)|blur:([1-9]\d{0,3}))(?:@(.+))?", re.ASCII)
_PLAIN: Mapping[str | None, MaskKind] = {"black": "black", "mean": "mean"}
_LONGEST_TEXT = 2000
_SCHEMES = ("pixels", "pct")


class Mask(NamedTuple):
    """What hides a view: black, the mean colour of the view, or a blur, a Gaussian of `radius` raster pixels for its
    standard deviation. Without `regions` all of the view is hidden.
    """

    kind: MaskKind
    radius: int = 0
    regions: tuple[str, ...] = ()

    @property
    def is_blank(self) -> bool:
        """Whether nothing of the image's pixels is left, so that none need be read."""
        return self.kind == "black" and not self.regions

    def __str__(self) -> str:
        """Return the one text of this mask."""
        kind = f"{self.kind}:{self.radius}" if self.kind == "blur" else self.kind
        return f"{kind}@{';'.join(self.regions)}" if self.regions else kind

    def hidden(self, size: Size, region: Region) -> tuple[Region, ...]:
        """Return what is hidden of a region of an image of `size`, in level-0 pixels; raises RegionError where a part
        lies outside the image, or hides nothing of the region.
        """
        return tuple(_within(text, resolve_region(text, size), region) for text in self.regions) or (region,)


@lru_cache(maxsize=1024)
def parse_mask(text: str) -> Mask:
    """Read a mask; raises ValueError for a text that is none."""
    found = _MASK.fullmatch(text) if len(text) <= _LONGEST_TEXT else None
    if found is None:
        raise ValueError(
            f"mask '{quote_text(text)}' is none of black, mean and blur:RADIUS, all of the view, or @REGION behind it"
        )
    plain, radius, regions = found.groups()
    named = tuple(regions.split(";")) if regions else ()
    for region in named:
        _require_region(region)
    return Mask(_PLAIN.get(plain, "blur"), int(radius or 0), named)


def canonical_mask(text: str) -> str:
    """Return the one text of a mask, nothing where nothing is hidden. Raises ValueError."""
    return str(parse_mask(text)) if text else ""


def _require_region(text: str) -> None:
    try:
        scheme = parse_region(text).scheme
    except RegionError as error:
        raise ValueError(f"mask: {error}") from error
    if scheme not in _SCHEMES:
        raise ValueError(f"mask: region '{quote_text(text)}' is neither x,y,w,h nor pct:x,y,w,h")


def _within(text: str, hidden: Region, region: Region) -> Region:
    left, top = max(hidden.x, region.x), max(hidden.y, region.y)
    right = min(hidden.x + hidden.width, region.x + region.width)
    bottom = min(hidden.y + hidden.height, region.y + region.height)
    if right <= left or bottom <= top:
        raise RegionError(f"mask: region '{quote_text(text)}' hides nothing of the view's region {region}")
    return Region(left, top, right - left, bottom - top)
