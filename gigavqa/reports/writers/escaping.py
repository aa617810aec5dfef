"""Texts of others where terminals and editors show them: what steers these is written as an escape."""

import re

_CONTROL_CHARACTERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
"""Control characters but for tab and line feed, and what turns or ends lines of text."""


def escape_controls(text: str) -> str:
    r"""Write `\x1b` for what begins a terminal's commands, `\u202e` for what turns text around, and all such."""
    return _CONTROL_CHARACTERS.sub(lambda found: ascii(found[0])[1:-1], text)


def escape_controls_json(text: str) -> str:
    """Return the same JSON, with what JSON lets stand as it is and terminals obey escaped."""
    return _CONTROL_CHARACTERS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
