"""Counts what a function does, so that tests can tell how its work grows without a clock."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def count_calls(work: Callable[[], object]) -> int:
    """Return how many calls of Python's and of C's functions the work makes in this thread."""
    calls = 0

    def note(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return calls


def growth(work: Callable[[int], Callable[[], object]], small: int, large: int) -> float:
    """Return how many times as many calls an item takes where there are `large` items instead of `small`.

    `work` prepares so many items, and returns what is to be counted: near 1 where the work is linear.
    """
    few, many = work(small), work(large)
    return (count_calls(many) / large) / (count_calls(few) / small)
