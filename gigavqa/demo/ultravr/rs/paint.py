"""Paints the land: fields, a river, a lake, roads and an airfield, then buildings, trees and every object."""

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from gigavqa.demo.canvas import Canvas, grain, textured_ground, within_headroom
from gigavqa.demo.draws import stream
from gigavqa.demo.sprites import Color, Pen, draw, fitted, shaded
from gigavqa.demo.ultravr.placing import PixelBox, is_free
from gigavqa.demo.ultravr.rs.objects import LANDMARKS, house_sprite, landmark_sprite, sprite_of
from gigavqa.demo.ultravr.rs.scene import (
    APRONS,
    LAKE,
    RIVER_WIDTH,
    ROAD_ENDS,
    ROAD_WIDTH,
    ROADS_ACROSS,
    ROADS_DOWN,
    RUNWAY,
    SIZE,
    Land,
    river_middle,
)
from gigavqa.tiling.geometry import Size

_COARSE = 4  # level-0 pixels per pixel of the ground
_FIELDS: tuple[Color, ...] = (
    (128, 148, 88), (150, 158, 100), (112, 136, 82), (172, 164, 116), (140, 128, 92), (120, 150, 100), (160, 148, 110),
)  # fmt: skip
_WATER: Color = (66, 104, 128)
_SHORE: Color = (150, 148, 116)
_ASPHALT: Color = (124, 124, 126)
_CONCRETE: Color = (172, 170, 164)
_ROOFS: tuple[Color, ...] = ((128, 120, 112), (146, 138, 128), (108, 100, 96), (150, 132, 108))


def paint_land(land: Land, path: Path, scale: float = 1.0) -> None:
    """Write the land as a PNG file of 12000 x 12000 pixels times `scale`."""
    size = Size(round(SIZE.width * scale), round(SIZE.height * scale))
    canvas = textured_ground(_ground(land), size, grain(stream(land.seed, "rs", "grain"), 4))
    rng = stream(land.seed, "rs", "details")
    _plant_trees(canvas, land, scale, rng)
    for house in land.houses:
        _paste(canvas, house_sprite(_ROOFS[int(rng.integers(len(_ROOFS)))]), house, scale, shadow=22)
    for quadrant, box in land.landmarks.items():
        _paste(canvas, landmark_sprite(LANDMARKS[quadrant]), box, scale, shadow=40)
    for thing in land.things:
        shadow = {"tank": 26, "plane": 18, "vehicle": 5, "ship": 8}.get(thing.kind, 0)
        _paste(canvas, sprite_of(thing.kind, thing.color, vertical=thing.vertical), thing.box, scale, shadow=shadow)
    canvas.write_png(path)


