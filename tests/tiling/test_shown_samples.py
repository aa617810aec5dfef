"""Samples of any depth are shown as declared: the same 8-bit colours as by numpy's arithmetic over the whole array."""

from pathlib import Path
from typing import Any

import imagecodecs
import numpy as np
import pytest
import rasterio
import tifffile
from numpy.typing import NDArray
from PIL import Image

from gigavqa.tiling.displays.proposals import propose_displays
from gigavqa.tiling.errors import ImageUnsupportedError, PixelTypeError
from gigavqa.tiling.file_facts import cached_identity, cached_remarks, cached_samples
from gigavqa.tiling.geometry import Region
from gigavqa.tiling.ingest import make_pyramid, pyramid_path
from gigavqa.tiling.recipes import Recipe, plan_raster
from gigavqa.tiling.rendering import render
from gigavqa.tiling.views import View
from tests.tiling.pictures import SMALL_BUDGET, psnr

_SIDE = 256  # a raster of the small budget as it is


def scene(bands: int, dtype: str, seed: int = 0) -> NDArray[Any]:
    """Smooth ground of so many bands, each of another range, with a bright spot, H x W x S."""
    draw = np.random.default_rng(seed)
    y, x = np.mgrid[:_SIDE, :_SIDE] / _SIDE
    found = np.stack([np.sin(3 * x + band) + np.cos(4 * y * (band + 1)) for band in range(bands)], axis=-1)
    found = found * 300 + 900 + 40 * np.arange(bands) + draw.normal(0, 8, found.shape)
    found[20:24, 30:34] = 4000
    return (found if np.dtype(dtype).kind != "i" else found - 1500).astype(dtype)


def shown(path: Path, show: str, region: str = "full") -> NDArray[np.uint8]:
    """The raster of an image at its own size."""
    return render(path, View(image="x", show=show, region=region), SMALL_BUDGET).pixels


def expected(samples: NDArray[Any], limits: list[tuple[float, float]], gamma: float = 1.0) -> NDArray[np.uint8]:
    """What a stretch of each band gives, by floating point over the whole array."""
    low, high = np.array(limits).T
    share = np.clip((samples.astype(np.float64) - low) / (high - low), 0, 1) ** (1 / gamma)
    rgb = np.floor(share * 255 + 0.5).astype(np.uint8)
    return rgb if rgb.shape[-1] == 3 else np.repeat(rgb, 3, axis=-1)


def percentiles(samples: NDArray[Any], low: float = 2, high: float = 98) -> list[tuple[float, float]]:
    """Black and white of each band."""
    return [tuple(np.percentile(samples[..., band].astype(float), [low, high])) for band in range(samples.shape[-1])]


@pytest.mark.parametrize(
    "layout", [{}, {"tile": (64, 64)}, {"planarconfig": "separate"}, {"compression": "zstd", "predictor": 2}]
)
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int16", "uint32", "float32", "float64"])
def test_three_of_many_bands_are_shown(tmp_path: Path, dtype: str, layout: dict[str, Any]) -> None:
    """Each stretched between its own percentiles, in the order that is asked for."""
    samples = scene(7, dtype) if dtype != "uint8" else (scene(7, "float64") / 17).astype("uint8")
    if layout.get("predictor") and np.dtype(dtype).kind == "f":
        layout = layout | {"predictor": 3}
    separate = layout.get("planarconfig") == "separate"
    tifffile.imwrite(
        tmp_path / "a.tif",
        np.moveaxis(samples, -1, 0) if separate else samples,
        photometric="minisblack",
        **{"planarconfig": "contig"} | layout,
    )

    found = shown(tmp_path / "a.tif", "bands=4,3,2 stretch=percentile:2:98")

    picked = samples[..., [3, 2, 1]]
    assert np.array_equal(found, expected(picked, percentiles(picked)))


@pytest.mark.parametrize(
    ("show", "limits"),
    [
        ("stretch=range:200:3000", (200, 3000)),
        ("window=1000:800", (600, 1400)),
        ("stretch=minmax", None),
        ("stretch=none", (0, 65535)),
    ],
)
def test_one_band_is_grey(tmp_path: Path, show: str, limits: tuple[float, float] | None) -> None:
    """Between the limits that are said, or found."""
    samples = scene(1, "uint16")
    tifffile.imwrite(tmp_path / "a.tif", samples[..., 0])

    found = shown(tmp_path / "a.tif", show)

    assert np.array_equal(found, expected(samples, [limits or (samples.min(), samples.max())]))


