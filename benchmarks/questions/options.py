"""Which options a record has: in a column, in one column each, or as lettered lines of its question's text."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from benchmarks.questions.columns import Columns, listed, text_of
from benchmarks.questions.samples import LETTERS

_LETTERED = re.compile(r"[(\[]?([A-Z])[.)\]:．：、]\s*(\S.*)", re.DOTALL)
"""An option with its letter: "(A) red", "A. red", "A) red", "A: red"."""
_OPENING_LETTER = re.compile(r"\s*[(\[]?[A-Z][.)\]:．：、]\s*\S")


class Lettered(NamedTuple):
    """A question whose text lists options: what stands before them, their texts, and what stands behind them."""

    before: str
    options: tuple[str, ...]
    behind: str


def options_of(columns: Columns) -> dict[str, str] | None:
    """Take the options, lettered from A. Raises ValueError for options without an order or with a gap."""
    name, value = columns.first("options")
    value = listed(value)
    found = _listed_in(name, value) if value else _from_columns(columns)
    if found and len(found) > len(LETTERS):
        raise ValueError(
            f"{name}: {len(found)} options are more than there are letters ({len(LETTERS)}); leave this question out, "
            f"or ask it without options: `--map {columns.called(name)}=ignored`, its answer as a text by answer_text"
        )
    return lettered(found) if found else None


def lettered(texts: Sequence[str]) -> dict[str, str]:
    """The texts by their letters, without those that they are all written with."""
    return dict(zip(LETTERS, _bare(texts), strict=False))


def bare_option(text: str) -> tuple[str, str] | None:
    """The letter and the text of an option that is written with both."""
    match = _LETTERED.fullmatch(text)
    return (match[1], match[2]) if match else None


def options_within(text: str) -> Lettered | None:
    """Split a text whose lines list options, each behind its letter and in order from A; None for any other.

    Before them stands what is asked.
    """
    lines = text.strip().splitlines()
    start = next((at for at, line in enumerate(lines) if _is_option(line, 0)), 0)
    count = sum(1 for _ in _run(lines[start:]))
    before, behind = lines[:start], lines[start + count :]
    if count < 2 or not any(map(str.strip, before)) or any(map(_OPENING_LETTER.match, behind)):
        return None
    texts = [match[2].strip() for line in lines[start : start + count] if (match := _LETTERED.fullmatch(line.strip()))]
    return Lettered("\n".join(before).strip(), tuple(texts), "\n".join(behind).strip())


def _run(lines: Sequence[str]) -> Iterator[str]:
    for at, line in enumerate(lines):
        if not _is_option(line, at):
            return
        yield line


def _is_option(line: str, at: int) -> bool:
    match = _LETTERED.fullmatch(line.strip())
    return bool(match) and at < len(LETTERS) and match[1] == LETTERS[at]  # type: ignore[index]


def _listed_in(name: str, value: Any) -> list[str]:
    if isinstance(value, dict) and isinstance(value.get("text"), list):
        value = value["text"]
    if isinstance(value, dict):
        value = [value[key] for key in sorted(value, key=str)]
    if isinstance(value, str):
        value = [part for part in re.split(r"\n|\|", value) if part.strip()]
    if not isinstance(value, list) or len(value) < 2:
        raise ValueError(f"{name}: must be a list of two texts or more, or one text with | between the options")
    return [text_of(one) for one in value]


def _from_columns(columns: Columns) -> list[str]:
    """The options that have a column each: option_a, option_1, choice_a ..., or A, B, C ..."""
    found = columns.named(r"(?:option|choice)_?([a-z]|\d{1,2})")
    letters = [name for name in sorted(columns.plain_names) if len(name) == 1 and "a" <= name <= "z"]
    if not found and letters[:2] == ["a", "b"]:
        found = columns.named(rf"([{''.join(_without_tail(letters))}])")
    keys = sorted(found, key=lambda key: (int(key) if key.isdecimal() else 0, key))
    expected = list(LETTERS.lower()) if keys and keys[0].isalpha() else [str(at) for at in range(100)]
    first = expected.index(keys[0]) if keys and keys[0] in ("0", "1") else 0
    if gap := [key for key, other in zip(expected[first:], keys, strict=False) if key != other]:
        raise ValueError(f"options {', '.join(keys).upper()} have a gap: there is no {gap[0].upper()}")
    return [text_of(found[key]) for key in keys]


def _without_tail(letters: list[str]) -> list[str]:
    """Options are A to J, and what follows without a gap; columns x and y of a table are none."""
    run = [letter for at, letter in enumerate(letters) if letter == LETTERS[at].lower()]
    return [letter for letter in letters if letter in run or letter <= "j"]


def _bare(texts: Sequence[str]) -> list[str]:
    """The options' texts without their letters, where all are written with theirs in order."""
    matches = [_LETTERED.fullmatch(text) for text in texts]
    if all(match and match[1] == LETTERS[at] for at, match in enumerate(matches)):
        return [match[2] for match in matches if match]
    return list(texts)
