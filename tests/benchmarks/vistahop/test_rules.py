"""`rules/2` judges short answers without a model: numbers, dates, and a truth's words among few others."""

import pytest

from gigavqa.benchmarks.vistahop.rule_judge import is_right

RIGHT = [
    ("1911", "1911"),
    ("in 1911", "1911"),
    ("founded in 1911", "1911"),
    ("12 March 1911", "1911"),
    ("March 12th, 1911", "12 March 1911"),
    ("1911-03-12", "March 1911"),
    ("seven", "7"),
    ("12,500", "12500"),
    ("12 %", "12%"),
    ("7.0", "seven"),
    ("Norrland Works AB", "Norrland Works"),
    ("Stockholm, Sweden", "Stockholm"),
    ("Yes, it is", "yes"),
    ("No, it isn't", "no"),
    ("Rock and Roll Club", "Rock and Roll"),
    ("The The", "The The"),
    ("!!!", "!!!"),
]
WRONG = [
    ("1912", "1911"),
    ("in 1911 or 1912", "1911"),
    ("1911, 1912", "1911"),
    ("March 1911", "12 March 1911"),
    ("not Norrland Works", "Norrland Works"),
    ("Norrland Works or Ansel Hoist", "Norrland Works"),
    ("Works Norrland", "Norrland Works"),
    ("The firm that is meant here might well be Norrland Works", "Norrland Works"),
    ("yes and no", "yes"),
    ("", "1911"),
    ("...", "!!!"),
]


@pytest.mark.parametrize(("answer", "truth"), RIGHT)
def test_what_says_the_truth_is_right(answer: str, truth: str) -> None:
    """Also where another truth stands before it."""
    assert is_right(answer, ["something else", truth])


@pytest.mark.parametrize(("answer", "truth"), WRONG)
def test_what_says_more_less_or_another_thing_is_wrong(answer: str, truth: str) -> None:
    """Never by a guess."""
    assert not is_right(answer, [truth])
