"""Reads step answers from plain lines, "S3: 4" or "**Step 3:** 4", where a reply holds no JSON."""

import re
from collections.abc import Iterable
from functools import lru_cache

_MARKS = r"[\s>*_`#\"'\-•(|]*"


def read_lines(text: str, step_ids: Iterable[str]) -> dict[str, str]:
    """Return what stands behind each step's name at the beginning of a line; the last such line counts."""
    ids, found = list(step_ids), {}
    for match in _line(tuple(ids)).finditer(text) if ids else ():
        named = next(index for index, name in enumerate(match.groups()) if name)
        found[ids[named]] = match["answer"].strip(" |").rpartition("|")[2].strip() or match["answer"].strip()
    return found


def without_lines(text: str, step_ids: Iterable[str]) -> str:
    """Return a text without the lines that answer a step."""
    ids = tuple(step_ids)
    return _line(ids).sub("", text) if ids else text


@lru_cache(maxsize=256)
def _line(step_ids: tuple[str, ...]) -> re.Pattern[str]:
    alternatives = "|".join(f"({_name(step_id)})" for step_id in step_ids)
    return re.compile(rf"^{_MARKS}(?:{alternatives})[\"'`*_)]*\s*[:=|][\"'`*_]*\s*(?P<answer>\S.*)$", re.I | re.M)


def _name(step_id: str) -> str:
    number = step_id[1:]
    if step_id[:1] == "S" and number.isdecimal():
        return rf"(?:step\s*|S){number}(?:\s*\((?:step\s*|S){number}\))?"
    return re.escape(step_id)
