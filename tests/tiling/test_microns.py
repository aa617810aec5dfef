"""Regions and sizes in microns, from what the file says of its pixels."""

import pickle
from pathlib import Path

import numpy as np
import pytest
import tifffile
from PIL import Image

from gigavqa.tiling.errors import BudgetError, RegionError
from gigavqa.tiling.geometry import ImageFrame, MicronsPerPixel, Region, Size, resolve_region
from gigavqa.tiling.headers import read_header
from gigavqa.tiling.rendering import render
from gigavqa.tiling.slides.microns import micron_resolvers, scaled_to_microns
from gigavqa.tiling.views import View, check_sizing, plan_view
from tests.tiling.pictures import SMALL_BUDGET, psnr, textured
from tests.tiling.slide_files.mirax import write_mirax

PICTURE = textured(512, 512)
FINE = MicronsPerPixel(0.25, 0.5)


def frame(microns: MicronsPerPixel) -> ImageFrame:
    """An image of 1000 x 800 pixels of this size."""
    return ImageFrame.of(Size(1000, 800), micron_resolvers(microns), microns)


@pytest.mark.parametrize(
    ("text", "region"),
    [
        ("um:0,0,250,400", Region(0, 0, 1000, 800)),
        ("um:10,10,25,25", Region(40, 20, 100, 50)),
        ("um:10.1,10.1,0.1,0.1", Region(40, 20, 1, 1)),
        ("um:0.2,0.2,0.1,0.4", Region(0, 0, 2, 2)),
    ],
)
def test_a_region_in_microns_is_the_pixels_that_enclose_it(text: str, region: Region) -> None:
    """Pixels that are twice as high as wide; also after a pickle, as between processes."""
    assert resolve_region(text, frame(FINE)) == region
    assert resolve_region(text, pickle.loads(pickle.dumps(frame(FINE)))) == region


def test_what_binary_fractions_add_is_no_further_pixel() -> None:
    """Whole pixels of a tenth of a micron are those pixels, wherever they lie."""
    size = frame(MicronsPerPixel(0.1, 0.1))
    for x in range(0, 990, 7):
        assert resolve_region(f"um:{x / 10},0,0.3,0.1", size) == Region(x, 0, 3, 1)


def test_a_region_outside_of_the_image_is_refused() -> None:
    """As pixels are; and where no pixel's size is known, any."""
    with pytest.raises(RegionError, match="reaches outside"):
        resolve_region("um:0,0,251,1", frame(FINE))
    with pytest.raises(RegionError, match="empty"):
        resolve_region("um:1,1,0,1", frame(FINE))
    with pytest.raises(RegionError, match="its file has no microns per pixel"):
        resolve_region("um:0,0,1,1", Size(1000, 800))


def test_a_sizing_in_microns_makes_pixels_square() -> None:
    """It never enlarges, but for what scanners differ by."""
    assert scaled_to_microns(Size(400, 200), FINE, 1) == (100, 100)
    assert scaled_to_microns(Size(400, 200), MicronsPerPixel(0.2521, 0.2521), 0.25) == (400, 200)
    with pytest.raises(BudgetError, match=r"would enlarge the image, which has 0\.5 microns per pixel"):
        scaled_to_microns(Size(400, 200), MicronsPerPixel(0.5, 0.5), 0.25)
    with pytest.raises(BudgetError, match="needs microns per pixel, which the image's file does not say"):
        scaled_to_microns(Size(400, 200), None, 0.5)
    assert check_sizing("mpp=0.50") == "mpp:0.5"
    with pytest.raises(ValueError, match="mpp:MICRONS"):
        check_sizing("mpp:0")


def test_a_slide_is_rendered_at_microns(tmp_path: Path) -> None:
    """Half of a region's pixels on each side at twice the microns; the same by pixels."""
    path = write_mirax(tmp_path / "one.mrxs", PICTURE)
    assert read_header(path).size.microns_per_pixel == (0.25, 0.26)
    view = View(image="one.mrxs", region="um:0,0,128,133.12", sizing="mpp=0.5")
    assert plan_view(read_header(path).size, view, SMALL_BUDGET).downsampled == (256, 266)
    raster = render(path, view, SMALL_BUDGET)
    assert raster.region == Region(0, 0, 512, 512)
    assert psnr(raster.pixels, np.asarray(Image.fromarray(PICTURE).resize(raster.pixels.shape[1::-1]))) > 30


def test_a_tiff_says_its_microns_by_its_resolution(tmp_path: Path) -> None:
    """In pixels per centimetre, each axis its own; turned with the image."""
    path = tmp_path / "scan.tif"
    options = {"photometric": "rgb", "resolution": (40000, 20000), "resolutionunit": "CENTIMETER"}
    tifffile.imwrite(path, PICTURE[:100], extratags=[(274, 3, 1, 6, True)], **options)
    size = read_header(path).size
    assert (size, size.microns_per_pixel) == ((100, 512), (0.5, 0.25))
