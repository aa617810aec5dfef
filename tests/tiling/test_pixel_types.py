"""Every pixel type and orientation becomes the RGB that Pillow, and so the models' own preprocessing, would see."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import pyvips
import tifffile
from PIL import Image

from gigavqa.tiling.headers import read_header
from tests.tiling.pictures import as_pillow_sees, psnr, read_all, size_of, textured

RGB = textured(131, 77)
GREY = np.ascontiguousarray(RGB[..., 0])
ALPHA = np.linspace(0, 255, 131 * 77).astype(np.uint8).reshape(77, 131, 1)

picture = Image.fromarray(RGB)
rgba = Image.fromarray(np.dstack([RGB, ALPHA]))
MAKERS: dict[str, Callable[[Path], object]] = {
    "grey.jp2": Image.fromarray(GREY).save,
    "rgba.jp2": rgba.save,
    "lzw.tif": lambda path: picture.save(path, compression="tiff_lzw"),
    "grey.png": Image.fromarray(GREY).save,
    "grey.tif": Image.fromarray(GREY).save,
    "bilevel.png": lambda path: picture.convert("1").save(path),
    "bilevel.tif": lambda path: picture.convert("1").save(path),
    "palette.png": lambda path: picture.quantize(64).save(path),
    "palette.tif": lambda path: picture.quantize(64).save(path),
    "palette-16-colours.png": lambda path: picture.quantize(16).save(path, bits=4),
    "rgba.png": rgba.save,
    "rgba.tif": rgba.save,
    "rgba.webp": lambda path: rgba.save(path, lossless=True, exact=True),
    "grey-alpha.png": lambda path: rgba.convert("LA").save(path),
    "palette-transparent.png": lambda path: picture.quantize(64).save(path, transparency=3),
    "interlaced.png": lambda path: pyvips.Image.new_from_array(RGB).pngsave(str(path), interlace=True),
    "1x1.png": lambda path: Image.new("RGB", (1, 1), (10, 200, 30)).save(path),
    "1x1.tif": lambda path: Image.new("L", (1, 1), 77).save(path),
}
JPEGS: dict[str, Callable[[Path], object]] = {
    "rgb.jpg": lambda path: picture.save(path, quality=90),
    "progressive.jpg": lambda path: picture.save(path, quality=90, progressive=True),
    "grey.jpg": lambda path: Image.fromarray(GREY).save(path, quality=90),
    "cmyk.jpg": lambda path: picture.convert("CMYK").save(path, quality=90),
    "1x1.jpg": lambda path: Image.new("RGB", (1, 1), (10, 200, 30)).save(path),
}


@pytest.mark.parametrize("name", MAKERS)
def test_a_lossless_file_reads_as_pillow_sees_it(tmp_path: Path, name: str) -> None:
    """Bit for bit, and the header agrees on the size."""
    path = tmp_path / name
    MAKERS[name](path)
    pixels = read_all(path)
    np.testing.assert_array_equal(pixels, as_pillow_sees(path))
    assert read_header(path).size == size_of(pixels)
    assert pixels.flags.c_contiguous


@pytest.mark.parametrize("name", JPEGS)
def test_a_jpeg_reads_as_pillow_sees_it(tmp_path: Path, name: str) -> None:
    """Two decoders may differ by a rounding, no more."""
    path = tmp_path / name
    JPEGS[name](path)
    pixels = read_all(path)
    assert psnr(pixels, as_pillow_sees(path)) > 50
    assert read_header(path).size == size_of(pixels)


TIFFS_BY_TIFFFILE = {
    "grey-big-endian": (GREY, {"byteorder": ">"}, np.repeat(GREY[..., None], 3, 2)),
    "white-is-zero": (GREY, {"photometric": "miniswhite"}, 255 - np.repeat(GREY[..., None], 3, 2)),
    "planar": (np.ascontiguousarray(RGB.transpose(2, 0, 1)), {"photometric": "rgb", "planarconfig": "separate"}, RGB),
    "planar-tiled": (
        np.ascontiguousarray(RGB.transpose(2, 0, 1)),
        {"photometric": "rgb", "planarconfig": "separate", "tile": (32, 48), "compression": "zstd"},
        RGB,
    ),
    "webp-tiles": (
        RGB,
        {"photometric": "rgb", "tile": (64, 64), "compression": "webp", "compressionargs": {"lossless": True}},
        RGB,
    ),
    "jpeg-2000-tiles": (RGB, {"photometric": "rgb", "tile": (64, 64), "compression": "jpeg2000"}, RGB),
}


@pytest.mark.parametrize("name", TIFFS_BY_TIFFFILE)
def test_a_tiff_of_any_layout_reads_as_its_pixels_are_meant(tmp_path: Path, name: str) -> None:
    """Planes, byte orders and codecs make no difference."""
    data, options, expected = TIFFS_BY_TIFFFILE[name]
    path = tmp_path / "image.tif"
    tifffile.imwrite(path, data, **options)
    np.testing.assert_array_equal(read_all(path), expected)


def test_premultiplied_transparency_is_not_multiplied_again(tmp_path: Path) -> None:
    """Half-transparent black on white is mid-grey."""
    path = tmp_path / "premultiplied.tif"
    samples = np.full((20, 20, 4), (0, 0, 0, 128), np.uint8)
    tifffile.imwrite(path, samples, photometric="rgb", extrasamples=["assocalpha"])
    assert (read_all(path) == 127).all()


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("name", ["a.jpg", "a.png", "a.tif", "a.webp"])
def test_orientation_is_applied(tmp_path: Path, name: str, orientation: int) -> None:
    """All eight, in every format: the sizes and pixels of a viewer."""
    path = tmp_path / name
    exif = Image.Exif()
    exif[0x0112] = orientation
    picture.save(path, exif=exif, lossless=True, quality=95)
    expected = as_pillow_sees(path)
    pixels = read_all(path)
    assert read_header(path).size == size_of(pixels) == size_of(expected)
    assert psnr(pixels, expected) > 50


@pytest.mark.parametrize("orientation", [1, 6])
def test_orientation_behind_the_pixels_of_a_png_is_applied(tmp_path: Path, orientation: int) -> None:
    """The chunk may stand behind them; the header finds it there without decoding."""
    path = tmp_path / "a.png"
    exif = Image.Exif()
    exif[0x0112] = orientation
    picture.save(path, exif=exif)
    data = path.read_bytes()
    start = data.index(b"eXIf") - 4
    end = start + 12 + int.from_bytes(data[start : start + 4])
    path.write_bytes(data[:start] + data[end:-12] + data[start:end] + data[-12:])
    assert read_header(path).size == size_of(as_pillow_sees(path))
    np.testing.assert_array_equal(read_all(path), as_pillow_sees(path))
