"""Claude: pictures shrunk until longest side and patches of 28 pixels are within limits, as Anthropic's guide says.

What the servers do beyond the guide cannot be known. A raster within the limits is one that the guide says is not
resized. Boxes are asked for in pixels of the raster.
"""

import math
from typing import Literal

from pydantic import PositiveInt

from gigavqa.catalogue.families.family import Family, FamilyConfig, TextMarks
from gigavqa.tiling.budgets.base import NativeBudget
from gigavqa.tiling.budgets.resolver import PreprocessingDecision
from gigavqa.tiling.geometry import Size

_PATCH = 28


class AnthropicBudget(NativeBudget):
    """At most `max_side` pixels a side and `max_tokens` patches of 28 x 28, each a token.

    1568 and 1,568 are the limits of models before 4.7; later ones have 2576 and 4,784. Source: platform.claude.com,
    build-with-claude/vision, whose table of sizes that are not resized (1092 x 1092, 951 x 1268, 896 x 1344, 819 x
    1456, 784 x 1568) these limits give.
    """

    kind: Literal["anthropic"] = "anthropic"
    max_side: PositiveInt = 1568
    max_tokens: PositiveInt = 1568

    @property
    def max_visual_tokens(self) -> int:
        """The most visual tokens that one picture can cost."""
        return self.max_tokens

    @property
    def max_pixels_kept(self) -> int:
        """Area, in pixels, of the largest picture that keeps its resolution."""
        return self.max_tokens * _PATCH**2

    @property
    def effective_resolution(self) -> int:
        """Side, in pixels, of the largest square that keeps its resolution."""
        return min(self.max_side, math.isqrt(self.max_tokens) * _PATCH)

    def decide(self, size: Size, num_images: int = 1) -> PreprocessingDecision:
        """Keep the picture, or shrink it by no more than the limits ask for."""
        longest = min(max(size), self.max_side)
        target = size if longest == max(size) else _scale_to_longest(size, longest)
        if _patches(target) > self.max_tokens:
            fits, fits_not = 1, longest
            while fits_not - fits > 1:
                middle = (fits + fits_not) // 2
                if _patches(_scale_to_longest(size, middle)) <= self.max_tokens:
                    fits = middle
                else:
                    fits_not = middle
            target = _scale_to_longest(size, fits)
        return PreprocessingDecision(target, target)

    def count_tokens(self, decision: PreprocessingDecision) -> int:
        """One for each patch, begun ones included."""
        return _patches(decision.target)


def _scale_to_longest(size: Size, longest: int) -> Size:
    return Size(*(round(side * longest / max(size)) for side in size))


def _patches(size: Size) -> int:
    return math.ceil(size.width / _PATCH) * math.ceil(size.height / _PATCH)


def _documented_budget(config: FamilyConfig, processing: FamilyConfig) -> AnthropicBudget:
    return AnthropicBudget()


CLAUDE = Family(
    "claude", model_types=(), box_convention="pixels", budget=_documented_budget, marks=TextMarks(), is_closed=True
)
FAMILIES = (CLAUDE,)
