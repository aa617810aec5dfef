"""Reads JSON objects as models write them: amid prose, with single quotes, bare words, trailing commas, or cut off."""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

_STRICT = json.JSONDecoder()
_SKIPPED = re.compile(r"(?:[\s,]|//[^\n]*)*")
_SPACE = re.compile(r"\s*")
_NUMBER = re.compile(r"-?\d{1,300}(?:\.\d{1,300})?(?:[eE][+-]?\d+)?(?=\s*(?:[,}\]]|//|\n))")
_BARE_END = re.compile(r"[,}\]\n]")
_WORDS = {"true": True, "false": False, "null": None, "none": None}
_LONGEST_WORD = 16
_STRINGS = {
    opening: re.compile(rf"{opening}((?:\\.|[^\\])*?){closing}(?=[ \t\r]*(?:[,:}}\]\n/]|$))", re.DOTALL)
    for opening, closing in ('""', "''", "“”", "‘’", "``")
}
"""A quoted text by its opening quote; a quote inside it, as in 'it's', ends it only where a value can end."""
_OPENING = re.compile(r"\{\s*(?:[\"'“‘`]|[A-Za-z_][\w.() -]{0,40}:)")
_BARE_KEY = re.compile(r"[A-Za-z_][\w.() -]{0,40}(?=:)")
_ENTRY = "entry"
_NEXT_ENTRY = re.compile(r"[,\n][^\S\n]*+(?=[\"'“][\w.() -]{1,40}[\"'”]\s*:)")
_ESCAPED = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_DEEPEST, _DEEPEST_CLOSED = 20, 100
_MOST_OBJECTS = 100


class TruncatedJson(NamedTuple):
    """An object or a list that breaks off; `content` is what was complete before, and what broke off itself."""

    content: dict[str, Any] | list[Any]


class JsonSpan(NamedTuple):
    """An object of a text and where it stands; one that breaks off reaches to the prose or the object behind it."""

    value: dict[str, Any] | TruncatedJson
    start: int
    end: int


class _BrokenError(Exception):
    """A value breaks off or cannot be read."""


def read_objects(text: str) -> Iterator[JsonSpan]:
    """Yield the outermost objects of a text in order; one that breaks off is a TruncatedJson.

    The hundredth reaches to the end: that many stand only in a text that runs in circles.
    """
    opening, missing = _OPENING.search(text), set[str]()
    for number in range(1, _MOST_OBJECTS + 1):
        if opening is None:
            return
        start = opening.start()
        found, position, closed = _read_object(text, start, missing)
        opening = _OPENING.search(text, position) if number < _MOST_OBJECTS else None
        following = opening.start() if opening else len(text)
        yield JsonSpan(found, start, position if closed and number < _MOST_OBJECTS else following)


def _read_object(text: str, start: int, missing: set[str]) -> tuple[dict[str, Any] | TruncatedJson, int, bool]:
    """Return the object that begins at `start`, where reading ended, and whether what stands there is prose again.

    One that nests too deep to be gone through counts as cut off.
    """
    try:
        strict, end = _STRICT.raw_decode(text, start)
    except (ValueError, RecursionError):
        reader = _JsonCursor(text, start, missing)
        found = reader.read_object()
        return found, reader.position, not isinstance(found, TruncatedJson) or reader.is_at_prose()
    return TruncatedJson({}) if is_deep(strict, text, start, end) else strict, end, True


def is_deep(value: Any, text: str, start: int = 0, end: int | None = None) -> bool:
    """Return whether JSON, decoded from a part of a text, nests deeper than anybody means it.

    Recursion could not go through it. Where the text has few brackets, nothing is looked at.
    """
    return text.count("{", start, end) + text.count("[", start, end) > _DEEPEST_CLOSED and _nests(value)


def _nests(value: Any, left: int = _DEEPEST_CLOSED) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(left == 0 or _nests(one, left - 1) for one in inner if isinstance(one, dict | list))


