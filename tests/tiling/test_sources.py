"""Sources of every container: levels, scales, regions, and the libraries behind them."""

import zlib
from pathlib import Path
from typing import ClassVar

import imagecodecs
import numpy as np
import pytest
import tifffile
from PIL import Image

from gigavqa.testing.sources import SourceSuite
from gigavqa.tiling.errors import ImageUnreadableError
from gigavqa.tiling.files import OpenFile
from gigavqa.tiling.geometry import Region, Size
from gigavqa.tiling.headers import read_header
from gigavqa.tiling.sources import Level, Source, open_source
from gigavqa.tiling.sources.slides import SlideDecoder
from tests.tiling.pictures import Pixels, psnr, read_all, save_pyramid, size_of, textured
from tests.tiling.test_damaged_files import SVS_DESCRIPTION, save_svs

PICTURE = textured(701, 501)
picture = Image.fromarray(PICTURE)


def save_ome(pixels: Pixels, path: Path) -> None:
    """OME-TIFF with the smaller levels in SubIFDs."""
    picture = Image.fromarray(pixels)
    with tifffile.TiffWriter(path, ome=True) as writer:
        options = {"tile": (128, 128), "photometric": "rgb", "compression": "zlib"}
        size = {"PhysicalSizeX": 0.25, "PhysicalSizeY": 0.25}
        writer.write(pixels, subifds=2, metadata={"axes": "YXS", **size}, **options)
        writer.write(np.asarray(picture.reduce(2)), subfiletype=1, **options)
        writer.write(np.asarray(picture.reduce(4)), subfiletype=1, **options)


def sizes(path: Path) -> list[tuple[Size, float]]:
    """Sizes and downsamples of a file's levels."""
    with open_source(path) as source:
        return [(level.size, level.downsample) for level in source.levels]


def test_a_pyramid_in_pages_has_its_levels(tmp_path: Path) -> None:
    """Sizes that libvips rounded down still mean whole factors."""
    path = save_pyramid(PICTURE, tmp_path / "pyramid.tif")
    assert sizes(path)[:3] == [((701, 501), 1), ((350, 250), 2), ((175, 125), 4)]


def test_a_pyramid_in_subifds_has_its_levels(tmp_path: Path) -> None:
    """OME-TIFF, where OpenSlide sees level 0 alone, with the side of a pixel."""
    path = tmp_path / "slide.ome.tif"
    save_ome(PICTURE, path)
    assert sizes(path) == [((701, 501), 1), ((351, 251), 2), ((176, 126), 4)]
    with open_source(path) as source:
        assert (source.format, source.microns_per_pixel) == ("ome-tiff", (0.25, 0.25))
    np.testing.assert_array_equal(read_all(path, 1), np.asarray(picture.reduce(2)))


def test_the_thumbnail_of_an_svs_is_no_level(tmp_path: Path) -> None:
    """Page 1 lies between the levels and is not tiled."""
    path = tmp_path / "slide.svs"
    save_svs(path)
    assert sizes(path) == [((700, 500), 1), ((175, 125), 4)]
    with open_source(path) as source:
        assert (source.format, source.microns_per_pixel) == ("svs", (0.5, 0.5))


def test_a_jpeg_has_the_levels_of_its_decoder(tmp_path: Path) -> None:
    """1/2 and 1/4 cost less than all; they show the same picture, with all that is left over."""
    path = tmp_path / "picture.jpg"
    picture.save(path, quality=95)
    assert sizes(path) == [((701, 501), 1), ((351, 251), 2), ((176, 126), 4)]
    assert psnr(read_all(path, 2), np.asarray(picture.reduce(4))) > 28


def test_a_jpeg_of_cmyk_is_decoded_in_full(tmp_path: Path) -> None:
    """Means of inks are not the ink of means."""
    path = tmp_path / "picture.jpg"
    picture.convert("CMYK").save(path)
    assert sizes(path) == [((701, 501), 1)]


