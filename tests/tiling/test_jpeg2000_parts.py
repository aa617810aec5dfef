"""JPEG 2000 in parts: areas and resolution levels are those that GDAL reads, and where they lie is told."""

import struct
from pathlib import Path

import numpy as np
import pytest
import rasterio
from numpy.typing import NDArray
from PIL import Image
from rasterio.windows import Window

from gigavqa.catalogue.families.qwen import QwenBudget
from gigavqa.tiling import levels
from gigavqa.tiling.errors import GeoreferenceError, ImageUnreadableError, ImageUnsupportedError
from gigavqa.tiling.files import OpenFile
from gigavqa.tiling.geometry import Region, Size, resolve_region
from gigavqa.tiling.ground.georeference import georeference_of
from gigavqa.tiling.ground.places import describe_ground
from gigavqa.tiling.headers import read_header
from gigavqa.tiling.rendering import render
from gigavqa.tiling.sources.source import native_source_of
from gigavqa.tiling.views import View
from tests.tiling.earth import north_up
from tests.tiling.pictures import textured

SIZE = Size(1201, 903)
BUDGET = QwenBudget(factor=16, min_pixels=64 * 64, max_pixels=80 * 80)
GRID = north_up(399_960, 5_800_020, 10)
KINDS = {
    "tiles": {"BLOCKXSIZE": 256, "BLOCKYSIZE": 256, "REVERSIBLE": "YES", "QUALITY": 100},
    "one tile": {"BLOCKXSIZE": 2048, "BLOCKYSIZE": 2048, "REVERSIBLE": "YES", "QUALITY": 100},
    "lossy": {"BLOCKXSIZE": 512, "BLOCKYSIZE": 256, "QUALITY": 30},
}
_POINT = b'EPSG::32633">\n                  <gml:pos>'
_SMALL_BLOCKS: dict[int | str, int] = {"blocks": 0}  # of 4 by 4 pixels
_BOX: dict[int | str, int] = {"box": 30_000}  # both sides
WINDOWS = [Region(0, 0, *SIZE), Region(3, 5, 700, 300), Region(255, 256, 2, 1), Region(1200, 902, 1, 1)]


def deep_pixels(bands: int = 1) -> NDArray[np.uint16]:
    """Reflectances as Sentinel-2 has them: bands x rows x columns."""
    grey = textured(*SIZE)[..., :1].astype(np.uint16) * 17
    return np.concatenate([grey + 100 * band for band in range(bands)], axis=-1).transpose(2, 0, 1)


def write_jp2(path: Path, pixels: NDArray[np.generic], kind: str = "tiles", **more: object) -> Path:
    """Write bands x rows x columns by GDAL, with both its boxes of where they lie."""
    bands, height, width = pixels.shape
    with rasterio.open(
        path, "w", driver="JP2OpenJPEG", width=width, height=height, count=bands, dtype=pixels.dtype,
        crs="EPSG:32633", transform=GRID, RESOLUTIONS=5, **{**KINDS[kind], **more},
    ) as file:  # fmt: skip
        file.write(pixels)
    return path


@pytest.fixture(scope="module", params=KINDS)
def deep_file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two bands of 16 bits, in each kind of coding."""
    return write_jp2(
        tmp_path_factory.mktemp("jp2") / f"{request.param.replace(' ', '-')}.jp2", deep_pixels(2), request.param
    )


def test_areas_are_those_that_gdal_reads(deep_file: Path) -> None:
    """Sample by sample, at the full resolution and at each level, however an area lies to tiles."""
    with OpenFile(deep_file) as opened, native_source_of(opened) as source:
        assert [level.size for level in source.levels] == [Size(1201, 903)] + [
            Size(-(-SIZE.width // step), -(-SIZE.height // step)) for step in (2, 4, 8, 16)
        ]
        told = range(1 if "one-tile" in deep_file.name else len(source.levels))  # GDAL reads no levels of one tile
        for number, level in zip(told, source.levels, strict=False):
            option = {"overview_level": number - 1} if number else {}
            with rasterio.open(deep_file, **option) as file:
                for x, y, width, height in WINDOWS:
                    left, top = x >> number, y >> number
                    area = Region(left, top, min(width, level.size.width - left), min(height, level.size.height - top))
                    expected = file.read(window=Window(*area)).transpose(1, 2, 0)
                    assert np.array_equal(source.read(number, area), expected), f"level {number}, {area}"


def test_views_are_those_of_a_png_of_the_same_pixels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To the byte, whole and in part: the file's own levels keep too little of what is small."""
    monkeypatch.setattr(levels, "LARGE_PIXELS", 1_000_000)
    pixels = textured(1440, 1440)
    Image.fromarray(pixels).save(tmp_path / "a.png")
    Image.fromarray(pixels).save(tmp_path / "a.jp2", num_resolutions=6)
    for region in ("full", "300,200,700,900"):
        expected = render(tmp_path / "a.png", View(image="a.png", region=region), BUDGET)
        found = render(tmp_path / "a.jp2", View(image="a.jp2", region=region), BUDGET)
        assert np.array_equal(found.pixels, expected.pixels)


