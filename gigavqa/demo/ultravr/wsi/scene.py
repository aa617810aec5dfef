"""The slide's layout: which material lies where, as smooth fields over the 6 x 6 grid, such that its findings hold.

Lengths are in cells of the grid, x to the right and y down; a cell is 10000 x 6667 pixels of the full-size slide.
A field is positive where its component lies.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from gigavqa.demo.draws import stream
from gigavqa.demo.ultravr.wsi.questions import FOCI, IN_SITU, SlideQuestions, draw_questions
from gigavqa.tiling.geometry import Size

SIZE = Size(60000, 40000)
GRID = 6
STEP = 64  # pixels of the full-size slide per value of a field
MICRONS_PER_PIXEL = 0.25
FIELDS = ("tissue", "adipose", "invasive", "high grade", "nest", "necrosis", "gland", "lumen")
"""In the order in which they are laid over the background; stroma is tissue where nothing else lies."""
_MATERIAL = ("stroma", "adipose", "invasive", "high grade", "nest", "necrosis", "gland", "background")
MATERIALS = ("background", *_MATERIAL[:-1])
COVERS = tuple(MATERIALS.index(material) for material in _MATERIAL)
"""Index into MATERIALS of what each of FIELDS lays down."""

Field = NDArray[np.float32]
_Span = tuple[float, float]


class _Nests(NamedTuple):
    """So many nests, with their radii, in a part of the tissue."""

    number: int
    radii: _Span
    xs: _Span
    ys: _Span


_SITE = (3.5, 1.5)
"""Where nests lie if there are any; many lie around it, too."""
_NESTS = dict(
    zip(
        IN_SITU,
        (
            _Nests(0, (0, 0), (0, 0), (0, 0)),
            _Nests(1, (0.085, 0.11), (3.3, 3.7), (1.35, 1.65)),
            _Nests(6, (0.085, 0.125), (3.17, 3.83), (1.25, 1.75)),
            _Nests(14, (0.14, 0.19), (1.0, 4.2), (0.85, 2.05)),
        ),
        strict=True,
    )
)
_FOCI: dict[str, tuple[tuple[float, float, float], ...]] = dict(
    zip(
        FOCI,
        (
            ((2.15, 3.6, 1.05),),
            ((1.95, 3.55, 0.95), (3.45, 4.45, 0.22)),
            ((1.75, 3.45, 0.8), (3.4, 4.3, 0.5)),
            ((1.2, 3.2, 0.58), (2.95, 3.15, 0.58), (2.1, 4.55, 0.58)),
        ),
        strict=True,
    )
)
"""Middle and radius of each focus of the invasive component, the largest first."""


class Slide(NamedTuple):
    """The fields, stacked in the order of FIELDS, each H x W with one value for STEP x STEP pixels.

    `site` is the cell of the grid where the in-situ component lies if there is any.
    """

    seed: int
    asked: SlideQuestions
    site: int
    fields: NDArray[np.float32]

    def rois(self, component: str, at_least: float) -> list[int]:
        """Cells of the 6 x 6 grid (1 to 36, row-major) of which the component covers the given share."""
        covered = self.materials() == MATERIALS.index(component)
        rows = np.array_split(covered, GRID, axis=0)
        shares = [float(cell.mean()) for row in rows for cell in np.array_split(row, GRID, axis=1)]
        return [index for index, share in enumerate(shares, start=1) if share >= at_least]

    def materials(self) -> NDArray[np.uint8]:
        """Index into MATERIALS of what lies at each value of the fields."""
        return lay(self.fields)


def lay(fields: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Lay the components over each other inside the tissue: each covers those before it where its field is positive."""
    laid = np.zeros(fields.shape[1:], np.uint8)
    tissue = fields[0] > 0
    for field, material in zip(fields, COVERS, strict=True):
        laid[tissue & (field > 0)] = material
    return laid


def plan_slide(seed: int) -> Slide:
    """Draw the slide of a seed: two pieces of tissue, and the components that its findings name."""
    asked = draw_questions(seed)
    findings = asked.findings
    rng = stream(seed, "wsi", "slide")
    mirrored, upside_down = bool(rng.integers(2)), bool(rng.integers(2))
    x, y = _coordinates(mirrored=mirrored, upside_down=upside_down)
    broad, middle, fine = (_noise(rng, bumps) for bumps in (7, 20, 56))
    pieces = [(2.2, 3.0, 1.85, 2.3), (3.3, 2.4, 0.95, 1.35), (5.2, 3.4, 0.5, 1.2)]
    tissue = np.maximum.reduce([_ellipse(x, y, *piece) for piece in pieces])
    tissue += 0.10 * broad + 0.05 * middle + 0.02 * fine
    foci = _FOCI[FOCI[findings.foci]]
    invasive = _invasive(x, y, foci, middle, fine)
    nests = _nests(x, y, _NESTS[IN_SITU[findings.in_situ]], rng)
    glands = _circles(x, y, _round_places(rng, (4.95, 5.45), (2.7, 4.1), 11, (0.045, 0.075)) * findings.glands)
    tissue = np.maximum.reduce([tissue, invasive + 0.3, nests + 0.3, glands + 0.5])
    adipose = np.minimum(0.55 * broad + 0.45 * middle - 0.55, 0.18 - np.abs(tissue - 0.3))
    adipose = np.minimum(adipose, -np.maximum.reduce([invasive + 0.12, nests + 0.3, glands + 0.3]))
    hotspot = _hotspot(x, y, foci[0], middle, invasive) if findings.high_grade else np.full_like(x, -1)
    fields = [tissue, adipose, invasive, hotspot, nests, nests - 0.62 + 0.04 * fine, glands, glands - 0.45]
    site = _cell(*_SITE, mirrored=mirrored, upside_down=upside_down)
    return Slide(seed, asked, site, np.stack(fields).astype(np.float32))


