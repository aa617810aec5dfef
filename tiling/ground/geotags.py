"""What a TIFF's tags say of where it lies on the ground, as they have it (OGC 19-008r4, GeoTIFF 1.1).

They are taken while the file is open, and understood when somebody asks for a place: a broken georeference does not
keep an image from being shown.
"""

import math
from dataclasses import dataclass
from typing import Any, Literal

from tifffile import TiffPage

from gigavqa.tiling.errors import GeoreferenceError

_SCALE, _TIEPOINTS, _TRANSFORMATION = 33550, 33922, 34264
_KEYS, _DOUBLES, _TEXTS = 34735, 34736, 34737
_TAGS = (_SCALE, _TIEPOINTS, _TRANSFORMATION, _KEYS, _DOUBLES, _TEXTS)
_MOST_NUMBERS = 65_536  # of one tag
_MODEL_TYPE, _RASTER_TYPE, _CITATION = 1024, 1025, 1026
_GEOGRAPHIC, _GEOGRAPHIC_CITATION, _ANGULAR_UNIT = 2048, 2049, 2054
_PROJECTED, _PROJECTED_CITATION, _LINEAR_UNIT = 3072, 3073, 3076
_USER_DEFINED = 32767
_MODELS: dict[int, Literal["projected", "geographic"]] = {1: "projected", 2: "geographic"}
_DEGREES = 9102

Matrix = tuple[float, float, float, float, float, float]
"""`a, b, c, d, e, f`: x = a column + b row + c, and y = d column + e row + f, from the upper left corner of pixels."""


@dataclass(frozen=True)
class GeoTags:
    """The values of an image's six GeoTIFF tags, each empty where the file has none; `fault` is what else is wrong."""

    scale: tuple[float, ...] = ()
    tiepoints: tuple[float, ...] = ()
    transformation: tuple[float, ...] = ()
    keys: tuple[int, ...] = ()
    doubles: tuple[float, ...] = ()
    texts: str = ""
    fault: str = ""

    def __bool__(self) -> bool:
        return bool(self.fault or self.scale or self.tiepoints or self.transformation or self.keys)


NO_GEOTAGS = GeoTags()
"""Of a file that says nothing of where it lies."""


@dataclass(frozen=True)
class SystemKeys:
    """How keys name a coordinate system: its kind, EPSG's code of it if it has one, and of its unit, and a citation."""

    model: Literal["projected", "geographic"]
    code: int | None
    unit: int | None
    citation: str
    is_point: bool


def geotags_of(page: TiffPage) -> GeoTags:
    """Take the tags of an open TIFF's page, of which one that is no such list of numbers is taken as if it lay."""
    scale, tiepoints, transformation, keys, doubles, texts = (_value(page, tag) for tag in _TAGS)
    return GeoTags(
        _floats(scale), _floats(tiepoints), _floats(transformation),
        tuple(int(one) for one in _floats(keys) if math.isfinite(one)), _floats(doubles),
        texts if isinstance(texts, str) else "",
    )  # fmt: skip


def _value(page: TiffPage, code: int) -> Any:
    tag = page.tags.get(code)
    return () if tag is None or tag.count > _MOST_NUMBERS else tag.value


def _floats(value: Any) -> tuple[float, ...]:
    try:
        return tuple(map(float, value if isinstance(value, tuple | list) else (value,)))
    except (TypeError, ValueError):
        return (math.nan,)


def matrix_of(tags: GeoTags, *, is_point: bool) -> Matrix:
    """Return what takes pixels' corners to coordinates. Raises GeoreferenceError for what is no such grid.

    Where a pixel is a point, tags speak of its centre.
    """
    if tags.transformation and tags.scale:
        raise GeoreferenceError(
            "it has both tags, ModelTransformation and ModelPixelScale, of which readers take either"
        )
    matrix = _by_transformation(tags.transformation) if tags.transformation else _by_scale(tags)
    a, b, c, d, e, f = matrix
    if not all(map(math.isfinite, matrix)):
        raise GeoreferenceError("its transform holds a number that is not finite")
    if abs(a * e - b * d) <= 1e-9 * math.hypot(a, d) * math.hypot(b, e):
        raise GeoreferenceError("its transform gives pixels no area")
    return (a, b, c - (a + b) / 2, d, e, f - (d + e) / 2) if is_point else matrix


