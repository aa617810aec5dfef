"""The land's picture shows what its annotation says."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from gigavqa.demo.ultravr.placing import PixelBox
from gigavqa.demo.ultravr.rs.samples import IMAGE
from gigavqa.demo.ultravr.rs.scene import FAR, NEAR, SIZE, Land, plan_land
from tests.demo.conftest import SCALE, SEED
from tests.demo.pictures import cut, read_pixels, share_of_color


@pytest.fixture(scope="module")
def land() -> Land:
    """The land of the data set."""
    return plan_land(SEED)


@pytest.fixture(scope="module")
def pixels(demo_folder: Path) -> NDArray[np.int16]:
    """The land's picture."""
    return read_pixels(demo_folder / IMAGE)


def test_the_full_size_is_the_papers(pixels: NDArray[np.int16]) -> None:
    """12000 x 12000 pixels, scaled in proportion."""
    assert SIZE == (12000, 12000)
    assert pixels.shape == (1200, 1200, 3)


def test_every_pool_tank_and_plane_is_where_it_is_annotated(land: Land, pixels: NDArray[np.int16]) -> None:
    """Pools are bright blue, tanks and planes nearly white at the center of their boxes."""
    expected = {"pool": (64, 190, 220), "tank": (226, 226, 220), "plane": (236, 238, 240)}
    for thing in land.things:
        if thing.kind in expected:
            x, y = thing.box.center
            seen = np.median(cut(pixels, PixelBox(x - 20, y - 20, x + 20, y + 20), SCALE), axis=(0, 1))
            assert np.abs(seen - expected[thing.kind]).max() < 40, thing


def test_there_are_no_other_pools(land: Land, pixels: NDArray[np.int16]) -> None:
    """Pool blue occurs inside the annotated boxes and nowhere else."""
    blue = (np.abs(pixels - np.array((64, 190, 220))) <= 30).all(axis=-1)
    assert blue.any()
    for thing in land.things:
        if thing.kind == "pool":
            x1, y1, x2, y2 = (round(edge * SCALE) for edge in thing.box)
            blue[y1 : y2 + 1, x1 : x2 + 1] = False
    assert not blue.any()


def test_every_object_differs_from_the_ground_beside_it(land: Land, pixels: NDArray[np.int16]) -> None:
    """Inside each box the picture differs from the strip to its left."""
    for thing in land.things:
        x1, y1, _, y2 = thing.box
        beside = np.median(cut(pixels, PixelBox(x1 - 40, y1, x1 - 10, y2), SCALE), axis=(0, 1))
        inside = cut(pixels, thing.box, SCALE)
        assert (np.abs(inside - beside).max(axis=-1) > 18).mean() > 0.3, thing


def test_one_building_has_a_red_roof(land: Land, pixels: NDArray[np.int16]) -> None:
    """The upper-left landmark is red, the other three are not."""
    shares = {q: share_of_color(cut(pixels, box, SCALE), (186, 62, 50), 50) for q, box in land.landmarks.items()}
    assert shares.pop("upper-left") > 0.7
    assert max(shares.values()) < 0.02


@pytest.mark.parametrize("seed", range(8))
def test_small_vehicles_are_near_a_landmark_or_far_from_all(seed: int) -> None:
    """No vehicle leaves it open whether it stands by the landmark of its quadrant."""
    land = plan_land(seed)
    for thing in land.things:
        if thing.kind == "vehicle" and thing.parked:
            assert thing.box.overlaps(land.landmarks[thing.quadrant].grown(NEAR))
            assert not thing.box.overlaps(land.landmarks[thing.quadrant])
        elif thing.kind == "vehicle":
            assert not any(thing.box.overlaps(box.grown(FAR)) for box in land.landmarks.values())


@pytest.mark.parametrize("seed", range(8))
def test_objects_lie_apart_and_clear_of_the_middle_lines(seed: int) -> None:
    """No two boxes touch, and no box crosses a boundary of quadrants."""
    things = plan_land(seed).things
    for index, thing in enumerate(things):
        assert thing.box.x2 < SIZE.width / 2 or thing.box.x1 > SIZE.width / 2
        assert thing.box.y2 < SIZE.height / 2 or thing.box.y1 > SIZE.height / 2
        assert not any(thing.box.overlaps(other.box) for other in things[index + 1 :])


def test_an_orientation_is_the_longer_side_of_the_box(land: Land) -> None:
    """Whatever is asked for as vertical is clearly higher than wide, and the other way round."""
    for thing in land.things:
        width, height = thing.box.x2 - thing.box.x1, thing.box.y2 - thing.box.y1
        if thing.kind not in {"tank", "plane"}:
            assert height > 1.5 * width if thing.vertical else width > 1.5 * height, thing