def test_the_least_sample_is_white_where_the_file_says_so(tmp_path: Path) -> None:
    """A radiograph that is stored as a negative."""
    samples = scene(1, "uint16")
    tifffile.imwrite(tmp_path / "a.tif", samples[..., 0], photometric="miniswhite")

    assert np.array_equal(shown(tmp_path / "a.tif", "window=1000:800"), expected(samples, [(1400, 600)]))


def test_gamma_and_standard_deviations(tmp_path: Path) -> None:
    """Together."""
    samples = scene(1, "float32")
    tifffile.imwrite(tmp_path / "a.tif", samples[..., 0])
    mean, spread = samples.astype(float).mean(), 2 * samples.astype(float).std()

    found = shown(tmp_path / "a.tif", "stretch=sigma:2 gamma=1.8")

    assert np.array_equal(found, expected(samples, [(mean - spread, mean + spread)], 1.8))


def test_all_bands_have_one_range_where_it_is_declared(tmp_path: Path) -> None:
    """That keeps a scene's own colours."""
    samples = scene(3, "uint16")
    tifffile.imwrite(tmp_path / "a.tif", samples, photometric="rgb")
    limits = tuple(np.percentile(samples.astype(float), [1, 99]))

    found = shown(tmp_path / "a.tif", "stretch=percentile:1:99 per=image")

    assert np.array_equal(found, expected(samples, [limits] * 3))


@pytest.mark.parametrize("told", ["tag", "declared"])
def test_nodata_counts_for_no_limit_and_is_white(tmp_path: Path, told: str) -> None:
    """Whether the file's own tag names its value, or whoever declares."""
    samples = scene(1, "int16")
    samples[:64] = -9999
    tags = [(42113, "s", 0, "-9999", True)] if told == "tag" else []
    tifffile.imwrite(tmp_path / "a.tif", samples[..., 0], extratags=tags)

    found = shown(tmp_path / "a.tif", "stretch=percentile:2:98" + (" nodata=-9999" if told == "declared" else ""))

    valued = expected(samples, percentiles(samples[64:]))
    assert np.array_equal(found[64:], valued[64:]) and (found[:64] == 255).all()


def test_nodata_in_one_band_alone_is_a_value(tmp_path: Path) -> None:
    """A pixel without any holds it in all bands that are shown."""
    samples = scene(3, "uint16")
    samples[:32, :, 1] = 0
    samples[32:64] = 0
    tifffile.imwrite(tmp_path / "a.tif", samples, photometric="rgb", extratags=[(42113, "s", 0, "0", True)])

    found = shown(tmp_path / "a.tif", "stretch=minmax")

    rest = np.concatenate([samples[:32], samples[64:]])
    limits = [(rest[..., band].min(), rest[..., band].max()) for band in range(3)]
    assert (found[32:64] == 255).all() and np.array_equal(found[:32], expected(samples[:32], limits))


@pytest.mark.parametrize("told", ["-3.40282e+38", "-3.4028234663852886e+38"])
def test_a_mark_that_a_writer_has_cut_short_is_nodata(tmp_path: Path, told: str) -> None:
    """No measurement has that size."""
    samples = scene(1, "float32")
    samples[:64] = np.finfo(np.float32).min
    tifffile.imwrite(tmp_path / "a.tif", samples[..., 0], extratags=[(42113, "s", 0, told, True)])

    found = shown(tmp_path / "a.tif", "stretch=minmax")

    limits = [(samples[64:].min(), samples[64:].max())]
    assert (found[:64] == 255).all() and np.array_equal(found[64:], expected(samples[64:], limits))


@pytest.mark.parametrize(("bits", "extra"), [(8, "assocalpha"), (16, "assocalpha"), (24, None)])
def test_what_no_display_is_of_is_refused(tmp_path: Path, bits: int, extra: str | None) -> None:
    """Alpha that is in the colours already, and samples that fill no type."""
    if extra:
        samples = np.full((64, 64, 4), 100, f"uint{bits}")
        tifffile.imwrite(tmp_path / "a.tif", samples, photometric="rgb", extrasamples=[extra])
    else:
        tifffile.imwrite(tmp_path / "a.tif", np.zeros((64, 64), np.uint32))
        content = (tmp_path / "a.tif").read_bytes()
        tag = b"\x02\x01\x03\x00\x01\x00\x00\x00"  # BitsPerSample, one short
        assert tag + b"\x20\x00" in content
        (tmp_path / "a.tif").write_bytes(content.replace(tag + b"\x20\x00", tag + b"\x18\x00"))
    with pytest.raises(ImageUnsupportedError, match=r"premultiplied alpha|samples of 24 bits"):
        shown(tmp_path / "a.tif", "stretch=minmax")
    if (bits, extra) == (8, "assocalpha"):
        assert (shown(tmp_path / "a.tif", "") == 255 - 100 + 100).all() and cached_remarks(tmp_path / "a.tif") == ()


