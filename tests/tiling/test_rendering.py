"""A raster is what the model's own preprocessing would have made of the full image, at 45 dB or more."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from gigavqa.catalogue.families.qwen import QwenBudget
from gigavqa.tiling.errors import BudgetError, RegionError
from gigavqa.tiling.geometry import Region, Size, resolve_region
from gigavqa.tiling.levels import OVERSAMPLING, choose_level
from gigavqa.tiling.recipes import identify, plan_raster
from gigavqa.tiling.rendering import Raster, render
from gigavqa.tiling.sources import Level
from gigavqa.tiling.views import View
from tests.tiling.pictures import SMALL_BUDGET, Pixels, as_pillow_sees, psnr, save_pyramid, textured

WIDTH, HEIGHT = 2677, 1505  # odd, so that levels are rounded
NAMES = ["a.png", "pyramid.tif", "a.jpg", "a.webp", "strips.tif"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same textured picture in every layout; the JPEG is a picture of its own, decoded."""
    folder = tmp_path_factory.mktemp("rendering")
    pixels = textured(WIDTH, HEIGHT)
    picture = Image.fromarray(pixels)
    picture.save(folder / "a.png", compress_level=1)
    picture.save(folder / "a.jpg", quality=95, subsampling=0)
    picture.save(folder / "a.webp", lossless=True, method=0, quality=0)
    picture.save(folder / "strips.tif")
    save_pyramid(pixels, folder / "pyramid.tif")
    return folder


_decoded = cache(as_pillow_sees)
"""Of pictures that stay as they are."""


def full_image_preprocessed(path: Path, view: View, raster: Size) -> Pixels:
    """What Pillow makes of the decoded full image: crop, the view's own downsampling, the family's resize."""
    pixels = _decoded(path)
    region = resolve_region(view.region, Size(pixels.shape[1], pixels.shape[0]))
    x, y, width, height = region
    picture = Image.fromarray(pixels[y : y + height, x : x + width])
    own = view.downsampled(region.size)
    if own != region.size:
        picture = picture.resize(own, Image.Resampling.BICUBIC)
    return np.asarray(picture.resize(raster, Image.Resampling.BICUBIC))


VIEWS = {
    "thumbnail": View(image="x", sizing="longest:512"),
    "small thumbnail": View(image="x", sizing="longest:200"),
    "full": View(image="x"),
    "quadrant": View(image="x", region="1339,753,1338,752"),
    "odd crop": View(image="x", region="333,201,1111,701"),
    "enlarged crop": View(image="x", region="100,103,90,91"),
    "long crop": View(image="x", region="0,700,2677,90"),
    "one pixel": View(image="x", region="2676,1504,1,1"),
    "fitted": View(image="x", sizing="fit:32:65536:1000000"),
    "fitted crop": View(image="x", region="333,201,1111,701", sizing="fit:32:65536:8294400:28"),
    "enlarged to fit": View(image="x", region="100,103,135,76", sizing="fit:32:65536:8294400:28"),
    "sliver, to fit": View(image="x", region="1200,10,12,1400", sizing="fit:32:65536:8294400:28"),
}


@pytest.mark.parametrize(
    "name", [name if name in ("a.jpg", "pyramid.tif") else pytest.param(name, marks=pytest.mark.slow) for name in NAMES]
)
@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_every_view_matches_the_full_image_preprocessed(folder: Path, name: str, view: View) -> None:
    """Against Pillow's bicubic, whatever level was read."""
    raster = render(folder / name, view, SMALL_BUDGET)
    assert psnr(raster.pixels, full_image_preprocessed(folder / name, view, _size(raster))) >= 45


