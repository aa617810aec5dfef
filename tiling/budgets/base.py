"""The interface of every model family's native preprocessing: a size in, a raster's size and its tokens out."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol

from pydantic import BaseModel, ConfigDict

from gigavqa.tiling.budgets.resolver import PreprocessingDecision, resolve_raster_size
from gigavqa.tiling.geometry import Size

Filter = Literal["bicubic", "bilinear", "lanczos"]


@dataclass(frozen=True)
class RasterPlan:
    """The raster that a model really sees of a picture of a given size.

    `raster` is the size in pixels to render, at which the family's own preprocessing takes the same `decision`; where
    `fixed_point` holds it changes no pixel of it, else it makes the last step, from `raster` to `decision.target`.
    `visual_tokens` counts the placeholder tokens in the prompt; `filter` is the resampling that the family applies.
    """

    raster: Size
    visual_tokens: int
    decision: PreprocessingDecision
    filter: Filter = "bicubic"
    fixed_point: bool = True


class VisualBudget(Protocol):
    """One model family's native preprocessing with its limits filled in."""

    @property
    def max_visual_tokens(self) -> int:
        """The most visual tokens that one picture can cost."""
        ...

    @property
    def nominal_visual_tokens(self) -> int:
        """Visual tokens as papers count them: without thumbnail and padding."""
        ...

    @property
    def effective_resolution(self) -> int:
        """Side, in pixels, of the largest square that keeps its resolution."""
        ...

    @property
    def max_raster_pixels(self) -> int:
        """The most pixels that a raster has: what to reserve for one before its plan is known."""
        ...

    @property
    def most_images(self) -> int | None:
        """The number of images that a prompt may have before the family shows each with less; None: any number."""
        ...

    @property
    def counts_images(self) -> bool:
        """Whether a plan depends on how many images the prompt has."""
        ...

    def plan(self, size: Size, num_images: int = 1) -> RasterPlan:
        """Decide the raster for a picture of `size` pixels that is one of `num_images` in its prompt.

        Raises BudgetError where the family refuses the size.
        """
        ...

    def processor_kwargs(self) -> dict[str, Any]:
        """Arguments that make the family's own processor work within these limits (vLLM's `mm_processor_kwargs`)."""
        ...

    def config_overrides(self) -> dict[str, Any]:
        """Fields of the checkpoint's configuration that must say these limits too (vLLM's `hf_overrides`)."""
        ...


class NativeBudget(BaseModel, ABC):
    """The budget that families derive from: a plan is the family's decision, resolved to a raster that keeps it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    filter: ClassVar[Filter] = "bicubic"
    raster_factor: ClassVar[int] = 1
    """Area of the largest raster, in areas of the largest target: 1 where targets are always fixed points."""

    pillow_only: ClassVar[bool] = False
    """Whether the family's processor takes pictures of Pillow alone, and no tensors."""

    @property
    @abstractmethod
    def max_visual_tokens(self) -> int:
        """The most visual tokens that one picture can cost."""

    @property
    def nominal_visual_tokens(self) -> int:
        """Visual tokens as papers count them."""
        return self.max_visual_tokens

    @property
    @abstractmethod
    def max_pixels_kept(self) -> int:
        """Area, in pixels, of the largest picture that keeps its resolution."""

    @property
    def effective_resolution(self) -> int:
        """Side, in pixels, of the largest square that keeps its resolution."""
        return math.isqrt(self.max_pixels_kept)

    @property
    def max_raster_pixels(self) -> int:
        """The most pixels that a raster has."""
        return self.raster_factor * self.max_pixels_kept

    @property
    def most_images(self) -> int | None:
        """Any number in most families."""
        return None

    @property
    def counts_images(self) -> bool:
        """Whether a plan depends on how many images the prompt has."""
        return self.most_images is not None

    def __str__(self) -> str:
        """Name the family's way and its limits, for the provenance of what it was shown."""
        kind, *limits = self.model_dump(mode="json").items()
        return f"{kind[1]} {', '.join(f'{name} {value}' for name, value in limits)}".strip()

    def plan(self, size: Size, num_images: int = 1) -> RasterPlan:
        """Decide the raster for a picture of `size` pixels, one of `num_images` in its prompt; raises BudgetError."""
        decision = self.decide(size, num_images)
        raster = resolve_raster_size(size, decision, lambda other: self.decide(other, num_images))
        if raster is None:  # what the family makes of its own target is the nearest that can be had
            return self.plan(decision.target, num_images)
        return RasterPlan(raster, self.count_tokens(decision), decision, self.filter, raster == decision.target)

    @abstractmethod
    def decide(self, size: Size, num_images: int = 1) -> PreprocessingDecision:
        """Return what the family's preprocessing makes of a picture of `size` pixels; raises BudgetError."""

    @abstractmethod
    def count_tokens(self, decision: PreprocessingDecision) -> int:
        """Placeholder tokens that the picture costs in the prompt."""

    def processor_kwargs(self) -> dict[str, Any]:
        """None: the limits are those in the checkpoint's own files."""
        return {}

    def config_overrides(self) -> dict[str, Any]:
        """None: the processor needs no field of the checkpoint's configuration for its limits."""
        return {}
