"""Phi-4-Reasoning-Vision: SigLIP2's NaFlex resizing to as many patches as the picture has, within two limits."""

import math
from typing import Any, ClassVar, Literal

from pydantic import PositiveInt

from gigavqa.catalogue.families.family import CHATML_END_MARKS, THINK_MARKS, Family, FamilyConfig, TextMarks, fields_of
from gigavqa.tiling.budgets.base import Filter, NativeBudget
from gigavqa.tiling.budgets.resolver import PreprocessingDecision
from gigavqa.tiling.geometry import Size

_PRECISION = 1e-5  # at which SigLIP2's binary search for the scale ends
_MAX_SCALE = 100.0


class Phi4VisionBudget(NativeBudget):
    """NaFlex with between `min_patches` and `max_patches` patches, each of which is one token.

    The processor is remote code: this stands on its published formula, and on SigLIP2's for the size.
    Source: vllm, model_executor/models/phi4siglip.py, `get_num_image_tokens`; transformers,
    models/siglip2/image_processing_siglip2.py, `get_image_size_for_max_num_patches`.
    """

    filter: ClassVar[Filter] = "bilinear"

    kind: Literal["phi4-vision"] = "phi4-vision"
    patch_size: PositiveInt = 16
    min_patches: PositiveInt = 256
    max_patches: PositiveInt = 3600

    @property
    def max_visual_tokens(self) -> int:
        """The most visual tokens that one picture can cost."""
        return self.max_patches

    @property
    def max_pixels_kept(self) -> int:
        """Area, in pixels, of the largest picture that keeps its resolution."""
        return self.max_patches * self.patch_size**2

    def decide(self, size: Size, num_images: int = 1) -> PreprocessingDecision:
        """Search the largest scale at which the patches suffice; never refuses."""
        patches = (size.width // self.patch_size) * (size.height // self.patch_size)
        allowed = max(min(patches, self.max_patches), self.min_patches)
        low, high = _PRECISION / 10, _MAX_SCALE
        while high - low >= _PRECISION:
            scale = (low + high) / 2
            columns, rows = self._patches(size, scale)
            low, high = (scale, high) if columns * rows <= allowed else (low, scale)
        columns, rows = self._patches(size, low)
        target = Size(columns * self.patch_size, rows * self.patch_size)
        return PreprocessingDecision(target, target)

    def count_tokens(self, decision: PreprocessingDecision) -> int:
        """One token for each patch."""
        return decision.target.area // self.patch_size**2

    def processor_kwargs(self) -> dict[str, Any]:
        """Both limits are settings of the image processor."""
        return {"min_num_patches": self.min_patches, "max_num_patches": self.max_patches}

    def config_overrides(self) -> dict[str, Any]:
        """vLLM reserves by the limits in the configuration."""
        return self.processor_kwargs()

    def _patches(self, size: Size, scale: float) -> tuple[int, int]:
        """Columns and rows of patches at a scale."""
        columns, rows = (max(1, math.ceil(side * scale / self.patch_size)) for side in size)
        return columns, rows


def _declared_budget(config: FamilyConfig, processing: FamilyConfig) -> Phi4VisionBudget:
    """Phi-4-Reasoning-Vision: limits in config.json."""
    fields = fields_of(config)
    return Phi4VisionBudget(
        patch_size=fields.part("vision_config").number("patch_size", default=16),
        min_patches=fields.number("min_num_patches", default=256),
        max_patches=fields.number("max_num_patches", default=3600),
    )


PHI4_VISION = Family(
    "phi-4-vision",
    model_types=("phi4-siglip", "Phi4ForCausalLMV"),
    architectures=("Phi4ForCausalLMV",),
    box_convention="unit",
    budget=_declared_budget,
    marks=TextMarks(thought=THINK_MARKS, others=("<nothink>",), ends=CHATML_END_MARKS),
    has_processing=False,
)
FAMILIES = (PHI4_VISION,)
