"""The types that were found are told, so that a wrong one is seen before anything is asked."""

from pathlib import Path

import pytest

from gigavqa.answers.boxes import UNIT_FRAME
from gigavqa.benchmarks.questions.asking import direct_template
from gigavqa.benchmarks.questions.judging import QuestionJudge
from gigavqa.evaluation.inspection import inspect_dataset
from gigavqa.evaluation.replies import reply_of
from gigavqa.tiling.geometry import Size
from tests.evaluation.responses import response
from tests.truth.reading import FILES, imported, written

KINDS = {"choice": 1, "choice of several": 1, "yes/no": 1, "number": 1, "text": 1, "open": 1}


def test_an_import_and_a_check_count_the_types(tmp_path: Path) -> None:
    """One of each; a German no is one."""
    made, samples = imported(FILES / "six_types.jsonl", tmp_path)
    assert made.kinds == KINDS
    assert inspect_dataset(made.folder, lambda image, show: Size(8, 6)).kinds == KINDS
    assert [one.truth for one in samples] == ["B", "A, C", "no", "142", "no entry", ""]


def test_several_letters_are_asked_for_and_guessed_less_often(tmp_path: Path) -> None:
    """A guess is one of all sets of letters but the empty one."""
    several = imported(FILES / "six_types.jsonl", tmp_path)[1][1]
    text = direct_template().text(several, "", "V1")
    assert "One option or several are correct" in text and "one or more of A, B and C, with commas" in text
    assert several.chance == pytest.approx(1 / 7)


@pytest.mark.parametrize(
    ("reply", "value", "score"),
    [
        ("Final answer: A, C", "A, C", 1),
        ("Final answer: C and A", "A, C", 1),
        ("Final answer: AC", "A, C", 1),
        ("The correct options are **A** and **C**.", "A, C", 1),
        ("Final answer: A", "A", 0),
        ("Final answer: A, B, C", "A, B, C", 0),
        ("Final answer: A or C", None, 0),
        ("Final answer:\nA. the red one\nC. the tug", "A, C", 1),
        ("A. the red one\nC. the tug", "A, C", 1),
        ("Final answer: A (the red one) and C (the tug)", "A, C", 1),
        ("Option A is correct. Option B is not. Option C is correct.", "A, C", 1),
        ("Only A and C are moving; B is at anchor.", "A, C", 1),
        ("The red one and the tug are moving.", "A, C", 1),
        ("Final answer: all of the above", "A, B, C", 0),
        ("I cannot tell from this picture.", None, 0),
    ],
)
def test_several_letters_are_right_as_a_set(tmp_path: Path, reply: str, value: str | None, score: int) -> None:
    """All of them and no other, in whatever order; alternatives are no set."""
    several = imported(FILES / "six_types.jsonl", tmp_path)[1][1]
    verdict = QuestionJudge(several)(reply_of(response("q", reply)), UNIT_FRAME)
    assert (verdict.value, verdict.score) == (value, score)


def test_choices_without_an_answer_are_counted_apart(tmp_path: Path) -> None:
    """Nobody takes a column of an unknown name for one that was read."""
    table = "image,question,options,answer,verity\n" + "".join(
        f"harbour.png,Which?,red|green,{answer},B\n" for answer in ("A", "", "")
    )
    made, _ = imported(written(tmp_path, "a.csv", table), tmp_path)
    assert made.kinds == {"choice without an answer": 2, "choice": 1}
    assert any("not read: verity" in str(note) for note in made.notes)
