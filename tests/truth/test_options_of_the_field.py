"""Options keep their texts, and a truth names the option that its record calls so, in every form of a file."""

import csv
import json
from pathlib import Path

import pytest

from gigavqa.evaluation.datasets import load_for_scoring
from tests.truth.reading import imported, refusal, written

_TEXTS = ("a cat", "a dog", "a cow", "a hen")
_LETTERED = dict(zip("ABCD", _TEXTS, strict=True))
_ROW = {"image": "harbour.png", "question": "Which animal is it?"}


def _asked(folder: Path, *rows: dict[str, object], **settings: object) -> list[tuple[dict[str, str] | None, str]]:
    source = written(folder, "rows.jsonl", "".join(json.dumps({**_ROW, **row}) + "\n" for row in rows))
    return [(one.options, one.truth) for one in imported(source, folder, **settings)[1]]


def _refused(folder: Path, *rows: dict[str, object], **settings: object) -> str:
    source = written(folder, "rows.jsonl", "".join(json.dumps({**_ROW, **row}) + "\n" for row in rows))
    return refusal(source, folder, **settings)


@pytest.mark.parametrize("text", ["text", "content", "value", "option", "answer"])
@pytest.mark.parametrize("label", ["label", "letter", "key", "id"])
@pytest.mark.parametrize("names", ["ABCD", "1234", "0123", "DBCA"])
def test_options_that_are_objects_have_texts_and_labels(tmp_path: Path, text: str, label: str, names: str) -> None:
    """The truth is what the record calls an option, before anything is counted."""
    options = [{label: name, text: one} for name, one in zip(names, _TEXTS, strict=True)]
    assert _asked(tmp_path, {"options": options, "answer": names[2]}) == [(_LETTERED, "C")]


@pytest.mark.parametrize(
    ("option", "told"),
    [
        ({"label": "A", "image": "a.png"}, "has label, image, and no text"),
        ({"label": "A", "text": "a cat", "image": "a.png"}, "has image, which nobody reads"),
        ({"text": "a cat", "is_correct": True}, "has is_correct, which nobody reads"),
        ({"label": "A", "text": ""}, "has no text"),
        ({"label": "A", "text": ["a cat"]}, "has no text"),
        ({"bytes": "iVBORw0KGgo", "path": None}, "has bytes, and no text"),
        (["a cat"], "is a list"),
        (None, "has no text"),
        ("", "has no text"),
    ],
)
def test_options_without_one_text_each_are_refused(tmp_path: Path, option: object, told: str) -> None:
    """The row and the column are named."""
    message = _refused(tmp_path, {"choices": [option, "a dog"], "answer": "B"})
    assert message.startswith("rows.jsonl:1: rows-1: choices: option 1 ")
    assert told in message


@pytest.mark.parametrize("names", ["1234", "0123", "ABCD", "abcd", ("option1", "option2", "option3", "option4")])
def test_a_truth_is_the_key_of_an_option(tmp_path: Path, names: str | tuple[str, ...]) -> None:
    """Whether the options are an object or columns of their own; keys of two figures keep their order."""
    options = dict(zip(names, _TEXTS, strict=True))
    assert _asked(tmp_path, {"options": options, "answer": names[1]}) == [(_LETTERED, "B")]
    many = {str(at): f"text {at}" for at in range(1, 13)}
    assert _asked(tmp_path, {"options": many, "answer": 10})[0][1] == "J"


@pytest.mark.parametrize("column", ["option", "option_", "choice_"])
@pytest.mark.parametrize("first", [0, 1])
def test_a_truth_is_the_number_of_an_options_column(tmp_path: Path, column: str, first: int) -> None:
    """Columns option1 ... have the numbers of their names."""
    names = [f"{column}{at}" for at in range(first, first + 4)]
    with written(tmp_path, "table.csv", "").open("w", newline="") as text:
        writer = csv.writer(text)
        writer.writerow(["image", "question", *names, "answer"])
        for at in range(4):
            writer.writerow([*_ROW.values(), *_TEXTS, first + at])
    samples = imported(tmp_path / "table.csv", tmp_path)[1]
    assert [(one.options, one.truth) for one in samples] == [(_LETTERED, letter) for letter in "ABCD"]


def test_a_number_that_is_no_key_makes_the_column_unsure(tmp_path: Path) -> None:
    """The keys count from 1, and the truths from 0, it seems: no row is read until somebody says so."""
    options = dict(zip("1234", _TEXTS, strict=True))
    rows = [{"options": options, "answer": at} for at in (2, 0, 1)]
    message = _refused(tmp_path, *rows, leave_out_bad=True)
    assert "answer: holds 0 (row at line 2), and the options are called 1, 2, 3, 4" in message
    assert "--map answer=answer_index" in message
    told = _asked(tmp_path, *rows, columns={"answer": "answer_index"})
    assert [truth for _, truth in told] == ["C", "A", "B"]


