"""Bad files end in a typed error that names them, or in correct pixels; never in silent grey."""

import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import tifffile
from PIL import Image

from gigavqa.tiling.errors import (
    ImageNotFoundError,
    ImageTooLargeError,
    ImageUnreadableError,
    ImageUnsupportedError,
    RegionError,
    TilingError,
    translate_decoder_errors,
)
from gigavqa.tiling.geometry import Region
from gigavqa.tiling.headers import read_header
from gigavqa.tiling.rendering import render
from gigavqa.tiling.sources import open_source
from gigavqa.tiling.views import View
from tests.tiling.pictures import SMALL_BUDGET, Pixels, as_pillow_sees, read_all, save_pyramid, textured

PICTURE = textured(700, 500)
picture = Image.fromarray(PICTURE)

SVS_DESCRIPTION = "Aperio Image Library v1.0\n700x500 [0,0 700x500] (128x128) JPEG Q=90|AppMag = 20|MPP = 0.5000"


def save_svs(path: Path, pixels: Pixels = PICTURE) -> None:
    """As a scanner writes it: tiled JPEG levels, after level 0 a thumbnail in strips."""
    image = Image.fromarray(pixels).convert("YCbCr")  # which tifffile leaves to its caller
    described = SVS_DESCRIPTION.replace("700x500", f"{image.width}x{image.height}")
    thumbnail = np.asarray(image.resize((175, 125)))
    options = {"photometric": "ycbcr", "compression": "jpeg", "metadata": None}
    with tifffile.TiffWriter(path) as writer:
        writer.write(np.asarray(image), tile=(128, 128), description=described, **options)
        writer.write(thumbnail, description=described.replace("(128x128)", "-> 175x125 -"), **options)
        writer.write(np.asarray(image.reduce(4)), tile=(128, 128), description=described, **options)


WRITERS: dict[str, Callable[[Path], object]] = {
    "baseline.jpg": lambda path: picture.save(path, quality=90),
    "progressive.jpg": lambda path: picture.save(path, quality=90, progressive=True),
    "picture.png": picture.save,
}


def render_full(path: Path) -> Pixels:
    """What a model would be shown of the whole file."""
    return render(path, View(image=path.name), SMALL_BUDGET).pixels


@pytest.mark.parametrize("name", ["a.jpg", "a.png", "a.tif", "a.svs", "a.webp"])
def test_an_empty_file_raises(tmp_path: Path, name: str) -> None:
    """By its header already."""
    path = tmp_path / name
    path.touch()
    for read in (read_header, open_source, render_full):
        with pytest.raises(ImageUnreadableError, match="empty"):
            read(path)


@pytest.mark.parametrize("name", ["notes.svs", "notes.jpg", "notes.tif", "notes.png"])
def test_text_with_an_images_name_raises(tmp_path: Path, name: str) -> None:
    """An extension is not believed."""
    path = tmp_path / name
    path.write_text("Slide 12, see the other folder. " * 20)
    with pytest.raises(ImageUnreadableError, match="no image format"):
        render_full(path)


@pytest.mark.parametrize(("written", "named"), [("png", "a.jpg"), ("jpeg", "a.png"), ("tiff", "a.jpg"), ("png", "a")])
def test_a_wrong_extension_does_no_harm(tmp_path: Path, written: str, named: str) -> None:
    """The first bytes decide."""
    path = tmp_path / named
    picture.save(path, format=written)
    assert read_header(path).format == written
    np.testing.assert_allclose(read_all(path), as_pillow_sees(path), atol=3)


def test_a_name_with_brackets_is_a_name(tmp_path: Path) -> None:
    """libvips would read options from it."""
    path = tmp_path / "plaza[shrink=8].jpg"
    picture.save(path)
    assert read_all(path).shape == (500, 700, 3)


@pytest.mark.parametrize("name", WRITERS)
def test_damage_amid_a_flat_file_raises(tmp_path: Path, name: str) -> None:
    """At every size that its decoder offers, where libvips by default would fill the rest with grey."""
    path = tmp_path / name
    WRITERS[name](path)
    data = bytearray(path.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 300] = b"\xff" * 300
    path.write_bytes(data)
    with open_source(path) as source:
        levels = len(source.levels)
    for level in range(levels):
        with pytest.raises(ImageUnreadableError, match=name):
            read_all(path, level)


