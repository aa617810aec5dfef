"""Writes Markdown tables, and keeps texts from being markup."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table; bars within cells are escaped."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def escaped(value: Any) -> Any:
    """Return a value, of whatever nesting, with all its texts escaped: no elements, no links, no line ends."""
    if isinstance(value, str):
        return " ".join(escape(value, quote=False).replace("](", "]\\(").splitlines())
    if isinstance(value, dict):
        return {escaped(key): escaped(inner) for key, inner in value.items()}
    return [escaped(inner) for inner in value] if isinstance(value, list | tuple) else value
