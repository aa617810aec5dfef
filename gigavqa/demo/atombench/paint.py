"""Paints a street scene: sky and ridge, a rock, houses and a tower behind a road, and all that stands on it."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from gigavqa.demo.atombench.scenes import StreetScene
from gigavqa.demo.canvas import Canvas
from gigavqa.demo.draws import stream
from gigavqa.demo.sprites import Color
from gigavqa.tiling.geometry import Size

SIZE = Size(3000, 2000)
_HORIZON, _HOUSES, _ROAD, _LANE = 760, 1240, 1380, 1620
_QUALITY = 90
_INK: Color = (40, 40, 46)
_WHITE: Color = (244, 244, 240)
_YELLOW: Color = (240, 196, 40)

Pen = ImageDraw.ImageDraw
_Painter = Callable[[Pen, int], None]


def paint_scene(scene: StreetScene, seed: int, path: Path) -> None:
    """Write a scene as a JPEG file of 3000 x 2000 pixels."""
    image = Image.new("RGB", SIZE, (176, 206, 232))
    pen = ImageDraw.Draw(image)
    for domain, painter in _PAINTERS.items():
        painter(pen, scene.shows[domain])
    pixels = np.asarray(image).astype(np.int16)
    noise = stream(seed, "atombench", scene.name, "grain").integers(-5, 6, (SIZE.height // 2, SIZE.width // 2, 1))
    grained = pixels + noise.astype(np.int16).repeat(2, 0).repeat(2, 1)
    Canvas(np.clip(grained, 0, 255).astype(np.uint8)).write_jpeg(path, _QUALITY)


def _ridge(pen: Pen, way: int) -> None:
    peaks = (2, 3, 5)[way]
    left, right = 1640, 2940
    step = (right - left) / peaks
    for number in range(peaks):
        start = left + number * step
        top = _HORIZON - 330 - 40 * (number % 2)
        pen.polygon([(start, _HORIZON), (start + step / 2, top), (start + step, _HORIZON)], fill=(112, 122, 138))
        half, snow = step / 2, (_HORIZON - top) * 0.25
        share = half * 0.25
        cap = [(start + half - share, top + snow), (start + half, top), (start + half + share, top + snow)]
        pen.polygon(cap, fill=(232, 236, 240))


def _rock(pen: Pen, way: int) -> None:
    stone: Color = (150, 108, 80)
    if way == 0:
        pen.pieslice([180, 360, 760, _HORIZON + 400], 180, 360, fill=stone)
        pen.pieslice([320, 520, 620, _HORIZON + 240], 180, 360, fill=(176, 206, 232))
    elif way == 1:
        pen.polygon([(380, _HORIZON), (450, 260), (490, 260), (580, _HORIZON)], fill=stone)
    else:
        pen.polygon([(160, _HORIZON), (240, 520), (700, 520), (800, _HORIZON)], fill=stone)


def _ground(pen: Pen, way: int) -> None:
    colour: Color = ((238, 242, 246), (222, 196, 140), (104, 150, 78))[way]
    pen.rectangle([0, _HORIZON, SIZE.width, SIZE.height], fill=colour)
    pen.rectangle([0, _ROAD, SIZE.width, 1860], fill=(104, 106, 110))
    pen.rectangle([0, _ROAD - 70, SIZE.width, _ROAD], fill=(178, 176, 170))


def _tower(pen: Pen, way: int) -> None:
    x = 1480
    if way == 0:
        for number in range(8):
            band = _WHITE if number % 2 else (196, 46, 46)
            pen.rectangle([x - 70, 480 + 95 * number, x + 70, 575 + 95 * number], fill=band)
        pen.ellipse([x - 60, 400, x + 60, 500], fill=_YELLOW)
        return
    pen.rectangle([x - 90, 500, x + 90, _HOUSES], fill=(176, 158, 132))
    if way == 1:
        pen.polygon([(x - 110, 500), (x, 360), (x + 110, 500)], fill=(92, 74, 60))
        pen.ellipse([x - 66, 540, x + 66, 672], fill=_WHITE, outline=_INK, width=8)
        pen.line([(x, 606), (x, 558)], fill=_INK, width=8)
        pen.line([(x, 606), (x + 40, 622)], fill=_INK, width=8)
        return
    pen.pieslice([x - 96, 420, x + 96, 600], 180, 360, fill=(92, 74, 60))
    for across, down in ((190, 150), (-150, 190)):
        pen.line([(x - across, 560 - down), (x + across, 560 + down)], fill=_INK, width=22)


def _walls(pen: Pen, way: int) -> None:
    for x in _HOUSE_PLACES:
        pen.rectangle([x, 900, x + 420, _HOUSES + 70], fill=((226, 208, 172), (206, 138, 106), _WHITE)[way])
        if way == 0:
            for beam in range(0, 421, 105):
                pen.line([(x + beam, 900), (x + beam, _HOUSES + 70)], fill=(96, 66, 44), width=16)
            pen.line([(x, 1060), (x + 420, 1180)], fill=(96, 66, 44), width=16)
        elif way == 1:
            for row in range(900, _HOUSES + 70, 44):
                pen.rectangle([x, row, x + 420, row + 18], fill=(166, 78, 58))
        for window in (60, 270):
            pen.rectangle([x + window, 980, x + window + 90, 1110], fill=(84, 102, 122))
            if way == 2:
                for side in (-34, 92):
                    pen.rectangle([x + window + side, 976, x + window + side + 32, 1114], fill=(44, 92, 172))


_HOUSE_PLACES = (120, 640, 1720, 2240)


def _roofs(pen: Pen, way: int) -> None:
    tile: Color = (150, 64, 50)
    for x in _HOUSE_PLACES:
        if way == 0:
            pen.polygon([(x - 30, 905), (x + 210, 720), (x + 450, 905)], fill=tile)
        elif way == 1:
            pen.rectangle([x - 24, 860, x + 444, 906], fill=(110, 108, 104))
        else:
            pen.pieslice([x, 720, x + 420, 1090], 180, 360, fill=(92, 146, 140))
            pen.rectangle([x + 204, 680, x + 216, 724], fill=_INK)


def _lane(pen: Pen, way: int) -> None:
    if way == 0:
        for x in range(0, SIZE.width, 240):
            pen.rectangle([x, _LANE, x + 140, _LANE + 18], fill=_YELLOW)
        return
    for line in range(way):
        pen.rectangle([0, _LANE + 40 * line, SIZE.width, _LANE + 18 + 40 * line], fill=_WHITE)


def _vehicle(pen: Pen, way: int) -> None:
    left, right, bottom = 1180, 2020, 1560
    body: Color = ((58, 138, 74), (200, 48, 44), (228, 128, 36))[way]
    top = 1070 if way == 2 else 1260
    pen.rounded_rectangle([left, top, right, bottom], 30, fill=body)
    for floor in (0, 1) if way == 2 else (1,):
        y = top + 40 if floor == 0 else bottom - 250
        for x in range(left + 40, right - 100, 130):
            pen.rectangle([x, y, x + 96, y + 110], fill=(206, 226, 236))
    if way == 1:
        pen.line([(1600, top), (1660, top - 90), (1580, top - 150)], fill=_INK, width=10)
        for rail in (bottom + 26, bottom + 52):
            pen.rectangle([0, rail, SIZE.width, rail + 8], fill=(176, 176, 182))
        return
    for x in (left + 150, right - 150):
        pen.ellipse([x - 62, bottom - 50, x + 62, bottom + 74], fill=_INK)


def _people(pen: Pen, way: int) -> None:
    cloak: Color = ((186, 26, 54), (122, 62, 160), (236, 200, 44))[way]
    for x in (180, 330, 520, 2380, 2620, 2800):
        pen.polygon([(x, 1250), (x - 52, 1430), (x + 52, 1430)], fill=cloak)
        pen.ellipse([x - 26, 1200, x + 26, 1252], fill=(206, 160, 128))


def _flag(pen: Pen, way: int) -> None:
    pen.rectangle([1150, 560, 1164, 1320], fill=(120, 120, 124))
    x1, y1, x2, y2 = 1164, 570, 1364, 700
    if way == 0:
        pen.rectangle([x1, y1, x2, y2], fill=(204, 40, 44))
        pen.rectangle([x1 + 60, y1, x1 + 84, y2], fill=_WHITE)
        pen.rectangle([x1, y1 + 54, x2, y1 + 78], fill=_WHITE)
    elif way == 1:
        pen.rectangle([x1, y1, x2, y2], fill=(40, 80, 164))
        pen.ellipse([x1 + 60, y1 + 25, x1 + 140, y1 + 105], fill=_YELLOW)
    else:
        for bar in range(5):
            colour = _WHITE if bar % 2 else (44, 134, 74)
            pen.rectangle([x1, y1 + 26 * bar, x2, y1 + 26 * bar + 26], fill=colour)


def _sign(pen: Pen, way: int) -> None:
    pen.rectangle([2700, 1080, 2714, 1330], fill=_INK)
    pen.rectangle([2440, 900, 2980, 1080], fill=(30, 60, 96))
    for x in range(2466, 2940, 100):
        box = [x, 940, x + 76, 1036]
        if way == 0:
            pen.ellipse(box, outline=_WHITE, width=16)
        elif way == 1:
            pen.polygon([(x, 1036), (x + 38, 940), (x + 76, 1036)], outline=_WHITE, width=12)
        else:
            pen.rectangle(box, outline=_WHITE, width=10)
            pen.ellipse([x + 26, 976, x + 50, 1000], fill=_WHITE)


def _car(pen: Pen, way: int) -> None:
    pen.rounded_rectangle([340, 1600, 980, 1810], 50, fill=(86, 96, 112))
    pen.polygon([(430, 1610), (520, 1490), (800, 1490), (890, 1610)], fill=(86, 96, 112))
    pen.polygon([(470, 1606), (540, 1512), (780, 1512), (850, 1606)], fill=(196, 218, 230))
    for x in (370, 900):
        pen.ellipse([x, 1640, x + 56, 1696], fill=(206, 50, 44))
    pen.rectangle([560, 1700, 760, 1760], fill=((44, 84, 176), _YELLOW, _WHITE)[way], outline=_INK, width=4)
    for x in (590, 630, 690):
        pen.rectangle([x, 1716, x + 22, 1746], fill=_INK if way else _WHITE)
    for x in (400, 840):
        pen.ellipse([x, 1770, x + 100, 1870], fill=_INK)


_PAINTERS: dict[str, _Painter] = {
    "geographical_features": _ridge,
    "natural_landmarks": _rock,
    "climate": _ground,
    "unique_structures": _tower,
    "regional_architecture": _walls,
    "architectural_style": _roofs,
    "currency_flags": _flag,
    "language_signs": _sign,
    "clothing_customs": _people,
    "street_characteristics": _lane,
    "transportation": _vehicle,
    "license_plates": _car,
}
"""What paints each domain, from the back to the front."""
