"""Materials of the slide: seamless patches of 2048 x 2048 pixels in the colors of hematoxylin and eosin."""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter

from gigavqa.demo.canvas import Pixels
from gigavqa.demo.draws import stream
from gigavqa.demo.sprites import Color, shaded

PATCH = 2048
BACKGROUND: Color = (243, 241, 243)
_PAD = 128
_BANDS = [slice(top, top + 32) for top in range(0, PATCH, 32)]  # of rows, whose floats fit the processor's cache
_CIRCLE = [(math.cos(turn * math.pi / 8), math.sin(turn * math.pi / 8)) for turn in range(16)]


def paint_materials(seed: int) -> dict[str, Pixels]:
    """Paint the patch of every material, H x W x 3; each repeats without a seam."""
    return {name: painter(stream(seed, "wsi", name)) for name, painter in _PAINTERS.items()}


def seamless_noise(rng: np.random.Generator, rows: int, columns: int, size: int = PATCH) -> NDArray[np.float32]:
    """Return smooth noise around 0, size x size, of `rows` x `columns` bumps, that repeats without a seam."""
    values = np.pad(rng.normal(size=(rows, columns)).astype(np.float32), 2, mode="wrap")
    box = (2, 2, columns + 2, rows + 2)
    return np.asarray(Image.fromarray(values).resize((size, size), Image.Resampling.BICUBIC, box=box))


def _fibres(rng: np.random.Generator, light: Color, dark: Color, rows: int, columns: int) -> Image.Image:
    share = seamless_noise(rng, rows, columns) + 0.6 * seamless_noise(rng, rows * 3, columns * 2)
    share = 1 / (1 + np.exp(-1.4 * share))[..., None]
    colored = np.empty((PATCH, PATCH, 3), np.uint8)
    for band in _BANDS:
        colored[band] = np.array(light) * (1 - share[band]) + np.array(dark) * share[band]
    return Image.fromarray(colored)


