"""What is shown under one key is one set of pixels, those of the whole image: after ingest as before, to every edge."""

from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
import tifffile
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageOps

from gigavqa.catalogue.families.qwen import QwenBudget
from gigavqa.tiling import levels
from gigavqa.tiling.file_facts import cached_read_plan
from gigavqa.tiling.files import OpenFile
from gigavqa.tiling.geometry import Region
from gigavqa.tiling.ingest import ingest, make_pyramid
from gigavqa.tiling.jpeg import find_frame
from gigavqa.tiling.renderer import Renderer
from gigavqa.tiling.rendering import Raster, render
from gigavqa.tiling.roots import ImageRoot
from gigavqa.tiling.views import View
from tests.tiling.pictures import Pixels, as_pillow_sees, grained, lined, noisy, psnr, ringed, written

WIDTH, HEIGHT = 1501, 1203  # odd
FINE = 2251, 1803
FILES = ["a.png", "a.jpg", "strips.tif", "tiles.tif", "strided.tif", "turned.png", "turned.jpg"]
VIEWS = [
    View(image="x"),
    *(View(image="x", sizing=f"longest:{side}") for side in (100, 33, 20)),
    View(image="x", region="401,269,800,533"),
    View(image="x", region="1001,668,200,533"),
]
BUDGET = QwenBudget(factor=16, min_pixels=85 * 85, max_pixels=170 * 170)


@pytest.fixture(scope="module", autouse=True)
def _small_are_large() -> Iterator[None]:
    """Levels are made of small pictures, too, so that there can be many."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(levels, "LARGE_PIXELS", 1)
        patch.setattr(levels, "SMALLEST", 16)
        yield


def sheet(width: int, height: int) -> Pixels:
    """Text, lines and noise, each on a third."""
    parts = (make(width, height) for make in (written, lined, noisy))
    return np.concatenate([part[: height // 3 + number] for number, part in enumerate(parts)])[:height]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sheet in every layout of which a pyramid is made."""
    folder = tmp_path_factory.mktemp("same")
    pixels = sheet(WIDTH, HEIGHT)
    picture, turned = Image.fromarray(pixels), Image.Exif()
    turned[0x0112] = 6
    picture.save(folder / "a.png", compress_level=1)
    picture.save(folder / "a.jpg", quality=90)
    picture.save(folder / "turned.png", compress_level=1, exif=turned)
    picture.save(folder / "turned.jpg", quality=90, exif=turned)
    picture.save(folder / "strips.tif")
    tifffile.imwrite(folder / "tiles.tif", pixels, photometric="rgb", tile=(176, 176), compression="zlib")
    with tifffile.TiffWriter(folder / "strided.tif") as writer:
        for step in (1, 2, 4):
            writer.write(pixels[::step, ::step], photometric="rgb", tile=(176, 176), subfiletype=int(step > 1))
    return folder


@pytest.mark.parametrize("name", FILES)
def test_a_raster_is_the_same_before_and_after_ingest(data: Path, tmp_path: Path, name: str) -> None:
    """For a worker and for `view`, to the last bit."""
    views = [view.model_copy(update={"image": name}) for view in VIEWS]
    library = Renderer(ImageRoot(data), tmp_path, cache_bytes=0)
    before = [library.render(view, BUDGET) for view in views]
    assert make_pyramid(data / name, tmp_path)
    after = [library.render(view, BUDGET) for view in views]
    alone = [render(data / name, view, BUDGET, pyramids=tmp_path) for view in views]
    for one, others in zip(before, zip(after, alone, strict=True), strict=True):
        for other in others:
            assert (other.key, other.level) == (one.key, one.level)
            np.testing.assert_array_equal(other.pixels, one.pixels)


def test_of_an_image_with_levels_of_its_own_a_pyramid_changes_nothing(tmp_path: Path) -> None:
    """It can be had by force, and is then an image of its own."""
    path = floored_pyramid(sheet(WIDTH, HEIGHT), tmp_path / "slide.tif")
    before = render(path, VIEWS[0], BUDGET, pyramids=tmp_path)
    ingest(path, tmp_path)
    np.testing.assert_array_equal(render(path, VIEWS[0], BUDGET, pyramids=tmp_path).pixels, before.pixels)


