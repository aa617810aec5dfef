"""Options may be written as any table writes them; an answer that names one by what the file calls it is that one."""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from tests.truth.reading import imported, refusal, written

COLOURS = ("red", "green", "blue", "grey")
SHAPES: dict[str, Any] = {
    "objects with labels": lambda keys: [{"label": key, "text": text} for key, text in zip(keys, COLOURS, strict=True)],
    "objects with ids": lambda keys: [{"id": key, "value": text} for key, text in zip(keys, COLOURS, strict=True)],
    "an object by key": lambda keys: dict(zip(keys, COLOURS, strict=True)),
    "two lists": lambda keys: {"text": list(COLOURS), "label": list(keys)},
}
KEYS = {
    "letters": "ABCD",
    "numbers from 1": "1234",
    "numbers from 0": "0123",
    "small letters": "abcd",
    "others": "PQRS",
}


def rows(folder: Path, *answers: Any, **row: Any) -> Path:
    """A file of records with these answers."""
    record = {"image": "harbour.png", "question": "Which colour?", **row}
    lines = (json.dumps(record | {"answer": answer}) for answer in answers)
    return written(folder, "rows.jsonl", "\n".join(lines))


@pytest.mark.parametrize(("shape", "keys"), list(itertools.product(SHAPES, KEYS)))
def test_an_answer_is_the_option_that_the_file_calls_so(tmp_path: Path, shape: str, keys: str) -> None:
    """Every option as the truth, in every shape and with every kind of name."""
    options = SHAPES[shape](KEYS[keys])
    _, questions = imported(rows(tmp_path, *KEYS[keys], options=options), tmp_path)
    assert [tuple((one.options or {}).values()) for one in questions] == [COLOURS] * 4
    assert [one.answers for one in questions] == [("A",), ("B",), ("C",), ("D",)]


def test_ten_options_by_number_stay_in_their_order(tmp_path: Path) -> None:
    """10 comes behind 9."""
    options = {str(number): f"value {number}" for number in range(1, 13)}
    _, (one,) = imported(rows(tmp_path, "10", options=options), tmp_path)
    assert list((one.options or {}).values()) == list(options.values())
    assert (one.options or {})[one.truth or ""] == "value 10"


def test_columns_with_numbers_call_their_options_so(tmp_path: Path) -> None:
    """option_2 is what answer 2 means, and not the third."""
    options = {f"option_{number}": text for number, text in enumerate(COLOURS, start=1)}
    _, questions = imported(rows(tmp_path, 2, 1, **options), tmp_path)
    assert [(one.options or {})[one.truth or ""] for one in questions] == ["green", "red"]


def test_a_name_that_is_another_options_text_is_refused(tmp_path: Path) -> None:
    """Both readings are possible; it says which columns tell them apart."""
    told = refusal(rows(tmp_path, "2", options={"1": "2", "2": "4"}), tmp_path)
    assert "'2' is what option B is called, and option A's text" in told and "answer_index" in told


@pytest.mark.parametrize(
    "options",
    [
        ["red", ["green", "blue"]],
        [{"label": "A", "image": "a.png"}, {"label": "B", "image": "b.png"}],
        ["red", ""],
        ["red", None, "blue"],
        {"A": "red", "B": {"bytes": "x"}},
    ],
)
def test_options_without_a_text_are_refused(tmp_path: Path, options: Any) -> None:
    """Pictures, lists and nothing are no options that a prompt can list."""
    told = refusal(rows(tmp_path, "A", options=options), tmp_path)
    assert "rows.jsonl:1" in told and "options" in told and "text" in told


def test_a_list_may_be_as_wide_as_the_longest(tmp_path: Path) -> None:
    """What is missing at its end is no option."""
    _, (one,) = imported(rows(tmp_path, "B", options=["red", "green", None, None]), tmp_path)
    assert one.options == {"A": "red", "B": "green"}


