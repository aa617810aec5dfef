"""Compute what a picture of a given size demands of a model: visual tokens, and the context that each condition
needs.
"""

from dataclasses import dataclass

from gigavqa.catalogue.entry import MIN_ANSWER_TOKENS, CatalogueEntry
from gigavqa.tiling.errors import BudgetError, RegionError
from gigavqa.tiling.geometry import Size, fit_longest_side, grid_region

_THUMBNAIL = 1024  # pixels of the longest side under V1, unless a job says otherwise
_QUARTERS = ((1, 1), (1, 2), (2, 1), (2, 2))


@dataclass(frozen=True)
class Demands:
    """Visual tokens of the full picture, and by condition those of all its pictures plus those of the least answer.

    V3 and V4 count the picture's four quarters as local evidence: what a sample has of it, its benchmark says. None
    where the family refuses a picture, or the picture has no quarters.
    """

    visual_tokens: int | None
    context: dict[str, int | None]


def demands_of(entry: CatalogueEntry, size: Size) -> Demands:
    """Count what a picture of `size` pixels demands of a model; text comes on top."""
    quarters = _quarters(size)
    shown: dict[str, list[Size] | None] = {
        "V0": [],
        "V1": [fit_longest_side(size, _THUMBNAIL)],
        "V2": [size],
        "V3": quarters,
        "V4": quarters and [size, *quarters],
    }
    visual = {condition: _visual_tokens(entry, sizes) for condition, sizes in shown.items()}
    answer = min(entry.decoding.max_tokens, MIN_ANSWER_TOKENS)
    context = {condition: None if tokens is None else tokens + answer for condition, tokens in visual.items()}
    return Demands(visual["V2"], context)


def _quarters(size: Size) -> list[Size] | None:
    try:
        return [grid_region(size, place, (2, 2)).size for place in _QUARTERS]
    except RegionError:
        return None


def _visual_tokens(entry: CatalogueEntry, sizes: list[Size] | None) -> int | None:
    if sizes is None:
        return None
    try:
        return sum(entry.visual_budget.plan(size, len(sizes)).visual_tokens for size in sizes)
    except BudgetError:
        return None
