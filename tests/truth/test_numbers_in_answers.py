"""A number in an answer that can be read in two ways is ambiguous, and never another number."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gigavqa.answers.numbers import read_number

COMMAS = ["3,5", "The result = 3,5", "(7,5)", "3,5, 4,5"]
POINTS = ["1.234", "= 1 234 567,5", "1.234.56", "It is 1'23 now."]


@pytest.mark.parametrize("text", COMMAS + POINTS)
def test_a_number_that_is_cut_by_its_own_marks_is_ambiguous(text: str) -> None:
    """A comma that may part two numbers, points and gaps between thousands: the part before is another number."""
    assert read_number(text, whole=True).status == "ambiguous"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("12.5", 12.5),
        ("The total is 3,000.25 m.", 3000.25),
        ("1,234,567", 1234567),
        ("The result = 1.234.567", 1234567),
        ("It is 1'234'567 now.", 1234567),
        ("There are 7.", 7),
        ("There are 7, not 8.", 7),
        ("seven", 7),
        ("0,5", 0.5),
        ("Final answer: 0,25", 0.25),
        ("about 12,75 m", 12.75),
        ("It is 7,5 km long.", 7.5),
        ("Final answer: 1.234,50 m", 1234.5),
        ("1.234,5", 1234.5),
    ],
)
def test_a_number_that_can_be_nothing_else_is_read(text: str, number: float) -> None:
    """Commas between thousands, points before the fraction, marks of the sentence behind it; a comma before a fraction
    behind a zero, behind points, or with a unit."""
    assert (read_number(text).value, read_number(text).status) == (number, "parsed")


@given(
    whole=st.integers(0, 99_999),
    fraction=st.text("0123456789", min_size=1, max_size=2),
    frame=st.sampled_from(["{}", "It is {}.", "Final answer: {}", "= {}", "{} m", "**{}**", "x = {} m, I think"]),
)
def test_a_decimal_comma_never_gives_another_number(whole: int, fraction: str, frame: str) -> None:
    """However the answer is worded."""
    reading = read_number(frame.format(f"{whole},{fraction}"))
    assert reading.status == "ambiguous" or reading.value == float(f"{whole}.{fraction}")
