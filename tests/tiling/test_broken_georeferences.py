"""Georeferences that are broken, unsure or of other kinds: each is refused by its own sentence, and stops no view."""

import math
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tifffile

from gigavqa.tiling.errors import GeoreferenceError
from gigavqa.tiling.geometry import Region, Size, resolve_region
from gigavqa.tiling.ground.places import describe_ground
from gigavqa.tiling.headers import read_header
from gigavqa.tiling.sources import open_source

SCALE, TIEPOINT = (10.0, 10.0, 0.0), (0.0, 0.0, 0.0, 399960.0, 5800020.0, 0.0)
KEYS = (1, 1, 0, 3, 1024, 0, 1, 1, 1025, 0, 1, 1, 3072, 0, 1, 32633)
TRANSFORMATION = (10.0, 0, 0, 399960.0, 0, -10.0, 0, 5800020.0, 0, 0, 0, 0, 0, 0, 0, 1.0)
GOOD = {33550: SCALE, 33922: TIEPOINT, 34735: KEYS}


def keys(*entries: tuple[int, int, int, int]) -> tuple[int, ...]:
    return (1, 1, 0, len(entries), *(number for entry in entries for number in entry))


def with_keys(*entries: tuple[int, int, int, int], **tags: Any) -> dict[int, Any]:
    return {**GOOD, 34735: keys(*entries), **{int(name[1:]): value for name, value in tags.items()}}


PROJECTED, AREA, CODE = (1024, 0, 1, 1), (1025, 0, 1, 1), (3072, 0, 1, 32633)
NAN, INFINITE = math.nan, math.inf
BROKEN: list[tuple[str, dict[int, Any]]] = [
    *[("gives pixels of", {**GOOD, 33550: scale}) for scale in [
        (NAN, 10.0, 0.0), (10.0, NAN, 0.0), (0.0, 10.0, 0.0), (10.0, 0.0, 0.0), (0.0, 0.0, 0.0), (-10.0, 10.0, 0.0),
        (10.0, -10.0, 0.0), (-INFINITE, 10.0, 0.0),
    ]],
    *[("not finite", {**GOOD, 33550: scale}) for scale in [(INFINITE, 10.0, 0.0), (10.0, INFINITE, 0.0)]],
    *[("numbers, not three", {**GOOD, 33550: scale}) for scale in [(10.0,), (10.0,) * 4, (10.0,) * 16]],
    ("ModelPixelScale is missing", {33922: TIEPOINT, 34735: KEYS}),
    ("ModelTiepoint is missing", {33550: SCALE, 34735: KEYS}),
    ("ModelTiepoint is missing", {34735: KEYS}),
    *[("numbers, not six", {**GOOD, 33922: TIEPOINT[:count]}) for count in (1, 2, 3, 5)],
    ("numbers, not six", {**GOOD, 33922: TIEPOINT * 2 + (1.0,)}),
    *[(f"tied to the ground at {count} points", {**GOOD, 33922: TIEPOINT * count}) for count in (2, 3, 4, 100)],
    *[("not finite", {**GOOD, 33922: tuple(NAN if at == bad else side for at, side in enumerate(TIEPOINT))})
      for bad in (0, 1, 3, 4)],
    ("not finite", {**GOOD, 33922: (0.0, 0.0, 0.0, INFINITE, 0.0, 0.0)}),
    *[("numbers, not 16", {34264: TRANSFORMATION[:count], 34735: KEYS}) for count in (1, 6, 12, 15)],
    ("numbers, not 16", {34264: (*TRANSFORMATION, 0.0), 34735: KEYS}),
    ("no affine map", {34264: (*TRANSFORMATION[:12], 0.0, 0.0, 0.001, 1.0), 34735: KEYS}),
    ("no affine map", {34264: (*TRANSFORMATION[:15], 0.0), 34735: KEYS}),
    ("no affine map", {34264: (10.0, 0, 3.0, *TRANSFORMATION[3:]), 34735: KEYS}),
    ("no area", {34264: (*[0.0] * 15, 1.0), 34735: KEYS}),
    ("no area", {34264: (10.0, 10.0, 0, 5.0, 10.0, 10.0, 0, 5.0, *TRANSFORMATION[8:]), 34735: KEYS}),
    ("not finite", {34264: (NAN, *TRANSFORMATION[1:]), 34735: KEYS}),
    ("name no coordinate system", {33550: SCALE, 33922: TIEPOINT}),
    ("has both tags", {**GOOD, 34264: TRANSFORMATION}),
    *[("directory of keys is cut", {**GOOD, 34735: KEYS[:count]}) for count in (1, 3)],
    *[("names 3 keys, and holds", {**GOOD, 34735: KEYS[:count]}) for count in (4, 8, 15)],
    ("names 65535 keys, and holds 3", {**GOOD, 34735: (1, 1, 0, 65535, *KEYS[4:])}),
    *[("of version", {**GOOD, 34735: (*head, 0, *KEYS[3:])}) for head in [(0, 1), (2, 1), (1, 0), (1, 2)]],
    ("name no coordinate system", {**GOOD, 34735: keys()}),
    ("name no coordinate system", with_keys(AREA, CODE)),
    ("GTModelType is 3", with_keys((1024, 0, 1, 3), AREA, CODE)),
    ("GTModelType is 0", with_keys((1024, 0, 1, 0), AREA, CODE)),
    ("GTModelType is 32767", with_keys((1024, 0, 1, 32767), AREA, CODE)),
    ("GTRasterType is 3", with_keys(PROJECTED, (1025, 0, 1, 3), CODE)),
    ("stands twice", with_keys(PROJECTED, AREA, CODE, (3072, 0, 1, 32634))),
    ("points at what is not in the file", with_keys(PROJECTED, AREA, (3072, 34736, 1, 0))),
    ("points at what is not in the file", with_keys(PROJECTED, AREA, (3072, 34737, 9, 0))),
    ("points at what is not in the file", with_keys(PROJECTED, AREA, (3072, 12345, 1, 0))),
    ("points at what is not in the file", with_keys(PROJECTED, AREA, (3072, 34736, 0, 0), _34736=(1.0,))),
    ("is no number of a code", with_keys(PROJECTED, AREA, (3072, 34736, 1, 0), _34736=(32633.0,))),
    ("has no EPSG code", with_keys(PROJECTED, AREA)),
    ("has no EPSG code", with_keys(PROJECTED, AREA, (3072, 0, 1, 32767))),
    ("has no EPSG code", with_keys((1024, 0, 1, 2), AREA, (2048, 0, 1, 32767))),
    ("no coordinate system that PROJ knows", with_keys(PROJECTED, AREA, (3072, 0, 1, 60000))),
    ("call EPSG:4326", with_keys(PROJECTED, AREA, (3072, 0, 1, 4326))),
    ("call EPSG:32633", with_keys((1024, 0, 1, 2), AREA, (2048, 0, 1, 32633))),
    ("neither a map projection", with_keys(PROJECTED, AREA, (3072, 0, 1, 5773))),
    ("has heights", with_keys(PROJECTED, AREA, (3072, 0, 1, 5555))),
    ("counts to the west", with_keys(PROJECTED, AREA, (3072, 0, 1, 2047))),
    ("is not that of EPSG:32633", with_keys(PROJECTED, AREA, CODE, (3076, 0, 1, 9003))),
    ("is not that of EPSG:4326", with_keys((1024, 0, 1, 2), AREA, (2048, 0, 1, 4326), (2054, 0, 1, 9101))),
]  # fmt: skip