def _invasive(x: Field, y: Field, foci: tuple[tuple[float, float, float], ...], middle: Field, fine: Field) -> Field:
    """Ragged foci, each in one piece and apart from the others."""
    plain = [_ellipse(x, y, *focus, focus[2]) for focus in foci]
    fields: list[Field] = []
    for index, ellipse in enumerate(plain):
        others = [other for position, other in enumerate(plain) if position != index]
        field = ellipse + 0.18 * middle + 0.1 * fine
        fields.append(_one_mass(np.minimum.reduce([field, *(ellipse - other - 0.1 for other in others)])))
    joined: Field = np.stack(fields).max(axis=0)
    return joined


def _hotspot(x: Field, y: Field, focus: tuple[float, float, float], middle: Field, invasive: Field) -> Field:
    """Return the high-grade part of a focus."""
    at_x, at_y, radius = focus
    hotspot = _ellipse(x, y, at_x + 0.3 * radius, at_y - 0.1 * radius, 0.4 * radius, 0.4 * radius)
    inside: Field = np.minimum(hotspot + 0.18 * middle, invasive)
    return inside


def _nests(x: Field, y: Field, nests: _Nests, rng: np.random.Generator) -> Field:
    return _circles(x, y, _round_places(rng, nests.xs, nests.ys, nests.number, nests.radii) if nests.number else [])


def _cell(x: float, y: float, *, mirrored: bool, upside_down: bool) -> int:
    column, row = int(GRID - x if mirrored else x), int(GRID - y if upside_down else y)
    return row * GRID + column + 1


def _coordinates(*, mirrored: bool, upside_down: bool) -> tuple[Field, Field]:
    xs = (np.arange(-(-SIZE.width // STEP)) + 0.5) * STEP * GRID / SIZE.width
    ys = (np.arange(-(-SIZE.height // STEP)) + 0.5) * STEP * GRID / SIZE.height
    x, y = np.meshgrid(GRID - xs if mirrored else xs, GRID - ys if upside_down else ys)
    return x.astype(np.float32), y.astype(np.float32)


def _ellipse(x: Field, y: Field, center_x: float, center_y: float, radius_x: float, radius_y: float) -> Field:
    """1 at the center, 0 on the outline, negative outside."""
    value: Field = 1 - np.hypot((x - center_x) / radius_x, (y - center_y) / radius_y)
    return value


def _one_mass(field: Field) -> Field:
    """Drop every island but that of the highest value: a focus is one piece."""
    coarse = Image.fromarray(((field > 0) * 255).astype(np.uint8)).reduce(4).point([0] * 100 + [128] * 156)
    row, column = np.unravel_index(int(field.argmax()), field.shape)
    ImageDraw.floodfill(coarse, (int(column) // 4, int(row) // 4), 255)
    kept = np.asarray(coarse.resize(field.shape[::-1], Image.Resampling.BILINEAR)) > 140
    return np.where(kept, field, -np.abs(field) - 0.05).astype(np.float32)


def _circles(x: Field, y: Field, circles: list[tuple[float, float, float]]) -> Field:
    """As `_ellipse` of the nearest circle; a radius is in cells' widths, and the circle is round in pixels."""
    if not circles:
        return np.full_like(x, -1)
    aspect = SIZE.width / SIZE.height
    nearest: Field = np.maximum.reduce([_ellipse(x, y, *circle, circle[2] * aspect) for circle in circles])
    return nearest


def _round_places(
    rng: np.random.Generator, xs: tuple[float, float], ys: tuple[float, float], count: int, radii: tuple[float, float]
) -> list[tuple[float, float, float]]:
    """Draw circles that stay apart: (x, y, radius)."""
    placed: list[tuple[float, float, float]] = []
    for _ in range(5000):
        x, y, radius = rng.uniform(*xs), rng.uniform(*ys), rng.uniform(*radii)
        if all(np.hypot(x - u, (y - v) / 1.5) > 1.15 * (radius + r) for u, v, r in placed):
            placed.append((x, y, radius))
        if len(placed) == count:
            break
    return placed


def _noise(rng: np.random.Generator, bumps: int) -> Field:
    """Smooth noise around 0 over the whole slide, so many bumps across."""
    shape = (-(-SIZE.height // STEP), -(-SIZE.width // STEP))
    coarse = rng.normal(size=(bumps * 2 // 3, bumps)).astype(np.float32)
    return np.asarray(Image.fromarray(coarse).resize(shape[::-1], Image.Resampling.BICUBIC))