def floored_pyramid(pixels: Pixels, path: Path, orientation: int = 1) -> Path:
    """Levels of averages, of which what is left over on the right and below was cut off, as scanners do."""
    turned = [(0x0112, "H", 1, orientation, True)]
    with tifffile.TiffWriter(path) as writer:
        for number in range(4):
            if number:
                height, width = (side // 2 * 2 for side in pixels.shape[:2])
                pixels = np.asarray(Image.fromarray(pixels[:height, :width]).reduce(2))
            options = {"subfiletype": 1} if number else {"extratags": turned}
            writer.write(pixels, photometric="rgb", tile=(64, 64), compression="zlib", metadata=None, **options)
    return path


def test_the_last_row_and_column_are_seen_though_no_level_has_them(tmp_path: Path) -> None:
    """Black about a sheet, one pixel wide, which is what every level cut off."""
    pixels = np.pad(written(361, 361), ((20, 20), (20, 20), (0, 0)), constant_values=255)
    pixels[-1] = pixels[:, -1] = 0
    raster, _ = seen(floored_pyramid(pixels, tmp_path / "a.tif"), (0, 0), 1, 10)
    assert raster.level > 0
    assert raster.pixels[-1].max() < 245
    assert raster.pixels[:, -1].max() < 245


@st.composite
def cases(draw: st.DrawFn) -> tuple[int, int, int, str]:
    """Width and height of any remainder, an orientation, and a kind of file."""
    width, height, orientation = draw(st.integers(401, 460)), draw(st.integers(401, 460)), draw(st.integers(1, 8))
    return width, height, orientation, draw(st.sampled_from(["jpg", "png", "tif"]))


@st.composite
def parts(draw: st.DrawFn) -> tuple[tuple[int, int], float, float]:
    """Which corner a region touches, its share of the sides, and by how much it is made smaller."""
    corner = draw(st.sampled_from([(0, 0), (1, 0), (0, 1), (1, 1)]))
    return corner, draw(st.floats(0.7, 1)), draw(st.floats(4, 14))


@pytest.mark.slow
class TestEdges:
    """Whatever is left over of a size, however the image is turned, and whichever edge a region touches."""

    @given(case=cases(), part=parts())
    @settings(max_examples=60, deadline=None)
    def test_the_last_row_and_column_of_a_region_show_what_lies_there(
        self, case: tuple[int, int, int, str], part: tuple[tuple[int, int], float, float]
    ) -> None:
        """A frame of black around white is seen as Pillow sees it of the whole."""
        width, height, orientation, kind = case
        pixels = np.full((height, width, 3), 255, np.uint8)
        pixels[:5] = pixels[-5:] = 0
        pixels[:, :5] = pixels[:, -5:] = 0
        with TemporaryDirectory() as folder:
            raster, expected = seen(save(pixels, Path(folder) / f"a.{kind}", orientation), *part)
        for edge in (np.s_[0, 2:-2], np.s_[-1, 2:-2], np.s_[2:-2, 0], np.s_[2:-2, -1]):
            assert np.abs(raster.pixels[edge].astype(int) - expected[edge]).max() <= 24

    @given(case=cases(), part=parts())
    @settings(max_examples=60, deadline=None)
    def test_no_seam_shows_where_what_was_cut_off_begins(
        self, case: tuple[int, int, int, str], part: tuple[tuple[int, int], float, float]
    ) -> None:
        """Text is as near to Pillow's beside the edges as elsewhere."""
        width, height, orientation, kind = case
        with TemporaryDirectory() as folder:
            raster, expected = seen(save(written(width, height), Path(folder) / f"a.{kind}", orientation), *part)
        error = np.abs(raster.pixels.astype(int) - expected)
        assert error[[1, -2]].mean() <= 2 * error.mean() + 1
        assert error[:, [1, -2]].mean() <= 2 * error.mean() + 1


@st.composite
def framed(draw: st.DrawFn) -> tuple[Pixels, dict[str, object], int | None]:
    """A black frame around white, sides of any remainder, ways to encode it, and what lies beside it."""
    width, height, frame = (draw(st.integers(*ends)) for ends in ((1001, 1016), (1001, 1016), (0, 7)))
    pixels = np.zeros((height, width, 3), np.uint8)
    pixels[frame : height - frame, frame : width - frame] = 255
    exif = Image.Exif()
    exif[0x0112] = draw(st.integers(1, 8))
    sampling, is_progressive = draw(st.sampled_from([0, 1, 2])), draw(st.booleans())
    return (
        pixels,
        {"exif": exif, "subsampling": sampling, "progressive": is_progressive},
        draw(st.sampled_from([None, 0, 255])),
    )


def save_jpeg(pixels: Pixels, path: Path, options: dict[str, object], beside: int | None) -> Path:
    """A JPEG whose last blocks are filled up with its last pixels, or with a grey `beside` it."""
    height, width = pixels.shape[:2]
    whole = [(0, -side % 8) for side in (height, width)]
    padded = np.pad(pixels, [*whole, (0, 0)], constant_values=beside) if beside is not None else pixels
    Image.fromarray(padded).save(path, quality=95, **options)
    content = bytearray(path.read_bytes())
    with OpenFile(path) as file:
        frame = find_frame(file)
    assert frame is not None
    content[frame.at + 5 : frame.at + 9] = height.to_bytes(2) + width.to_bytes(2)
    path.write_bytes(content)
    return path


@pytest.mark.slow
@given(case=framed(), part=parts(), reduction=st.floats(12, 60))
@settings(max_examples=80, deadline=None)
def test_a_frame_is_seen_as_pillow_sees_it_at_every_scale_of_a_jpeg(
    case: tuple[Pixels, dict[str, object], int | None], part: tuple[tuple[int, int], float, float], reduction: float
) -> None:
    """Whatever lies beside the image in its last blocks."""
    pixels, options, beside = case
    with TemporaryDirectory() as folder:
        path = save_jpeg(pixels, Path(folder) / "a.jpg", options, beside)
        raster, expected = seen(path, *part[:2], reduction)
    assert raster.level > 0
    for edge in (np.s_[0, 2:-2], np.s_[-1, 2:-2], np.s_[2:-2, 0], np.s_[2:-2, -1]):
        assert np.abs(raster.pixels[edge].astype(int) - expected[edge]).max() <= 24


@st.composite
def regions(draw: st.DrawFn) -> Region:
    """A part of a picture of 397 x 401 pixels, at an edge of it or not."""
    x, y = draw(st.integers(0, 200)), draw(st.integers(0, 200))
    width, height = draw(st.integers(120, 397 - x)), draw(st.integers(120, 401 - y))
    return Region(x, y, width, height)


@pytest.mark.slow
@given(
    region=regions(), orientation=st.integers(1, 8), reduction=st.floats(4, 20), kind=st.sampled_from(["png", "tif"])
)
@settings(max_examples=60, deadline=None)
def test_a_region_shows_nothing_of_what_lies_around_it(
    region: Region, orientation: int, reduction: float, kind: str
) -> None:
    """Of images that differ everywhere else, its raster is the same."""
    budget = QwenBudget(factor=2, min_pixels=4, max_pixels=int(region.size.area / reduction**2))
    rasters = []
    with TemporaryDirectory() as folder:
        for grey in (0, 255):
            pixels = np.full((401, 397, 3), grey, np.uint8)
            x, y, width, height = region
            pixels[y : y + height, x : x + width] = noisy(width, height)
            path = save(stored(pixels, orientation), Path(folder) / f"{grey}.{kind}", orientation)
            rasters.append(render(path, View(image="x", region=str(region)), budget).pixels)
    np.testing.assert_array_equal(*rasters)


def stored(pixels: Pixels, orientation: int) -> Pixels:
    """The picture as a file of this orientation has it."""
    undo = [0, 0, 2, 3, 4, 5, 8, 7, 6][orientation]
    turns = Image.Exif()
    turns[0x0112] = undo
    image = Image.fromarray(pixels)
    image.info["exif"] = turns.tobytes()
    return np.asarray(ImageOps.exif_transpose(image))


LEAST = {"written": 45, "noisy": 45, "lined": 40, "ringed": 45, "grained": 45}
"""In dB, where a level is just four times as large as the raster: docs/decisions/0006-pixels.md."""
FINE_PICTURES = [written, noisy, lined, ringed, grained]


@pytest.mark.slow
@pytest.mark.parametrize("make", FINE_PICTURES, ids=LEAST)
@pytest.mark.parametrize("kind", ["jpg", "png", "tif"])
def test_fine_structure_keeps_what_the_docs_say(tmp_path: Path, make: Callable[[int, int], Pixels], kind: str) -> None:
    """Of what Pillow makes of the whole, at the reductions that are worst."""
    path = save(make(*FINE), tmp_path / f"a.{kind}", 1)
    for reduction in (4.01, 8.02, 16.04):
        raster, expected = seen(path, (0, 0), 1, reduction)
        assert psnr(raster.pixels[2:-2, 2:-2], expected[2:-2, 2:-2]) >= LEAST[make.__name__]


@pytest.mark.parametrize("make", FINE_PICTURES, ids=LEAST)
def test_scales_of_a_lossy_jpeg_keep_as_much(tmp_path: Path, make: Callable[[int, int], Pixels]) -> None:
    """Full decoding cuts off what overshoots black and white, of which scales know nothing."""
    path = tmp_path / "a.jpg"
    Image.fromarray(make(*FINE)).save(path, quality=75, subsampling=2)
    for level, reduction in enumerate((12.02, 24.04, 48.08), 1):
        raster, expected = seen(path, (0, 0), 1, reduction)
        assert raster.level == level
        assert psnr(raster.pixels[2:-2, 2:-2], expected[2:-2, 2:-2]) >= LEAST[make.__name__]


def save(pixels: Pixels, path: Path, orientation: int) -> Path:
    """A flat picture, or a pyramid whose levels were cut off."""
    if path.suffix == ".tif":
        return floored_pyramid(pixels, path, orientation)
    exif = Image.Exif()
    exif[0x0112] = orientation
    Image.fromarray(pixels).save(path, exif=exif, quality=95, subsampling=0)
    return path


def seen(path: Path, corner: tuple[int, int], share: float, reduction: float) -> tuple[Raster, Pixels]:
    """A region that touches two edges, made so much smaller, and what Pillow makes of the whole."""
    whole = as_pillow_sees(path)
    width, height = int(whole.shape[1] * share), int(whole.shape[0] * share)
    region = Region(corner[0] * (whole.shape[1] - width), corner[1] * (whole.shape[0] - height), width, height)
    area = int(region.size.area / reduction**2)
    budget = QwenBudget(factor=2, min_pixels=4, max_pixels=area)
    raster = render(path, View(image="x", region=str(region)), budget)
    part = Image.fromarray(whole[region.y : region.y + height, region.x : region.x + width])
    assert cached_read_plan(path).remarks == ()
    return raster, np.asarray(part.resize(raster.pixels.shape[1::-1], Image.Resampling.BICUBIC))
