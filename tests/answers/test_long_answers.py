"""Of an answer that is longer than is read, its end counts where it tells; nothing of it is guessed."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gigavqa.answers.boxes import BoxFrame
from gigavqa.answers.final import parse_answer
from gigavqa.answers.text import LONGEST
from gigavqa.contract.responses import TurnResponse
from gigavqa.evaluation.installed import find_benchmark
from gigavqa.evaluation.replies import reply_of
from gigavqa.evaluation.verdicts import Verdict
from tests.benchmarks.ultravr.good_records import good_record, good_sample
from tests.evaluation.responses import response

OPTIONS = {"A": "the crane", "B": "the quay", "C": "the shed", "D": "the tower"}
REASONING = "The roof in the middle is red, and its shadow falls to the left. "
LONG = REASONING * (2 * LONGEST // len(REASONING))


def judged(protocol: str, text: str) -> Verdict:
    """What a sample with steps of many kinds makes of a chat in whose every turn a text was written."""
    sample = good_sample("rs-logic")
    asked = [None] if protocol == "S2" else [*(step.step_id for step in sample.steps), None]
    turns = tuple(TurnResponse(text=text, finish_reason="stop", asks=step) for step in asked)
    return find_benchmark("ultravr").judge(sample)(
        reply_of(response(sample.id, text, protocol=protocol, turns=turns)), BoxFrame()
    )


@pytest.mark.parametrize("ending", ["Final answer: B", "\n\nThe answer is B.", "\\boxed{B}", "So it is B.", "\nB"])
def test_an_answer_at_the_end_of_long_reasoning_counts(ending: str) -> None:
    """As it does behind short reasoning."""
    assert parse_answer(LONG + ending, OPTIONS).value == parse_answer(REASONING + ending, OPTIONS).value == "B"


@pytest.mark.parametrize("mark", ["<think>", "<thinking>", "[THINK]"])
def test_thoughts_of_any_length_are_cut_off(mark: str) -> None:
    """What counts is what is said behind them."""
    text = f"{mark}{'Or is it A? ' * LONGEST}{mark[0]}/{mark[1:]}So it is B."

    assert parse_answer(text, OPTIONS) == parse_answer("So it is B.", OPTIONS)


@pytest.mark.parametrize("opening", ["Final answer: C. ", "The answer is C. ", "C\n", "正确答案是C。"])
@pytest.mark.parametrize("ending", ["So it is B.", "the quay", "I cannot tell.", ""])
def test_what_an_answer_told_too_long_ago_is_not_replaced_by_a_guess(opening: str, ending: str) -> None:
    """An announcement, or an option as a first line, that is not read, may be what is meant."""
    parsed = parse_answer(opening + LONG + ending, OPTIONS)

    assert (parsed.value, parsed.status) == (None, "too_long")


def test_an_announcement_goes_before_what_was_told_too_long_ago() -> None:
    """It is the last one."""
    assert parse_answer(f"Final answer: C. {LONG}Final answer: B", OPTIONS).value == "B"


def test_a_loop_without_a_sentence_tells_nothing_but_what_it_announces() -> None:
    """Where a sentence begins that is longer than is read, nobody knows what it denies."""
    assert parse_answer("B and " * LONGEST, OPTIONS).status == "too_long"
    assert parse_answer("B and " * LONGEST + "answer: B", OPTIONS).value == "B"


@given(length=st.integers(LONGEST - 40, LONGEST + 40), letter=st.sampled_from("ABCD"))
def test_the_bound_changes_no_announced_answer(length: int, letter: str) -> None:
    """On either side of it."""
    ending = f"\nFinal answer: {letter}"

    assert parse_answer(LONG[: length - len(ending)] + ending, OPTIONS).value == letter


def test_spaces_that_are_written_without_end_are_no_part_of_an_answer() -> None:
    """A model that ends so has answered before."""
    assert parse_answer("It is B." + " \n" * LONGEST, OPTIONS).value == "B"


def test_steps_are_read_from_the_end_of_a_long_answer_where_it_announces() -> None:
    """Otherwise they are too long, and wrong."""
    announced, silent = judged("S4", f"{LONG}\nFinal answer: 3"), judged("S4", f"{LONG}Three.")

    assert {"parsed"} <= {part.status for part in announced.tell()}
    assert "too_long" not in {part.status for part in announced.tell()}
    assert {(part.status, part.score) for part in silent.tell()} == {("too_long", 0.0)}


def test_a_reply_with_steps_is_read_whole_or_not_at_all() -> None:
    """An object that begins before what is read could be any."""
    steps = {
        step["step_id"]: step["ground_truth"] for step in good_record("rs-logic")["reasoning_supervision"]["steps"]
    }
    written = json.dumps({**steps, "final_answer": good_record("rs-logic")["answer"]})
    whole, long = judged("S2", LONG + written), judged("S2", LONG * 2 + written)

    assert {part.status for part in whole.tell()} == {"parsed", "blank"}
    assert {part.status for part in long.tell()} == {"too_long"}


def test_an_answer_that_is_too_long_is_unreadable() -> None:
    """In every table that tells what became of replies."""
    assert judged("S0", f"The answer is C. {LONG}").outcome == "unreadable"


@pytest.mark.parametrize(
    "text",
    [
        '{"answer": ' * 900 + "1" + "}" * 900,
        "[" * 900 + "]" * 900,
        '{"a": [' * 450 + "]}" * 450,
        "2" * 400,
        "²" * 400,
        "9" * 5000,
        "-" + "9" * 400,
        '{"S1": ' * 900 + "1" + "}" * 900,
    ],
    ids=range(8),
)
@pytest.mark.parametrize(
    "benchmark",
    ["atombench", "questions", pytest.param("ultravr", marks=pytest.mark.slow)],  # has ten times the readers
)
def test_nesting_and_digits_without_end_raise_nothing(benchmark: str, text: str, deep_readers: Any) -> None:
    """They are no answer to anything."""
    for reader in deep_readers[benchmark]:
        reader.read(text)


@pytest.fixture(scope="module")
def deep_readers() -> dict[str, list[Any]]:
    """All readers of a benchmark, by its name."""
    from tests.answers.readers import judges  # noqa: PLC0415 - they take a second to be made

    found: dict[str, list[Any]] = {}
    for reader in judges():
        found.setdefault(reader.name.split()[0], []).append(reader)
    return found