def test_what_is_no_number_is_white(tmp_path: Path) -> None:
    """NaN of an elevation model; infinities are black and white."""
    samples = scene(1, "float32")
    samples[:10], samples[10:12], samples[12:14] = np.nan, np.inf, -np.inf
    tifffile.imwrite(tmp_path / "a.tif", samples[..., 0])

    found = shown(tmp_path / "a.tif", "stretch=minmax")

    assert (found[:12] == 255).all() and (found[12:14] == 0).all()
    assert np.array_equal(found[14:], expected(samples[14:], [(samples[14:].min(), samples[14:].max())]))


def test_a_region_may_have_limits_of_its_own(tmp_path: Path) -> None:
    """Where it is declared; else a region has the colours of the whole."""
    samples = scene(1, "uint16")
    tifffile.imwrite(tmp_path / "a.tif", samples[..., 0])
    part, region = samples[:, :128], f"0,0,128,{_SIDE}"

    own = render(tmp_path / "a.tif", View(image="x", show="stretch=minmax per=region", region=region), SMALL_BUDGET)
    of_whole = render(tmp_path / "a.tif", View(image="x", show="stretch=minmax", region=region), SMALL_BUDGET)

    assert own.tone == f"bands=1 limits={part.min()}:{part.max()}"
    assert of_whole.tone == f"bands=1 limits={samples.min()}:{samples.max()}"


def test_16_bits_of_png_and_jpeg_2000_and_12_of_jpeg(tmp_path: Path) -> None:
    """Are decoded whole, to every bit."""
    grey, rgb = scene(1, "uint16")[..., 0], scene(3, "uint16")
    Image.fromarray(grey).save(tmp_path / "grey.png")
    (tmp_path / "rgb.jp2").write_bytes(imagecodecs.jpeg2k_encode(rgb, level=0))
    (tmp_path / "grey.jp2").write_bytes(imagecodecs.jpeg2k_encode(grey, level=0))
    radiograph = imagecodecs.jpeg8_encode(np.minimum(grey, 4095), level=100, bitspersample=12)
    (tmp_path / "grey.jpg").write_bytes(radiograph)

    for name in ("grey.png", "grey.jp2"):
        assert np.array_equal(shown(tmp_path / name, "window=1000:800"), expected(grey[..., None], [(600, 1400)]))
    assert np.array_equal(
        shown(tmp_path / "rgb.jp2", "bands=3,2,1 stretch=range:600:1400"), expected(rgb[..., ::-1], [(600, 1400)] * 3)
    )
    decoded = imagecodecs.jpeg8_decode(radiograph)
    assert np.array_equal(shown(tmp_path / "grey.jpg", "window=1000:800"), expected(decoded[..., None], [(600, 1400)]))


def test_alpha_of_16_bits_shows_white_beneath(tmp_path: Path) -> None:
    """And transparent pixels count for no limit."""
    samples = scene(4, "uint16")
    samples[..., 3] = 65535
    samples[:64] = 0
    tifffile.imwrite(tmp_path / "a.tif", samples, photometric="rgb", extrasamples=["unassalpha"])

    found = shown(tmp_path / "a.tif", "stretch=percentile:2:98")

    valued = samples[64:, :, :3]
    assert (found[:64] == 255).all() and np.array_equal(found[64:], expected(valued, percentiles(valued)))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("told", ["-1.7976931348623157e+308", "1.7976931348623157e+308", "inf", "-inf", "nan", "1e31"])
def test_a_mark_that_no_sample_holds_hides_none(tmp_path: Path, dtype: str, told: str) -> None:
    """Such as that of doubles in a file of single precision, and infinity."""
    samples = scene(1, dtype)
    tifffile.imwrite(tmp_path / "a.tif", samples[..., 0], extratags=[(42113, "s", 0, told, True)])
    found = shown(tmp_path / "a.tif", "stretch=minmax")
    assert np.array_equal(found, expected(samples, [(samples.min(), samples.max())]))


def test_classes_are_shown_in_their_files_colours(tmp_path: Path) -> None:
    """And those that mean nothing white."""
    classes = np.random.default_rng(0).integers(0, 5, (_SIDE, _SIDE), np.uint8)
    table = np.random.default_rng(1).integers(0, 255, (3, 256), np.uint8).astype(np.uint16) * 257
    tifffile.imwrite(tmp_path / "a.tif", classes, photometric="palette", colormap=table)

    found = shown(tmp_path / "a.tif", "palette nodata=0")

    assert (found[classes == 0] == 255).all()
    assert np.array_equal(found[classes > 0], (table.T[classes] >> 8)[classes > 0])


