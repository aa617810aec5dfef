"""Reads step answers from plain lines, "S3: 4" or "**Step 3:** 4", where a reply holds no JSON."""

import re
from collections.abc import Iterable

_MARKS = r"[\s>*_`#\"'\-•(]*"


def read_lines(text: str, step_ids: Iterable[str]) -> dict[str, str]:
    """Return what stands behind each step's name at the beginning of a line; the last such line counts."""
    names = {_name(step_id): step_id for step_id in step_ids}
    if not names:
        return {}
    alternatives = "|".join(f"({pattern})" for pattern in names)
    line = re.compile(rf"^{_MARKS}(?:{alternatives})[\"'`*_)]*\s*[:=][\"'`*_]*\s*(?P<answer>\S.*)$", re.I | re.M)
    ids = list(names.values())
    found = {}
    for match in line.finditer(text):
        named = next(index for index, name in enumerate(match.groups()) if name)
        found[ids[named]] = match["answer"].strip()
    return found


def _name(step_id: str) -> str:
    number = step_id[1:]
    if step_id[:1] == "S" and number.isdecimal():
        return rf"(?:step\s*|S){number}(?:\s*\((?:step\s*|S){number}\))?"
    return re.escape(step_id)
