"""From a view to a raster: read the pyramid level that fits, then resize with the family's own filter.

The pixels pass through in bands, so memory does not grow with the image.
"""

from dataclasses import dataclass
from pathlib import Path

from gigavqa.tiling.budgets.base import VisualBudget
from gigavqa.tiling.file_facts import cached_identity
from gigavqa.tiling.geometry import Region, Size
from gigavqa.tiling.ingest import RenderSource, find_render_sources
from gigavqa.tiling.masked_pixels import blank_pixels, mask_pixels
from gigavqa.tiling.passes import RecipePixels, plan_passes
from gigavqa.tiling.recipes import Recipe, plan_raster
from gigavqa.tiling.sources.base import Pixels
from gigavqa.tiling.views import View


@dataclass(frozen=True)
class Raster:
    """A rendered view: `pixels` H x W x 3 uint8 RGB, C-contiguous, read-only, and where they come from.

    `region` is in level-0 pixels; `level` and `downsample` tell which level was read; `key` names the pixels.
    `tone` says what samples became black and white; empty where they are shown as they are. `ground` says where the
    image lies on the ground, if its file does.
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
    tone: str = ""
    ground: str = ""


def render(path: Path, view: View, budget: VisualBudget, num_images: int = 1, pyramids: Path | None = None) -> Raster:
    """Render a view of the image at `path`, one of `num_images` in its prompt, of its pyramid in `pyramids` if any.

    Raises TilingError subclasses.
    """
    identity = cached_identity(path, None, view.show, view.region)
    recipe = plan_raster(identity, view, budget, num_images)
    if (mask := recipe.mask) and mask.is_blank:
        return blank_raster(recipe)
    ((source, _),) = find_render_sources(path, pyramids, [recipe.unmasked if mask else recipe])
    made = make_raster(render_recipe(source, recipe.unmasked if mask else recipe))
    return mask_raster(made, recipe) if mask else made


def render_recipe(of: RenderSource, recipe: Recipe) -> RecipePixels:
    """Make one raster, of the file that is read so. Raises TilingError subclasses."""
    made: list[RecipePixels] = []
    for each in plan_passes(*of, [recipe]):
        each.run(made.append)
    return made[0]


def blank_raster(recipe: Recipe) -> Raster:
    """Return the raster of a recipe whose mask leaves nothing of the image, of which no pixel is read."""
    return make_raster(RecipePixels(recipe, 0, 1.0, blank_pixels(recipe.plan.raster)))


def mask_raster(shown: Raster, recipe: Recipe) -> Raster:
    """Return the raster of a recipe with a mask, made of the one without."""
    assert recipe.mask is not None
    pixels = mask_pixels(shown.pixels, recipe.mask, recipe)
    return make_raster(RecipePixels(recipe, shown.level, shown.downsample, pixels))


def make_raster(painted: RecipePixels) -> Raster:
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
        tone=str(recipe.tone or ""),
        ground=recipe.ground,
    )
