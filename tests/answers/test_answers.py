"""Raw responses are parsed as a careful reader would, case by case."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gigavqa.answers.final import parse_answer
from gigavqa.answers.text import thoughts_apart

CORPUS = Path(__file__).parent
OPTIONS: dict[str, Any] = json.loads((CORPUS / "options.json").read_text(encoding="utf-8"))
CASES = [
    pytest.param(json.loads(line), id=f"{path.stem}:{number}")
    for path in sorted(CORPUS.glob("*.jsonl"))
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
]


@pytest.mark.parametrize("case", CASES)
def test_a_response_gets_the_verdict_that_its_case_states(case: dict[str, Any]) -> None:
    """Every case of the corpus: its text, and the value and status that a reader would give it."""
    parsed = parse_answer(case["text"], OPTIONS[case["options"]])

    assert (parsed.value, parsed.status) == (case["value"], case["status"]), case["why"]


def test_an_answer_behind_thousands_of_empty_announcements_counts() -> None:
    """A model that runs in circles and then answers has answered."""
    parsed = parse_answer("Answer: " * 5000 + "Answer: B", OPTIONS["relation"])

    assert (parsed.value, parsed.status) == ("B", "marker")


@given(text=st.text(max_size=300))
def test_any_text_gets_one_of_the_options_or_no_value(text: str) -> None:
    """Whatever a model writes, the parser ends, and answers within the options."""
    parsed = parse_answer(text, OPTIONS["relation"])

    assert parsed.value in {None, "A", "B", "C", "D"}
    assert (parsed.value is not None) == (parsed.status in {"marker", "last"})


@given(text=st.text(max_size=300))
def test_any_text_gets_a_written_coordinate_or_no_value(text: str) -> None:
    """Without options the parser ends as well, and writes coordinates in one form."""
    parsed = parse_answer(text, None)

    assert parsed.value is None or parsed.value.startswith("(")


@given(letter=st.sampled_from("ABCD"), reasoning=st.text(alphabet=st.characters(codec="utf-8"), max_size=400))
def test_a_final_line_as_the_prompt_asks_for_it_always_counts(letter: str, reasoning: str) -> None:
    """Whatever was reasoned before, the closing line that the prompt asks for decides."""
    parsed = parse_answer(f"{reasoning.replace('<', ' ')}\nFinal answer: {letter}", OPTIONS["relation"])

    assert parsed.value == letter


@pytest.mark.parametrize(
    ("raw", "thought", "said"),
    [
        ("Final answer: B", "", "Final answer: B"),
        ("<think>Two?</think>B", "Two?", "B"),
        ("Two?</think>\nB", "Two?", "\nB"),
        ("B<think>or", "or", "B"),
        ("<think>and on", "and on", None),
    ],
)
def test_thoughts_are_told_apart_from_what_was_said(raw: str, thought: str, said: str | None) -> None:
    """By the families' marks; where only the closing one stands, the prompt opened them; None where they never end."""
    assert thoughts_apart(raw) == (thought, said)