def _by_transformation(numbers: tuple[float, ...]) -> Matrix:
    if len(numbers) != 16:
        raise GeoreferenceError(f"its tag ModelTransformation has {len(numbers)} numbers, not 16")
    a, b, z, c, d, e, w, f, *_ = numbers
    if z or w or numbers[12:] != (0, 0, 0, 1):
        raise GeoreferenceError("its tag ModelTransformation is no affine map of the plane")
    return a, b, c, d, e, f


def _by_scale(tags: GeoTags) -> Matrix:
    count, odd = divmod(len(tags.tiepoints), 6)
    if odd or not count:
        raise GeoreferenceError(
            f"its tag ModelTiepoint has {len(tags.tiepoints)} numbers, not six" if tags.tiepoints
            else "it names no place of any pixel: the tag ModelTiepoint is missing"
        )  # fmt: skip
    if count > 1:
        raise GeoreferenceError(
            f"it is tied to the ground at {count} points, of which no grid is known for sure; `gdalwarp` makes one"
        )
    if len(tags.scale) not in (2, 3):
        raise GeoreferenceError(
            f"its tag ModelPixelScale has {len(tags.scale)} numbers, not three" if tags.scale
            else "it says nothing of how large a pixel is: the tag ModelPixelScale is missing"
        )  # fmt: skip
    width, height = tags.scale[:2]
    if not (width > 0 and height > 0):
        raise GeoreferenceError(f"its tag ModelPixelScale gives pixels of {width:g} by {height:g}")
    column, row, _, x, y, _ = tags.tiepoints
    return width, 0.0, x - column * width, 0.0, -height, y + row * height


def system_keys(tags: GeoTags) -> SystemKeys:
    """Find the coordinate system in the keys. Raises GeoreferenceError where they name none, or are broken."""
    if tags.fault:
        raise GeoreferenceError(tags.fault)
    keys = _read_keys(tags)
    model = _MODELS.get(_short(keys, _MODEL_TYPE) or 0)
    if model is None:
        told = keys.get(_MODEL_TYPE)
        raise GeoreferenceError(
            "its keys name no coordinate system" if told is None
            else f"its key GTModelType is {told}; maps and degrees are served, 1 and 2"
        )  # fmt: skip
    raster = _short(keys, _RASTER_TYPE)
    if raster not in (None, 1, 2):
        raise GeoreferenceError(f"its key GTRasterType is {raster}, neither 1 (area) nor 2 (point)")
    is_map = model == "projected"
    code = _short(keys, _PROJECTED if is_map else _GEOGRAPHIC)
    unit = _short(keys, _LINEAR_UNIT if is_map else _ANGULAR_UNIT)
    citations = (_PROJECTED_CITATION if is_map else _GEOGRAPHIC_CITATION, _CITATION)
    citation = next((str(keys[key]) for key in citations if isinstance(keys.get(key), str)), "")
    return SystemKeys(
        model,
        code if code and code != _USER_DEFINED else None,
        unit if unit and unit != _USER_DEFINED else None,
        citation.strip("|\0 "),
        is_point=raster == 2,
    )


def _read_keys(tags: GeoTags) -> dict[int, int | float | str]:
    numbers = tags.keys
    if len(numbers) < 4:
        raise GeoreferenceError("its keys name no coordinate system" if not numbers else "its directory of keys is cut")
    if numbers[0] != 1 or numbers[1] != 1:
        raise GeoreferenceError(f"its directory of keys is of version {numbers[0]}.{numbers[1]}, not 1.1")
    count, entries = numbers[3], numbers[4:]
    if len(entries) < 4 * count:
        raise GeoreferenceError(f"its directory of keys names {count} keys, and holds {len(entries) // 4}")
    found: dict[int, int | float | str] = {}
    for at in range(0, 4 * count, 4):
        key, place, length, value = entries[at : at + 4]
        if key in found:
            raise GeoreferenceError(f"its key {key} stands twice")
        found[key] = _value_at(tags, key, place, length, value)
    return found


def _value_at(tags: GeoTags, key: int, place: int, length: int, value: int) -> int | float | str:
    if place == 0:
        return value
    if place == _TEXTS and value + length <= len(tags.texts) + 1:  # some count a mark that readers strip
        return tags.texts[value : value + length]
    if place == _DOUBLES and length and value + length <= len(tags.doubles):
        return tags.doubles[value]
    raise GeoreferenceError(f"its key {key} points at what is not in the file")


def _short(keys: dict[int, int | float | str], key: int) -> int | None:
    value = keys.get(key)
    if value is not None and not isinstance(value, int):
        raise GeoreferenceError(f"its key {key} is no number of a code")
    return value