@pytest.mark.parametrize("name", ["a.png", "pyramid.tif", "a.jpg"])
def test_a_four_times_smaller_view_matches_torchvisions_resize(folder: Path, name: str) -> None:
    """The families' fast processors resize in torch: bicubic with antialiasing, on 8 bits."""
    budget = QwenBudget(factor=32, min_pixels=1024, max_pixels=(WIDTH // 4) * (HEIGHT // 4))
    raster = render(folder / name, View(image="x"), budget)
    full = torch.from_numpy(_decoded(folder / name).copy()).permute(2, 0, 1)[None]
    resized = torch.nn.functional.interpolate(full, _size(raster)[::-1], mode="bicubic", antialias=True)
    assert psnr(raster.pixels, resized[0].permute(1, 2, 0).numpy()) >= 45


@pytest.mark.parametrize("name", NAMES)
def test_a_region_that_is_its_own_raster_is_not_touched(folder: Path, name: str) -> None:
    """A crop whose size is a fixed point keeps the original pixels."""
    raster = render(folder / name, View(image="x", region="64,96,480,512"), SMALL_BUDGET)
    expected = _decoded(folder / name)[96:608, 64:544]
    assert psnr(raster.pixels, expected) > (50 if name == "a.jpg" else 98)


@pytest.mark.parametrize("orientation", [2, 3, 4, 5, 6, 7, 8])
@pytest.mark.parametrize("suffix", ["jpg", "tif"])
def test_regions_are_in_the_oriented_frame(tmp_path: Path, orientation: int, suffix: str) -> None:
    """Resized in the stored frame and turned at the end, for every orientation."""
    path = tmp_path / f"turned.{suffix}"
    exif = Image.Exif()
    exif[0x0112] = orientation
    Image.fromarray(textured(1201, 907)).save(path, exif=exif, quality=95, subsampling=0)
    for view in (View(image="x"), View(image="x", region="11,500,890,390"), View(image="x", sizing="longest:257")):
        raster = render(path, view, SMALL_BUDGET)
        assert psnr(raster.pixels, full_image_preprocessed(path, view, _size(raster))) >= 45


def test_a_raster_says_where_it_comes_from(tmp_path: Path) -> None:
    """Provenance for the response: source, region, level, tokens."""
    view = View(image="x", region="pct:0,0,50,100", sizing="longest:300")
    save_pyramid(np.tile(textured(2250, 1802), (2, 2, 1)), tmp_path / "pyramid.tif", "none")
    raster = render(tmp_path / "pyramid.tif", view, SMALL_BUDGET)
    assert (raster.view, raster.source_format, raster.source_size) == (view, "tiff", (4500, 3604))
    assert raster.region == Region(0, 0, 2250, 3604)
    assert (raster.level, raster.downsample) == (1, 2.0)
    assert raster.visual_tokens == raster.pixels.size // 3 // 32**2
    assert raster.pixels.dtype == np.uint8
    assert raster.pixels.flags.c_contiguous


@pytest.mark.parametrize(
    ("target", "level"),
    [((2048, 2048), 0), ((1024, 1024), 1), ((1025, 1024), 0), ((512, 512), 2), ((100, 10), 2), ((9000, 9000), 0)],
)
def test_the_level_is_the_coarsest_of_four_times_the_target(target: tuple[int, int], level: int) -> None:
    """And level 0 where none is."""
    levels = tuple(Level(Size(8192 // scale, 8192 // scale), float(scale)) for scale in (1, 2, 4))
    assert choose_level(levels, Size(8192, 8192), Size(*target), OVERSAMPLING) == level


class TestKey:
    """A raster's key names its pixels."""

    def key(self, path: Path, budget: QwenBudget = SMALL_BUDGET, **view: str) -> str:
        """The key of a view, planned without reading a pixel."""
        return plan_raster(identify(path), View(image="x", **view), budget, 1).key

    def test_it_is_the_key_of_the_rendered_raster(self, folder: Path) -> None:
        """Planned or painted."""
        assert render(folder / "a.jpg", View(image="x"), SMALL_BUDGET).key == self.key(folder / "a.jpg")

    def test_ways_to_say_the_same_region_share_it(self, folder: Path) -> None:
        """The resolved region counts, not its text."""
        path = folder / "a.png"
        assert (
            self.key(path) == self.key(path, region=f"0,0,{WIDTH},{HEIGHT}") == self.key(path, region="pct:0,0,100,100")
        )

    def test_whatever_changes_pixels_changes_it(self, folder: Path) -> None:
        """Content, region, sizing and raster size."""
        path = folder / "a.png"
        other_budget = QwenBudget(factor=28, min_pixels=65536, max_pixels=512 * 512)
        keys = {
            self.key(path),
            self.key(folder / "strips.tif"),
            self.key(path, region="0,0,900,900"),
            self.key(path, region="1,0,900,900"),
            self.key(path, sizing="longest:600"),
            self.key(path, sizing="longest:599"),
            self.key(path, other_budget),
        }
        assert len(keys) == 7


def _size(raster: Raster) -> Size:
    return Size(raster.pixels.shape[1], raster.pixels.shape[0])


@pytest.mark.parametrize("region", ["0,0,2000,1", "0,0,3000,10"])
def test_a_view_that_cannot_be_planned_names_its_image(folder: Path, region: str) -> None:
    """Too long for the family, or outside the image: among thousands of pictures it must be found."""
    with pytest.raises((BudgetError, RegionError), match=r"^a\.png \(2677x1505\): "):
        render(folder / "a.png", View(image="a.png", region=region), SMALL_BUDGET)
