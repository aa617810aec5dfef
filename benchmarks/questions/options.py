"""Which options a record has: in a column, in one column each, or as lettered lines of its question's text."""

import re
import unicodedata
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
    """Take the options, lettered from A; what else they are called by is kept in `columns.option_keys`.

    Raises ValueError for options without a text, without an order or with a gap.
    """
    name, value = columns.first("options")
    value = listed(value)
    keyed = _listed_in(name, value) if value else _from_columns(columns)
    found = [text for _, text in keyed]
    if found and len(found) > len(LETTERS):
        raise ValueError(
            f"{name}: {len(found)} options are more than there are letters ({len(LETTERS)}); leave this question out, "
            f"or ask it without options: `--map {columns.called(name)}=ignored`, its answer as a text by answer_text"
        )
    if empty := [at for at, text in enumerate(found, start=1) if not text]:
        raise ValueError(f"{name}: option {empty[0]} of {len(found)} has no text; pictures cannot be options")
    marks = [mark for mark, _ in _marked(found) or ()]
    columns.option_keys = _other_keys([key for key, _ in keyed]) or _other_keys(marks)
    return lettered(found) if found else None


def _other_keys(keys: Sequence[str]) -> dict[str, str]:
    """The letters of options that a file calls otherwise; nothing where it calls them by these letters, or by none."""
    as_lettered = all(key in (letter, letter.lower(), "") for key, letter in zip(keys, LETTERS, strict=False))
    return {} if as_lettered else dict(zip(keys, LETTERS, strict=False))


def lettered(texts: Sequence[str]) -> dict[str, str]:
    """The texts by their letters, without those that they are all written with."""
    return dict(zip(LETTERS, _bare(texts), strict=False))


def bare_option(text: str) -> tuple[str, str] | None:
    """The letter and the text of an option that is written with its mark."""
    match = _MARKED.fullmatch(_plain_mark(text))
    if not match or not 0 < int(match[2] or 1) <= len(LETTERS):
        return None
    return (match[1] or LETTERS[int(match[2]) - 1]).upper(), match[3]


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


def _listed_in(name: str, value: Any) -> list[tuple[str, str]]:
    """What options are called, '' for nothing, and their texts."""
    if isinstance(value, dict) and isinstance(value.get("text"), list):
        keys = value.get("label")
        texts = value["text"]
        value = list(zip(keys if isinstance(keys, list) and len(keys) == len(texts) else _NO_KEYS, texts, strict=False))
    elif isinstance(value, dict):
        value = sorted(value.items(), key=lambda item: _order(str(item[0])))
    elif isinstance(value, str):
        value = [("", part) for part in re.split(r"\n|\|", value) if part.strip()]
    elif isinstance(value, list):
        while value and value[-1] is None:  # columns of Parquet are as wide as the longest list
            value = value[:-1]
        value = [_keyed(name, one) for one in value]
    if not isinstance(value, list) or len(value) < 2:
        raise ValueError(f"{name}: must be a list of two texts or more, or one text with | between the options")
    return [(text_of(key), text_of(text)) for key, text in value]


_NO_KEYS = [""] * 1000
_KEYS, _TEXTS = ("label", "letter", "key", "id", "index"), ("text", "value", "content", "option", "answer", "name")


def _keyed(name: str, one: Any) -> tuple[Any, Any]:
    """What one option of a list is called, and its text. Raises ValueError for one without a text."""
    if not isinstance(one, dict):
        return "", one
    text = next((one[key] for key in _TEXTS if isinstance(one.get(key), str | int | float)), None)
    if text is None:
        raise ValueError(f"{name}: an option holds {', '.join(map(str, one))}, and no text under {', '.join(_TEXTS)}")
    return next((one[key] for key in _KEYS if one.get(key) is not None), ""), text


def _order(key: str) -> tuple[int, str]:
    return (int(key) if key.isdecimal() else 0, key)


def _from_columns(columns: Columns) -> list[tuple[str, str]]:
    """The options that have a column each: option_a, option_1, choice_a ..., or A, B, C ..."""
    found = columns.named(r"(?:option|choice)_?([a-z]|\d{1,2})")
    letters = [name for name in sorted(columns.plain_names) if len(name) == 1 and "a" <= name <= "z"]
    if not found and letters[:2] == ["a", "b"]:
        found = columns.named(rf"([{''.join(_without_tail(letters))}])")
    keys = sorted(found, key=_order)
    expected = list(LETTERS.lower()) if keys and keys[0].isalpha() else [str(at) for at in range(100)]
    first = expected.index(keys[0]) if keys and keys[0] in ("0", "1") else 0
    if gap := [key for key, other in zip(expected[first:], keys, strict=False) if key != other]:
        raise ValueError(f"options {', '.join(keys).upper()} have a gap: there is no {gap[0].upper()}")
    return [(key, text_of(found[key])) for key in keys]


def _without_tail(letters: list[str]) -> list[str]:
    """Options are A to J, and what follows without a gap; columns x and y of a table are none."""
    run = [letter for at, letter in enumerate(letters) if letter == LETTERS[at].lower()]
    return [letter for letter in letters if letter in run or letter <= "j"]


def _bare(texts: Sequence[str]) -> list[str]:
    """The options' texts without their marks, where all are written with theirs in order."""
    marked = _marked(texts)
    return [text for _, text in marked] if marked else list(texts)


def _marked(texts: Sequence[str]) -> list[tuple[str, str]] | None:
    """Marks and texts of options that all begin with a mark, in order: letters, or numbers from 1; None of others."""
    matches = [_MARKED.fullmatch(_plain_mark(text)) for text in texts]
    found = [(match[1] or match[2], match[3]) for match in matches if match]
    in_order = [*LETTERS], [*LETTERS.lower()], [str(number) for number in range(1, len(LETTERS) + 1)]
    marks = [mark for mark, _ in found]
    return found if len(found) == len(texts) and any(marks == each[: len(marks)] for each in in_order) else None


def _plain_mark(text: str) -> str:
    """A text whose opening mark is written in ASCII: circled and full-width ones are."""
    mark, rest = text[:_LONGEST_MARK], text[_LONGEST_MARK:]
    return unicodedata.normalize("NFKC", _CIRCLED.sub(lambda one: f"{unicodedata.digit(one[0], 0)}. ", mark)) + rest


_LETTER_MARK = r"([A-Za-z])\s*(?:[.)\]}:,、]|\s[-–—])"
_NUMBER_MARK = r"(\d{1,2})\s*(?:[.)\]}:、]|\s[-–—])\s"
_MARKED = re.compile(rf"\s*[(\[{{]?\s*(?:{_LETTER_MARK}|{_NUMBER_MARK})\s*(\S.*)", re.DOTALL)
"""An option behind its mark: "(A) red", "A. red", "a) red", "A: red", "A - red", "1. red"."""
_CIRCLED = re.compile(r"^\s*[①-⑨]")
_LONGEST_MARK = 8
