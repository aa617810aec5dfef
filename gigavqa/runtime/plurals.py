"""Writes numbers of things."""


def count_noun(number: int, noun: str, several: str = "") -> str:
    """Write a number with its noun, "1 response" and "2 responses"; `several` is its plural where that has no s."""
    return f"{number} {noun if number == 1 else several or f'{noun}s'}"
