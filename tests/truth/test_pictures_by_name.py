"""A picture that a record names is that one, or the record is refused."""

import json
from pathlib import Path

import pytest

from gigavqa.evaluation.reader_choice import find_reader
from tests.benchmarks.questions.files import bring
from tests.truth.reading import PICTURES, refusal, written


def rows(folder: Path, image: str) -> Path:
    """One question about a picture of this name."""
    record = {"image": image, "question": "Which?", "options": ["red", "green"], "answer": "B"}
    return written(folder, "rows.jsonl", json.dumps(record))


@pytest.mark.parametrize(
    "table",
    [
        "image,question,A,B,answer\nharbour.png,Which?,red,green,green\n",
        "image,question,option_a,option_b,answer\nharbour.png,Which?,red,green,green\n",
        "image,question,choices,answer\nharbour.png,Which?,red|green,green\n",
    ],
)
def test_a_table_with_options_is_read_by_who_reads_them(tmp_path: Path, table: str) -> None:
    """Without a word of whose it is: benchmarks that would leave the options unread are not asked."""
    assert find_reader(written(tmp_path, "t.csv", table)).name == "questions"


def test_a_picture_that_is_nowhere_is_named(tmp_path: Path) -> None:
    """With the folder that was looked in."""
    assert "there is no image 'b.png'" in refusal(rows(tmp_path, "b.png"), tmp_path)


@pytest.mark.parametrize(
    "name", ["a/" * 50_000, "a" * 300 + ".jpg", "dir/" * 1200 + "a.png", "a" * 100_000, "a\0b.png", "../" * 200]
)
def test_no_name_is_too_long_to_be_refused_as_one(tmp_path: Path, name: str) -> None:
    """The row is named, and left out where bad ones may be."""
    good = {"image": "harbour.png", "question": "Which?", "options": ["red", "green"], "answer": "B"}
    lines = (json.dumps(row) for row in (good, good | {"image": name}))
    source = written(tmp_path, "rows.jsonl", "\n".join(lines))
    assert "rows.jsonl:2" in refusal(source, tmp_path)
    made = bring(source, PICTURES, tmp_path / "data" / "made", leave_out_bad=True)
    assert made.samples == 1
    assert str(tmp_path) not in str(made.left_out[0].message).replace(str(PICTURES), "")
