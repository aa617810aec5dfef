"""What every model family's native preprocessing has in common: a size in, a raster's size and its tokens out."""

from dataclasses import dataclass
from typing import Any, Literal, Protocol

from tiling.geometry import Size

Filter = Literal["bicubic", "bilinear"]


@dataclass(frozen=True)
class RasterPlan:
    """What a model will really see of a picture of a given size.

    `raster` is the size in pixels at which the family's own preprocessing makes the same decision and changes nothing;
    `visual_tokens` counts the placeholder tokens in the prompt; `filter` is the resampling that the family applies.
    """

    raster: Size
    visual_tokens: int
    filter: Filter = "bicubic"


class VisualBudget(Protocol):
    """One model family's native preprocessing with its limits filled in."""

    @property
    def max_visual_tokens(self) -> int:
        """The most visual tokens that one picture can cost."""
        ...

    @property
    def effective_resolution(self) -> int:
        """Side, in pixels, of the largest square that keeps its resolution (UltraVR table 1, Max Res.)."""
        ...

    def plan(self, size: Size) -> RasterPlan:
        """Decide the raster for a picture of `size` pixels. Raises BudgetError where the family refuses the size."""
        ...

    def processor_kwargs(self) -> dict[str, Any]:
        """Arguments that make the family's own processor work within these limits (vLLM's `mm_processor_kwargs`)."""
        ...
