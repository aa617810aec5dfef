"""Writes numbers of things, and lists of many."""

from collections.abc import Iterator, Sequence


def count_noun(number: int, noun: str, several: str = "") -> str:
    """Write a number with its noun, "1 response" and "2 responses"; `several` is its plural where that has no s."""
    return f"{number} {noun if number == 1 else several or f'{noun}s'}"


def first_lines(lines: Sequence[str], most: int) -> Iterator[str]:
    """Yield the first lines, at most so many, and one that counts the rest."""
    yield from lines[:most]
    if len(lines) > most:
        yield f"... and {len(lines) - most} more"


def list_some(names: Sequence[str], most: int) -> str:
    """Write the first names, at most so many, and count the rest: "a, b and 3 more"."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
