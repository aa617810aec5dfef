"""The board of `gigavqa ask` at a terminal: a row an answer while they are few, else counts of each group."""

from pathlib import Path

from rich.console import Console

from gigavqa.catalogue.load import load_catalogue
from gigavqa.cli.answers import AnswerScorer, AnswerTable
from tests.benchmarks.questions.files import ask_about
from tests.evaluation.responses import response


def _board(tmp_path: Path, total: int, letters: str) -> str:
    """The board as a terminal of 100 columns shows it, after the letters answered to q0, q1 ... whose truth is A."""
    records = [
        {"id": f"q{at}", "image": "red.jpg", "question": "Which?", "options": ["x", "y"], "answer": 0,
         "category": "even" if at % 2 == 0 else "odd"}
        for at in range(len(letters))
    ]  # fmt: skip
    answers, board = AnswerScorer(ask_about(tmp_path, *records), load_catalogue()), AnswerTable(total)
    lines = (
        response(f"q{at}", f"Final answer: {letter}", protocol="direct", request_id=f"q{at}").model_dump_json()
        for at, letter in enumerate(letters)
    )
    for outcome in answers.judged(lines):
        board.add(outcome)
    console = Console(width=100, force_terminal=False)
    with console.capture() as captured:
        console.print(board.table())
    return captured.get()


def test_few_answers_have_a_row_each(tmp_path: Path) -> None:
    """With what was answered, what is true, and the verdict in a word."""
    rows = _board(tmp_path, 3, "AB").splitlines()
    assert rows[0].strip() == "2 of 3 answered"
    assert rows[2].split() == ["q0", "qwen3-vl-8b", "direct", "V2", "A", "A", "right"]
    assert rows[3].split() == ["q1", "qwen3-vl-8b", "direct", "V2", "B", "A", "wrong"]


def test_many_answers_are_summed_up_by_cell_and_category(tmp_path: Path) -> None:
    """As a share of those that are scored, with its interval."""
    rows = _board(tmp_path, 1000, "ABAAAA").splitlines()
    assert rows[0].strip() == "6 of 1000 answered"
    assert rows[2].split() == ["qwen3-vl-8b", "direct", "V2", "even", "3", "100", "%", "[44,", "100]"]
    assert rows[3].split() == ["qwen3-vl-8b", "direct", "V2", "odd", "3", "67", "%", "[21,", "94]"]
