"""MiniCPM-V 4.5: a small view of the whole picture, and slices of it in the grid nearest to its shape."""

import math
from typing import Any, ClassVar, Literal

from pydantic import PositiveInt

from gigavqa.catalogue.families.family import (
    CHATML_END_MARKS,
    REFERENCE_MARKS,
    THINK_MARKS,
    THINKING_TEMPLATE,
    TOOL_CALL_MARKS,
    Family,
    FamilyConfig,
    TextMarks,
    processing_fields,
)
from gigavqa.tiling.budgets.base import NativeBudget
from gigavqa.tiling.budgets.resolver import PreprocessingDecision
from gigavqa.tiling.errors import BudgetError
from gigavqa.tiling.geometry import Size


class MiniCPMVBudget(NativeBudget):
    """Adaptive slicing of MiniCPM-V: at most `max_slices` slices of about `slice` x `slice` pixels.

    Every slice, and the view of the whole picture, costs `tokens_per_slice`. The processor is remote code: this stands
    on its published formula. Source: openbmb/MiniCPM-V-4_5, image_processing_minicpmv.py, `get_sliced_grid`,
    `find_best_resize`, `get_refine_size`.
    """

    raster_factor: ClassVar[int] = 10

    kind: Literal["minicpm-v"] = "minicpm-v"
    slice: PositiveInt = 448
    max_slices: PositiveInt = 9
    patch_size: PositiveInt = 14
    tokens_per_slice: PositiveInt = 64

    @property
    def max_visual_tokens(self) -> int:
        """The most visual tokens that one picture can cost."""
        return (self.max_slices + 1 if self.max_slices > 1 else 1) * self.tokens_per_slice

    @property
    def max_pixels_kept(self) -> int:
        """Area, in pixels, of all slices."""
        return self.max_slices * self.slice**2

    def decide(self, size: Size, num_images: int = 1) -> PreprocessingDecision:
        """Choose the grid, the size of all slices together and that of the whole view; raises BudgetError."""
        grid = self._grid(size)
        if grid is None:
            target = self._best_size(size.width, size.height, may_enlarge=True)
            return PreprocessingDecision(target, target)
        columns, rows = grid
        width, height = (_to_multiple(side, number) / number for side, number in zip(size, grid, strict=True))
        of_slice = self._best_size(width, height, may_enlarge=True)
        target = Size(of_slice.width * columns, of_slice.height * rows)
        return PreprocessingDecision(target, target, grid, self._best_size(size.width, size.height, may_enlarge=False))

    def count_tokens(self, decision: PreprocessingDecision) -> int:
        """As many for the view of the whole picture as for each slice."""
        columns, rows = decision.grid
        return (1 if decision.overview is None else columns * rows + 1) * self.tokens_per_slice

    def processor_kwargs(self) -> dict[str, Any]:
        """Return the slices are a setting of the image processor."""
        return {"max_slice_nums": self.max_slices}

    def _grid(self, size: Size) -> tuple[int, int] | None:
        """Columns and rows of the slices; None for a picture that is not larger than one."""
        wanted = min(math.ceil(size.area / self.slice**2), self.max_slices)
        if wanted <= 1:
            return None
        log_aspect = math.log(size.width / size.height)
        numbers = [n for n in (wanted - 1, wanted, wanted + 1) if 1 < n <= self.max_slices]
        grids = [(columns, n // columns) for n in numbers for columns in range(1, n + 1) if n % columns == 0]
        return min(grids, key=lambda grid: abs(log_aspect - math.log(grid[0] / grid[1])))

    def _best_size(self, width: float, height: float, *, may_enlarge: bool) -> Size:
        """Sides in multiples of a patch, of about the area of one slice where the picture is larger or may grow."""
        if width * height > self.slice**2 or may_enlarge:
            aspect = width / height
            height = int(self.slice / math.sqrt(aspect))
            width = int(height * aspect)
        if height < 1:
            raise BudgetError("the picture is so wide that MiniCPM's processor would leave nothing of its height")
        return Size(_to_multiple(width, self.patch_size), _to_multiple(height, self.patch_size))


def _to_multiple(length: float, divisor: int) -> int:
    return max(round(length / divisor) * divisor, divisor)


def _declared_budget(config: FamilyConfig, processing: FamilyConfig) -> MiniCPMVBudget:
    """MiniCPM-V 4.5 and MiniCPM-o 2.6: limits of the image processor."""
    fields = processing_fields(processing)
    return MiniCPMVBudget(
        slice=fields.number("scale_resolution", default=448),
        max_slices=fields.number("max_slice_nums", default=9),
        patch_size=fields.number("patch_size", default=14),
        tokens_per_slice=fields.number("image_feature_size", default=64),
    )


MINICPM_V = Family(
    "minicpm-v-4.5",
    model_types=("minicpmv",),
    architectures=("MiniCPMV",),
    box_convention="thousand",
    budget=_declared_budget,
    marks=TextMarks(
        thought=THINK_MARKS,
        places=REFERENCE_MARKS,
        calls=TOOL_CALL_MARKS,
        ends=CHATML_END_MARKS,
        is_opened_by_prompt=True,
    ),
    chat_template=THINKING_TEMPLATE,
    writes_json_calls=True,
)
MINICPM_O = Family(
    "minicpm-o-2.6",
    model_types=("minicpmo",),
    architectures=("MiniCPMO",),
    box_convention="thousand",
    budget=_declared_budget,
    marks=TextMarks(places=REFERENCE_MARKS, calls=TOOL_CALL_MARKS, ends=CHATML_END_MARKS),
)
FAMILIES = (MINICPM_V, MINICPM_O)
