"""Kimi-VL: native resolution up to a number of patches, padded on the right and at the bottom to whole tokens."""

import math
from typing import Any, ClassVar, Literal

from pydantic import PositiveInt

from gigavqa.catalogue.families.family import Family, FamilyConfig, TextMarks, processing_fields
from gigavqa.tiling.budgets.base import NativeBudget
from gigavqa.tiling.budgets.resolver import PreprocessingDecision
from gigavqa.tiling.errors import BudgetError
from gigavqa.tiling.geometry import Size


class KimiVLBudget(NativeBudget):
    """MoonViT's preprocessing: at most `max_patches` patches before padding, `merge` x `merge` of them are one token.

    `max_positions` is the length of the position embedding along each axis. Padding can add to the paper's 4096
    tokens of 16384 patches. The processor is remote code: this stands on its published formula.
    Source: moonshotai/Kimi-VL-A3B-Thinking-2506, image_processing_kimi_vl.py, `rescale`; vllm,
    model_executor/models/kimi_vl.py, `get_num_image_tokens`.
    """

    raster_factor: ClassVar[int] = 10

    kind: Literal["kimi-vl"] = "kimi-vl"
    max_patches: PositiveInt = 16384
    patch_size: PositiveInt = 14
    merge: PositiveInt = 2
    max_positions: PositiveInt = 512

    @property
    def unit(self) -> int:
        """Side, in pixels, of the square that becomes one token."""
        return self.patch_size * self.merge

    @property
    def max_visual_tokens(self) -> int:
        """The most visual tokens that one picture can cost, padding included."""
        most = 0
        for columns in range(1, min(self.max_positions, self.max_patches + 1)):
            rows = min(self.max_patches // columns, self.max_positions - 1)
            tokens = [patches // self.merge + 1 for patches in (columns, rows)]
            if max(tokens) * self.merge < self.max_positions:
                most = max(most, tokens[0] * tokens[1])
        return most

    @property
    def nominal_visual_tokens(self) -> int:
        """Visual tokens of all patches, without padding."""
        return self.max_patches // self.merge**2

    @property
    def max_pixels_kept(self) -> int:
        """Area, in pixels, of the largest picture that keeps its resolution."""
        return self.max_patches * self.patch_size**2

    def decide(self, size: Size, num_images: int = 1) -> PreprocessingDecision:
        """Scale down to the patches, then pad; raises BudgetError for a side longer than the position embedding."""
        target = self._scaled(size)
        canvas = Size(*(math.ceil(side / self.unit) * self.unit for side in target))
        if (patches := max(canvas) // self.patch_size) >= self.max_positions:
            raise BudgetError(
                f"a picture of {size.width}x{size.height} needs {patches} patches along one side, and "
                f"Kimi-VL's processor refuses {self.max_positions} and more"
            )
        return PreprocessingDecision(target, canvas)

    def count_tokens(self, decision: PreprocessingDecision) -> int:
        """One token for each square of `unit` pixels after padding."""
        return decision.canvas.area // self.unit**2

    def processor_kwargs(self) -> dict[str, Any]:
        """Return the patches are a setting of the image processor, which calls them tokens."""
        return {"in_token_limit": self.max_patches}

    def _scaled(self, size: Size) -> Size:
        patches = (size.width // self.patch_size) * (size.height // self.patch_size)
        if patches <= self.max_patches:
            return size
        scale = math.sqrt(self.max_patches / patches)
        return Size(int(size.width * scale), int(size.height * scale))


def _declared_budget(config: FamilyConfig, processing: FamilyConfig) -> KimiVLBudget:
    """Kimi-VL: limits of the image processor."""
    fields = processing_fields(processing)
    return KimiVLBudget(
        max_patches=fields.number("in_token_limit", default=4096),
        patch_size=fields.number("patch_size", default=14),
        merge=fields.number("merge_kernel_size", default=2),
    )


KIMI_VL = Family(
    "kimi-vl",
    model_types=("kimi_vl",),
    architectures=("KimiVLForConditionalGeneration",),
    box_convention="unit",
    budget=_declared_budget,
    marks=TextMarks(thought=("◁think▷", "◁/think▷"), ends=("<|im_end|>", "[EOS]")),
    remote_code=True,
    latent_attention=True,
)
FAMILIES = (KIMI_VL,)
