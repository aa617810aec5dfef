"""Gemini: 2.x cuts pictures into tiles of 768 pixels, 3 scales them to the soft tokens of a media resolution.

What the servers do cannot be known; each budget says what it rests on. Boxes are written from 0 to 1000.
"""

import math
from typing import ClassVar, Literal

from pydantic import PositiveInt

from gigavqa.catalogue.families.family import Family, FamilyConfig, TextMarks
from gigavqa.tiling.budgets.base import NativeBudget
from gigavqa.tiling.budgets.resolver import PreprocessingDecision
from gigavqa.tiling.budgets.soft_tokens import fill_token_budget
from gigavqa.tiling.geometry import Size

_TILE_TOKENS = 258
_SMALL = 384  # pixels; a picture within is one tile
_LEAST_CROP, _MOST_CROP = 256, 768


class GeminiTileBudget(NativeBudget):
    """Shrunk to `max_side`, then cut into squares of two thirds of the shorter side, 256 to 768 pixels.

    Each is 258 tokens, and is scaled to 768 x 768, so that only one of 768 passes through unchanged. Source:
    ai.google.dev, gemini-api/docs/image-understanding ("Calculating tokens": 960 x 540 is 3 x 2 squares of 360) and
    Vertex AI's page on images, which has the bounds.
    """

    kind: Literal["gemini-tiles"] = "gemini-tiles"
    max_side: PositiveInt = 3072

    @property
    def max_visual_tokens(self) -> int:
        """The most visual tokens that one picture can cost."""
        return _TILE_TOKENS * math.ceil(self.max_side / _LEAST_CROP) * 2  # a strip, whose squares are the smallest

    @property
    def nominal_visual_tokens(self) -> int:
        """The tokens of the largest square."""
        return _TILE_TOKENS * math.ceil(self.max_side / _MOST_CROP) ** 2

    @property
    def max_pixels_kept(self) -> int:
        """Area, in pixels, of the largest picture that keeps its resolution."""
        return self.max_side**2

    def decide(self, size: Size, num_images: int = 1) -> PreprocessingDecision:
        """Shrink to the longest side, and count the squares."""
        scale = min(1.0, self.max_side / max(size))
        target = Size(*(round(side * scale) for side in size))
        if max(target) <= _SMALL:
            return PreprocessingDecision(target, target)
        crop = min(_MOST_CROP, max(_LEAST_CROP, math.floor(min(target) / 1.5)))
        return PreprocessingDecision(target, target, (math.ceil(target.width / crop), math.ceil(target.height / crop)))

    def count_tokens(self, decision: PreprocessingDecision) -> int:
        """So many for each square."""
        return _TILE_TOKENS * math.prod(decision.grid)


class GeminiSoftTokenBudget(NativeBudget):
    """Gemma 4's rule, `fill_token_budget`, with the tokens of a media resolution: 280 low, 560 medium, 1120 high,
    2240 ultra high.

    That Gemini 3 follows it is inferred: measured prompts of one picture have 1 + 33 x 33, 1 + 44 x 25 and 1 + 38 x 28
    tokens at 1:1, 16:9 and 4:3, whatever the picture's size, which are this rule's at 1120. 48 pixels a token are
    Gemma's; they make 2256 pixels square of 2240 tokens, where papers that asked it print 2260.
    """

    raster_factor: ClassVar[int] = 10

    kind: Literal["gemini-soft-tokens"] = "gemini-soft-tokens"
    max_soft_tokens: Literal[280, 560, 1120, 2240] = 1120
    unit: PositiveInt = 48

    @property
    def max_visual_tokens(self) -> int:
        """The most visual tokens that one picture can cost."""
        return self.max_soft_tokens

    @property
    def max_pixels_kept(self) -> int:
        """Area, in pixels, of the largest picture that keeps its resolution."""
        return self.max_soft_tokens * self.unit**2

    @property
    def effective_resolution(self) -> int:
        """Side, in pixels, of the largest square that keeps its resolution."""
        return math.isqrt(self.max_soft_tokens) * self.unit

    def decide(self, size: Size, num_images: int = 1) -> PreprocessingDecision:
        """Scale to the budget's area, then round both sides down."""
        target = fill_token_budget(size, self.max_soft_tokens, self.unit)
        return PreprocessingDecision(target, target)

    def count_tokens(self, decision: PreprocessingDecision) -> int:
        """One token for each square of `unit` pixels."""
        return decision.target.area // self.unit**2


def _documented_tiles(config: FamilyConfig, processing: FamilyConfig) -> GeminiTileBudget:
    return GeminiTileBudget()


def _documented_soft_tokens(config: FamilyConfig, processing: FamilyConfig) -> GeminiSoftTokenBudget:
    return GeminiSoftTokenBudget()


GEMINI_2 = Family(
    "gemini-2", model_types=(), box_convention="thousand", budget=_documented_tiles, marks=TextMarks(), is_closed=True
)
GEMINI_3 = Family(
    "gemini-3",
    model_types=(),
    box_convention="thousand",
    budget=_documented_soft_tokens,
    marks=TextMarks(),
    is_closed=True,
)
FAMILIES = (GEMINI_2, GEMINI_3)
