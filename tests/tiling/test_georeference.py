"""Where images lie: transforms, bounds and pixels as GDAL has them, coordinates as PROJ has them."""

import math
from pathlib import Path

import numpy as np
import pytest
import rasterio
from affine import Affine
from pyproj import Geod, Transformer
from rasterio.warp import transform_bounds
from rasterio.windows import from_bounds

from gigavqa.tiling.errors import GeoreferenceError, RegionError
from gigavqa.tiling.geometry import Region, Size, resolve_region
from gigavqa.tiling.ground.georeference import Georeference, georeference_of
from gigavqa.tiling.ground.places import describe_ground, outline_of
from gigavqa.tiling.headers import read_header
from tests.tiling.earth import CENTRES, GRIDS, SIZE, grid_in, north_up, write_geotiff

EVERY_CASE = [(code, grid) for code in CENTRES for grid in GRIDS]
WHOLE = Region(0, 0, *SIZE)


def read(path: Path) -> Georeference:
    return georeference_of(read_header(path).geotags)


def lonlat_text(numbers: object) -> str:
    return "lonlat:" + ",".join(f"{number:.9f}" for number in np.ravel(numbers))  # type: ignore[call-overload]


@pytest.mark.parametrize(("code", "grid"), EVERY_CASE)
def test_transform_and_system_are_gdals(tmp_path: Path, code: int, grid: str) -> None:
    """Written by GDAL, read by us and by GDAL: the same six numbers, and the same code."""
    path = write_geotiff(tmp_path / "a.tif", code, grid_in(code, grid))
    with rasterio.open(path) as file:
        assert read(path).matrix == pytest.approx(tuple(file.transform)[:6], rel=1e-12, abs=1e-9)
        assert read(path).keys.code == file.crs.to_epsg() == code


@pytest.mark.parametrize(("code", "grid"), EVERY_CASE)
def test_corners_are_where_proj_has_them(tmp_path: Path, code: int, grid: str) -> None:
    """In lon and lat, to a thousandth of a pixel."""
    path = write_geotiff(tmp_path / "a.tif", code, grid_in(code, grid))
    corners = np.array([[0, 0], [96, 0], [96, 64], [0, 64]], float)
    ground = [grid_in(code, grid) @ tuple(corner) for corner in corners]
    expected = Transformer.from_crs(code, 4326, always_xy=True).transform(*np.transpose(ground))
    assert read(path).lonlat(corners) == pytest.approx(np.transpose(expected), abs=1e-8)


@pytest.mark.parametrize(("code", "grid"), EVERY_CASE)
def test_an_outline_given_back_is_the_same_region(tmp_path: Path, code: int, grid: str) -> None:
    """What is exported as a polygon in lon and lat is read as the same pixels, of parts and of the whole image."""
    path = write_geotiff(tmp_path / "a.tif", code, grid_in(code, grid))
    for region in (Region(10, 20, 30, 7), Region(95, 63, 1, 1), WHOLE):
        outline = lonlat_text(outline_of(read(path), region))
        assert resolve_region(outline, read_header(path).size) == region


@pytest.mark.parametrize(("code", "grid"), EVERY_CASE)
def test_a_box_in_lon_and_lat_is_enclosed_and_no_more(tmp_path: Path, code: int, grid: str) -> None:
    """Every point of the box lies in the pixels, and on each of their four sides one comes nearer than a pixel."""
    path = write_geotiff(tmp_path / "a.tif", code, grid_in(code, grid))
    centre = read(path).lonlat(np.array([[48.0, 32.0]]))[0]
    reach = np.abs(read(path).lonlat(np.array([[56.0, 32.0], [48.0, 40.0]])) - centre).max(axis=0) / 2
    west, south, east, north = *(centre - reach), *(centre + reach)
    found = resolve_region(lonlat_text([west, south, east, north]), read_header(path).size)
    lon, lat = np.meshgrid(np.linspace(west, east, 101), np.linspace(south, north, 101))
    ground = Transformer.from_crs(4326, code, always_xy=True).transform(lon.ravel(), lat.ravel())
    columns, rows = ~grid_in(code, grid) @ np.array(ground)
    assert found.x - 0.02 <= columns.min() <= found.x + 1
    assert found.x + found.width - 1 <= columns.max() <= found.x + found.width + 0.02
    assert found.y - 0.02 <= rows.min() <= found.y + 1
    assert found.y + found.height - 1 <= rows.max() <= found.y + found.height + 0.02


@pytest.mark.parametrize("code", [code for code in CENTRES if code not in (4326, 4269)])
def test_a_box_on_the_map_has_gdals_window_and_pixels(tmp_path: Path, code: int) -> None:
    """As rasterio's windows, rounded outwards; and the pixels there are those that GDAL reads."""
    path = write_geotiff(tmp_path / "a.tif", code)
    x, y = CENTRES[code]
    with rasterio.open(path) as file:
        for west, south, east, north in ((103, 507, 298, 601), (200, 400, 300, 500), (0, 0, 960, 640), (5, 5, 6, 6)):
            bounds = (x + west, y - north, x + east, y - south)
            window = from_bounds(*bounds, file.transform)
            left, top = math.floor(window.col_off + 1e-6), math.floor(window.row_off + 1e-6)
            right, bottom = (
                math.ceil(end - 1e-6) for end in (window.col_off + window.width, window.row_off + window.height)
            )
            found = resolve_region("projected:" + ",".join(map(str, bounds)), read_header(path).size)
            assert found == Region(left, top, right - left, bottom - top)


