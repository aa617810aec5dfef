"""What headers tell of the world that pixels lie in, and what they leave open."""

from pathlib import Path

import pytest
import tifffile

from gigavqa.tiling.ground.scale import ImageScale, scale_of
from gigavqa.tiling.headers import Header, read_header
from tests.tiling.earth import write_geotiff
from tests.tiling.pictures import textured
from tests.tiling.test_damaged_files import save_svs
from tests.tiling.test_sources import save_ome

PIXELS = textured(300, 200, seed=3)


def scale(path: Path) -> ImageScale | None:
    header: Header = read_header(path)
    return scale_of(header.size, header.geotags)


def test_slides_tell_the_side_of_a_pixel(tmp_path: Path) -> None:
    """In metres, as the scanner wrote it in microns."""
    save_svs(tmp_path / "slide.svs")
    save_ome(PIXELS, tmp_path / "slide.ome.tif")
    assert scale(tmp_path / "slide.svs") == ImageScale(0.5e-6, 0.5e-6)
    assert scale(tmp_path / "slide.ome.tif") == ImageScale(0.25e-6, 0.25e-6)


@pytest.mark.parametrize("told", ["0", "0,499", "1e-320", "-0.5", "0.5.5", "nan", "999999999999"])
def test_a_side_that_no_pixel_has_is_no_scale(tmp_path: Path, told: str) -> None:
    """Neither of a scanner's own words nor of OME's."""
    pixels = textured(64, 48)
    said = f"Aperio Image Library v10\r\n64x48 [0,0 64x48] (64x48)|AppMag = 20|MPP = {told}"
    tifffile.imwrite(tmp_path / "a.svs", pixels, photometric="rgb", tile=(16, 16), description=said, metadata=None)
    assert scale(tmp_path / "a.svs") is None
    sides = {"PhysicalSizeX": told, "PhysicalSizeY": told}
    tifffile.imwrite(tmp_path / "a.ome.tif", pixels, photometric="rgb", metadata={"axes": "YXS", **sides}, ome=True)
    assert scale(tmp_path / "a.ome.tif") is None


def test_the_resolution_of_a_print_is_no_scale(tmp_path: Path) -> None:
    """Dots per centimetre are those of a scanner's glass, or what an editor writes by itself."""
    scan = tmp_path / "scan.tif"
    tifffile.imwrite(scan, PIXELS, photometric="rgb", resolution=(118, 118), resolutionunit="CENTIMETER")
    ome = tmp_path / "unnamed.ome.tif"
    tifffile.imwrite(ome, PIXELS, photometric="rgb", resolution=(118, 118), resolutionunit="CENTIMETER", ome=True)
    assert scale(scan) is None
    assert scale(ome) is None


def test_so_fine_a_resolution_is_that_of_a_specimen(tmp_path: Path) -> None:
    """Slides that were converted have no other place for it."""
    tifffile.imwrite(
        tmp_path / "a.tif", PIXELS, photometric="rgb", resolution=(20_000, 40_000), resolutionunit="CENTIMETER"
    )
    assert scale(tmp_path / "a.tif") == ImageScale(0.5e-6, 0.25e-6)


def test_a_map_tells_metres_north_and_where_it_lies(tmp_path: Path) -> None:
    """In its own system, whose grid north is not the pole's."""
    found = scale(write_geotiff(tmp_path / "map.tif", 32633))
    assert found and found.place
    assert (found.x, found.y) == (10, 10)
    assert found.north == pytest.approx(0.58, abs=0.05)  # 0.7 degrees west of its meridian, times sin(52.3)
    assert found.place == ("EPSG:32633", (10, 0, 450_000, 0, -10, 5_800_000), False)


def test_a_map_of_an_unknown_system_has_no_scale(tmp_path: Path) -> None:
    """Its numbers may be of any unit."""
    assert scale(write_geotiff(tmp_path / "map.tif", None)) is None
