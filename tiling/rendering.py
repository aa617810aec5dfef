"""From a view to a raster: read the pyramid level that fits, then resize with the family's own filter.

The pixels pass through in bands, so memory does not grow with the image.
"""

from dataclasses import dataclass
from pathlib import Path

from tiling.budgets.base import VisualBudget
from tiling.geometry import Region, Size
from tiling.levels import reading_of
from tiling.passes import Painted, plan_passes
from tiling.recipes import identify, plan_raster
from tiling.sources import open_source
from tiling.sources.base import Pixels
from tiling.views import View


@dataclass(frozen=True)
class Raster:
    """A rendered view: `pixels` H x W x 3 uint8 RGB, C-contiguous, read-only, and where they come from.

    `region` is in level-0 pixels; `level` and `downsample` tell which level was read; `key` names the pixels.
    """

    pixels: Pixels
    key: str
    view: View
    source_size: Size
    source_format: str
    region: Region
    level: int
    downsample: float
    digest: str
    visual_tokens: int


def render(path: Path, view: View, budget: VisualBudget, num_images: int = 1) -> Raster:
    """Render a view of the image at `path`, one of `num_images` in its prompt. Raises TilingError subclasses."""
    recipe = plan_raster(identify(path), view, budget, num_images)
    with open_source(path) as source:
        reading = reading_of(source)
    made: list[Painted] = []
    for each in plan_passes(path, reading, [recipe]):
        each.run(made.append)
    return make_raster(made[0])


def make_raster(painted: Painted) -> Raster:
    """Say of painted pixels where they come from."""
    recipe = painted.recipe
    return Raster(
        pixels=painted.pixels,
        key=recipe.key,
        view=recipe.view,
        source_size=recipe.source_size,
        source_format=recipe.source_format,
        region=recipe.region,
        level=painted.level,
        downsample=painted.downsample,
        digest=recipe.digest,
        visual_tokens=recipe.plan.visual_tokens,
    )
