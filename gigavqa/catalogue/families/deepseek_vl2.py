"""DeepSeek-VL2: the canvas of tiles that keeps most of the picture, which is padded to it, and a padded global view."""

from functools import lru_cache
from typing import ClassVar, Literal

from pydantic import PositiveInt

from gigavqa.catalogue.errors import CheckpointInvalidError
from gigavqa.catalogue.families.family import Family, FamilyConfig, TextMarks, fields_of
from gigavqa.tiling.budgets.base import NativeBudget
from gigavqa.tiling.budgets.canvases import fullest_canvas
from gigavqa.tiling.budgets.resolver import PreprocessingDecision
from gigavqa.tiling.geometry import Size

_MAX_CROPPED_IMAGES = 2


class DeepseekVL2Budget(NativeBudget):
    """Dynamic tiling of DeepSeek-VL2: at most `max_tiles` tiles of `tile` pixels while a prompt has up to two images.

    With more images in the prompt every image is one tile. The picture is contained in the canvas and centred on grey.
    Source: vllm, transformers_utils/processors/deepseek_vl2.py, `select_best_resolution` and `tokenize_with_images`.
    """

    raster_factor: ClassVar[int] = 10
    pillow_only: ClassVar[bool] = True

    kind: Literal["deepseek-vl2"] = "deepseek-vl2"
    tile: PositiveInt = 384
    max_tiles: PositiveInt = 9
    patch_size: PositiveInt = 14
    downsample_ratio: PositiveInt = 2

    @property
    def max_visual_tokens(self) -> int:
        """The most visual tokens that one picture can cost: those of one column of tiles, which has most line ends."""
        return max(self._tokens(columns, rows) for columns, rows in _grids(self.max_tiles))

    @property
    def max_pixels_kept(self) -> int:
        """Area, in pixels, of all tiles."""
        return self.max_tiles * self.tile**2

    @property
    def most_images(self) -> int:
        """More than two images in a prompt end the cropping of each."""
        return _MAX_CROPPED_IMAGES

    def decide(self, size: Size, num_images: int = 1) -> PreprocessingDecision:
        """Choose the canvas; raises BudgetError for a picture so long that it vanishes."""
        is_cropped = num_images <= _MAX_CROPPED_IMAGES
        columns, rows = fullest_canvas(size, _grids(self.max_tiles), self.tile) if is_cropped else (1, 1)
        canvas = Size(columns * self.tile, rows * self.tile)
        target = _contained(size, canvas)
        return PreprocessingDecision(target, canvas, (columns, rows), _contained(size, Size(self.tile, self.tile)))

    def count_tokens(self, decision: PreprocessingDecision) -> int:
        """Those of the global view, a separator, and those of the tiles with a line end for each row of tokens."""
        return self._tokens(*decision.grid)

    def _tokens(self, columns: int, rows: int) -> int:
        side = -(-(self.tile // self.patch_size) // self.downsample_ratio)
        return side * (side + 1) + 1 + rows * side * (columns * side + 1)


@lru_cache(maxsize=32)
def _grids(max_tiles: int) -> tuple[tuple[int, int], ...]:
    """Columns and rows of all canvases, by increasing area."""
    pairs = [(c, r) for c in range(1, max_tiles + 1) for r in range(1, max_tiles // c + 1)]
    return tuple(sorted(pairs, key=lambda pair: pair[0] * pair[1]))


def _contained(size: Size, box: Size) -> Size:
    """Return the largest size of the picture's shape inside of a box (Pillow, ImageOps.contain)."""
    if size.width / size.height > box.width / box.height:
        return Size(box.width, round(size.height / size.width * box.width))
    if size.width / size.height < box.width / box.height:
        return Size(round(size.width / size.height * box.height), box.height)
    return box


def _declared_budget(config: FamilyConfig, processing: FamilyConfig) -> DeepseekVL2Budget:
    """DeepSeek-VL2: a list of canvases, which must be all of up to a number of tiles."""
    canvases = {tuple(pair) for pair in config.get("candidate_resolutions") or processing["candidate_resolutions"]}
    tile = min(width for width, _ in canvases)
    most = max(width * height for width, height in canvases) // tile**2
    if canvases != {(c * tile, r * tile) for c in range(1, most + 1) for r in range(1, most // c + 1)}:
        raise CheckpointInvalidError(
            f"config.json: candidate_resolutions are not all canvases of up to {most} tiles of {tile} pixels"
        )
    return DeepseekVL2Budget(
        tile=tile,
        max_tiles=most,
        patch_size=fields_of(config).part("vision_config").number("patch_size", default=14),
        downsample_ratio=fields_of(config).part("projector_config").number("downsample_ratio", default=2),
    )


DEEPSEEK_VL2 = Family(
    "deepseek-vl2",
    model_types=("deepseek_vl_v2",),
    architectures=("DeepseekVLV2ForCausalLM",),
    box_convention="thousand",
    budget=_declared_budget,
    marks=TextMarks(
        places=("<|ref|>", "<|/ref|>", "<|det|>", "<|/det|>", "<|grounding|>"),
        others=("<｜▁pad▁｜>",),
        ends=("<｜end▁of▁sentence｜>",),
    ),
    has_processing=False,
    latent_attention=True,
)
FAMILIES = (DEEPSEEK_VL2,)
