"""What a picture of a given size demands of a model: visual tokens, and the context that each condition needs."""

from dataclasses import dataclass

from benchmarks.ultravr.evidence import QUADRANTS, quadrant_region
from catalogue.entry import CatalogueEntry
from tiling.errors import BudgetError, RegionError
from tiling.geometry import Size, fit_longest_side

_THUMBNAIL = 1024  # UltraVR's V1, pixels of the longest side


@dataclass(frozen=True)
class Demands:
    """Visual tokens of the full picture, and by condition those of all its pictures plus those of an answer.

    V3 and V4 count four quadrants, the most that a sample of CCTV or remote sensing shows. None where the family
    refuses a picture, or the picture has no quadrants.
    """

    visual_tokens: int | None
    context: dict[str, int | None]


def demands_of(entry: CatalogueEntry, size: Size) -> Demands:
    """Count what a picture of `size` pixels demands of a model; text comes on top."""
    quadrants = _quadrants(size)
    shown: dict[str, list[Size] | None] = {
        "V0": [],
        "V1": [fit_longest_side(size, _THUMBNAIL)],
        "V2": [size],
        "V3": quadrants,
        "V4": quadrants and [size, *quadrants],
    }
    visual = {condition: _visual_tokens(entry, sizes) for condition, sizes in shown.items()}
    answer = entry.decoding.max_tokens
    context = {condition: None if tokens is None else tokens + answer for condition, tokens in visual.items()}
    return Demands(visual["V2"], context)


def _quadrants(size: Size) -> list[Size] | None:
    try:
        return [quadrant_region(size, name).size for name in QUADRANTS]
    except RegionError:
        return None


def _visual_tokens(entry: CatalogueEntry, sizes: list[Size] | None) -> int | None:
    if sizes is None:
        return None
    try:
        return sum(entry.visual_budget.plan(size, len(sizes)).visual_tokens for size in sizes)
    except BudgetError:
        return None
