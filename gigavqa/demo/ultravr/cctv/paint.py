"""Paints the plaza: paving, lawns, a fountain and a row of houses, then everybody from the back to the front."""

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from gigavqa.demo.canvas import Canvas, grain, textured_ground, within_headroom
from gigavqa.demo.draws import stream
from gigavqa.demo.sprites import Color, Pen, draw, fitted, shaded
from gigavqa.demo.ultravr.cctv.scene import FOUNTAIN, HORIZON, SIZE, Plaza, PlazaFigure, sprite_of
from gigavqa.tiling.geometry import Size

_COARSE = 6  # level-0 pixels per pixel of the ground
_PAVING: Color = (178, 172, 162)
_JOINT: Color = (164, 158, 149)
_LAWN: Color = (120, 148, 92)
_QUALITY = 88


def _soft_shadow() -> Image.Image:
    sheet = Image.new("RGBA", (240, 60), (56, 52, 46, 0))
    ImageDraw.Draw(sheet).ellipse([16, 6, 223, 53], fill=(56, 52, 46, 150))
    return sheet.filter(ImageFilter.GaussianBlur(5))


_SHADOW = _soft_shadow()


def paint_plaza(plaza: Plaza, path: Path, scale: float = 1.0) -> None:
    """Write the plaza as a JPEG file of 26753 x 15052 pixels times `scale`."""
    size = Size(round(SIZE.width * scale), round(SIZE.height * scale))
    canvas = textured_ground(_ground(plaza.seed), size, grain(stream(plaza.seed, "cctv", "grain"), 6))
    _plant_trees(canvas, plaza.seed, scale)
    for figure in plaza.figures:
        _paste_shadow(canvas, figure, scale)
    for figure in plaza.figures:
        x1, y1, x2, y2 = (edge * scale for edge in figure.box)
        canvas.paste(fitted(sprite_of(figure), x2 - x1, y2 - y1), x1, y1)
    canvas.write_jpeg(path, _QUALITY)


