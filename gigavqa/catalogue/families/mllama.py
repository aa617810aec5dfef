"""Llama 3.2 Vision: the picture shrunk or enlarged to fit a canvas of up to four tiles, and padded to it.

vLLM 0.32 has no such model: its model_executor/models/registry.py, line 815, names 0.10.2 as the last release that had
it. It is asked at endpoints of other servers.
"""

import math
from typing import ClassVar, Literal

from pydantic import PositiveInt

from gigavqa.catalogue.families.family import Family, FamilyConfig, TextMarks
from gigavqa.tiling.budgets.base import Filter, NativeBudget
from gigavqa.tiling.budgets.resolver import PreprocessingDecision
from gigavqa.tiling.geometry import Size


class MllamaBudget(NativeBudget):
    """At most `max_tiles` tiles of `tile` pixels: the canvas that enlarges least, or else shrinks least.

    A picture is one token of its prompt; counted are the vectors that its layers of cross attention see, a patch each
    and one more for each tile. Source: transformers, models/mllama/image_processing_mllama.py,
    `get_optimal_tiled_canvas` and `get_image_size_fit_to_canvas`.
    """

    filter: ClassVar[Filter] = "bilinear"
    raster_factor: ClassVar[int] = 10

    kind: Literal["mllama"] = "mllama"
    tile: PositiveInt = 560
    max_tiles: PositiveInt = 4
    patch_size: PositiveInt = 14

    @property
    def tokens_per_tile(self) -> int:
        """Patches, and the class token."""
        return (self.tile // self.patch_size) ** 2 + 1

    @property
    def max_visual_tokens(self) -> int:
        """The most visual tokens that one picture can cost."""
        return self.max_tiles * self.tokens_per_tile

    @property
    def max_pixels_kept(self) -> int:
        """Area, in pixels, of all tiles."""
        return self.max_tiles * self.tile**2

    def decide(self, size: Size, num_images: int = 1) -> PreprocessingDecision:
        """Choose the canvas; raises BudgetError for a picture so long that it vanishes."""
        columns, rows = self._grid(size)
        canvas = Size(columns * self.tile, rows * self.tile)
        return PreprocessingDecision(self._fitted(size, canvas), canvas, (columns, rows))

    def count_tokens(self, decision: PreprocessingDecision) -> int:
        """Those of all tiles."""
        return math.prod(decision.grid) * self.tokens_per_tile

    def _grid(self, size: Size) -> tuple[int, int]:
        """Return columns and rows: the least scale of those that enlarge, else the largest; the smallest of equals."""
        most = range(1, self.max_tiles + 1)
        scales = {
            (columns, rows): min(columns * self.tile / size.width, rows * self.tile / size.height)
            for columns in most
            for rows in most
            if columns * rows <= self.max_tiles
        }
        enlarging = [scale for scale in scales.values() if scale >= 1]
        scale = min(enlarging) if enlarging else max(scales.values())
        return min((grid for grid in scales if scales[grid] == scale), key=math.prod)

    def _fitted(self, size: Size, canvas: Size) -> Size:
        """Return the size inside of the canvas; no side is enlarged beyond one tile."""
        width = min(max(size.width, self.tile), canvas.width)
        height = min(max(size.height, self.tile), canvas.height)
        wide, high = width / size.width, height / size.height
        if wide < high:
            return Size(width, min(math.floor(size.height * wide) or 1, height))
        return Size(min(math.floor(size.width * high) or 1, width), height)


def _documented_budget(config: FamilyConfig, processing: FamilyConfig) -> MllamaBudget:
    return MllamaBudget()


MLLAMA = Family(
    "llama-3.2-vision",
    model_types=(),
    box_convention="unit",
    budget=_documented_budget,
    marks=TextMarks(),
    is_closed=True,
)
FAMILIES = (MLLAMA,)