def save_as(name: str, path: Path) -> None:
    """Write the picture losslessly in the layout that the name says."""
    if name == "pyramid.tif":
        save_pyramid(PICTURE, path)
    elif name == "a.ome.tif":
        save_ome(PICTURE, path)
    else:
        options = {"compression": "tiff_adobe_deflate"} if name == "deflate.tif" else {}
        picture.save(path, **options, **({"lossless": True} if name == "a.webp" else {}))


@pytest.mark.parametrize("name", ["a.png", "a.jpg", "strips.tif", "pyramid.tif", "a.ome.tif", "a.webp"])
def test_header_and_source_agree(tmp_path: Path, name: str) -> None:
    """On size and format, so that what the gateway promised is what the worker finds."""
    path = tmp_path / name
    save_as(name, path)
    header = read_header(path)
    with open_source(path) as source:
        assert (header.size, header.format) == (source.size, source.format)


def test_tiles_that_a_file_leaves_out_are_empty_not_damaged(tmp_path: Path) -> None:
    """Sparse files say so with a length of zero."""
    path = tmp_path / "sparse.tif"
    tile = imagecodecs.zlib_encode(np.full((128, 128, 3), 200, np.uint8).tobytes())
    tifffile.imwrite(
        path,
        iter([tile, b"", tile, b""]),
        shape=(256, 256, 3),
        dtype=np.uint8,
        tile=(128, 128),
        photometric="rgb",
        compression="zlib",
    )
    pixels = read_all(path)
    assert (pixels[:, :128] == 200).all()
    assert (pixels[:, 128:] == 0).all()


class TestPng(SourceSuite):
    """Rows from top to bottom."""

    name = "picture.png"

    def write(self, path: Path, pixels: Pixels) -> None:
        """By Pillow."""
        Image.fromarray(pixels).save(path, compress_type=zlib.Z_HUFFMAN_ONLY)


class TestWebp(SourceSuite):
    """Decoded whole."""

    name = "picture.webp"
    held = 4

    def write(self, path: Path, pixels: Pixels) -> None:
        """Without loss."""
        Image.fromarray(pixels).save(path, lossless=True, method=0, quality=0)


class TestJpeg(SourceSuite):
    """With the scales of its decoder for levels."""

    name = "picture.jpg"
    num_levels = 3
    loss = 4
    held = 0.75
    options: ClassVar[dict[str, object]] = {"quality": 95, "subsampling": 0}

    def write(self, path: Path, pixels: Pixels) -> None:
        """By Pillow."""
        Image.fromarray(pixels).save(path, **self.options)


class TestProgressiveJpeg(TestJpeg):
    """Of which the decoder keeps every coefficient."""

    held = 3
    options: ClassVar[dict[str, object]] = {**TestJpeg.options, "progressive": True}


class TestJpeg2000(SourceSuite):
    """Of one tile, and read at its resolution levels."""

    name = "picture.jp2"
    size = Size(401, 301)
    num_levels = 5
    large = Size(1024, 1024)
    held = 8

    def write(self, path: Path, pixels: Pixels) -> None:
        """Without loss."""
        Image.fromarray(pixels).save(path)


class TestPlainStrips(SourceSuite):
    """A TIFF of one strip that nothing encodes."""

    name = "strips.tif"

    def write(self, path: Path, pixels: Pixels) -> None:
        """By Pillow."""
        Image.fromarray(pixels).save(path)


class TestDeflatedStrips(SourceSuite):
    """A TIFF of encoded strips."""

    name = "strips.tif"

    def write(self, path: Path, pixels: Pixels) -> None:
        """By Pillow."""
        Image.fromarray(pixels).save(path, compression="tiff_adobe_deflate")


class TestPyramid(SourceSuite):
    """A TIFF of tiles, with its levels in pages."""

    name = "pyramid.tif"
    num_levels = 4

    def write(self, path: Path, pixels: Pixels) -> None:
        """By libvips."""
        save_pyramid(pixels, path)


