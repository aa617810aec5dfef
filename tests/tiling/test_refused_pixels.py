"""Pixels are shown exactly, or refused by one sentence at the header and by the decoder alike; none is changed unsaid.

Every file that Pillow, tifffile, libvips and imagecodecs write of any number of bits and bands and any kind of sample.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import imagecodecs
import numpy as np
import pytest
import pyvips
import tifffile
from numpy.typing import NDArray
from PIL import Image

from gigavqa.tiling.errors import ImageUnreadableError, PixelTypeError, TilingError
from gigavqa.tiling.headers import read_header, read_stored_header
from gigavqa.tiling.ingest import ingest
from gigavqa.tiling.renderer import Renderer
from gigavqa.tiling.roots import ImageRoot
from gigavqa.tiling.sources import open_source
from gigavqa.tiling.views import View
from tests.tiling.pictures import SMALL_BUDGET, read_all

DTYPES = (np.uint8, np.uint16, np.uint32, np.int8, np.int16, np.float16, np.float32, np.float64, np.complex64)
BANDS = (1, 2, 3, 4, 5)
KINDS = {"u": "", "i": " (signed)", "f": " (floating point)", "c": " (complex)"}


def samples(bands: int, dtype: type = np.uint8, most: int = 250) -> NDArray[np.generic]:
    """H x W x S, or H x W of one band, with values that any type of so many holds."""
    draw = np.random.default_rng(bands)
    found = draw.integers(0, min(most, 120), (33, 47, bands)).astype(dtype)
    return found[..., 0] if bands == 1 else found


def as_rgb(shown: NDArray[np.generic]) -> NDArray[np.generic]:
    """What is to be seen of grey or RGB."""
    return np.repeat(shown[..., None], 3, axis=2) if shown.ndim == 2 else shown


def told_of(path: Path) -> str:
    """What the header's reader says of the file; the decoder says the same."""
    with pytest.raises(PixelTypeError) as by_header:
        read_header(path)
    with pytest.raises(PixelTypeError) as by_decoder:
        open_source(path)
    assert str(by_header.value) == str(by_decoder.value)
    return str(by_header.value)


@pytest.mark.parametrize("bands", BANDS)
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.__name__)
def test_a_tiff_is_shown_exactly_or_refused(tmp_path: Path, dtype: type, bands: int) -> None:
    """Grey and RGB of 8 bits are shown; of all others the sentence says bits, kind and bands."""
    path, written = tmp_path / "a.tif", samples(bands, dtype)
    known = 3 if bands > 2 else 1
    extra = ["unspecified"] * (bands - known)
    tifffile.imwrite(
        path, written, photometric="rgb" if known == 3 else "minisblack", planarconfig="contig", extrasamples=extra
    )
    if dtype is np.uint8 and bands in {1, 3}:
        np.testing.assert_array_equal(read_all(path), as_rgb(written))
        return
    kind = KINDS[np.dtype(dtype).kind]
    bits, plural = np.dtype(dtype).itemsize * 8, "s" if bands > 1 else ""
    assert f"a.tif: has {bits} bits a sample{kind}, {bands} band{plural}" in told_of(path)


@pytest.mark.parametrize("bands", BANDS)
@pytest.mark.parametrize("format", ["uchar", "char", "ushort", "short", "uint", "int", "float", "double", "complex"])
@pytest.mark.parametrize("is_tiled", [False, True])
def test_what_libvips_writes_as_tiff_is_shown_exactly_or_refused(
    tmp_path: Path, format: str, bands: int, is_tiled: bool
) -> None:
    """It marks whatever stands behind grey or RGB as alpha."""
    path, written = tmp_path / "a.tif", samples(bands)
    if bands in {2, 4}:
        written[..., -1] = 255
    image = pyvips.Image.new_from_array(written).cast(format).copy(interpretation="multiband")
    image.tiffsave(str(path), tile=is_tiled, pyramid=is_tiled and format != "complex", compression="deflate")
    if format == "uchar" and bands < 5:
        colours = {1: written, 2: written[..., 0]}.get(bands, written[..., :3])
        np.testing.assert_array_equal(read_all(path), as_rgb(colours))
    else:
        assert ("Convert what you mean" if "complex" in format else "gigavqa show ") in told_of(path)


