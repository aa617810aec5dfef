"""A run names the tests that are slow and not marked so."""

from tests.durations import slow_lines


def test_what_took_long_is_named_the_longest_first() -> None:
    """By the processor, or by the clock."""
    took = {"waits": (9.0, 0.1), "quick": (1.0, 0.9), "works": (3.0, 2.5)}
    said = slow_lines(took.items())
    assert [line.rsplit(": ")[-1] for line in said[1:]] == ["waits", "works"]
    assert "mark them `slow`" in said[0]
    assert slow_lines([("quick", (1.0, 0.9))]) == []
