"""Numbers and words of a table are what their writer meant, or the column or row is refused; never another number."""

import csv
import io
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gigavqa.benchmarks.questions.numbers import NumberConvention, parse_number
from gigavqa.evaluation.errors import DatasetInvalidError
from tests.truth.reading import FILES, imported, read, refusal, written

GERMAN = {"Bild": "image", "Frage": "question", "Antwort": "answer"}


def test_a_german_table_has_decimal_commas_and_german_words(tmp_path: Path) -> None:
    """Semicolons separate its fields."""
    found = read("excel_cp1252.csv", tmp_path, columns=GERMAN)
    assert [(one.kind, one.truth) for one in found] == [("number", "1.234"), ("yes_no", "yes"), ("number", "1234.5")]


def test_a_point_that_may_stand_between_thousands_is_refused_until_it_is_told(tmp_path: Path) -> None:
    """With its line, and what says which."""
    told = refusal(FILES / "dots_in_semicolons.csv", tmp_path)
    assert (
        "dots_in_semicolons.csv:2: dots_in_semicolons-1: answer: '1.234' is 1234 where a comma is the decimal sign"
        in told
    )
    assert "`--decimal ,` or `--decimal .`" in told
    for sign, number in ((",", "1234"), (".", "1.234")):
        assert [one.truth for one in read("dots_in_semicolons.csv", tmp_path, decimal=sign)] == [number, "3"]


def test_a_decimal_comma_in_a_table_of_commas_is_refused_until_it_is_told(tmp_path: Path) -> None:
    """As a column: a row that reads as thousands beside it may be thousandths."""
    table = 'image,question,answer\nharbour.png,How wide?,"3,5"\nstreet.png,How long?,"1,234"\n'
    source = written(tmp_path, "quoted.csv", table)
    told = refusal(source, tmp_path, leave_out_bad=True)
    assert "answer: '3,5' (row at line 2) has a decimal comma" in told
    kinds = {",": [("number", "3.5"), ("number", "1.234")], ".": [("text", "3,5"), ("number", "1234")]}
    for sign, expected in kinds.items():
        assert [(one.kind, one.truth) for one in imported(source, tmp_path, decimal=sign)[1]] == expected


def test_two_decimal_signs_in_one_column_are_refused(tmp_path: Path) -> None:
    """In a table of semicolons, where points alone would be read."""
    table = "image;question;answer\nharbour.png;How wide?;3,5\nstreet.png;How long?;2.5\n"
    assert "with two decimal signs" in refusal(written(tmp_path, "two.csv", table), tmp_path)
    points = written(tmp_path, "points.csv", table.replace("3,5", "3.5"))
    assert [one.truth for one in imported(points, tmp_path)[1]] == ["3.5", "2.5"]


def test_a_tolerance_has_the_same_decimal_sign(tmp_path: Path) -> None:
    """And may be a share."""
    table = "image;question;answer;tolerance\nharbour.png;How wide?;3,5;0,25\nstreet.png;How long?;2,5;2,5%\n"
    first, second = imported(written(tmp_path, "within.csv", table), tmp_path)[1]
    assert (first.tolerance, second.relative_tolerance) == (0.25, 0.025)


@pytest.mark.parametrize("answer", ["5-7", "5 of 12", "3,5 m", "1 20 m"])
def test_what_holds_more_than_one_number_is_not_one(tmp_path: Path, answer: str) -> None:
    """A number is asked for, and this begins with one."""
    table = f'image,question,question_type,answer\nharbour.png,How many?,number,"{answer}"\n'
    assert "is not one number" in refusal(written(tmp_path, "some.csv", table), tmp_path)


YES, NO = ("WAHR", "Vrai", "sí", "vero", "да", "是"), ("FALSCH", "faux", "нет", "ЛОЖЬ", "не то", "いいえ")


@pytest.mark.parametrize("word", (*YES, *NO))
def test_yes_and_no_of_several_languages_are_yes_and_no(tmp_path: Path, word: str) -> None:
    """Spreadsheets write true and false in their user's language; words beyond are texts."""
    table = f"image,question,answer\nharbour.png,Is it?,{word}\n"
    (found,) = imported(written(tmp_path, "words.csv", table), tmp_path)[1]
    expected = ("text", word) if " " in word else ("yes_no", "yes" if word in YES else "no")
    assert (found.kind, found.truth) == expected