@pytest.mark.parametrize("code", CENTRES)
def test_bounds_in_the_refusal_are_gdals(tmp_path: Path, code: int) -> None:
    """A place outside is refused with what the image spans."""
    path = write_geotiff(tmp_path / "a.tif", code)
    beside = read(path).lonlat(np.array([[-400.0, 32.0], [-404.0, 36.0]]))
    with pytest.raises(RegionError, match="outside the image, which spans lonlat:") as refused:
        resolve_region(lonlat_text([*beside.min(axis=0), *beside.max(axis=0)]), read_header(path).size)
    spans = [float(side) for side in str(refused.value).rpartition("lonlat:")[2].split(",")]
    with rasterio.open(path) as file:
        assert spans == pytest.approx(transform_bounds(file.crs, "OGC:CRS84", *file.bounds, densify_pts=200), abs=2e-6)


def test_pixels_that_are_points_lie_half_a_pixel_beside(tmp_path: Path) -> None:
    """As GDAL reads them: its transform is of corners, whatever the tags are of."""
    path = write_geotiff(tmp_path / "a.tif", AREA_OR_POINT="Point")
    with rasterio.open(path) as file:
        assert file.tags()["AREA_OR_POINT"] == "Point"
        assert read(path).keys.is_point
        assert read(path).matrix == pytest.approx(tuple(file.transform)[:6])


@pytest.mark.parametrize(
    ("code", "metres"), [(32633, (10, 10)), (25832, (10, 10)), (2263, (10 * 1200 / 3937, 10 * 1200 / 3937))]
)
def test_the_sampling_distance_of_a_map_is_its_grids(tmp_path: Path, code: int, metres: tuple[float, float]) -> None:
    """In metres, of feet, too."""
    assert read(write_geotiff(tmp_path / "a.tif", code)).scale_at(Size(*SIZE)) == pytest.approx(metres)


@pytest.mark.parametrize("code", [4326, 4269, 3857])
def test_the_sampling_distance_of_degrees_and_of_web_mercator_is_the_grounds(tmp_path: Path, code: int) -> None:
    """Along the ellipsoid at the centre, where a metre of the map is none."""
    path = write_geotiff(tmp_path / "a.tif", code)
    middle = read(path).lonlat(np.array([[47.5, 32], [48.5, 32], [48, 31.5], [48, 32.5]]))
    geod = Geod(ellps="WGS84")
    expected = (geod.inv(*middle[0], *middle[1])[2], geod.inv(*middle[2], *middle[3])[2])
    found = read(path).scale_at(Size(*SIZE))
    assert found == pytest.approx(expected)
    assert found is not None
    assert found.across == pytest.approx(10 * math.cos(math.radians(middle[0, 1])), rel=0.01)


def test_north_is_told_as_the_image_lies(tmp_path: Path) -> None:
    """Up, down, and turned: against the azimuth that the ellipsoid has."""
    assert read(write_geotiff(tmp_path / "a.tif", 4326)).north_at(Size(*SIZE)) == pytest.approx(0, abs=1e-6)
    down = read(write_geotiff(tmp_path / "b.tif", 4326, grid_in(4326, "south up"))).north_at(Size(*SIZE))
    assert abs(down) == pytest.approx(180)
    turned = read(write_geotiff(tmp_path / "c.tif", 32633, grid_in(32633, "rotated")))
    up = turned.lonlat(np.array([[48, 32], [48, 31]], float))
    assert turned.north_at(Size(*SIZE)) == pytest.approx(-Geod(ellps="WGS84").inv(*up[0], *up[1])[0], abs=0.01)
    assert "degrees right of up" in describe_ground(read_header(tmp_path / "c.tif").geotags, Size(*SIZE))


def test_a_place_across_the_antimeridian_goes_on_to_the_east(tmp_path: Path) -> None:
    """Its west is east of its east (RFC 7946), in a map, and in degrees to either side of the image's own count."""
    utm = read_header(write_geotiff(tmp_path / "a.tif", 32760, north_up(815_000, 8_006_000, 100))).size
    asked = "lonlat:179.99,-18.04,-179.97,-18.02"
    found = resolve_region(asked, utm)
    assert 35 < found.width < 50
    assert 20 < found.height < 30
    for start in (179.5, -180.5):
        size = read_header(write_geotiff(tmp_path / "b.tif", 4326, north_up(start, -18, 0.01))).size
        assert resolve_region(asked, size) == Region(49, 2, 4, 2)


