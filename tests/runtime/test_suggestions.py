"""Names that people mistype: letters left out, doubled, swapped, in other case."""

import time

import pytest

from gigavqa.runtime.suggestions import did_you_mean

NAMES = ["tiny", "demo", "streets-of-wien", "qwen3-vl-8b"]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("tyni", "tiny"),
        ("itny", "tiny"),
        ("tin", "tiny"),
        ("TINY", "tiny"),
        ("dmeo", "demo"),
        ("dmo", "demo"),
        ("street-of-wien", "streets-of-wien"),
        ("qwen3vl-8b", "qwen3-vl-8b"),
    ],
)
def test_a_slip_is_told_with_what_was_meant(typed: str, meant: str) -> None:
    """However short the name is."""
    assert f"did you mean '{meant}'" in did_you_mean(typed, NAMES)


@pytest.mark.parametrize("typed", ["", "zzz", "wien", "a" * 500])
def test_nothing_is_suggested_for_what_is_like_nothing(typed: str) -> None:
    """A wrong suggestion misleads."""
    assert did_you_mean(typed, NAMES) == ""


def test_names_without_end_are_no_reason_to_wait() -> None:
    """Of a data set of millions of samples the first are compared."""
    started = time.process_time()
    did_you_mean("sample-0000x", (f"sample-{number:05}" for number in iter(int, 1)))
    assert time.process_time() - started < 5.0