NUMBERS = st.decimals(min_value=-9_999_999, max_value=9_999_999, places=3, allow_nan=False).map(Decimal.normalize)


def _formatted(number: Decimal, decimal: str, thousands: str) -> str:
    text = f"{number:,f}" if thousands else f"{number:f}"
    return text.translate({ord(","): thousands, ord("."): decimal})


@given(number=NUMBERS, decimal=st.sampled_from(",."), grouped=st.booleans())
def test_a_number_in_a_convention_that_is_told_is_this_number(number: Decimal, decimal: str, grouped: bool) -> None:
    """However its thousands are grouped."""
    thousands = {",": ".", ".": ","}[decimal] if grouped else ""
    found = parse_number(_formatted(number, decimal, thousands), NumberConvention(decimal, told=True))
    assert found is not None and Decimal(found) == number


@dataclass(frozen=True)
class Spelling:
    """How a table writes its numbers, and whether its import is told of that."""

    delimiter: str
    decimal: str
    grouped: bool
    told: bool

    @property
    def thousands(self) -> str:
        """What stands between thousands."""
        return {",": ".", ".": ","}[self.decimal] if self.grouped else ""


SPELLINGS = st.builds(Spelling, st.sampled_from(",;\t"), st.sampled_from(",."), st.booleans(), st.booleans())


@given(numbers=st.lists(NUMBERS, min_size=1, max_size=4), spelling=SPELLINGS)
def test_a_table_of_numbers_reads_as_the_same_or_is_refused(
    tmp_path_factory: pytest.TempPathFactory, numbers: list[Decimal], spelling: Spelling
) -> None:
    """Unless its signs are those of another kind of table, and no number of it shows so: then nobody could know."""
    texts = [_formatted(number, spelling.decimal, spelling.thousands) for number in numbers]
    is_usual = spelling.decimal == ("," if spelling.delimiter == ";" else ".")
    assume(spelling.told or is_usual or _shows_its_sign(texts, spelling.decimal))
    text = io.StringIO()
    rows = [["harbour.png", "How much?", one] for one in texts]
    csv.writer(text, delimiter=spelling.delimiter).writerows([["image", "question", "answer"], *rows])
    folder = tmp_path_factory.mktemp("numbers")
    settings = {"decimal": spelling.decimal} if spelling.told else {}
    try:
        _, samples = imported(written(folder, "some.csv", text.getvalue()), folder, **settings, leave_out_bad=True)
    except DatasetInvalidError:
        assert not spelling.told
        return
    by_id = {sample.id: sample for sample in samples}
    for at, number in enumerate(numbers):
        sample = by_id.get(f"some-{at + 1}")
        assert sample is None or sample.kind != "number" or Decimal(sample.truth) == number


def _shows_its_sign(texts: list[str], decimal: str) -> bool:
    """Whether any number tells what its file's decimal sign is: without, no reader could know."""
    return any(decimal in text and len(text.rpartition(decimal)[2]) != 3 for text in texts)


@pytest.mark.parametrize("gap", ["\u00a0", "\u2009", "\u202f", "'", "’"])
@pytest.mark.parametrize("decimal", [".", ","])
def test_groups_of_three_behind_a_gap_are_one_number(gap: str, decimal: str) -> None:
    """In either convention, with its own fraction alone."""
    other = "," if decimal == "." else "."
    convention = NumberConvention(decimal)
    assert parse_number(f"12{gap}345{gap}678", convention) == "12345678"
    assert parse_number(f"1{gap}204{decimal}5", convention) == "1204.5"
    assert parse_number(f"12{gap}34", convention) is None
    if decimal == ".":
        assert parse_number(f"1{gap}204{other}5", convention) is None


def test_lakhs_and_crores_are_one_number() -> None:
    """Groups of two can mean nothing else."""
    assert [parse_number(text, NumberConvention()) for text in ("12,34,567", "1,23,45,678.5", "12,34")] == [
        "1234567", "12345678.5", None,
    ]  # fmt: skip
