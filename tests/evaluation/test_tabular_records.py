"""Rows of tables are records that know their line; what is no table is told with its place."""

from pathlib import Path

import pandas as pd
import pytest

from gigavqa.answers.numbers import read_integer, read_number
from gigavqa.answers.readings import Reading
from gigavqa.evaluation.errors import Problem
from gigavqa.evaluation.records import Record, read_records


def _read(tmp_path: Path, name: str, text: str) -> list[Record | Problem]:
    (tmp_path / name).write_text(text, encoding="utf-8")
    return list(read_records(tmp_path / name, name))


def test_a_row_begins_at_its_line_also_behind_one_of_several(tmp_path: Path) -> None:
    """Quoted line breaks belong to their cell; empty lines and empty cells are left out."""
    found = _read(tmp_path, "a.csv", 'a,b\n"1\n2",x\n\n3,\n')
    assert [(one.line, one.index, one.value) for one in found if isinstance(one, Record)] == [
        (2, 0, {"a": "1\n2", "b": "x"}),
        (5, 1, {"a": "3"}),
    ]


@pytest.mark.parametrize(("name", "separator"), [("a.csv", ","), ("a.csv", ";"), ("a.csv", "\t"), ("a.tsv", "\t")])
def test_the_header_tells_the_separator(tmp_path: Path, name: str, separator: str) -> None:
    """Spreadsheets of many countries write semicolons; a byte order mark is no part of a name."""
    (found,) = _read(tmp_path, name, f"\ufeffa{separator}b\n1{separator}2\n")
    assert isinstance(found, Record) and found.value == {"a": "1", "b": "2"} and not found.typed


def test_bad_rows_are_problems_and_the_others_are_read(tmp_path: Path) -> None:
    """A row that is too short or too long, and one whose quote goes wrong."""
    found = _read(tmp_path, "a.csv", 'a,b\n1\n2,3\n4,5,6\n"7"8,9\n10,11\n')
    assert [one.line for one in found if isinstance(one, Problem)] == [2, 4, 5]
    assert [one.value["a"] for one in found if isinstance(one, Record)] == ["2", "10"]


def test_a_column_that_is_named_twice_is_refused(tmp_path: Path) -> None:
    """Nobody knows which is meant."""
    (found,) = _read(tmp_path, "a.csv", "a,b,a\n1,2,3\n")
    assert isinstance(found, Problem) and found.message == "the header names a column twice: a"


def test_a_row_of_parquet_is_a_record_without_what_is_missing(tmp_path: Path) -> None:
    """Rows count from 1; NaN and None are left out, and pandas' own index is no column."""
    pd.DataFrame({"a": [1.5, None], "b": [["x"], None]}, index=[7, 9]).to_parquet(tmp_path / "a.parquet")
    found = list(read_records(tmp_path / "a.parquet", "a.parquet"))
    assert [(one.line, one.value) for one in found if isinstance(one, Record)] == [
        (1, {"a": 1.5, "b": ["x"]}),
        (2, {}),
    ]


def test_a_file_that_only_ends_like_parquet_is_a_problem(tmp_path: Path) -> None:
    """With its name."""
    (found,) = _read(tmp_path, "a.parquet", "no such thing")
    assert isinstance(found, Problem) and "is no Parquet file" in found.message


@pytest.mark.parametrize(("text", "number"), [("12.5", 12.5), ("The total is 3,000.25 m.", 3000.25), ("seven", 7.0)])
def test_numbers_are_read_with_their_fractions(text: str, number: float) -> None:
    """Where a whole number is wanted, a fraction is none."""
    assert read_number(text) == Reading(number, "parsed")
    assert read_integer(text).status == ("parsed" if number.is_integer() else "unparsable")