def _ground(seed: int) -> Image.Image:
    """Draw all that lies flat, one pixel for `_COARSE` of the image."""
    size = Size(SIZE.width // _COARSE, SIZE.height // _COARSE)
    ground = Image.fromarray(_lit_paving(size))
    pen = ImageDraw.Draw(ground)
    _draw_joints(pen, size)
    _draw_lawns(pen, size)
    _draw_fountain(pen)
    _draw_houses(pen, size, stream(seed, "cctv", "houses"))
    return within_headroom(ground.filter(ImageFilter.GaussianBlur(0.6)))


def _lit_paving(size: Size) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    """Paving that grows hazy towards the horizon and is lit from the left."""
    down = np.linspace(1.10, 0.94, size.height)[:, None, None]
    across = np.linspace(1.03, 0.96, size.width)[None, :, None]
    return (np.array(_PAVING) * down * across).astype(np.uint8)


def _draw_joints(pen: ImageDraw.ImageDraw, size: Size) -> None:
    horizon, middle = HORIZON / _COARSE, size.width / 2
    y, gap = horizon, 18.0
    while y < size.height:
        pen.line([(0, y), (size.width, y)], fill=_JOINT)
        y, gap = y + gap, gap * 1.035
    for number in range(-60, 61):
        pen.line([(middle + number * 62, horizon), (middle + number * 150, size.height)], fill=_JOINT)


def _draw_lawns(pen: ImageDraw.ImageDraw, size: Size) -> None:
    for left, right, top, bottom in ((0.05, 0.27, 0.27, 0.40), (0.70, 0.95, 0.30, 0.42), (0.03, 0.30, 0.74, 0.92)):
        lean = (bottom - top) * 0.10 * (1 if left < 0.5 else -1)
        corners = [(left, top), (right, top), (right - lean, bottom), (left - lean, bottom)]
        points = [(x * size.width, y * size.height) for x, y in corners]
        pen.polygon(points, fill=_LAWN)
        _mow(pen, points)
        pen.polygon(points, outline=shaded(_PAVING, 1.12), width=7)


def _mow(pen: ImageDraw.ImageDraw, corners: list[tuple[float, float]]) -> None:
    """Lay stripes of alternating shade across a lawn."""
    (x1, top), (x2, _), (x3, bottom), (x4, _) = corners
    edges = np.linspace(0, 1, 25)
    for near, far in zip(edges[:-1:2], edges[1::2], strict=True):
        above = [(x1 + (x2 - x1) * share, top) for share in (near, far)]
        below = [(x4 + (x3 - x4) * share, bottom) for share in (far, near)]
        pen.polygon([*above, *below], fill=shaded(_LAWN, 0.95))


def _draw_fountain(pen: ImageDraw.ImageDraw) -> None:
    x1, y1, x2, y2 = (edge / _COARSE for edge in FOUNTAIN)
    for inset, color in (
        (0.0, (150, 146, 140)),
        (0.03, (206, 202, 194)),
        (0.08, (96, 150, 178)),
        (0.2, (116, 170, 196)),
    ):
        dx, dy = (x2 - x1) * inset, (y2 - y1) * inset
        pen.ellipse([x1 + dx, y1 + dy, x2 - dx, y2 - dy], fill=color)
    x, y = (x1 + x2) / 2, (y1 + y2) / 2
    pen.ellipse([x - 40, y - 24, x + 40, y + 24], fill=(198, 194, 186))
    pen.ellipse([x - 26, y - 60, x + 26, y - 34], fill=(216, 226, 232))
    pen.rectangle([x - 8, y - 48, x + 8, y], fill=(186, 182, 174))


def _draw_houses(pen: ImageDraw.ImageDraw, size: Size, rng: np.random.Generator) -> None:
    bottom, x = HORIZON / _COARSE, 0.0
    pen.rectangle([0, 0, size.width, bottom], fill=(196, 212, 226))
    while x < size.width:
        width, top = rng.uniform(170, 330), rng.uniform(12, 90)
        wall: Color = tuple(int(rng.integers(low, low + 46)) for low in (158, 138, 118))  # type: ignore[assignment]
        pen.rectangle([x, top, x + width, bottom], fill=wall)
        pen.rectangle([x, top, x + width, top + 9], fill=shaded(wall, 0.7))
        for row in np.arange(top + 22, bottom - 42, 30):
            for column in np.arange(x + 14, x + width - 20, 28):
                pen.rectangle([float(column), float(row), float(column) + 13, float(row) + 18], fill=(96, 112, 128))
        pen.rectangle([x + width * 0.42, bottom - 34, x + width * 0.42 + 20, bottom], fill=shaded(wall, 0.5))
        x += width


def _plant_trees(canvas: Canvas, seed: int, scale: float) -> None:
    """Set trees along the houses, above where anybody stands."""
    rng = stream(seed, "cctv", "trees")
    for x in np.arange(500, SIZE.width, 1150):
        height = rng.uniform(560, 720)
        tree = draw(100, 130, lambda pen: _draw_tree(pen, rng), zoom=4)
        canvas.paste(fitted(tree, 0.75 * height * scale, height * scale), x * scale, (HORIZON + 90 - height) * scale)


def _draw_tree(pen: Pen, rng: np.random.Generator) -> None:
    pen.box(46, 80, 54, 128, (92, 72, 54))
    for _ in range(70):
        angle, reach = rng.uniform(0, 2 * np.pi), rng.uniform(0, 1) ** 0.5
        x, y, r = 50 + 34 * reach * np.cos(angle), 48 + 38 * reach * np.sin(angle), rng.uniform(7, 14)
        pen.ellipse(x - r, y - r, x + r, y + r, shaded((86, 122, 66), rng.uniform(0.75, 1.2)))


def _paste_shadow(canvas: Canvas, figure: PlazaFigure, scale: float) -> None:
    width, height = (figure.box.x2 - figure.box.x1) * 1.05, (figure.box.y2 - figure.box.y1) * 0.12
    canvas.paste(
        fitted(_SHADOW, width * scale, height * scale), figure.box.x1 * scale, (figure.box.y2 - height * 0.6) * scale
    )
