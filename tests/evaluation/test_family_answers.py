"""Answers in the styles of the catalogue's families are read as they are meant, case by case."""

from pathlib import Path

import pytest

from tests.evaluation.family_answers import Case, read_cases

CASES = list(read_cases(Path(__file__).parent / "answers" / "families"))


@pytest.mark.parametrize("case", CASES, ids=[case.place for case in CASES])
def test_an_answer_in_a_familys_style_is_read_as_its_case_states(case: Case) -> None:
    """Value, status and, of steps and whole replies, every field that the case states."""
    read = case.read()

    assert case.agrees(read), (case.why, read, case.stated, case.statuses)