def _paste(canvas: Canvas, sprite: Image.Image, box: PixelBox, scale: float, *, shadow: float) -> None:
    x1, y1, x2, y2 = (edge * scale for edge in box)
    reduced = fitted(sprite, x2 - x1, y2 - y1)
    if shadow:
        dark = Image.new("RGBA", reduced.size, (24, 30, 26, 0))
        dark.putalpha(reduced.getchannel("A").point([value * 2 // 5 for value in range(256)]))
        canvas.paste(dark, x1 + shadow * scale, y1 + shadow * scale)
    canvas.paste(reduced, x1, y1)


def _ground(land: Land) -> Image.Image:
    """Draw all that lies flat, one pixel for `_COARSE` of the image."""
    ground = Image.new("RGB", (SIZE.width // _COARSE, SIZE.height // _COARSE), _FIELDS[0])
    pen = ImageDraw.Draw(ground)
    _plough(pen, PixelBox(0, 0, *ground.size), stream(land.seed, "rs", "fields"), depth=0)
    _draw_water(pen)
    _draw_paved(pen, land)
    _draw_roads(pen)
    return within_headroom(ground.filter(ImageFilter.GaussianBlur(0.7)))


def _plough(pen: ImageDraw.ImageDraw, field: PixelBox, rng: np.random.Generator, depth: int) -> None:
    """Divide the land into fields of one crop each, with furrows along their longer side."""
    width, height = field.x2 - field.x1, field.y2 - field.y1
    if depth < 6 and max(width, height) > 260:
        share = rng.uniform(0.35, 0.65)
        if width > height:
            middle = field.x1 + width * share
            parts = [PixelBox(field.x1, field.y1, middle, field.y2), PixelBox(middle, field.y1, field.x2, field.y2)]
        else:
            middle = field.y1 + height * share
            parts = [PixelBox(field.x1, field.y1, field.x2, middle), PixelBox(field.x1, middle, field.x2, field.y2)]
        for part in parts:
            _plough(pen, part, rng, depth + 1)
        return
    crop = shaded(_FIELDS[int(rng.integers(len(_FIELDS)))], rng.uniform(0.94, 1.06))
    pen.rectangle(list(field), fill=crop, outline=shaded(crop, 0.8), width=3)
    pitch = int(rng.integers(9, 16))
    for offset in range(pitch, int(min(width, height)), pitch):
        across = [(field.x1 + 4, field.y1 + offset), (field.x2 - 4, field.y1 + offset)]
        down = [(field.x1 + offset, field.y1 + 4), (field.x1 + offset, field.y2 - 4)]
        pen.line(across if width > height else down, fill=shaded(crop, 0.95), width=2)


def _draw_water(pen: ImageDraw.ImageDraw) -> None:
    xs = np.arange(-200, SIZE.width + 400, 100)
    bends = np.array([river_middle(float(x)) for x in np.arange(-1200, SIZE.width + 1400, 100)])
    middle = np.convolve(bends, np.ones(21) / 21, "valid")
    for width, color in (
        (RIVER_WIDTH + 130, _SHORE),
        (RIVER_WIDTH, _WATER),
        (RIVER_WIDTH * 0.62, shaded(_WATER, 0.94)),
    ):
        upper = [(x / _COARSE, (y - width / 2) / _COARSE) for x, y in zip(xs, middle, strict=True)]
        lower = [(x / _COARSE, (y + width / 2) / _COARSE) for x, y in zip(xs, middle, strict=True)]
        pen.polygon([*upper, *reversed(lower)], fill=color)
    for inset, color in ((-60, _SHORE), (0, _WATER), (220, shaded(_WATER, 0.94))):
        pen.ellipse([edge / _COARSE for edge in LAKE.grown(-inset)], fill=color)


def _draw_paved(pen: ImageDraw.ImageDraw, land: Land) -> None:
    for box in land.landmarks.values():
        pen.rounded_rectangle([edge / _COARSE for edge in box.grown(330)], 16, fill=_CONCRETE)
    for apron in APRONS:
        pen.rectangle([edge / _COARSE for edge in apron], fill=_CONCRETE)
    pen.rectangle([edge / _COARSE for edge in RUNWAY], fill=_ASPHALT)
    middle = (RUNWAY.y1 + RUNWAY.y2) / 2 / _COARSE
    for x in range(int(RUNWAY.x1) + 260, int(RUNWAY.x2) - 300, 300):
        pen.rectangle([x / _COARSE, middle - 3, (x + 160) / _COARSE, middle + 3], fill=(214, 214, 210))
    for thing in land.things:
        if thing.kind in {"court", "tank"}:
            pen.rectangle([edge / _COARSE for edge in thing.box.grown(45)], fill=(164, 164, 150))


def _draw_roads(pen: ImageDraw.ImageDraw) -> None:
    end, half = SIZE.width / _COARSE, ROAD_WIDTH / 2 / _COARSE
    across = [(0.0, y / _COARSE, end, y / _COARSE) for y in ROADS_ACROSS]
    down = [(x / _COARSE, 0.0, x / _COARSE, y / _COARSE) for x, y in zip(ROADS_DOWN, ROAD_ENDS, strict=True)]
    for width, color in ((half + 5, (156, 150, 132)), (half, _ASPHALT)):
        for x1, y1, x2, y2 in (*across, *down):
            pen.rectangle([x1 - width, y1 - width, x2 + width, y2 + width], fill=color)
    for position in range(0, int(end), 26):
        for _, y, _, _ in across:
            pen.rectangle([position, y - 1, position + 12, y], fill=(206, 204, 196))
        for x, _, _, _ in (road for road in down if position < road[3]):
            pen.rectangle([x - 1, position, x, position + 12], fill=(206, 204, 196))


def _plant_trees(canvas: Canvas, land: Land, scale: float, rng: np.random.Generator) -> None:
    """Scatter trees in groups where nothing else is."""
    blocked = [thing.box.grown(110) for thing in land.things]
    blocked += [box.grown(420) for box in land.landmarks.values()] + [house.grown(90) for house in land.houses]
    blocked += [LAKE.grown(120), RUNWAY.grown(120), *(apron.grown(120) for apron in APRONS)]
    blocked += [PixelBox(0, y, SIZE.width, y).grown(150) for y in ROADS_ACROSS]
    blocked += [PixelBox(x, 0, x, SIZE.height).grown(150) for x in ROADS_DOWN]
    trees = [draw(100, 100, lambda pen: _draw_tree(pen, rng), zoom=2) for _ in range(8)]
    for _ in range(150):
        x, y = rng.uniform(100, SIZE.width - 100, 2)
        for _ in range(int(rng.integers(2, 9))):
            side = rng.uniform(60, 120)
            box = PixelBox(x, y, x + side, y + side)
            if is_free(box, blocked) and abs(y - river_middle(x)) > RIVER_WIDTH / 2 + 220:
                _paste(canvas, trees[int(rng.integers(len(trees)))], box, scale, shadow=14)
            x, y = x + rng.uniform(-170, 170), y + rng.uniform(-170, 170)


def _draw_tree(pen: Pen, rng: np.random.Generator) -> None:
    for _ in range(26):
        angle, reach = rng.uniform(0, 2 * np.pi), rng.uniform(0, 30)
        x, y, r = 50 + reach * np.cos(angle), 50 + reach * np.sin(angle), rng.uniform(10, 18)
        pen.ellipse(x - r, y - r, x + r, y + r, shaded((70, 102, 56), rng.uniform(0.75, 1.25)))
