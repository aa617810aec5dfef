"""Requests are read as IIIF Image API 3.0 says."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gigavqa.tiling.geometry import Size
from gigavqa.tiling.headers import read_header
from gigavqa.viewer.errors import RequestInvalidError, RequestUnsupportedError, ViewerError
from gigavqa.viewer.request import MOST_SIDE, IiifSegments, largest_size, parse_request
from tests.tiling.earth import write_geotiff

PICTURE = Size(6000, 4000)
MOST = 1_000_000


def canonical(region: str = "full", size: str = "max", rotation: str = "0", quality_format: str = "default.jpg") -> str:
    """The canonical form of a request for the picture."""
    return parse_request(IiifSegments(region, size, rotation, quality_format), PICTURE, MOST).canonical


@pytest.mark.parametrize(
    ("region", "read"),
    [
        ("full", "full"),
        ("0,0,6000,4000", "full"),
        ("square", "1000,0,4000,4000"),
        ("10,20,30,40", "10,20,30,40"),
        ("5900,3900,512,512", "5900,3900,100,100"),
        ("pct:41.6,7.5,66.6,100", "2496,300,3504,3700"),
        ("pct:0,0,.01,.01", "0,0,1,1"),
    ],
)
def test_regions_are_cropped_at_the_edges(region: str, read: str) -> None:
    """Pixels, parts in percent, and the square in the middle; what reaches out of the picture is cut off."""
    size = "max" if read != "full" else "600,400"
    assert canonical(region, size).split("/")[0] == read


@pytest.mark.parametrize(
    ("size", "read"),
    [
        ("max", "max"),
        ("1000,", "max"),
        ("500,", "500,250"),
        (",50", "100,50"),
        ("pct:25", "250,125"),
        ("300,300", "300,300"),
        ("!300,300", "300,150"),
        ("!5000,5000", "max"),
        ("^500,", "500,250"),
        ("1,", "1,1"),
        ("^max", "max"),
    ],
)
def test_sizes_are_read_in_every_form(size: str, read: str) -> None:
    """Of a region of 1000 x 500 pixels; a form that fits is clamped, one that distorts is obeyed."""
    most = 500_000 if size == "^max" else MOST
    request = parse_request(IiifSegments("0,0,1000,500", size, "0", "default.jpg"), PICTURE, most)
    assert request.canonical.split("/")[1] == read


def test_max_is_never_more_than_an_answer_may_have() -> None:
    """The whole picture comes smaller, in its own shape."""
    request = parse_request(IiifSegments("full", "max", "0", "color.png"), PICTURE, MOST)
    assert request.size == Size(1224, 816)
    assert request.size.area <= MOST
    assert request.canonical == "full/max/0/default.png"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (IiifSegments("6000,0,10,10", "max", "0", "default.jpg"), "holds no pixel"),
        (IiifSegments("0,0,0,10", "max", "0", "default.jpg"), "holds no pixel"),
        (IiifSegments("pct:0,0,0,10", "max", "0", "default.jpg"), "holds no pixel"),
        (IiifSegments("0,0,9" + "9" * 400 + ",1", "max", "0", "default.jpg"), "is none of full, square"),
        (IiifSegments("-1,0,10,10", "max", "0", "default.jpg"), "is none of full, square"),
        (IiifSegments("٣,0,10,10", "max", "0", "default.jpg"), "is none of full, square"),
        (IiifSegments("0,0,10,10", "11,", "0", "default.jpg"), "larger than the region"),
        (IiifSegments("0,0,10,10", "0,", "0", "default.jpg"), "has no pixel"),
        (IiifSegments("0,0,10,10", ",", "0", "default.jpg"), "is none of max"),
        (IiifSegments("0,0,10,10", "!5,", "0", "default.jpg"), "is none of max"),
        (IiifSegments("0,0,10,10", "pct:0", "0", "default.jpg"), "has no pixel"),
        (IiifSegments("full", "6000,4000", "0", "default.jpg"), "more than an answer has"),
        (IiifSegments("full", "max", "45", "default.jpg"), "rotation"),
        (IiifSegments("full", "max", "0", "pretty.jpg"), "quality"),
        (IiifSegments("full", "max", "0", "default.gif"), "format"),
        (IiifSegments("full", "max", "0", "default"), "quality"),
    ],
)
def test_what_cannot_be_answered_is_named(words: IiifSegments, told: str) -> None:
    """One sentence about the word that is wrong, with what there is instead."""
    with pytest.raises(RequestInvalidError, match=told):
        parse_request(words, PICTURE, MOST)


@pytest.mark.parametrize("size", ["^20,", "^20,20", "^pct:200", "^!20,20", "^max"])
def test_enlarging_is_a_feature_that_is_not_offered(size: str) -> None:
    """Which is another thing than a wrong request."""
    with pytest.raises(RequestUnsupportedError, match="not enlarged"):
        canonical("0,0,10,10", size)


@given(st.tuples(*[st.text(st.sampled_from("0123456789,.!^pct:maxfulsqre"), max_size=24)] * 4))
def test_any_words_are_read_or_refused(words: tuple[str, str, str, str]) -> None:
    """And what is read is a picture within every bound."""
    try:
        request = parse_request(IiifSegments(*words), PICTURE, MOST)
    except ViewerError:
        return
    assert 0 < request.size.area <= MOST
    assert request.region.x + request.region.width <= PICTURE.width


@given(
    corner=st.tuples(st.integers(0, 5999), st.integers(0, 3999)),
    sides=st.tuples(st.integers(1, 9999), st.integers(1, 9999)),
    n=st.integers(1, 2000),
    form=st.sampled_from(["max", "{n},", ",{n}", "!{n},{n}", "pct:{p}"]),
)
def test_a_canonical_request_is_its_own(corner: tuple[int, int], sides: tuple[int, int], n: int, form: str) -> None:
    """Asking for it gives the same region and the same size."""
    try:
        first = parse_request(
            IiifSegments(",".join(map(str, corner + sides)), form.format(n=n, p=n / 20), "90", "gray.png"),
            PICTURE,
            MOST,
        )
    except ViewerError:
        return
    again = parse_request(IiifSegments(*first.canonical.split("/")), PICTURE, MOST)
    assert (again.region, again.size, again.canonical) == (first.region, first.size, first.canonical)


@pytest.mark.parametrize("region", [Size(20_000, 10), Size(10, 20_000), Size(20_000, 20_000), Size(900, 900)])
def test_the_largest_answer_is_within_all_bounds(region: Size) -> None:
    """Of a strip its long side, of a square its area, of a small region itself."""
    found = largest_size(region, MOST)
    assert max(found) <= MOST_SIDE and found.area <= MOST
    assert (found == region) == (region == Size(900, 900))
    assert max(found) == MOST_SIDE or found.area > 0.99 * MOST or found == region


def test_a_place_is_found_where_the_picture_lies(tmp_path: Path) -> None:
    """And never cropped: nothing of it may lie outside."""
    size = read_header(write_geotiff(tmp_path / "a.tif")).size
    asked = IiifSegments("projected:450100,5799500,450300,5799900", "max", "0", "default.jpg")
    assert parse_request(asked, size, MOST).canonical == "10,10,20,40/max/0/default.jpg"
    with pytest.raises(RequestInvalidError, match="outside the image, which spans projected:"):
        parse_request(asked._replace(region="projected:0,0,9,9"), size, MOST)
    with pytest.raises(RequestInvalidError, match="its file has no georeference"):
        parse_request(asked, PICTURE, MOST)