class TestOmeTiff(SourceSuite):
    """A TIFF of tiles, with its levels in SubIFDs."""

    name = "picture.ome.tif"
    num_levels = 3

    def write(self, path: Path, pixels: Pixels) -> None:
        """By tifffile."""
        save_ome(pixels, path)


class TestSvs(SourceSuite):
    """As a scanner writes it."""

    name = "slide.svs"
    num_levels = 2
    loss = 12

    def write(self, path: Path, pixels: Pixels) -> None:
        """By tifffile."""
        save_svs(path, pixels)


class TestSlide(TestPyramid):
    """The pyramid as OpenSlide reads it, which is exact where each level is half the one before."""

    size = Size(704, 512)
    held = 2  # OpenSlide's own cache has 32 MiB

    def source(self, file: OpenFile) -> Source:
        """By OpenSlide, which gets no such file otherwise."""
        return Source(file, "slide", SlideDecoder(file), orientation=1)


class TestOpenSlide:
    """Slides that OpenSlide reads."""

    def test_it_reads_the_same_pixels_as_the_tile_reader(self, tmp_path: Path) -> None:
        """Levels, sizes and regions mean the same to both."""
        path = save_pyramid(textured(704, 512), tmp_path / "pyramid.tif")
        region = Region(33, 21, 250, 200)
        with open_source(path) as source, OpenFile(path) as file, SlideDecoder(file) as slide:
            assert source.levels == slide.levels
            for level in range(2):
                expected = source.read(level, region)
                np.testing.assert_array_equal(np.concatenate(list(slide.bands(level, region))), expected)

    def test_aperios_own_jpeg_2000_is_left_to_it(self, tmp_path: Path) -> None:
        """Compression 33003 holds YCbCr, which imagecodecs would return as RGB."""
        path = tmp_path / "slide.svs"
        save_aperio_jpeg_2000(PICTURE, path)
        assert read_header(path).size == size_of(PICTURE)
        with open_source(path) as source:
            assert source.levels == (Level(Size(701, 501), 1.0),)
            assert source.microns_per_pixel == (0.5, 0.5)
        assert psnr(read_all(path), PICTURE) > 35

    def test_a_damaged_slide_raises(self, tmp_path: Path) -> None:
        """Its error becomes ours, with the file's name."""
        path = save_pyramid(PICTURE, tmp_path / "pyramid.tif", "jpeg")
        with tifffile.TiffFile(path) as file:
            offset, count = file.pages[0].dataoffsets[0], file.pages[0].databytecounts[0]
        with path.open("r+b") as stream:
            stream.seek(offset)
            stream.write(b"\x11" * count)
        with (
            OpenFile(path) as opened,
            SlideDecoder(opened) as slide,
            pytest.raises(ImageUnreadableError, match="pyramid"),
        ):
            list(slide.bands(0, Region(0, 0, 100, 100)))


def save_aperio_jpeg_2000(pixels: Pixels, path: Path) -> None:
    """One level of JPEG 2000 tiles in YCbCr, as Aperio's scanners write with compression 33003."""
    tiles = []
    for top in range(0, pixels.shape[0], 256):
        for left in range(0, pixels.shape[1], 256):
            part = pixels[top : top + 256, left : left + 256]
            part = np.pad(part, ((0, 256 - part.shape[0]), (0, 256 - part.shape[1]), (0, 0)), "edge")
            ycbcr = np.asarray(Image.fromarray(part).convert("YCbCr"))
            tiles.append(imagecodecs.jpeg2k_encode(ycbcr, codecformat="j2k", mct=False, reversible=True))
    tifffile.imwrite(
        path,
        iter(tiles),
        shape=pixels.shape,
        dtype=np.uint8,
        tile=(256, 256),
        photometric="rgb",
        compression=33003,
        description=SVS_DESCRIPTION.replace("700x500", "701x501"),
        metadata=None,
    )
