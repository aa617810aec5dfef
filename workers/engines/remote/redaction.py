"""Texts of servers as they may be told and kept: without the key, and without halves of letters."""

import re
from functools import lru_cache
from typing import TypeGuard

_LONGEST_LINE = 400
_SHORTEST_SECRET = 8  # EMPTY, none and such stand in the variable of a key that there is not
_SURROGATES = re.compile("[\ud800-\udfff]")


def redact(text: str, key: str | None) -> str:
    """Return a text as it may be recorded: pairs of surrogates joined, single ones replaced, the key out of sight."""
    if _SURROGATES.search(text):
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return _key_pattern(key).sub("[key]", text) if is_secret(key) else text


def redact_line(text: str, key: str | None) -> str:
    """Return a text as it may be told: as it may be recorded, in one line, and cut."""
    text = " ".join(redact(text, key).split())
    return text if len(text) <= _LONGEST_LINE else f"{text[:_LONGEST_LINE]} ..."


def redactable_length(text: str, key: str | None) -> int:
    """Return how much of the beginning of `text` what comes behind it cannot change.

    No half of a letter, nor of the key.
    """
    end = len(text) - (text[-1:] >= "\ud800" and text[-1:] <= "\udbff")
    if is_secret(key):
        first = max(0, len(text) - len(key) + 1)
        end = next((start for start in range(first, end) if key.startswith(text[start:])), end)
    return end


def is_secret(key: str | None) -> TypeGuard[str]:
    """Return whether there is a key, and it is long enough to be one."""
    return key is not None and len(key) >= _SHORTEST_SECRET


@lru_cache(maxsize=8)
def _key_pattern(key: str) -> re.Pattern[str]:
    """Return the key as it is, and with letters of it escaped as JSON and addresses escape them, however often."""
    letters = (rf"(?:{re.escape(each)}|\\+u00(?i:{ord(each):02x})|%(?i:{ord(each):02x}))" for each in key)
    return re.compile("".join(letters))
