"""Proposals of how an image's samples could be shown, and pictures of them side by side."""

from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from gigavqa.tiling.budgets.base import RasterPlan
from gigavqa.tiling.budgets.resolver import PreprocessingDecision
from gigavqa.tiling.display import parse_display
from gigavqa.tiling.file_facts import cached_identity
from gigavqa.tiling.geometry import Region, fit_longest_side
from gigavqa.tiling.ingest import find_render_source
from gigavqa.tiling.recipes import Recipe
from gigavqa.tiling.rendering import render_recipe
from gigavqa.tiling.sources.base import Pixels
from gigavqa.tiling.tones import SampledPixels
from gigavqa.tiling.views import View

_STRETCH = "stretch=percentile:2:98"
_HOUNSFIELD = (-1100, -500, 4100)
"""Least of a CT at the lowest and the highest (air, and what lies around it), and the most that there is."""
_GAP, _CAPTION = 12, 28


def propose_displays(path: Path, pixels: SampledPixels) -> list[str]:
    """Return up to three displays that fit samples like these; which of them is right, no file says."""
    native = pixels.native
    colours = native.channels - (native.alpha is not None)
    if native.table:
        return ["palette"]
    if colours == 1:
        found = [_STRETCH, "stretch=minmax", "stretch=sigma:2"]
        return ["window=40:400", *found[:2]] if _may_be_hounsfield(pixels) else found
    if colours == 2:
        return [f"bands={band} {_STRETCH}" for band in (1, 2)]
    orders = [(1, 2, 3), (3, 2, 1), *([(4, 3, 2)] if colours > 3 else [])]
    scopes = [f"bands={','.join(map(str, order))} {_STRETCH}" for order in orders]
    return scopes if len(scopes) > 2 else [*scopes, f"bands=1,2,3 {_STRETCH} per=image"]


def _may_be_hounsfield(pixels: SampledPixels) -> bool:
    if pixels.native.dtype.kind != "i":
        return False
    values = pixels.values(0, pixels.native.nodata, (0,))
    lowest, highest, most = _HOUNSFIELD
    return bool(values.size and lowest <= values.min() <= highest and values.max() <= most)


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
