"""What somebody writes for a region, before any image is looked at."""

import pickle

import pytest

from gigavqa.tiling.errors import RegionError
from gigavqa.tiling.geometry import ImageFrame, Region, Size, resolve_region
from gigavqa.tiling.region_grammar import RegionText, parse_region


@pytest.mark.parametrize(
    ("text", "scheme", "numbers"),
    [
        ("full", "full", ()),
        ("1,2,3,4", "pixels", (1, 2, 3, 4)),
        ("pct:0,0,12.5,100", "pct", (0, 0, 12.5, 100)),
        ("lonlat:13.37,52.51,13.39,52.53", "lonlat", (13.37, 52.51, 13.39, 52.53)),
        ("lonlat:-70.5,-33.5,-70.4,-33.4", "lonlat", (-70.5, -33.5, -70.4, -33.4)),
        ("projected:399960,5790240,400960.5,5800000", "projected", (399960, 5790240, 400960.5, 5800000)),
    ],
)
def test_a_scheme_and_its_numbers_are_told_apart(text: str, scheme: str, numbers: tuple[float, ...]) -> None:
    """Numbers keep the order of the scheme."""
    assert parse_region(text) == RegionText(scheme, numbers, text)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    ["lonlat:1,2,3", "lonlat:1,2,3,nan", "lonlat:1,2,3,1e5", "lonlat:1, 2,3,4", "LONLAT:1,2,3,4", "projected:1,2,3,٣"],
)
def test_a_text_of_no_scheme_names_those_that_there_are(text: str) -> None:
    """So that whoever wrote it sees what is known."""
    with pytest.raises(RegionError, match=r"is none of full, x,y,w,h, pct:x,y,w,h, lonlat:W,S,E,N, projected:XMIN"):
        parse_region(text)


def test_a_place_needs_an_image_that_says_where_it_lies() -> None:
    """A scheme outside the image's frame is refused with what its file lacks."""
    with pytest.raises(RegionError, match="its file has no georeference"):
        resolve_region("lonlat:1,2,3,4", Size(10, 10))


def test_a_frame_finds_the_pixels_of_its_places() -> None:
    """What it finds is held to the image as every other region."""
    frame = ImageFrame.of(Size(10, 10), {"lonlat": lambda asked, size: Region(int(asked.numbers[0]), 0, 5, 5)})
    assert resolve_region("lonlat:5,2,3,4", frame) == Region(5, 0, 5, 5)
    with pytest.raises(RegionError, match="outside an image of 10x10"):
        resolve_region("lonlat:6,2,3,4", frame)


def test_a_frame_is_equal_to_its_size_and_keeps_its_places_in_a_copy() -> None:
    """So that it goes wherever a size does, to other processes, too."""
    frame = ImageFrame.of(Size(10, 10), {"lonlat": _corner})
    assert frame == Size(10, 10)
    assert resolve_region("lonlat:1,2,3,4", pickle.loads(pickle.dumps(frame))) == Region(0, 0, 1, 1)


def _corner(asked: RegionText, size: Size) -> Region:
    return Region(0, 0, 1, 1)
