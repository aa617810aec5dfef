"""GPT: pictures cut into patches of 32 pixels, or fitted and cut into tiles of 512, as OpenAI's vision guide says.

What the servers do beyond the guide cannot be known. A raster within the limits is one that the guide says is not
resized. Boxes are asked for in pixels of the raster.
"""

import math
from typing import Literal

from pydantic import PositiveFloat, PositiveInt

from gigavqa.catalogue.families.family import Family, FamilyConfig, TextMarks
from gigavqa.tiling.budgets.base import NativeBudget
from gigavqa.tiling.budgets.resolver import PreprocessingDecision
from gigavqa.tiling.geometry import Size

_PATCH = 32
_TILE = 512


class OpenAIPatchBudget(NativeBudget):
    """At most `max_side` pixels a side and `max_patches` patches of 32 x 32, each `multiplier` tokens.

    2048 and 1,536 or 2,500 are the guide's for `detail` high, 6000 and 10,000 for original. Source:
    developers.openai.com, guides/images-vision, "Calculating costs".
    """

    kind: Literal["openai-patches"] = "openai-patches"
    max_patches: PositiveInt = 10_000
    max_side: PositiveInt = 6000
    multiplier: PositiveFloat = 1.0

    @property
    def max_visual_tokens(self) -> int:
        """The most visual tokens that one picture can cost."""
        return math.ceil(self.max_patches * self.multiplier)

    @property
    def nominal_visual_tokens(self) -> int:
        """Patches, before they are multiplied."""
        return self.max_patches

    @property
    def max_pixels_kept(self) -> int:
        """Area, in pixels, of the largest picture that keeps its resolution."""
        return self.max_patches * _PATCH**2

    def decide(self, size: Size, num_images: int = 1) -> PreprocessingDecision:
        """Shrink to the longest side, then until the patches fit, one side a whole number of them."""
        width, height = _shrink(*size, self.max_side)
        if _squares(width, height, _PATCH) > self.max_patches:
            scale = math.sqrt(self.max_pixels_kept / (width * height)) / _PATCH
            scale *= min(math.floor(side * scale) / (side * scale) for side in (width, height)) * _PATCH
            width, height = width * scale, height * scale
        # What is a whole number of patches may have become a hair more of it.
        target = Size(*(math.floor(side + 1e-6) for side in (width, height)))
        return PreprocessingDecision(target, target)

    def count_tokens(self, decision: PreprocessingDecision) -> int:
        """So many for each patch, begun ones included."""
        return math.ceil(_squares(*decision.target, _PATCH) * self.multiplier)


class OpenAITileBudget(NativeBudget):
    """Fitted into 2048 x 2048, then to a shorter side of 768, and cut into tiles: `base_tokens` and `tile_tokens` each.

    With `detail` high. Pictures are not enlarged. Source: as above, and the examples there.
    """

    kind: Literal["openai-tiles"] = "openai-tiles"
    base_tokens: PositiveInt = 85
    tile_tokens: PositiveInt = 170
    max_side: PositiveInt = 2048
    short_side: PositiveInt = 768

    @property
    def max_visual_tokens(self) -> int:
        """The most visual tokens that one picture can cost."""
        return self._tokens(self.max_side, self.short_side)

    @property
    def max_pixels_kept(self) -> int:
        """Area, in pixels, of the largest picture that keeps its resolution."""
        return self.max_side * self.short_side

    @property
    def effective_resolution(self) -> int:
        """Side, in pixels, of the largest square that keeps its resolution."""
        return self.short_side

    def decide(self, size: Size, num_images: int = 1) -> PreprocessingDecision:
        """Shrink to the longest side, then to the shorter one."""
        width, height = _shrink(*size, self.max_side)
        scale = min(1.0, self.short_side / min(width, height))
        target = Size(round(width * scale), round(height * scale))
        return PreprocessingDecision(
            target, target, (math.ceil(target.width / _TILE), math.ceil(target.height / _TILE))
        )

    def count_tokens(self, decision: PreprocessingDecision) -> int:
        """Return the base, and so many for each tile, begun ones included."""
        return self._tokens(*decision.target)

    def _tokens(self, width: int, height: int) -> int:
        return self.base_tokens + self.tile_tokens * _squares(width, height, _TILE)


def _shrink(width: float, height: float, max_side: int) -> tuple[float, float]:
    scale = min(1.0, max_side / max(width, height))
    return width * scale, height * scale


def _squares(width: float, height: float, side: int) -> int:
    """Squares of `side` pixels that cover the area; a hair beyond a whole one begins no other."""
    return math.ceil(width / side - 1e-6) * math.ceil(height / side - 1e-6)


def _documented_patches(config: FamilyConfig, processing: FamilyConfig) -> OpenAIPatchBudget:
    return OpenAIPatchBudget()


def _documented_tiles(config: FamilyConfig, processing: FamilyConfig) -> OpenAITileBudget:
    return OpenAITileBudget()


GPT_PATCHES = Family(
    "gpt-patches",
    model_types=(),
    box_convention="pixels",
    budget=_documented_patches,
    marks=TextMarks(),
    is_closed=True,
)
GPT_TILES = Family(
    "gpt-tiles", model_types=(), box_convention="pixels", budget=_documented_tiles, marks=TextMarks(), is_closed=True
)
FAMILIES = (GPT_PATCHES, GPT_TILES)
