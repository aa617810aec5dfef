"""Reads JSON objects as models write them: amid prose, with single quotes, bare words, trailing commas, or cut off."""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

_STRICT = json.JSONDecoder()
_SKIPPED = re.compile(r"(?:[\s,]|//[^\n]*)*")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?=\s*(?:[,}\]]|//|\n|$))")
_BARE_END = re.compile(r"[,}\]\n]")
_WORDS = {"true": True, "false": False, "null": None, "none": None}
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "`": "`"}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_DEEPEST = 20


class CutOff(NamedTuple):
    """An object or a list that breaks off; `content` is what was complete before, and what broke off itself."""

    content: dict[str, Any] | list[Any]


class _BrokenError(Exception):
    """A value breaks off or cannot be read."""


def read_objects(text: str) -> Iterator[dict[str, Any] | CutOff]:
    """Yield the outermost objects of a text in order; one that the text's end cuts off is a CutOff."""
    position = text.find("{")
    while position >= 0:
        found, end = _read_object(text, position)
        if found is not None:
            yield found
        position = text.find("{", end)


def _read_object(text: str, start: int) -> tuple[dict[str, Any] | CutOff | None, int]:
    try:
        strict, end = _STRICT.raw_decode(text, start)
    except (ValueError, RecursionError):
        reader = _Reader(text, start)
        try:
            loose = reader.read_value(0)
        except _BrokenError:
            return None, start + 1
        return loose, max(reader.position, start + 1)
    return strict, end


class _Reader:
    """A cursor in a text that holds loosely written JSON."""

    def __init__(self, text: str, position: int) -> None:
        self.text = text
        self.position = position

    def read_value(self, depth: int) -> Any:
        """Read the value at the cursor; raises _BrokenError where there is none, or a plain value breaks off."""
        opening = self._peek()
        if depth > _DEEPEST or not opening:
            raise _BrokenError
        if opening == "{":
            return self._read_entries(depth)
        if opening == "[":
            return self._read_items(depth)
        if opening in _QUOTES:
            return self._read_string()
        return self._read_bare()

    def _peek(self) -> str:
        return self.text[self.position : self.position + 1]

    def _skip(self) -> str:
        match = _SKIPPED.match(self.text, self.position)
        self.position = match.end() if match else self.position
        return self._peek()

    def _read_entries(self, depth: int) -> dict[str, Any] | CutOff:
        self.position += 1
        entries: dict[str, Any] = {}
        try:
            while self._skip() != "}":
                key = self._read_key()
                value = self.read_value(depth + 1)
                entries[key] = value
                if isinstance(value, CutOff):
                    return CutOff(entries)
        except _BrokenError:
            return CutOff(entries)
        self.position += 1
        return entries

    def _read_items(self, depth: int) -> list[Any] | CutOff:
        self.position += 1
        items: list[Any] = []
        try:
            while self._skip() != "]":
                if self._peek() == "}":
                    raise _BrokenError
                items.append(self.read_value(depth + 1))
                if isinstance(items[-1], CutOff):
                    return CutOff(items)
        except _BrokenError:
            return CutOff(items)
        self.position += 1
        return items

    def _read_key(self) -> str:
        if self._peek() in _QUOTES and self._peek():
            key = self._read_string()
        else:
            end = self.text.find(":", self.position)
            key = self.text[self.position : end].strip() if end >= 0 else ""
            if not key or len(key) > 60 or "\n" in key:
                raise _BrokenError
            self.position = end
        if self._skip_space() != ":":
            raise _BrokenError
        self.position += 1
        self._skip_space()
        return key

    def _skip_space(self) -> str:
        while self._peek().isspace():
            self.position += 1
        return self._peek()

    def _read_string(self) -> str:
        """Read a quoted text; a quote inside it, as in 'it's', ends it only where a value can end."""
        closing, characters = _QUOTES[self._peek()], []
        position = self.position + 1
        while position < len(self.text):
            character = self.text[position]
            if character == "\\" and position + 1 < len(self.text):
                position += 1
                characters.append(_ESCAPES.get(self.text[position], self.text[position]))
            elif character == closing and self._can_end(position + 1):
                self.position = position + 1
                return "".join(characters)
            else:
                characters.append(character)
            position += 1
        raise _BrokenError

    def _can_end(self, position: int) -> bool:
        while position < len(self.text) and self.text[position] in " \t\r":
            position += 1
        return position >= len(self.text) or self.text[position] in ",:}]\n/"

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
        else:
            raise _BrokenError
        words = self.text[start : self.position].partition("//")[0].strip()
        if not words:
            raise _BrokenError
        return _WORDS.get(words.lower(), words)