def write(path: Path, tags: dict[int, Any], **more: Any) -> Path:
    """Write a grey ramp with these tags, as they are."""
    extra = [(code, "H" if code == 34735 else "d", len(value), value, True) for code, value in tags.items()]
    pixels = np.tile(np.arange(96, dtype=np.uint8), (64, 1))
    tifffile.imwrite(path, pixels, tile=(16, 16), extratags=[*extra, *more.get("extratags", [])])
    return path


@pytest.mark.parametrize("tags", [GOOD, {34264: TRANSFORMATION, 34735: KEYS}])
def test_the_same_tags_without_a_fault_are_understood(tmp_path: Path, tags: dict[int, Any]) -> None:
    """By pixels' size and one tiepoint, or by a whole transform."""
    size = read_header(write(tmp_path / "a.tif", tags)).size
    assert resolve_region("projected:399970,5799980,400000,5800010", size) == Region(1, 1, 3, 3)


@pytest.mark.parametrize(("told", "tags"), BROKEN, ids=count())
def test_a_broken_georeference_is_refused_and_shown_all_the_same(
    tmp_path: Path, told: str, tags: dict[int, Any]
) -> None:
    """Places are refused by what is wrong; size, pixels, and other regions are as ever; `show` says it, too."""
    path = write(tmp_path / "a.tif", tags)
    header = read_header(path)
    with pytest.raises(GeoreferenceError, match=told):
        resolve_region("lonlat:13.54,52.3,13.545,52.31", header.size)
    assert resolve_region("1,2,3,4", header.size) == Region(1, 2, 3, 4)
    assert told in describe_ground(header.geotags, header.size) or "user-defined" in describe_ground(
        header.geotags, header.size
    )
    with open_source(path) as source:
        assert source.read(0, Region(5, 0, 2, 1)).tolist() == [[[5] * 3, [6] * 3]]


def test_an_image_that_a_tag_turns_has_no_places(tmp_path: Path) -> None:
    """Writers differ in whether coordinates are of what is stored or of what is shown."""
    path = write(tmp_path / "a.tif", GOOD, extratags=[(274, "H", 1, 6, True)])
    with pytest.raises(GeoreferenceError, match="an orientation tag turns the image"):
        resolve_region("lonlat:13.54,52.3,13.545,52.31", read_header(path).size)


def test_tags_of_a_wrong_type_are_refused(tmp_path: Path) -> None:
    """Keys that are numbers with fractions, scales that are text."""
    path = tmp_path / "a.tif"
    tifffile.imwrite(
        path, np.zeros((64, 96), np.uint8), tile=(16, 16),
        extratags=[(33550, "s", 0, "ten by ten", True), (33922, "d", 6, TIEPOINT, True), (34735, "H", 16, KEYS, True)],
    )  # fmt: skip
    with pytest.raises(GeoreferenceError, match="ModelPixelScale has 1 numbers"):
        resolve_region("lonlat:13.54,52.3,13.545,52.31", read_header(path).size)


def test_a_picture_without_any_has_none() -> None:
    """And says so."""
    assert describe_ground(read_header(Path(__file__).parents[2] / "docs/pictures/ask.png").geotags, Size(1, 1)) == ""
