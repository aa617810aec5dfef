"""What headers tell of the world that pixels lie in, and what they leave open."""

from pathlib import Path

import tifffile

from gigavqa.tiling.headers import read_header
from gigavqa.tiling.scale import Georeference, ImageScale
from tests.tiling.pictures import textured
from tests.tiling.test_damaged_files import save_svs
from tests.tiling.test_sources import save_ome

PIXELS = textured(300, 200, seed=3)
PLACE = Georeference("EPSG:4326", (1e-5, 0, 8.5, 0, -1e-5, 47.4), is_geographic=True)


def test_slides_tell_the_side_of_a_pixel(tmp_path: Path) -> None:
    """In metres, as the scanner wrote it in microns."""
    save_svs(tmp_path / "slide.svs")
    save_ome(PIXELS, tmp_path / "slide.ome.tif")
    assert read_header(tmp_path / "slide.svs").scale == ImageScale(0.5e-6, 0.5e-6)
    assert read_header(tmp_path / "slide.ome.tif").scale == ImageScale(0.25e-6, 0.25e-6)


def test_the_resolution_of_a_print_is_no_scale(tmp_path: Path) -> None:
    """Dots per centimetre are those of a scanner's glass, or what an editor writes by itself."""
    scan = tmp_path / "scan.tif"
    tifffile.imwrite(scan, PIXELS, photometric="rgb", resolution=(118, 118), resolutionunit="CENTIMETER")
    ome = tmp_path / "unnamed.ome.tif"
    tifffile.imwrite(ome, PIXELS, photometric="rgb", resolution=(118, 118), resolutionunit="CENTIMETER", ome=True)
    assert read_header(scan).scale is None
    assert read_header(ome).scale is None


def test_what_turns_keeps_its_sides_and_loses_north() -> None:
    """Sides change places with the axes."""
    scale = ImageScale(1.0, 2.0, north=0.0, place=PLACE)
    assert scale.oriented(1) == scale
    assert scale.oriented(3) == ImageScale(1.0, 2.0)
    assert scale.oriented(6) == ImageScale(2.0, 1.0)
