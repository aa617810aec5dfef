"""A build sets apart as examples all questions of some pictures, so many of each category."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gigavqa.construction.errors import BuildError
from gigavqa.construction.examples import category_of, images_of, set_apart


def record(number: int, category: str, image: str) -> dict[str, Any]:
    """A question of a category about a picture."""
    return {"id": f"q{number}", "category": category, "image": image}


@st.composite
def builds(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Questions of some categories on a few pictures."""
    images = [f"{number}.png" for number in range(9)]
    places = st.tuples(st.sampled_from(["count", "extreme", "relation"]), st.sampled_from(images))
    return [record(number, *place) for number, place in enumerate(draw(st.lists(places, max_size=40)))]


@given(records=builds(), number=st.integers(0, 3), seed=st.integers(0, 3))
def test_no_picture_is_both_told_and_asked(records: list[dict[str, Any]], number: int, seed: int) -> None:
    """Each category has examples of as many pictures as wanted and something left, or all is refused."""
    try:
        found = list(set_apart(records, number, seed))
    except BuildError:
        assert number
        return
    assert [{key: value for key, value in one.items() if key != "split"} for one in found] == records
    told, asked = ([one for one in found if ("split" in one) is is_told] for is_told in (True, False))
    shown, hidden = ({image for one in each for image in images_of(one)} for each in (asked, told))
    assert not shown & hidden
    for category in {category_of(one) for one in records}:
        assert len({one["image"] for one in told if category_of(one) == category}) >= number
        assert any(category_of(one) == category for one in asked)


def test_a_category_on_too_few_pictures_is_refused() -> None:
    """With how many it has, and what to do."""
    records = [record(0, "count", "a.png"), record(1, "count", "b.png"), record(2, "extreme", "a.png")]
    with pytest.raises(BuildError, match=r"--examples 2: 'count' has questions on 2 pictures, and none is left"):
        list(set_apart(records, 2, 0))


def test_categories_of_one_name_in_two_domains_are_two() -> None:
    """As UltraVR has them, whose samples may be about several pictures."""
    records = [
        {"id": f"{domain}{n}", "domain": domain, "category": "comparison", "images": [f"{domain}{n}", f"{domain}{n}b"]}
        for domain in ("cctv", "rs")
        for n in range(3)
    ]
    told = [one for one in set_apart(records, 1, 0) if "split" in one]
    assert sorted(one["domain"] for one in told) == ["cctv", "rs"]
