"""Truths in the spellings of the field are read as what they are, or refused, or told; never others in silence."""

import csv
import json
from pathlib import Path

import pytest

from gigavqa.answers.boxes import UNIT_FRAME
from gigavqa.benchmarks.questions.judging import QuestionJudge
from gigavqa.benchmarks.questions.samples import Question
from gigavqa.evaluation.importing import ImportSummary
from gigavqa.evaluation.replies import reply_of
from tests.evaluation.responses import response
from tests.truth.reading import imported, refusal, written

_ROW = {"image": "harbour.png", "question": "What is it?"}


def _source(folder: Path, *rows: dict[str, object]) -> Path:
    return written(folder, "rows.jsonl", "".join(json.dumps({**_ROW, **row}) + "\n" for row in rows))


def _asked(folder: Path, row: dict[str, object], **settings: object) -> tuple[ImportSummary, Question]:
    made, samples = imported(_source(folder, row), folder, **settings)
    return made, samples[0]


def _score(question: Question, reply: str) -> float | None:
    return QuestionJudge(question)(reply_of(response("q", reply)), UNIT_FRAME).score


def _notes(made: ImportSummary) -> str:
    return "\n".join(map(str, made.notes))


@pytest.mark.parametrize("truth", ["[1, 2, 3]", [1, 2, 3], '["red", "green"]', ["red", "green"]])
def test_a_list_that_is_asked_for_is_one_truth(tmp_path: Path, truth: object) -> None:
    """A part of it is not right."""
    question = _asked(tmp_path, {"answer": truth, "question_type": "free_form", "answer_type": "list"})[1]
    whole = truth if isinstance(truth, str) else json.dumps(truth)
    assert (question.kind, question.answers) == ("text", (whole,))
    assert _score(question, f"Final answer: {whole}") == 1
    assert _score(question, "Final answer: 2") == 0
    assert _score(question, "Final answer: red") == 0


@pytest.mark.parametrize("truth", ["[1, 2, 3]", [1, 2, 3]])
def test_a_list_of_numbers_of_no_type_is_refused(tmp_path: Path, truth: object) -> None:
    """It is one truth, or three; who says that it is a text is believed."""
    assert "rows.jsonl:1: rows-1: answer: [1, 2, 3] is a list of numbers" in refusal(
        _source(tmp_path, {"answer": truth}), tmp_path
    )
    question = _asked(tmp_path, {"answer": truth}, columns={"answer": "answer_text"})[1]
    assert question.answers == ("[1, 2, 3]",)


def test_the_answers_of_several_people_are_read(tmp_path: Path) -> None:
    """Each in an object of its own, with what else is known of it."""
    given = [{"answer": text, "answer_confidence": "yes", "answer_id": at} for at, text in enumerate(["cat", "a cat"])]
    assert _asked(tmp_path, {"answers": given})[1].answers == ("cat", "a cat")


@pytest.mark.parametrize("truth", [[{"text": "cat"}], {"label": "cat"}, [["cat"]], [{"answer": ["cat"]}]])
def test_truths_of_another_form_are_refused(tmp_path: Path, truth: object) -> None:
    """They would be no truths."""
    assert "rows.jsonl:1: rows-1: answers: " in refusal(_source(tmp_path, {"answers": truth}), tmp_path)


@pytest.mark.parametrize("text", ["NaN", "nan", "N/A", "null", "inf", "-inf", "#N/A", "<NA>"])
def test_a_word_for_no_value_is_no_truth(tmp_path: Path, text: str) -> None:
    """It is told; as an option's own text, it is that."""
    made, question = _asked(tmp_path, {"answer": text})
    assert (question.kind, question.answers) == ("open", ())
    assert f"'{text}' is taken as no truth" in _notes(made)
    made, question = _asked(tmp_path, {"answer": text, "options": ["red", "green"]})
    assert (question.kind, question.answers) == ("choice", ())
    assert f"'{text}' is no option" in _notes(made)
    assert _asked(tmp_path, {"answer": text, "options": ["red", text]})[1].answers == ("B",)


def test_a_word_for_no_value_that_is_declared_a_text_is_one(tmp_path: Path) -> None:
    """So are those of data sets that were made before; it is told all the same."""
    made, question = _asked(tmp_path, {"answer": "N/A", "question_type": "text"})
    assert question.answers == ("N/A",)
    assert "'N/A' is taken as a true text" in _notes(made)


@pytest.mark.parametrize("text", ["None", "none", "NA"])
def test_a_word_that_may_be_no_value_is_told(tmp_path: Path, text: str) -> None:
    """There may truly be none."""
    made, question = _asked(tmp_path, {"answer": text})
    assert question.answers == (text,)
    assert f"'{text}' is taken as a true text" in _notes(made)


@pytest.mark.parametrize(
    ("kind", "read"), [("integer", "number"), ("float", "number"), ("text", "text"), ("yes/no", "yes_no")]
)
def test_the_type_of_an_answer_goes_before_a_free_form(tmp_path: Path, kind: str, read: str) -> None:
    """A question of a free form has an answer of some type all the same."""
    truth = {"number": "14", "text": "a crane", "yes_no": "yes"}[read]
    question = _asked(tmp_path, {"answer": truth, "question_type": "free_form", "answer_type": kind})[1]
    assert (question.kind, question.answers) == (read, (truth,))


def test_numbers_of_open_questions_are_told(tmp_path: Path) -> None:
    """Rules do not score what is declared open."""
    made, question = _asked(tmp_path, {"answer": "14", "question_type": "open"})
    assert question.kind == "open"
    assert "no open question is scored by rules" in _notes(made)
    assert _asked(tmp_path, {"answer": "14", "question_type": "open"}, columns={"question_type": "ignored"})[1].scored


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1\u00a0234", 1234), ("1\u202f234\u202f567", 1234567), ("1'234'567", 1234567), ("1’234.5", 1234.5),
        ("12,34,567", 1234567), ("1,23,456.5", 123456.5), ("50.5 %", 50.5), ("50%", 50), ("1,234,567", 1234567),
    ],
)  # fmt: skip
def test_thousands_and_per_cents_are_numbers(tmp_path: Path, text: str, number: float) -> None:
    """A perfect reply is right."""
    question = _asked(tmp_path, {"answer": text})[1]
    assert (question.kind, float(question.answers[0])) == ("number", number)
    assert _score(question, f"Final answer: {number}") == 1


@pytest.mark.parametrize("text", ["1 234", "1 234 567", "50,5 %", "1 234,5", "1\u00a0234,5"])
def test_numbers_that_may_be_others_are_refused(tmp_path: Path, text: str) -> None:
    """The sentence says how they are read."""
    message = refusal(_source(tmp_path, {"answer": text}), tmp_path)
    assert message.startswith("rows.jsonl")
    assert f"'{text}'" in message
    assert "--decimal" in message


def test_per_cents_of_a_table_with_commas_are_numbers(tmp_path: Path) -> None:
    """Semicolons separate where commas are decimal signs."""
    with written(tmp_path, "table.csv", "").open("w", newline="") as text:
        writer = csv.writer(text, delimiter=";")
        writer.writerows([["image", "question", "answer"], [*_ROW.values(), "50,5 %"]])
    question = imported(tmp_path / "table.csv", tmp_path)[1][0]
    assert (question.kind, question.answers) == ("number", ("50.5",))
