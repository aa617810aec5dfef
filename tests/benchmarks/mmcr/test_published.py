"""The paper's printed numbers, worked out again: which follow from counts, and which cannot hold beside each other."""

import numpy as np
import pytest

from gigavqa.benchmarks.mmcr.metrics import MMCRColumns, estimate_accuracy
from gigavqa.evaluation.metrics.intervals import estimate_share
from tests.benchmarks.mmcr.examples import question

QUESTIONS = 276
AGREE = [
    ("GPT-4o, circular accuracy over all", 134, 276, 48.55),
    ("Qwen2.5-VL-72B, circular accuracy over all", 110, 276, 39.86),
    ("GPT-4o, multi-table", 2, 10, 20.00),
    ("Qwen2.5-VL-72B, text", 24, 35, 68.57),
    ("GPT-4o, text", 23, 35, 65.71),
]


@pytest.mark.parametrize(("what", "right", "of", "printed"), AGREE)
def test_printed_accuracies_are_shares_of_their_questions(what: str, right: int, of: int, printed: float) -> None:
    """Each is the only count of right answers that rounds to what is printed."""
    questions = MMCRColumns([question(f"q{at}") for at in range(of)])
    value = estimate_accuracy(np.repeat([1.0, 0.0], [right, of - right]), questions).value
    assert value is not None and round(100 * value, 2) == printed, what
    assert [count for count in range(of + 1) if round(100 * count / of, 2) == printed] == [right]


def test_table_s1_is_two_of_its_cases() -> None:
    """2 of 109 is 1.8 %."""
    assert round(100 * (estimate_share(2, 109).value or 0), 1) == 1.8


def test_the_error_analysis_cannot_be_of_circular_failures() -> None:
    """GPT-4o fails 142 of 276 at 48.55 %; with 109 errors it would have 60.51 %. They are read as plain ones."""
    failures = QUESTIONS - 134
    assert failures == 142
    assert round(100 * (QUESTIONS - 109) / QUESTIONS, 2) == 60.51


def test_guessing_five_times_is_not_what_is_printed() -> None:
    """0.2^5 is 0.00032, which is 0.032 % and not 0.00032 %."""
    assert f"{100 * 0.2**5:.3f}" == "0.032"