def test_where_it_lies_is_told_by_either_box(tmp_path: Path) -> None:
    """GeoTIFF's tags, or GML as Sentinel-2's own files have it, whose origin is a pixel's centre."""
    pixels = deep_pixels()
    for name, boxes in {"both": {}, "gml": {"GeoJP2": "NO"}, "geotiff": {"GMLJP2": "NO"}}.items():
        path = write_jp2(tmp_path / f"{name}.jp2", pixels, **boxes)
        header = read_header(path, "bands=1 stretch=minmax")
        assert georeference_of(header.geotags).matrix == pytest.approx(tuple(GRID)[:6])
        assert "EPSG:32633 (WGS 84 / UTM zone 33N); ground sampling distance 10 m" in describe_ground(
            header.geotags, header.size
        )
        assert resolve_region("projected:400000,5799000,401000,5800000", header.size) == Region(4, 2, 100, 100)


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (b"<gml:pos>399965 ", b"<gml:pos>399975 ", "say different places"),
        (_POINT, _POINT.replace(b"33", b"34"), "different places"),
    ],
)  # fmt: skip
def test_boxes_that_differ_are_refused(tmp_path: Path, before: bytes, after: bytes, told: str) -> None:
    """Which of them is right is not known."""
    path = write_jp2(tmp_path / "a.jp2", deep_pixels())
    _replace(path, before, after)
    with pytest.raises(GeoreferenceError, match=told):
        resolve_region("lonlat:13,52,14,53", read_header(path, "bands=1 stretch=minmax").size)


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (b"<gml:pos>399965 ", b"<gml:pos>three  ", "box of GML is not understood"),
        (_POINT, _POINT.replace(b"EPSG", b"ESRI"), "none of EPSG's"),
        (b"</gml:RectifiedGrid>", b"</gml:RectifiedGrit>", "box of GML is not understood"),
        (b">10 0</gml:offsetVector>", b">10 x</gml:offsetVector>", "box of GML is not understood"),
        (b">0 -10</gml:offsetVector>", b">0 -0 </gml:offsetVector>", "gives pixels no area"),
        (b"<gml:FeatureCollection\n   xmlns", b"<!DOCTYPE a><a            xmlns", "it declares entities"),
    ],
)  # fmt: skip
def test_gml_that_is_not_understood_is_refused(tmp_path: Path, before: bytes, after: bytes, told: str) -> None:
    """The image is shown all the same."""
    path = write_jp2(tmp_path / "a.jp2", deep_pixels(), GeoJP2="NO")
    _replace(path, before, after)
    with pytest.raises(GeoreferenceError, match=told):
        resolve_region("lonlat:13,52,14,53", read_header(path, "bands=1 stretch=minmax").size)


def _replace(path: Path, before: bytes, after: bytes) -> None:
    data = path.read_bytes()
    assert before in data and len(before) == len(after)
    path.write_bytes(data.replace(before, after))


@pytest.mark.parametrize(
    ("lies", "error", "told"),
    [
        (
            {8: 30_000, 12: 30_000, 24: 7_500, 28: 7_500},
            ImageUnreadableError,
            "its box says 512x512, its codestream 30000",
        ),
        ({**_BOX, 8: 30_000, 12: 30_000, 24: 8, 28: 8}, ImageUnsupportedError, "14062500 tiles, too many"),
        ({24: 2**31, 28: 2**31}, ImageUnreadableError, "holds tile 15, of a grid of 1"),
        ({24: 0}, ImageUnreadableError, "have no pixels"),
        (
            {**_SMALL_BLOCKS, **_BOX, 8: 30_000, 12: 30_000, 24: 7_500, 28: 7_500},
            ImageUnsupportedError,
            "code blocks or precincts",
        ),
    ],
)
def test_sizes_that_lie_are_refused_before_memory_is_taken(
    tmp_path: Path, lies: dict[int | str, int], error: type[Exception], told: str
) -> None:
    """Whatever a header says, at most a band of it is decoded at once, and few books are kept of it."""
    path = tmp_path / "a.jp2"
    Image.fromarray(textured(512, 512)).save(path, tile_size=(128, 128))
    data = bytearray(path.read_bytes())
    start = data.index(b"\xff\x4f\xff\x51")
    for at, value in lies.items():
        if at == "blocks":
            struct.pack_into(">H", data, data.index(b"\xff\x52", start) + 10, value)
        elif at == "box":
            struct.pack_into(">II", data, data.index(b"ihdr") + 4, value, value)
        else:
            struct.pack_into(">I", data, start + int(at), value)
    path.write_bytes(data)
    with pytest.raises(error, match=told), OpenFile(path) as opened, native_source_of(opened) as source:
        source.read(0, Region(0, 0, 128, 128))


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99])
def test_what_is_cut_off_is_refused(tmp_path: Path, share: float) -> None:
    """Also where its pixels lie above the cut."""
    path = write_jp2(tmp_path / "a.jp2", deep_pixels())
    path.write_bytes(path.read_bytes()[: round(share * path.stat().st_size)])
    with OpenFile(path) as opened, native_source_of(opened) as source:
        for region in (Region(1100, 800, 100, 100), Region(0, 0, 100, 100)):
            with pytest.raises(ImageUnreadableError, match=r"inconsistent with stream length|too short"):
                source.read(0, region)
