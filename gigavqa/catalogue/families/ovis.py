"""Ovis2.5: both sides rounded to whole tokens of 32 pixels, the area kept within two limits, two tokens around them."""

import math
from typing import ClassVar, Literal

from pydantic import PositiveInt

from gigavqa.catalogue.families.family import (
    CHATML_END_MARKS,
    REFERENCE_MARKS,
    THINK_MARKS,
    THINKING_TEMPLATE,
    Family,
    FamilyConfig,
    TextMarks,
    fields_of,
)
from gigavqa.tiling.budgets.base import Filter, NativeBudget
from gigavqa.tiling.budgets.resolver import PreprocessingDecision
from gigavqa.tiling.geometry import Size

_MIN_PIXELS, _MAX_PIXELS = 448**2, 1792**2
_MAX_ASPECT = 200
_INDICATORS = 2


class OvisBudget(NativeBudget):
    """`smart_resize` of Ovis2.5: Qwen's, but that a side shorter than `factor` is first brought to it, and that the
    longer side of other pictures counts up to 200 times the shorter one.

    The limits, areas of 448 and 1792 pixels square, are those of vLLM 0.32, whose processor drops arguments that say
    others. Source: vLLM, transformers_utils/processors/ovis2_5.py, `smart_resize` and `preprocess_multidata`.
    """

    filter: ClassVar[Filter] = "bilinear"
    raster_factor: ClassVar[int] = 10
    pillow_only: ClassVar[bool] = True

    kind: Literal["ovis2.5"] = "ovis2.5"
    factor: PositiveInt = 32

    @property
    def max_visual_tokens(self) -> int:
        """The most visual tokens that one picture can cost, with the two around them."""
        return self.nominal_visual_tokens + _INDICATORS

    @property
    def nominal_visual_tokens(self) -> int:
        """Those of its patches."""
        return _MAX_PIXELS // self.factor**2

    @property
    def max_pixels_kept(self) -> int:
        """Area, in pixels, of the largest picture that keeps its resolution."""
        return _MAX_PIXELS

    def decide(self, size: Size, num_images: int = 1) -> PreprocessingDecision:
        """Round both sides; raises BudgetError for a picture so long that it vanishes."""
        target = _scaled(_bounded(size, self.factor), self.factor)
        return PreprocessingDecision(target, target)

    def count_tokens(self, decision: PreprocessingDecision) -> int:
        """One token for each square of `factor` pixels, and one before and one behind them."""
        return decision.target.area // self.factor**2 + _INDICATORS


def _bounded(size: Size, factor: int) -> Size:
    """Return the size from which the processor reckons."""
    width, height = size
    if min(size) < factor:
        if height < width:
            return Size(round(factor / height * width), factor)
        return Size(factor, round(factor / width * height))
    if max(size) / min(size) > _MAX_ASPECT:
        return Size(width, _MAX_ASPECT * width) if height > width else Size(_MAX_ASPECT * height, height)
    return size


def _scaled(size: Size, factor: int) -> Size:
    width, height = (round(side / factor) * factor for side in size)
    if width * height > _MAX_PIXELS:
        scale = math.sqrt(size.area / _MAX_PIXELS)
        width, height = (math.floor(side / scale / factor) * factor for side in size)
    elif width * height < _MIN_PIXELS:
        scale = math.sqrt(_MIN_PIXELS / size.area)
        width, height = (math.ceil(side * scale / factor) * factor for side in size)
    return Size(width, height)


def _declared_budget(config: FamilyConfig, processing: FamilyConfig) -> OvisBudget:
    """Ovis2.5: the patches of its tower; the limits are those of its code."""
    tower = fields_of(config).part("vit_config")
    return OvisBudget(factor=tower.number("patch_size", default=16) * tower.number("hidden_stride", default=2))


OVIS25 = Family(
    "ovis2.5",
    model_types=("ovis2_5",),
    architectures=("Ovis2_5",),
    box_convention="unit",
    budget=_declared_budget,
    marks=TextMarks(thought=THINK_MARKS, places=REFERENCE_MARKS, ends=CHATML_END_MARKS),
    chat_template=THINKING_TEMPLATE,
)
FAMILIES = (OVIS25,)
