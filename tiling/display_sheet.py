"""Pictures of one image under several displays, side by side."""

from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from gigavqa.tiling.budgets.base import RasterPlan
from gigavqa.tiling.budgets.resolver import PreprocessingDecision
from gigavqa.tiling.displays.display import parse_display
from gigavqa.tiling.file_facts import cached_identity
from gigavqa.tiling.geometry import Region, fit_longest_side
from gigavqa.tiling.ingest import find_render_source
from gigavqa.tiling.recipes import Recipe
from gigavqa.tiling.rendering import render_recipe
from gigavqa.tiling.sources.base import Pixels
from gigavqa.tiling.views import View

_GAP, _CAPTION = 12, 28


def draw_side_by_side(path: Path, lines: Sequence[str], side: int) -> Image.Image:
    """Draw an image at so many pixels on its longest side, once for each display, with its line beneath.

    Raises ValueError for what is no display, and TilingError subclasses.
    """
    drawn = [Image.fromarray(_draw(path, line, side)) for line in lines]
    width, height = drawn[0].size
    sheet = Image.new("RGB", ((width + _GAP) * len(drawn) - _GAP, height + _CAPTION), "white")
    pen, font = ImageDraw.Draw(sheet), ImageFont.load_default(14)
    for number, (line, one) in enumerate(zip(lines, drawn, strict=True)):
        left = number * (width + _GAP)
        sheet.paste(one, (left, 0))
        pen.text((left, height + 6), line, fill="black", font=font)
    return sheet


def _draw(path: Path, line: str, side: int) -> Pixels:
    identity = cached_identity(path, None, str(parse_display(line)))
    size = identity.header.size
    target = fit_longest_side(size, min(side, max(size)))
    region = Region(0, 0, *size)
    plan = RasterPlan(target, 0, PreprocessingDecision(target, target))
    view = View(image=path.name, show=line)
    recipe = Recipe(view, size, identity.header.format, identity.digest, region, size, plan, identity.tone)
    return render_recipe(find_render_source(path, identity.digest, None, tone=identity.tone), recipe).pixels