@pytest.mark.parametrize(("number", "is_refused"), [(120, True), (17, True), (8, False)])
def test_many_numbers_that_hold_neither_end_tell_nothing(tmp_path: Path, number: int, is_refused: bool) -> None:
    """Of four options the first would hardly be right in none of seventeen rows; of eight it may."""
    source = rows(tmp_path, *itertools.islice(itertools.cycle((1, 2, 3)), number), options=list(COLOURS))
    if is_refused:
        told = refusal(source, tmp_path, leave_out_bad=True)
        assert f"in {number} rows" in told and "answer_index" in told and "answer_from_1" in told
    else:
        imported(source, tmp_path)
    _, questions = imported(source, tmp_path, columns={"answer": "answer_from_1"})
    assert questions[0].answers == ("A",)


@pytest.mark.parametrize("name", ["correct_choice_idx", "gold_index", "label-index", "Correct Answer Index"])
def test_a_column_that_says_index_counts_from_0(tmp_path: Path, name: str) -> None:
    """Whatever its numbers hold."""
    record = {"image": "harbour.png", "question": "Which colour?", "choices": list(COLOURS)}
    lines = (json.dumps(record | {name: number}) for number in (1, 3, 2))
    _, questions = imported(written(tmp_path, "rows.jsonl", "\n".join(lines)), tmp_path)
    assert [one.answers for one in questions] == [("B",), ("D",), ("C",)]


def test_choices_without_an_answer_are_counted_apart(tmp_path: Path) -> None:
    """Nobody takes a column of an unknown name for one that was read."""
    made, _ = imported(rows(tmp_path, "A", "", "", options=list(COLOURS), verity="B"), tmp_path)
    assert made.kinds == {"choice without an answer": 2, "choice": 1}
    assert any("not read: verity" in str(note) for note in made.notes)


MARKS = {
    "(A) ": "({}) ", "A. ": "{}. ", "a) ": "{}) ", "A: ": "{}: ", "A - ": "{} - ", "[A] ": "[{}] ", "（A）": "（{}）",
    "A、": "{}、", "A．": "{}．",
}  # fmt: skip


@pytest.mark.parametrize("mark", MARKS)
def test_letters_that_all_options_begin_with_stand_in_the_prompt_once(tmp_path: Path, mark: str) -> None:
    """In whatever spelling; the answer may be written with its mark, too."""
    letters = "abcd" if mark.startswith("a") else "ABCD"
    texts = [MARKS[mark].format(letter) + text for letter, text in zip(letters, COLOURS, strict=True)]
    _, questions = imported(rows(tmp_path, "B", texts[1], "green", options=texts), tmp_path)
    assert all(tuple((one.options or {}).values()) == COLOURS for one in questions)
    assert [one.answers for one in questions] == [("B",)] * 3


@pytest.mark.parametrize("marks", ["①②③④", ("1. ", "2. ", "3. ", "4. "), ("(1) ", "(2) ", "(3) ", "(4) ")])
def test_numbers_that_all_options_begin_with_are_what_they_are_called(tmp_path: Path, marks: Any) -> None:
    """So that answer 2 is the second."""
    texts = [f"{mark}{text}" for mark, text in zip(marks, COLOURS, strict=True)]
    _, questions = imported(rows(tmp_path, "2", 2, texts[1], options=texts), tmp_path)
    assert all(tuple((one.options or {}).values()) == COLOURS for one in questions)
    assert [one.answers for one in questions] == [("B",)] * 3


@pytest.mark.parametrize("texts", [("1.5", "2.5"), ("A red one", "B side"), ("B. red", "A. green"), ("1:2", "2:3")])
def test_texts_that_only_look_like_marks_stay(tmp_path: Path, texts: tuple[str, ...]) -> None:
    """Not in order, or no mark."""
    _, (one,) = imported(rows(tmp_path, texts[0], options=list(texts)), tmp_path)
    assert tuple((one.options or {}).values()) == texts