class _JsonCursor:
    """A cursor in a text that holds loosely written JSON.

    `missing` gathers what was looked for up to the text's end and not found, so that nobody looks again from later on.
    """

    def __init__(self, text: str, position: int, missing: set[str]) -> None:
        self.text = text
        self.position = position
        self._missing = missing
        self._in_value = False

    def is_at_prose(self) -> bool:
        """Whether an object that was never closed ended before a line of prose, and not within a value or a key."""
        before = self.text[: self.position]
        on_new_line = "\n" in before[len(before.rstrip()) :]
        return on_new_line and not self._in_value and self._peek() not in _STRINGS

    def read_object(self) -> dict[str, Any] | TruncatedJson:
        """Read the object that begins at the cursor."""
        return self._read_entries(0)

    def read_value(self, depth: int) -> Any:
        """Read the value at the cursor; raises _BrokenError where there is none, or a plain value breaks off."""
        opening = self._peek()
        if depth > _DEEPEST or not opening:
            raise _BrokenError
        if opening == "{":
            return self._read_entries(depth)
        if opening == "[":
            return self._read_items(depth)
        if opening in _STRINGS:
            return self._read_string()
        return self._read_bare()

    def _peek(self) -> str:
        return self.text[self.position : self.position + 1]

    def _skip(self) -> str:
        match = _SKIPPED.match(self.text, self.position)
        self.position = match.end() if match else self.position
        return self._peek()

    def _read_entries(self, depth: int) -> dict[str, Any] | TruncatedJson:
        self.position += 1
        entries: dict[str, Any] = {}
        while self._skip() != "}":
            self._in_value = False
            try:
                key = self._read_key()
                self._in_value = True
                entries[key] = self.read_value(depth + 1)
            except _BrokenError:
                if not self._find_entry():
                    return TruncatedJson(entries)
            else:
                if isinstance(entries[key], TruncatedJson):
                    return TruncatedJson(entries)
        self.position += 1
        return entries

    def _find_entry(self) -> bool:
        """Go to the next entry behind one that cannot be read."""
        found = None if _ENTRY in self._missing else _NEXT_ENTRY.search(self.text, self.position)
        if found is None:
            self._missing.add(_ENTRY)
            return False
        self.position = found.end()
        return True

    def _read_items(self, depth: int) -> list[Any] | TruncatedJson:
        self.position += 1
        items: list[Any] = []
        try:
            while self._skip() != "]":
                if self._peek() == "}":
                    raise _BrokenError
                items.append(self.read_value(depth + 1))
                if isinstance(items[-1], TruncatedJson):
                    return TruncatedJson(items)
        except _BrokenError:
            return TruncatedJson(items)
        self.position += 1
        return items

    def _read_key(self) -> str:
        if self._peek() in _STRINGS:
            key = self._read_string()
        elif bare := _BARE_KEY.match(self.text, self.position):
            key = bare[0].strip()
            self.position = bare.end()
        else:
            raise _BrokenError
        if self._skip_space() != ":":
            raise _BrokenError
        self.position += 1
        self._skip_space()
        return key

    def _skip_space(self) -> str:
        match = _SPACE.match(self.text, self.position)
        self.position = match.end() if match else self.position
        return self._peek()

    def _read_string(self) -> str:
        """Read a quoted text; a quote inside it, as in 'it's', ends it only where a value can end."""
        opening = self._peek()
        match = None if opening in self._missing else _STRINGS[opening].match(self.text, self.position)
        if match is None:
            self._missing.add(opening)
            raise _BrokenError
        self.position = match.end()
        return unescaped(match[1])

    def _read_bare(self) -> Any:
        """Read a number, true, false, null, or words without quotes up to where a value can end."""
        if number := _NUMBER.match(self.text, self.position):
            self.position = number.end()
            return json.loads(number[0])
        start = self.position
        if self._peek() == "(" and (closing := self.text.find(")", start)) >= 0:
            self.position = closing + 1
        elif end := _BARE_END.search(self.text, start):
            self.position = end.start()
        elif (
            self.text[start : start + _LONGEST_WORD].strip().lower() in _WORDS
            and not self.text[start + _LONGEST_WORD :]
        ):
            self.position = len(self.text)
        else:
            raise _BrokenError
        words = self.text[start : self.position].partition("//")[0].strip()
        if not words:
            raise _BrokenError
        return _WORDS.get(words.lower(), words)


def unescaped(text: str) -> str:
    """Return a text as JSON means it, between its quotes."""
    return _ESCAPED.sub(_character, text)


def _character(escape: re.Match[str]) -> str:
    return chr(int(escape[1], 16)) if escape[1] else _ESCAPES.get(escape[2], escape[2])