class _PatchCanvas:
    """A patch with a rim on each side, on which everything near an edge is drawn again at the opposite one."""

    def __init__(self, patch: Image.Image) -> None:
        rimmed = np.pad(np.asarray(patch), ((_PAD, _PAD), (_PAD, _PAD), (0, 0)), mode="wrap")
        self._image = Image.fromarray(rimmed)
        self._draw = ImageDraw.Draw(self._image)

    def blob(self, x: float, y: float, radius: float, stretch: float, angle: float, color: Color) -> None:
        """Fill an ellipse with half axes `radius * stretch` and `radius`, turned by `angle`."""
        long, cos, sin = radius * stretch, math.cos(angle), math.sin(angle)
        outline = [
            (x + long * u * cos - radius * v * sin + _PAD, y + long * u * sin + radius * v * cos + _PAD)
            for u, v in _CIRCLE
        ]
        for shift_x in _wraps(x):
            for shift_y in _wraps(y):
                self._draw.polygon([(px + shift_x, py + shift_y) for px, py in outline], fill=color)

    def patch(self, rng: np.random.Generator, blur: float = 1.3) -> Pixels:
        """Return the patch without its rim, a little out of focus, with the sensor's grain."""
        soft = np.asarray(self._image.filter(ImageFilter.GaussianBlur(blur)))[_PAD:-_PAD, _PAD:-_PAD]
        noise = rng.normal(0, 1.1, (PATCH // 2, PATCH // 2)).repeat(2, 0).repeat(2, 1)[..., None]
        grained = np.empty((PATCH, PATCH, 3), np.uint8)
        for band in _BANDS:
            grained[band] = np.clip(soft[band] + noise[band], 0, 255)
        return grained


def _wraps(position: float) -> list[int]:
    return [0, *([PATCH] if position < _PAD else []), *([-PATCH] if position > PATCH - _PAD else [])]


def _spots(rng: np.random.Generator, pitch: float, jitter: float) -> list[tuple[float, float]]:
    """Points of a shaken grid whose pitch divides the patch, so that it repeats."""
    count = round(PATCH / pitch)
    step = PATCH / count
    offsets = rng.uniform(-jitter, jitter, (count, count, 2)) * step
    return [
        (float((i + 0.5) * step + offsets[j, i, 0]) % PATCH, float((j + 0.5) * step + offsets[j, i, 1]) % PATCH)
        for j in range(count)
        for i in range(count)
    ]


def _stroma(rng: np.random.Generator) -> Pixels:
    sheet = _PatchCanvas(_fibres(rng, (238, 196, 212), (214, 150, 182), 80, 18))
    for x, y in _spots(rng, 118, 0.45):
        sheet.blob(x, y, rng.uniform(5, 8), rng.uniform(2.6, 4), rng.normal(0, 0.35), (128, 86, 148))
    return sheet.patch(rng)


def _invasive(rng: np.random.Generator) -> Pixels:
    sheet = _PatchCanvas(_fibres(rng, (222, 168, 200), (196, 138, 184), 40, 40))
    for x, y in _spots(rng, 46, 0.4):
        if rng.random() < 0.88:
            _nucleus(sheet, x, y, rng.uniform(10, 15), rng, shaded((112, 74, 146), rng.uniform(0.85, 1.15)))
    return sheet.patch(rng)


def _high_grade(rng: np.random.Generator) -> Pixels:
    sheet = _PatchCanvas(_fibres(rng, (206, 150, 194), (176, 118, 172), 40, 40))
    for x, y in _spots(rng, 54, 0.45):
        _nucleus(sheet, x, y, rng.uniform(13, 27), rng, shaded((82, 48, 116), rng.uniform(0.75, 1.2)))
    for x, y in _spots(rng, 400, 0.45):
        sheet.blob(x, y, 6, 3.2, rng.uniform(0, math.pi), (46, 26, 74))
    return sheet.patch(rng)


def _nest(rng: np.random.Generator) -> Pixels:
    sheet = _PatchCanvas(_fibres(rng, (208, 168, 210), (190, 146, 200), 50, 50))
    for x, y in _spots(rng, 36, 0.22):
        _nucleus(sheet, x, y, rng.uniform(9.5, 11.5), rng, shaded((118, 84, 160), rng.uniform(0.95, 1.08)))
    return sheet.patch(rng)


def _gland(rng: np.random.Generator) -> Pixels:
    sheet = _PatchCanvas(_fibres(rng, (226, 184, 214), (208, 160, 200), 50, 50))
    for x, y in _spots(rng, 42, 0.18):
        _nucleus(sheet, x, y, rng.uniform(8.5, 10.5), rng, shaded((136, 104, 172), rng.uniform(0.95, 1.08)))
    return sheet.patch(rng)


def _necrosis(rng: np.random.Generator) -> Pixels:
    sheet = _PatchCanvas(_fibres(rng, (236, 180, 190), (216, 148, 168), 60, 60))
    for x, y in _spots(rng, 72, 0.5):
        sheet.blob(x, y, rng.uniform(3, 6), 1.2, rng.uniform(0, math.pi), (110, 70, 120))
    return sheet.patch(rng)


def _adipose(rng: np.random.Generator) -> Pixels:
    sheet = _PatchCanvas(Image.new("RGB", (PATCH, PATCH), (222, 178, 198)))
    for x, y in _spots(rng, 228, 0.13):
        sheet.blob(x, y, rng.uniform(92, 106), rng.uniform(1.0, 1.12), rng.uniform(0, math.pi), (241, 237, 240))
    return sheet.patch(rng)


def _background(_: np.random.Generator) -> Pixels:
    return np.full((PATCH, PATCH, 3), BACKGROUND, np.uint8)


def _nucleus(sheet: _PatchCanvas, x: float, y: float, radius: float, rng: np.random.Generator, color: Color) -> None:
    angle, stretch = rng.uniform(0, math.pi), rng.uniform(1.0, 1.45)
    sheet.blob(x, y, radius, stretch, angle, shaded(color, 0.82))
    sheet.blob(x, y, radius * 0.78, stretch, angle, color)
    sheet.blob(x + rng.uniform(-3, 3), y + rng.uniform(-3, 3), radius * 0.22, 1, 0, shaded(color, 0.6))


_PAINTERS: dict[str, Callable[[np.random.Generator], Pixels]] = {
    "background": _background,
    "stroma": _stroma,
    "adipose": _adipose,
    "invasive": _invasive,
    "high grade": _high_grade,
    "nest": _nest,
    "necrosis": _necrosis,
    "gland": _gland,
}