def test_a_map_that_is_torn_at_the_antimeridian_is_refused_there(tmp_path: Path) -> None:
    """Its two sides lie at both ends of the image."""
    size = read_header(write_geotiff(tmp_path / "a.tif", 3857, north_up(-20_037_508, 1_000_000, 417_448))).size
    with pytest.raises(GeoreferenceError, match="the edge of the image's map runs through it"):
        resolve_region("lonlat:170,-5,-170,5", size)


def test_what_is_given_in_another_system_is_moved(tmp_path: Path) -> None:
    """`epsg:` names the system that numbers are in, east before north, whatever order EPSG has."""
    path = write_geotiff(tmp_path / "a.tif", 2193)
    own = "1750100,5919500,1750200,5919700"
    assert resolve_region(f"epsg:2193:{own}", read_header(path).size) == Region(10, 30, 10, 20)
    assert resolve_region(f"projected:{own}", read_header(path).size) == Region(10, 30, 10, 20)


def test_a_system_without_a_code_is_named_and_takes_its_own_coordinates_alone(tmp_path: Path) -> None:
    """Lon and lat of it would be a guess."""
    path = tmp_path / "a.tif"
    own = "+proj=laea +lat_0=10 +lon_0=20 +ellps=GRS80 +units=m"
    with rasterio.open(
        path, "w", driver="GTiff", width=96, height=64, count=1, dtype="uint8", crs=own, transform=north_up(0, 0, 10)
    ) as file:
        file.write(np.zeros((1, 64, 96), np.uint8))
    size = read_header(path).size
    assert resolve_region("projected:100,-200,300,-100", size) == Region(10, 10, 20, 10)
    with pytest.raises(GeoreferenceError, match=r"user-defined .*no EPSG code; `gdalwarp"):
        resolve_region("lonlat:20,9,21,10", size)
    assert "10 x 10 m of the map, ground sampling distance and north unknown" in describe_ground(
        read_header(path).geotags, size
    )


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("lonlat:13.2,52.4,13.2,52.5", "has no area"),
        ("lonlat:13.2,52.5,13.3,52.4", "has no area"),
        ("lonlat:13.2,52.5,200,52.6", "not in degrees"),
        ("lonlat:13.2,52.5,13.3,95", "not in degrees"),
        ("lonlat:13.2,52.5,13.2,52.6,13.2,52.7", "has no area"),
        ("lonlat:14,52.3,13,52.4", "its west is east of its east, which says across the antimeridian"),
        ("epsg:999999:1,2,3,4", "EPSG:999999 is no coordinate system that PROJ knows"),
        ("epsg:5773:1,2,3,4", "neither a map projection nor in degrees"),
        ("epsg:2047:1,2,3,4", "counts to the west"),
        ("projected:0,0,10,10", "which spans projected:450000,5799360,450960,5800000"),
    ],
)
def test_a_place_that_is_none_is_refused(tmp_path: Path, asked: str, told: str) -> None:
    """With what is wrong about it."""
    with pytest.raises(RegionError, match=told):
        resolve_region(asked, read_header(write_geotiff(tmp_path / "a.tif")).size)


def test_a_grid_in_degrees_has_no_map_coordinates(tmp_path: Path) -> None:
    """They are asked for as lon and lat."""
    with pytest.raises(GeoreferenceError, match="its grid is in degrees; say lonlat"):
        resolve_region("projected:13.4,52.4,13.5,52.5", read_header(write_geotiff(tmp_path / "a.tif", 4326)).size)


def test_an_image_around_a_pole_spans_all_longitudes(tmp_path: Path) -> None:
    """What it spans reaches to the pole; a place there is found, and an outline around it is none."""
    path = write_geotiff(tmp_path / "a.tif", 3413, north_up(-48_000, 32_000, 1000))
    size = read_header(path).size
    with pytest.raises(RegionError, match=r"which spans lonlat:-180,89\.\d+,180,90$"):
        resolve_region("lonlat:10,80,11,81", size)
    found = resolve_region("lonlat:-180,89.9,180,90", size)
    assert (found.x + found.width / 2, found.y + found.height / 2) == (48, 32)
    with pytest.raises(GeoreferenceError, match="a pole lies within the region"):
        outline_of(read(path), Region(40, 20, 20, 20))
    assert len(outline_of(read(path), Region(50, 20, 5, 5))) > 4


def test_the_whole_world_in_degrees_has_its_bounds(tmp_path: Path) -> None:
    """From one side of the antimeridian to the other, whole and in parts."""
    path = write_geotiff(tmp_path / "a.tif", 4326, Affine(3.75, 0, -180, 0, -2.8125, 90))
    size = read_header(path).size
    assert resolve_region("lonlat:-180,-90,180,90", size) == WHOLE
    assert resolve_region(lonlat_text(outline_of(read(path), Region(0, 8, 96, 40))), size) == Region(0, 8, 96, 40)
    with pytest.raises(RegionError, match="which spans lonlat:-180,-90,180,90; its west is east of its east"):
        resolve_region("lonlat:170,-5,-170,5", size)