def test_classes_whose_header_calls_for_grey_are_shown_in_the_colours_of_their_table(tmp_path: Path) -> None:
    """As rasterio writes a colour map behind the pixels; undeclared, they are grey, with a word."""
    classes = np.random.default_rng(0).integers(0, 4, (1, _SIDE, _SIDE), np.uint8)
    path, table = tmp_path / "a.tif", np.array([[0, 0, 200], [230, 220, 150], [0, 160, 0], [255, 0, 0]], np.uint8)
    with rasterio.open(path, "w", driver="GTiff", width=_SIDE, height=_SIDE, count=1, dtype="uint8") as file:
        file.write(classes)
        file.write_colormap(1, {number: (*map(int, colour), 255) for number, colour in enumerate(table)})
    np.testing.assert_array_equal(shown(path, "palette"), table[classes[0]])
    np.testing.assert_array_equal(shown(path, "")[..., 0], classes[0])
    assert any("`show` palette" in remark for remark in cached_remarks(path))
    samples = cached_samples(path)
    assert propose_displays(samples.native, samples)[0] == "palette"


def test_a_pyramid_changes_no_pixel(tmp_path: Path) -> None:
    """One of the colours that are shown, beside those of other displays; a key names a display's pixels."""
    samples = np.tile(scene(1, "uint16")[..., 0], (16, 17))
    tifffile.imwrite(tmp_path / "a.tif", samples)
    views = [View(image="x", show=show) for show in ("window=1000:800", "stretch=minmax")]

    def recipe(view: View) -> Recipe:
        return plan_raster(cached_identity(tmp_path / "a.tif", None, view.show), view, SMALL_BUDGET, 1)

    first = [render(tmp_path / "a.tif", view, SMALL_BUDGET) for view in views]
    for view in views:
        made = recipe(view)
        assert make_pyramid(tmp_path / "a.tif", tmp_path / "pyramids", digest=made.digest, tone=made.tone)
        assert pyramid_path(made.digest, tmp_path / "pyramids", made.tone).exists()
    again = [render(tmp_path / "a.tif", view, SMALL_BUDGET, pyramids=tmp_path / "pyramids") for view in views]

    assert first[0].key != first[1].key
    for before, after in zip(first, again, strict=True):
        assert before.key == after.key and np.array_equal(before.pixels, after.pixels)
    whole = np.asarray(
        Image.fromarray(expected(samples[..., None], [(600, 1400)])).resize(
            first[0].pixels.shape[1::-1], Image.Resampling.BICUBIC
        )
    )
    assert psnr(first[0].pixels, whole) > 45


@pytest.mark.parametrize(
    ("show", "told"),
    [
        ("bands=1", "needs what is black and white"),
        ("bands=9,3,2 stretch=minmax", "has 7 bands, and `show` asks for band 9"),
        ("stretch=minmax", "say which are shown"),
        ("palette", "has no palette"),
    ],
)
def test_what_cannot_be_shown_so_is_told(tmp_path: Path, show: str, told: str) -> None:
    """By the file's own number of bands and bits, with what would do."""
    tifffile.imwrite(tmp_path / "a.tif", scene(7, "uint16"), photometric="minisblack", planarconfig="contig")
    with pytest.raises(PixelTypeError, match=r"a\.tif: has") as refused:
        shown(tmp_path / "a.tif", show)
    assert told in str(refused.value)


def test_no_declaration_is_no_guess(tmp_path: Path) -> None:
    """A file of more than 8 bits is refused as ever, with the command that proposes how it could be shown."""
    tifffile.imwrite(tmp_path / "a.tif", scene(1, "uint16")[..., 0])
    with pytest.raises(PixelTypeError, match=r"`gigavqa show .*a\.tif`"):
        shown(tmp_path / "a.tif", "")


def test_a_raster_of_a_part_is_cut_of_the_whole(tmp_path: Path) -> None:
    """At full resolution, whatever else is looked at."""
    samples = scene(1, "uint16")
    tifffile.imwrite(tmp_path / "a.tif", samples[..., 0], tile=(64, 64))
    whole = shown(tmp_path / "a.tif", "stretch=percentile:2:98")
    region = Region(32, 64, 128, 128)
    part = render(tmp_path / "a.tif", View(image="x", show="stretch=percentile:2:98", region=str(region)), SMALL_BUDGET)
    enlarged = np.asarray(
        Image.fromarray(whole[64:192, 32:160]).resize(part.pixels.shape[1::-1], Image.Resampling.BICUBIC)
    )
    assert psnr(part.pixels, enlarged) > 50