@pytest.mark.parametrize("bands", [1, 2, 3, 4])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16], ids=lambda dtype: dtype.__name__)
def test_a_png_is_shown_exactly_or_refused(tmp_path: Path, dtype: type, bands: int) -> None:
    """Also one of 16 bits that holds no more than 8, since nobody looks at the pixels first."""
    path, written = tmp_path / "a.png", samples(bands, dtype)
    if bands in {2, 4}:
        written[..., -1] = np.iinfo(dtype).max
    path.write_bytes(imagecodecs.png_encode(written))
    if dtype is np.uint8:
        colours = {1: written, 2: written[..., 0], 3: written, 4: written[..., :3]}[bands]
        np.testing.assert_array_equal(read_all(path), as_rgb(colours))
    else:
        assert f"has 16 bits a sample, {bands} band" in told_of(path)


def jpeg_2000s() -> Iterator[tuple[str, int, int, type]]:
    """Bands, bits and types that the codec writes, in boxes and bare."""
    for codec in ("jp2", "j2k"):
        for bands in BANDS:
            for bits, dtype in ((8, np.uint8), (5, np.uint8), (12, np.uint16), (16, np.uint16), (8, np.int8)):
                yield codec, bands, bits, dtype


@pytest.mark.parametrize(("codec", "bands", "bits", "dtype"), jpeg_2000s())
def test_a_jpeg_2000_is_shown_exactly_or_refused(
    tmp_path: Path, codec: str, bands: int, bits: int, dtype: type
) -> None:
    """Of fewer than 8 bits its decoder would shift, and show white as grey."""
    path, written = tmp_path / f"a.{codec}", samples(bands, dtype, most=2**bits)
    path.write_bytes(imagecodecs.jpeg2k_encode(written, codecformat=codec, bitspersample=bits, reversible=True))
    if bits == 8 and dtype is np.uint8 and bands in {1, 3}:
        np.testing.assert_array_equal(read_all(path), as_rgb(written))
    else:
        kind = " (signed)" if dtype is np.int8 else ""
        assert f"has {bits} bits a sample{kind}, {bands} band" in told_of(path)


@pytest.mark.parametrize(("bits", "is_lossless"), [(8, False), (12, False), (8, True), (12, True), (16, True)])
@pytest.mark.parametrize("bands", [1, 3])
def test_a_jpeg_is_shown_exactly_or_refused(tmp_path: Path, bits: int, is_lossless: bool, bands: int) -> None:
    """By its frame: Pillow does not open one of 12 bits."""
    path = tmp_path / "a.jpg"
    written = samples(bands, np.uint8 if bits == 8 else np.uint16)
    path.write_bytes(imagecodecs.jpeg_encode(written, level=100, lossless=is_lossless, bitspersample=bits))
    if bits > 8:
        assert f"has {bits} bits a sample, {bands} band" in told_of(path)
    elif is_lossless:
        np.testing.assert_array_equal(read_all(path), as_rgb(written))
    else:
        np.testing.assert_array_equal(read_all(path), np.asarray(Image.open(path).convert("RGB")))


WRITTEN_BY_PILLOW = {
    "png": ["1", "L", "LA", "P", "RGB", "RGBA", "I;16"],
    "jpg": ["1", "L", "RGB", "RGBX", "CMYK"],
    "webp": ["1", "L", "LA", "P", "RGB", "RGBA", "RGBX", "CMYK", "I;16", "I", "F"],  # all as RGB
    "jp2": ["L", "LA", "RGB", "RGBA", "CMYK", "I;16"],
    "tif": ["1", "L", "LA", "P", "RGB", "RGBA", "RGBX", "CMYK", "I;16", "I", "F"],
}
REFUSED = {("png", "I;16"), ("jp2", "I;16"), ("tif", "I;16"), ("tif", "I"), ("tif", "F"), ("tif", "RGBX")}


@pytest.mark.parametrize(
    ("suffix", "mode"), [(suffix, mode) for suffix, modes in WRITTEN_BY_PILLOW.items() for mode in modes]
)
def test_every_mode_of_pillow_is_shown_as_pillow_sees_it_or_refused(tmp_path: Path, mode: str, suffix: str) -> None:
    """Alpha is what the file marks as such, and CMYK is ink; header and decoder agree on all."""
    path = tmp_path / f"a.{suffix}"
    image = Image.fromarray(samples(1, np.uint16)) if mode == "I;16" else Image.fromarray(samples(1)).convert(mode)
    image.save(path, quality=100, **({"lossless": True} if suffix == "webp" else {}))
    if (suffix, mode) in REFUSED:
        assert "gigavqa show " in told_of(path)
    else:
        shown = np.asarray(Image.open(path).convert("RGB"))
        np.testing.assert_array_equal(read_all(path), shown)


