"""The grammar of `show`: one text for each declaration, and a sentence for what is none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gigavqa.tiling.displays.display import Display, Stretch, parse_display
from gigavqa.tiling.views import View

_NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
_STRETCHES = st.one_of(
    st.just(Stretch("minmax")),
    st.builds(
        lambda pair: Stretch("percentile", tuple(sorted(pair))), st.sets(st.floats(0, 100), min_size=2, max_size=2)
    ),
    st.builds(lambda count: Stretch("sigma", (count,)), st.floats(0.01, 100)),
)
_RANGES = st.builds(lambda pair: Stretch("range", tuple(sorted(pair))), st.sets(_NUMBERS, min_size=2, max_size=2))
_BANDS = st.one_of(st.just(()), st.tuples(*[st.integers(1, 99999)] * 3), st.tuples(st.integers(1, 99999)))


@given(
    bands=_BANDS,
    stretch=st.one_of(st.none(), _STRETCHES, _RANGES, st.just(Stretch("none"))),
    gamma=st.floats(0.01, 100),
    nodata=st.one_of(st.none(), _NUMBERS),
)
def test_what_is_declared_is_read_back(
    bands: tuple[int, ...], stretch: Stretch | None, gamma: float, nodata: float | None
) -> None:
    """Every display has one text, which says that display again; nothing at all is said by no text."""
    display = Display(bands, stretch, gamma, nodata)
    if str(display):
        assert parse_display(str(display)) == display


@given(stretch=_STRETCHES, scope=st.sampled_from(["image", "band", "region"]))
def test_limits_are_found_where_it_is_said(stretch: Stretch, scope: str) -> None:
    """In each band unless something else is declared."""
    assert parse_display(f"stretch={stretch} per={scope}").scope == scope


def test_order_and_blanks_do_not_matter() -> None:
    """Nor do semicolons, which an address may have in their place."""
    first = parse_display("bands=4,3,2 stretch=percentile:2:98 gamma=1.2")
    assert first == parse_display(" gamma=1.20;stretch=percentile:2.0:98;;  bands=4,3,2 ; ")
    assert str(first) == "bands=4,3,2 stretch=percentile:2:98 gamma=1.2"


def test_a_window_is_a_range() -> None:
    """Radiology's centre and width: black below half a width, white above."""
    assert parse_display("window=40:400") == parse_display("stretch=range:-160:240")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "says nothing"),
        (" ; ", "says nothing"),
        ("band=1", "did you mean 'bands'"),
        ("bands=4,3", "neither one band nor three"),
        ("bands=0", "neither one band nor three"),
        ("bands=1,2,x", "neither one band nor three"),
        ("bands", "lacks its value"),
        ("palette=yes", "takes no value"),
        ("stretch=percentil:2:98", "did you mean 'percentile'"),
        ("stretch=percentile:98:2", "not below its second"),
        ("stretch=percentile:2:101", "percentiles lie from 0 to 100"),
        ("stretch=range:200", "has not the form range:BLACK:WHITE"),
        ("stretch=range:1:nan", "'nan' is no number"),
        ("stretch=range:1:1e999", "is no number"),
        ("stretch=range:1:٣", "is no number"),
        ("stretch=sigma:0", "no number of standard deviations"),
        ("stretch=minmax:1", "has not the form minmax"),
        ("window=40", "has not the form CENTRE:WIDTH"),
        ("window=40:0", "has no width"),
        ("window=40:400 stretch=minmax", "says a second time"),
        ("gamma=0", "does not lie from 0.01 to 100"),
        ("nodata=none", "'none' is no number"),
        ("palette bands=1", "a palette has colours of its own"),
        ("per=pixel", "is none of image, band, region"),
        ("per=image", "needs a stretch whose limits are found"),
        ("per=region stretch=range:1:2", "needs a stretch whose limits are found"),
        ("bands=1 " * 100, "more than 500"),
    ],
)
def test_what_is_no_display_is_told(text: str, told: str) -> None:
    """By the part that is wrong, and what it could be."""
    with pytest.raises(ValueError, match=r"^show: ") as refused:
        parse_display(text)
    assert told in str(refused.value)


def test_a_view_keeps_the_one_text_of_its_display() -> None:
    """So that equal declarations have equal requests; a view without any is what it was before there were displays."""
    assert View(image="a", show="gamma=2;bands=1").show == "bands=1 gamma=2"
    assert View(image="a") == View.model_validate({"image": "a"})
    with pytest.raises(ValueError, match="is none of bands"):
        View(image="a", show="contrast=2")
