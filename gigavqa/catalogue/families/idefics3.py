"""Idefics3: the longest side brought to one length, then stretched over a grid of tiles, and the whole in one tile."""

import math
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, PositiveInt, model_validator

from gigavqa.catalogue.families.family import Family, FamilyConfig, TextMarks, fields_of, processing_fields
from gigavqa.tiling.budgets.base import Filter, NativeBudget
from gigavqa.tiling.budgets.resolver import PreprocessingDecision
from gigavqa.tiling.geometry import Size

_MAX_SIDE = 4096  # pixels; the processor shrinks what is longer once more


class Idefics3Budget(NativeBudget):
    """Tiles of `tile` pixels of a picture whose longest side is `longest_edge`, each of them `tokens_per_tile`.

    Every picture is scaled to that side, small ones too. `target` is the size before the stretch to whole tiles, which
    the processor makes itself, also of a raster of that size. Source: transformers,
    models/idefics3/image_processing_idefics3.py.
    """

    filter: ClassVar[Filter] = "lanczos"

    kind: Literal["idefics3"] = "idefics3"
    tile: PositiveInt = 364
    longest_edge: int = Field(default=1456, ge=2, le=_MAX_SIDE, multiple_of=2)
    patch_size: PositiveInt = 14
    scale_factor: PositiveInt = 2

    @model_validator(mode="after")
    def _longest_side_is_whole_tiles(self) -> Self:
        if self.longest_edge % self.tile:
            raise ValueError(f"longest_edge is to be a multiple of tile ({self.tile}), as the family's files have it")
        return self

    @property
    def tokens_per_tile(self) -> int:
        """`scale_factor` squared patches become one token."""
        return (self.tile // self.patch_size // self.scale_factor) ** 2

    @property
    def max_visual_tokens(self) -> int:
        """The most visual tokens that one picture can cost."""
        return self._tokens(self.longest_edge // self.tile, self.longest_edge // self.tile)

    @property
    def nominal_visual_tokens(self) -> int:
        """Those of the tiles, without the whole picture beside them."""
        return (self.longest_edge // self.tile) ** 2 * self.tokens_per_tile

    @property
    def max_pixels_kept(self) -> int:
        """Area, in pixels, of the largest picture that keeps its resolution."""
        return self.longest_edge**2

    def decide(self, size: Size, num_images: int = 1) -> PreprocessingDecision:
        """Scale to the longest side; the other one becomes even."""
        target = self._scaled(size)
        columns, rows = (math.ceil(side / self.tile) for side in target)
        canvas, tile = Size(columns * self.tile, rows * self.tile), Size(self.tile, self.tile)
        return PreprocessingDecision(target, canvas, (columns, rows), tile if columns * rows > 1 else None)

    def count_tokens(self, decision: PreprocessingDecision) -> int:
        """Those of all tiles, and of the whole picture where there are several."""
        return self._tokens(*decision.grid)

    def processor_kwargs(self) -> dict[str, Any]:
        """Lengths as the processor names them."""
        return {"size": {"longest_edge": self.longest_edge}}

    def _tokens(self, columns: int, rows: int) -> int:
        tiles = columns * rows
        return (tiles + (tiles > 1)) * self.tokens_per_tile

    def _scaled(self, size: Size) -> Size:
        aspect = size.width / size.height
        if size.width >= size.height:
            return Size(self.longest_edge, _even(int(self.longest_edge / aspect)))
        return Size(_even(int(self.longest_edge * aspect)), self.longest_edge)


def _even(side: int) -> int:
    """Return the next even number, and 1 for nothing, as the processor does."""
    return max(side + side % 2, 1)


def _declared_budget(config: FamilyConfig, processing: FamilyConfig) -> Idefics3Budget:
    """Idefics3: lengths of the image processor, patches of the tower."""
    fields, processor = fields_of(config), processing_fields(processing)
    return Idefics3Budget(
        tile=processor.part("max_image_size").number("longest_edge", default=364),
        longest_edge=processor.part("size").number("longest_edge", default=4 * 364),
        patch_size=fields.part("vision_config").number("patch_size", default=14),
        scale_factor=fields.number("scale_factor", default=2),
    )


IDEFICS3 = Family(
    "idefics3",
    model_types=("idefics3",),
    architectures=("Idefics3ForConditionalGeneration",),
    box_convention="unit",
    budget=_declared_budget,
    marks=TextMarks(ends=("<end_of_utterance>", "<|end_of_text|>")),
)
FAMILIES = (IDEFICS3,)