@pytest.mark.parametrize(("extra", "is_shown"), [("assocalpha", True), ("unassalpha", True), ("unspecified", False)])
def test_a_fourth_band_is_alpha_where_the_file_says_so(tmp_path: Path, extra: str, is_shown: bool) -> None:
    """Infrared, say, is none; where it stood for alpha, it would whiten what it is dark in."""
    path, written = tmp_path / "a.tif", samples(4)
    written[..., 3] = 255
    tifffile.imwrite(path, written, photometric="rgb", extrasamples=[extra])
    if is_shown:
        np.testing.assert_array_equal(read_all(path), written[..., :3])
    else:
        assert "4 bands (RGB and 1 more, which no tag marks as alpha)" in told_of(path)
        assert f"`gigavqa show {path}` proposes" in told_of(path)


def test_alpha_and_more_is_refused(tmp_path: Path) -> None:
    """RGB, alpha and a near infrared band, that nobody would see."""
    path = tmp_path / "a.tif"
    tifffile.imwrite(path, samples(5), photometric="rgb", extrasamples=["unassalpha", "unspecified"])
    assert "5 bands (RGB, alpha and 1 more)" in told_of(path)


def test_bits_that_are_not_in_the_header_are_no_picture(tmp_path: Path) -> None:
    """Tiles of 16 bits in a file that says 8: what its decoder finds is not shown either."""
    path = tmp_path / "a.tif"
    tifffile.imwrite(path, samples(1, np.uint16), compression="jpeg2000", tile=(64, 64), metadata=None)
    with tifffile.TiffFile(path, mode="r+") as file:
        file.pages[0].tags[258].overwrite(8)
    with pytest.raises(ImageUnreadableError, match="samples of type uint16, which its header does not say"):
        read_all(path)


def test_what_a_header_says_of_pixels_is_told(tmp_path: Path) -> None:
    """For whoever is to stretch them."""
    path = tmp_path / "a.png"
    path.write_bytes(imagecodecs.png_encode(samples(4)))
    found = read_stored_header(path).pixel_type
    assert (found.bits, found.bands, found.colours, found.has_alpha, found.kind) == (8, 4, "rgb", True, "unsigned")


def stretched(path: Path, target: Path) -> None:
    """A quarter of the values for each of 8 bits, the first three bands: what the sentence asks for."""
    image = pyvips.Image.new_from_file(str(path))
    first = image.extract_band(0, n=min(3, image.bands))
    shown = first.linear(1 / 4, 0, uchar=True).copy(interpretation="srgb" if first.bands == 3 else "b-w")
    shown.tiffsave(str(target))


@pytest.mark.parametrize("bands", [1, 2, 4])
def test_what_was_converted_is_shown(tmp_path: Path, bands: int) -> None:
    """The remedy that the sentence names ends in a file that is served."""
    path, target = tmp_path / "deep.tif", tmp_path / "shown.tif"
    tifffile.imwrite(path, samples(bands, np.uint16), photometric="rgb" if bands > 2 else "minisblack")
    told_of(path)
    stretched(path, target)
    assert read_all(target).max() <= 120 // 4 + 1


def test_a_file_that_was_replaced_since_a_job_came_fails_by_type(tmp_path: Path) -> None:
    """The header that the gateway read was another one's; the worker's own look decides."""
    path = tmp_path / "scan.tif"
    tifffile.imwrite(path, samples(1))
    library = Renderer(ImageRoot(tmp_path), tmp_path / "pyramids", cache_bytes=2**20)
    library.render(View(image="scan.tif"), SMALL_BUDGET)
    tifffile.imwrite(path, samples(1, np.uint16))
    with pytest.raises(PixelTypeError, match=r"^scan\.tif: has 16 bits a sample, 1 band"):
        library.render(View(image="scan.tif"), SMALL_BUDGET)


Way = Callable[[Path, Path], object]
WAYS: dict[str, Way] = {
    "header": lambda path, _: read_header(path),
    "source": lambda path, _: open_source(path),
    "ingest": ingest,
}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_a_file_says_the_same(tmp_path: Path, way: str) -> None:
    """No pyramid is made of it, and nothing is left where it would lie."""
    path = tmp_path / "scan.tif"
    tifffile.imwrite(path, samples(1, np.uint16))
    with pytest.raises(TilingError) as refused:
        WAYS[way](path, tmp_path / "pyramids")
    assert str(refused.value) == told_of(path)
    assert not [*(tmp_path / "pyramids").glob("*.tif")]
