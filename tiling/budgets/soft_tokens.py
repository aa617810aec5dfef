"""The rule by which Gemma 4 scales a picture, up or down, until its soft tokens fill the budget."""

import math

from gigavqa.tiling.errors import BudgetError
from gigavqa.tiling.geometry import Size


def fill_token_budget(size: Size, max_tokens: int, unit: int) -> Size:
    """Scale to the area of `max_tokens` squares of `unit` pixels, then round both sides down to whole squares.

    Source: transformers, models/gemma4/image_processing_gemma4.py, `get_aspect_ratio_preserving_size`. Raises
    BudgetError.
    """
    most = max_tokens * unit**2
    scale = math.sqrt(most / size.area)
    width, height = (math.floor(scale * side / unit) * unit for side in size)
    if height == 0:
        height, width = unit, _longest(size.width / size.height, max_tokens, unit)
    elif width == 0:
        width, height = unit, _longest(size.height / size.width, max_tokens, unit)
    if width * height > most:
        raise BudgetError(f"a picture of {size.width}x{size.height} exceeds the family's budget whatever its scale")
    return Size(width, height)


def _longest(aspect: float, max_tokens: int, unit: int) -> int:
    """Long side of a picture whose short side is one unit, in pixels."""
    return min(math.floor(aspect), max_tokens) * unit
