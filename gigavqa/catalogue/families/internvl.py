"""InternVL3.5: the grid of square tiles whose shape is nearest to the picture's, and a thumbnail beside it."""

from functools import lru_cache
from typing import Any, ClassVar, Literal

from pydantic import PositiveInt

from gigavqa.catalogue.families.family import (
    CHATML_END_MARKS,
    REFERENCE_MARKS,
    THINK_MARKS,
    TOOL_CALL_MARKS,
    Family,
    FamilyConfig,
    TextMarks,
    fields_of,
    processing_fields,
)
from gigavqa.tiling.budgets.base import NativeBudget
from gigavqa.tiling.budgets.resolver import PreprocessingDecision
from gigavqa.tiling.geometry import Size


class InternVLBudget(NativeBudget):
    """Dynamic tiling of the InternVL family: at most `max_tiles` tiles of `tile` pixels, stretched to fill.

    `layout` tells whose processor it is: `chat` (the original checkpoints, InternVLChatModel) or `hf` (those with the
    suffix -HF). The paper's 32768 tokens are 128 tiles, 33024 with the thumbnail; the published limit is 12 tiles.
    Source: vllm, transformers_utils/processors/internvl.py, `find_closest_aspect_ratio`; transformers,
    models/got_ocr2/image_processing_got_ocr2.py, `get_optimal_tiled_canvas`.
    """

    pillow_only: ClassVar[bool] = True

    kind: Literal["internvl"] = "internvl"
    layout: Literal["chat", "hf"] = "chat"
    tile: PositiveInt = 448
    max_tiles: PositiveInt = 12
    tokens_per_tile: PositiveInt = 256

    @property
    def max_visual_tokens(self) -> int:
        """The most visual tokens that one picture can cost, its thumbnail included."""
        thumbnail = 1 if self.max_tiles > 1 else 0
        return (self.max_tiles + thumbnail) * self.tokens_per_tile

    @property
    def nominal_visual_tokens(self) -> int:
        """Visual tokens of all tiles, without the thumbnail."""
        return self.max_tiles * self.tokens_per_tile

    @property
    def max_pixels_kept(self) -> int:
        """Area, in pixels, of all tiles."""
        return self.max_tiles * self.tile**2

    def decide(self, size: Size, num_images: int = 1) -> PreprocessingDecision:
        """Choose the grid; never refuses."""
        columns, rows = self._grid(size)
        canvas = Size(columns * self.tile, rows * self.tile)
        overview = Size(self.tile, self.tile) if columns * rows > 1 else None
        return PreprocessingDecision(canvas, canvas, (columns, rows), overview)

    def count_tokens(self, decision: PreprocessingDecision) -> int:
        """As many for the thumbnail as for each tile."""
        columns, rows = decision.grid
        return (columns * rows + (1 if decision.overview else 0)) * self.tokens_per_tile

    def processor_kwargs(self) -> dict[str, Any]:
        """Return the -HF processor takes the limit itself; vLLM's for the chat layout reads the configuration."""
        return {"max_patches": self.max_tiles} if self.layout == "hf" else {}

    def config_overrides(self) -> dict[str, Any]:
        """Return the chat layout's limit, which vLLM 0.32 cannot take as an argument of the processor."""
        return {"max_dynamic_patch": self.max_tiles} if self.layout == "chat" else {}

    def _grid(self, size: Size) -> tuple[int, int]:
        """Return the grid nearest in shape; of equal shapes the largest that the picture fills by more than half."""
        aspect = size.width / size.height
        best, least = (1, 1), float("inf")
        for columns, rows, shape in _grids(self.max_tiles):
            difference = abs(aspect - shape)
            filled = size.area > 0.5 * self.tile * self.tile * columns * rows
            if difference < least or (difference == least and filled):
                best, least = (columns, rows), difference
        return best


@lru_cache(maxsize=32)
def _grids(max_tiles: int) -> tuple[tuple[int, int, float], ...]:
    """Columns, rows and their ratio of all grids, by increasing number of tiles."""
    pairs = [(c, r) for c in range(1, max_tiles + 1) for r in range(1, max_tiles // c + 1)]
    return tuple((c, r, c / r) for c, r in sorted(pairs, key=lambda pair: pair[0] * pair[1]))


def _declared_hf(config: FamilyConfig, processing: FamilyConfig) -> InternVLBudget:
    """InternVL with the suffix -HF: limits of the image processor."""
    fields = processing_fields(processing)
    return InternVLBudget(
        layout="hf",
        tile=fields.part("size").number("height", default=448),
        max_tiles=fields.number("max_patches", default=12),
        tokens_per_tile=fields_of(config).number("image_seq_length", default=256),
    )


def _declared_chat(config: FamilyConfig, processing: FamilyConfig) -> InternVLBudget:
    """InternVL in its original layout: limits in config.json."""
    fields = fields_of(config)
    vision = fields.part("vision_config")
    tile = fields.number("force_image_size", default=vision.number("image_size", default=448))
    patches = (tile // vision.number("patch_size", default=14)) ** 2
    return InternVLBudget(
        layout="chat",
        tile=tile,
        max_tiles=fields.number("max_dynamic_patch", default=12),
        tokens_per_tile=round(patches * fields.ratio("downsample_ratio", default=0.5) ** 2),
    )


_MARKS = TextMarks(thought=THINK_MARKS, places=REFERENCE_MARKS, calls=TOOL_CALL_MARKS, ends=CHATML_END_MARKS)
INTERNVL = Family(
    "internvl3.5",
    model_types=("internvl",),
    architectures=("InternVLForConditionalGeneration",),
    box_convention="thousand",
    budget=_declared_hf,
    marks=_MARKS,
)
INTERNVL_CHAT = Family(
    "internvl3.5-chat",
    model_types=("internvl_chat",),
    architectures=("InternVLChatModel",),
    box_convention="thousand",
    budget=_declared_chat,
    marks=_MARKS,
    has_processing=False,
)
FAMILIES = (INTERNVL, INTERNVL_CHAT)
