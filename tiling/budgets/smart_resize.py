"""A rule that families share: both sides rounded to a multiple of a factor, the area kept within two limits."""

import math

from gigavqa.tiling.errors import BudgetError
from gigavqa.tiling.geometry import Size

_MAX_ASPECT = 200


def smart_resize(size: Size, factor: int, min_pixels: int, max_pixels: int, num_frames: int = 1) -> Size:
    """Size to which a picture of `size` is resized; each of `num_frames` equal frames counts towards the limits.

    Raises BudgetError beyond an aspect ratio of 200. Source: transformers, models/qwen2_vl/image_processing_qwen2_vl.py
    and models/glm4v/image_processing_glm4v.py, `smart_resize`.
    """
    if max(size) / min(size) > _MAX_ASPECT:
        raise BudgetError(
            f"a picture of {size.width}x{size.height} is longer than {_MAX_ASPECT} times its breadth, which the "
            "family's processor refuses"
        )
    width, height = (round(side / factor) * factor for side in size)
    if num_frames * width * height > max_pixels:
        scale = math.sqrt(num_frames * size.area / max_pixels)
        width, height = (max(factor, math.floor(side / scale / factor) * factor) for side in size)
    elif num_frames * width * height < min_pixels:
        scale = math.sqrt(min_pixels / (num_frames * size.area))
        width, height = (math.ceil(side * scale / factor) * factor for side in size)
    return Size(width, height)
