"""LLaVA-OneVision: the canvas of tiles that keeps most of the picture, padded, and the whole picture in one tile."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Literal

from pydantic import PositiveInt

from gigavqa.catalogue.errors import CheckpointInvalidError
from gigavqa.catalogue.families.family import (
    CHATML_END_MARKS,
    Family,
    FamilyConfig,
    TextMarks,
    fields_of,
    processing_fields,
)
from gigavqa.tiling.budgets.base import NativeBudget
from gigavqa.tiling.budgets.canvases import fullest_canvas
from gigavqa.tiling.budgets.resolver import PreprocessingDecision
from gigavqa.tiling.geometry import Size

_COARSER = 1.1  # how often the limit has to be exceeded before tokens are interpolated to it


@dataclass(frozen=True)
class _Decision(PreprocessingDecision):
    """`tokens` are the columns and rows of tokens that remain of the canvas, without its padding."""

    tokens: tuple[int, int] = (1, 1)


class LlavaOnevisionBudget(NativeBudget):
    """Dynamic tiling of LLaVA-OneVision: a canvas of at most `columns` x `columns` tiles of `tile` pixels.

    Of the picture's tokens on it more than those of `max_tiles` tiles are interpolated to as many, so that a picture
    may keep more pixels than it has tokens for. Source: transformers, image_processing_utils.py,
    `select_best_resolution` and `get_patch_output_size`; models/llava_onevision/processing_llava_onevision.py,
    `_get_unpadded_features`. That processor shows each of several pictures in one tile, and vLLM 0.32 crops each as if
    it were alone (models/llava_onevision.py, `_apply_hf_processor_main`), which is what is planned here.
    """

    raster_factor: ClassVar[int] = 10

    kind: Literal["llava-onevision"] = "llava-onevision"
    tile: PositiveInt = 384
    columns: PositiveInt = 6
    max_tiles: PositiveInt = 9
    patch_size: PositiveInt = 14

    @property
    def side(self) -> int:
        """Tokens along a side of a tile."""
        return self.tile // self.patch_size

    @property
    def max_visual_tokens(self) -> int:
        """The most visual tokens that one picture can cost: a tile, and what is not yet interpolated, with line ends.

        Of equally many tokens the narrowest canvas has most line ends.
        """
        most = math.floor(_COARSER**2 * self.max_tiles * self.side**2)
        return self.side**2 + most + self.columns * self.side

    @property
    def nominal_visual_tokens(self) -> int:
        """The tokens of `max_tiles` tiles and of the whole picture in one, as its paper counts them."""
        return (self.max_tiles + 1) * self.side**2

    @property
    def max_pixels_kept(self) -> int:
        """Area, in pixels, of the largest canvas."""
        return (self.columns * self.tile) ** 2

    def decide(self, size: Size, num_images: int = 1) -> PreprocessingDecision:
        """Choose the canvas; raises BudgetError for a picture so long that it vanishes."""
        columns, rows = fullest_canvas(size, _grids(self.columns), self.tile)
        canvas, overview = Size(columns * self.tile, rows * self.tile), Size(self.tile, self.tile)
        target = _contained(size, canvas)
        return _Decision(target, canvas, (columns, rows), overview, self._kept(size, columns, rows))

    def count_tokens(self, decision: PreprocessingDecision) -> int:
        """Those of the whole picture, and those of the canvas with a line end for each row."""
        assert isinstance(decision, _Decision)
        columns, rows = decision.tokens
        return self.side**2 + rows * (columns + 1)

    def _kept(self, size: Size, columns: int, rows: int) -> tuple[int, int]:
        """Columns and rows of tokens: those of the canvas without its padding, interpolated where they are too many."""
        width, height = columns * self.side, rows * self.side
        if size.width / size.height > width / height:
            height -= (height - int(round(size.height * (width / size.width), 7))) // 2 * 2
        else:
            width -= (width - int(round(size.width * (height / size.height), 7))) // 2 * 2
        ratio = math.sqrt(height * width / (self.max_tiles * self.side**2))
        return (int(width // ratio), int(height // ratio)) if ratio > _COARSER else (width, height)


@lru_cache(maxsize=32)
def _grids(most: int) -> tuple[tuple[int, int], ...]:
    """Columns and rows of all canvases, in the order of published configurations: by rows, then by columns."""
    return tuple((columns, rows) for rows in range(1, most + 1) for columns in range(1, most + 1))


def _contained(size: Size, canvas: Size) -> Size:
    """Return the size to which a picture is resized before it is padded to the canvas."""
    wide, high = canvas.width / size.width, canvas.height / size.height
    if wide < high:
        return Size(canvas.width, min(math.ceil(size.height * wide), canvas.height))
    return Size(min(math.ceil(size.width * high), canvas.width), canvas.height)


def _declared_budget(config: FamilyConfig, processing: FamilyConfig) -> LlavaOnevisionBudget:
    """LLaVA-OneVision: a list of canvases, which must be all of up to as many columns and rows."""
    tile = processing_fields(processing).part("size").number("height", default=384)
    pairs = config.get("image_grid_pinpoints") or processing.get("image_grid_pinpoints")
    listed = [tuple(pair) for pair in pairs] if pairs else [(tile * r, tile * c) for c, r in _grids(6)]
    columns = max(width for _, width in listed) // tile
    if listed != [(rows * tile, wide * tile) for wide, rows in _grids(columns)]:
        raise CheckpointInvalidError(
            f"config.json: image_grid_pinpoints are not all canvases of up to {columns} x {columns} tiles of {tile} "
            "pixels, by rows and then by columns; take the config.json that the model came with"
        )
    return LlavaOnevisionBudget(
        tile=tile,
        columns=columns,
        max_tiles=int(str(config.get("vision_aspect_ratio", "anyres_max_9")).removeprefix("anyres_max_")),
        patch_size=fields_of(config).part("vision_config").number("patch_size", default=14),
    )


LLAVA_ONEVISION = Family(
    "llava-onevision",
    model_types=("llava_onevision",),
    architectures=("LlavaOnevisionForConditionalGeneration",),
    box_convention="unit",
    budget=_declared_budget,
    marks=TextMarks(ends=CHATML_END_MARKS),
)
FAMILIES = (LLAVA_ONEVISION,)