def test_a_key_that_is_another_options_text_is_refused(tmp_path: Path) -> None:
    """Either may be meant."""
    message = _refused(tmp_path, {"options": {"1": "2", "2": "3"}, "answer": "2"})
    assert "answer: '2' is option A's text, and option B is called so" in message


def test_keys_with_a_gap_are_refused(tmp_path: Path) -> None:
    """The prompt would letter them otherwise."""
    assert "options A, C have a gap: there is no B" in _refused(tmp_path, {"options": {"A": "x", "C": "y"}})


@pytest.mark.parametrize(
    "options",
    [{"A": "a cat", "B": "a dog", "C": None, "D": None}, ["a cat", "a dog", None, ""]],
)
def test_options_that_are_empty_at_the_end_are_none(tmp_path: Path, options: object) -> None:
    """Tables of structs have a field for the most options that there are."""
    told = _asked(tmp_path, {"options": options, "answer": "B"})
    assert told == [({"A": "a cat", "B": "a dog"}, "B")]


def test_an_empty_option_of_a_letter_is_refused_but_still_read(tmp_path: Path) -> None:
    """Data sets that have one keep their reports, and ask no more."""
    options = {"A": "a cat", "B": "", "C": "a cow"}
    assert "options: B has no text" in _refused(tmp_path, {"options": options, "answer": "A"})
    source = tmp_path / "rows.jsonl"
    assert [one.options for one in load_for_scoring(source, "questions").samples] == [options]


def test_options_by_letters_keep_what_is_no_usual_mark(tmp_path: Path) -> None:
    """They are as data sets keep them, whose prompts stay the same."""
    options = {"A": "1. cat", "B": "2. dog"}
    assert _asked(tmp_path, {"options": options, "answer": "B"}) == [(options, "B")]


@pytest.mark.parametrize("count", [20, 120])
@pytest.mark.parametrize("column", ["answer", "answer_idx", "correct_choice_idx"])
def test_numbers_that_never_hold_0_are_not_counted_from_it(tmp_path: Path, column: str, count: int) -> None:
    """That many rows without 0 are no chance, though none holds N; whoever says what they count from is believed."""
    rows = [{"options": list(_TEXTS), column: 1 + at % 3} for at in range(count)]
    message = _refused(tmp_path, *rows)
    assert f"{column}: holds numbers in {count} rows, and never 0" in message
    assert [truth for _, truth in _asked(tmp_path, *rows, columns={column: "answer_index"})][:3] == ["B", "C", "D"]
    assert [truth for _, truth in _asked(tmp_path, *rows, columns={column: "answer_from_1"})][:3] == ["A", "B", "C"]


def test_a_few_numbers_without_0_may_be_chance(tmp_path: Path) -> None:
    """They count from 0, as numbers of options do."""
    rows = [{"options": list(_TEXTS), "answer": 1 + at % 3} for at in range(6)]
    assert [truth for _, truth in _asked(tmp_path, *rows)][:3] == ["B", "C", "D"]


@pytest.mark.parametrize(
    "marks",
    [
        ("a.", "b.", "c.", "d."), ("a) ", "b) ", "c) ", "d) "), ("(a)", "(b)", "(c)", "(d)"), "①②③④", "ⒶⒷⒸⒹ",
        ("1. ", "2. ", "3. ", "4. "), ("(1) ", "(2) ", "(3) ", "(4) "), ("A - ", "B - ", "C - ", "D - "),
        ("A – ", "B – ", "C – ", "D – "), ("（A）", "（B）", "（C）", "（D）"), ("【A】", "【B】", "【C】", "【D】"),
        ("A、", "B、", "C、", "D、"), ("[A] ", "[B] ", "[C] ", "[D] "),
    ],
)  # fmt: skip
def test_options_are_not_lettered_twice(tmp_path: Path, marks: tuple[str, ...]) -> None:
    """Their own marks are left out, where all have theirs in order; a truth may be written with one."""
    options = [f"{mark}{text}" for mark, text in zip(marks, _TEXTS, strict=True)]
    for truth in (options[2], _TEXTS[2], "C"):
        assert _asked(tmp_path, {"options": options, "answer": truth}) == [(_LETTERED, "C")]


@pytest.mark.parametrize(
    "texts", [("1. May", "2. May"), ("1.5", "2.5"), ("1:2", "2:3"), ("b. x", "a. y"), ("A-frame", "B-frame")]
)
def test_marks_that_are_no_order_belong_to_the_text(tmp_path: Path, texts: tuple[str, ...]) -> None:
    """Nothing is left of days without their figures."""
    assert _asked(tmp_path, {"options": list(texts), "answer": texts[1]}) == [
        (dict(zip("AB", texts, strict=True)), "B")
    ]