@pytest.mark.parametrize("compression", ["deflate", "jpeg", "lzw"])
@pytest.mark.parametrize("level", [0, 1, 2])
def test_a_damaged_tile_raises_at_every_level(tmp_path: Path, compression: str, level: int) -> None:
    """And the views that do not need it are served as before."""
    path = save_pyramid(PICTURE, tmp_path / "pyramid.tif", compression)
    before = read_all(path, level)
    with tifffile.TiffFile(path) as file:
        offset, count = file.pages[level].dataoffsets[-1], file.pages[level].databytecounts[-1]
    with path.open("r+b") as stream:
        stream.seek(offset + count // 3)
        stream.write(b"\xff" * (count // 2))
    with pytest.raises(ImageUnreadableError, match=r"pyramid\.tif"):
        read_all(path, level)
    with open_source(path) as source:
        upper_left = source.read(level, Region(0, 0, 100, 80))
        np.testing.assert_array_equal(upper_left, before[:80, :100])


def test_a_damaged_slide_raises_through_every_level(tmp_path: Path) -> None:
    """An SVS whose tiles were overwritten."""
    path = tmp_path / "slide.svs"
    save_svs(path)
    with tifffile.TiffFile(path) as file:
        places = [(page.dataoffsets[0], page.databytecounts[0]) for page in file.pages]
    with path.open("r+b") as stream:
        for offset, count in places:
            stream.seek(offset)
            stream.write(b"\x11" * count)
    for level in range(2):
        with pytest.raises(ImageUnreadableError):
            read_all(path, level)


def png_header(width: int, height: int) -> bytes:
    """A PNG of some hundred bytes that promises any size."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(bytes(100))) + chunk(b"IEND", b"")


def test_a_decompression_bomb_is_refused_by_its_header(tmp_path: Path) -> None:
    """Before anything is decoded, with the limit and how to set it."""
    path = tmp_path / "bomb.png"
    path.write_bytes(png_header(200_000, 200_000))
    for read in (read_header, open_source, render_full):
        with pytest.raises(ImageTooLargeError, match="GIGAVQA_MAX_PIXELS_PNG"):
            read(path)


def test_a_gigapixel_header_is_no_bomb(tmp_path: Path) -> None:
    """Pillow's own limit of 179 megapixels does not stand in the way."""
    path = tmp_path / "large.png"
    path.write_bytes(png_header(60_000, 40_000))
    assert read_header(path).size == (60_000, 40_000)


def test_a_tiff_that_promises_more_than_memory_is_refused(tmp_path: Path) -> None:
    """A strip that must be decoded whole, a terabyte large."""
    path = tmp_path / "strip.tif"
    tifffile.imwrite(path, PICTURE, photometric="rgb", compression="zlib", rowsperstrip=500, metadata=None)
    rewrite_tags(path, {256: 90_000, 257: 90_000, 278: 90_000})
    with pytest.raises(ImageUnsupportedError, match="one compressed strip"):
        render_full(path)


def rewrite_tags(path: Path, values: dict[int, object]) -> None:
    """Let the first page of a TIFF say something else."""
    with tifffile.TiffFile(path, mode="r+") as file:
        for tag, value in values.items():
            file.pages[0].tags[tag].overwrite(value)


@pytest.mark.parametrize("side", [40_000, 16_000])
def test_tiles_too_large_to_hold_are_refused_by_the_header(tmp_path: Path, side: int) -> None:
    """A tile is decoded whole, by each thread that renders, whatever the image's own size."""
    path = tmp_path / "tile.tif"
    tifffile.imwrite(path, PICTURE, photometric="rgb", compression="zlib", tile=(512, 512), metadata=None)
    rewrite_tags(path, {322: side, 323: side})
    for read in (read_header, open_source):
        with pytest.raises(ImageUnsupportedError, match=rf"tile\.tif: tiles of {side}x{side} pixels"):
            read(path)


def test_a_tile_that_claims_more_bytes_than_it_has_pixels_is_damaged(tmp_path: Path) -> None:
    """Its byte count is not taken as a size to reserve."""
    path = tmp_path / "tile.tif"
    tifffile.imwrite(path, PICTURE, photometric="rgb", compression="zlib", tile=(512, 512), metadata=None)
    rewrite_tags(path, {325: (2**31, 2**31)})
    with pytest.raises(ImageUnreadableError, match=r"tile\.tif: a tile or strip claims 2147483648 bytes"):
        render_full(path)


def test_a_palette_without_its_colours_is_damaged(tmp_path: Path) -> None:
    """By its header already, so that a job names it before it runs."""
    path = tmp_path / "palette.tif"
    picture.quantize().save(path)
    data = path.read_bytes()
    path.write_bytes(data.replace(struct.pack("<HH", 320, 3), struct.pack("<HH", 60_000, 3), 1))
    for read in (read_header, open_source):
        with pytest.raises(ImageUnreadableError, match=r"palette\.tif: a palette image without its colour map"):
            read(path)


@pytest.mark.filterwarnings("ignore:Corrupt EXIF")
def test_exif_that_breaks_off_turns_nothing(tmp_path: Path) -> None:
    """The picture is shown as viewers show it."""
    path = tmp_path / "turned.jpg"
    exif = Image.Exif()
    exif[0x0112] = 6
    for kept in range(1, len(exif.tobytes())):
        picture.save(path, exif=exif.tobytes()[:kept])
        assert read_header(path).size in {(700, 500), (500, 700)}


def test_a_lack_of_memory_is_named_and_typed(tmp_path: Path) -> None:
    """Whatever library ran out of it."""
    path = tmp_path / "large.png"
    with pytest.raises(ImageTooLargeError, match=r"large\.png: .* more memory"), translate_decoder_errors(path):
        raise MemoryError


def test_a_limit_can_be_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Per format, by the environment."""
    path = tmp_path / "picture.png"
    picture.save(path)
    monkeypatch.setenv("GIGAVQA_MAX_PIXELS_PNG", "3e5")
    with pytest.raises(ImageTooLargeError, match="700x500"):
        read_header(path)


@pytest.mark.parametrize("region", ["0,0,701,500", "699,499,2,1", "0,0,0,10", "pct:90,0,20,10", "nowhere"])
def test_a_region_outside_the_image_raises(tmp_path: Path, region: str) -> None:
    """Instead of pixels that are not there."""
    path = tmp_path / "picture.png"
    picture.save(path)
    with pytest.raises(RegionError):
        render(path, View(image="picture.png", region=region), SMALL_BUDGET)


@pytest.mark.parametrize(
    ("data", "options"),
    [
        (PICTURE.astype(np.float32), {"photometric": "rgb"}),
        (PICTURE[..., 0].astype(np.int16), {}),
        (PICTURE.transpose(2, 0, 1), {"photometric": "minisblack", "metadata": {"axes": "CYX"}, "ome": True}),
    ],
    ids=["float", "signed", "channels"],
)
def test_pixels_that_cannot_be_shown_as_meant_are_unsupported(tmp_path: Path, data: Pixels, options: dict) -> None:
    """Floating point, signed samples, fluorescence channels."""
    path = tmp_path / "image.tif"
    tifffile.imwrite(path, np.ascontiguousarray(data), **options)
    with pytest.raises(ImageUnsupportedError):
        read_header(path)


@pytest.mark.parametrize(
    ("name", "data"), [("a.gif", b"GIF89a" + bytes(50)), ("a.avif", b"\0\0\0\x20ftypavif" + bytes(50))]
)
def test_formats_that_are_not_served_are_named(tmp_path: Path, name: str, data: bytes) -> None:
    """An image of another kind is not called broken."""
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(ImageUnsupportedError, match="are not served"):
        read_header(path)


def test_a_missing_file_is_not_found(tmp_path: Path) -> None:
    """Nor is a folder an image."""
    for path in (tmp_path / "gone.png", tmp_path):
        with pytest.raises(ImageNotFoundError):
            render_full(path)


def test_random_bytes_behind_any_magic_never_escape_the_typed_errors(tmp_path: Path) -> None:
    """Two hundred files that begin like images and go on like noise."""
    draw = np.random.default_rng(5)
    heads = [
        b"\xff\xd8\xff",
        b"\x89PNG\r\n\x1a\n",
        b"RIFF\xff\0\0\0WEBP",
        b"II*\0\x08\0\0\0",
        b"MM\0+\0\x08\0\0",
        b"\0\0\0\x0cjP  ",
    ]
    for index in range(200):
        path = tmp_path / f"{index}.bin"
        path.write_bytes(heads[index % len(heads)] + draw.integers(0, 256, 600, np.uint8).tobytes())
        with pytest.raises(TilingError):
            render_full(path)
