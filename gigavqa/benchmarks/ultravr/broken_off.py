"""Keep what is complete of a step's answer whose text was cut off: nothing that was only begun, nor named in
passing.
"""

import json
import re

from gigavqa.answers.normalization import json_value, passages
from gigavqa.answers.text import is_ended, sentences, thoughts_apart

_DECODER = json.JSONDecoder()
_OPENING = re.compile(r'[^\n]*?[\[{"]')
"""JSON in the line of an announcement."""
_JSON = '[{"-0123456789'
_PROSE = re.compile(r"[^\S\n]*\n\s*[^\W\d_]")
"""A line of prose behind a value: no further value."""
_STOP = re.compile(r"\*{0,2}[.!。]\s")
"""The end of the sentence that a quoted value closes."""


def complete_part(raw: str, text: str, *, is_list: bool, is_boxes: bool) -> str | None:
    """Return the JSON of a cut-off answer, or its part up to what it announces; None where neither is complete.

    `text` is what is said in `raw`. Complete is what a closed fence holds, JSON that is closed, and an announced
    answer whose sentence or line ends. Of a format that `is_list`, prose can always go on; so can boxes without an
    outer list, `is_boxes`.
    """
    fences = (thoughts_apart(raw)[1] or "").count("```")
    if fences and fences % 2 == 0:
        return text
    start = 0 if text[:1] and text[0] in _JSON else text.find("{")
    if start >= 0 and (end := _closed(text, start, is_list=is_list, is_boxes=is_boxes)):
        return text[start:end]
    announced = passages(text)[0]
    if announced is text:
        return None
    start = len(text) - len(announced)
    opening = _OPENING.match(text, start)
    if opening and (end := _closed(text, opening.end() - 1, is_list=is_list, is_boxes=is_boxes)):
        return text[opening.end() - 1 : end]
    end = 0 if is_list or opening else _line_end(text, start)
    return text[:end] if end else None


def opening_sentence(text: str) -> str | None:
    """Return the sentence or line that opens a cut-off text; None where it does not end, or a later one announces."""
    end = _line_end(text, 0) if passages(text)[0] is text else 0
    return text[:end].strip() if end else None


def _closed(text: str, start: int, *, is_list: bool, is_boxes: bool) -> int:
    """Return the end of the JSON at `start`; 0 where it is not closed, or can be the first of several."""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return 0
    if isinstance(value, dict) and json_value(text[start:end]) != value:
        return end  # the one under `answer`
    is_alone = not isinstance(value, list | dict)
    if _PROSE.match(text, end) or (isinstance(value, str) and _STOP.match(text, end)):
        return 0 if is_alone and is_list else end
    if text[end:].strip() or is_alone:
        return 0
    is_one = isinstance(value, dict) or not any(isinstance(item, list | dict) for item in value)
    return 0 if is_list and is_one and (is_boxes or isinstance(value, dict)) and value else end


def _line_end(text: str, start: int) -> int:
    """Return where the sentence, or else the line, that begins at `start` ends; 0 where it may go on."""
    line, more, _ = text[start:].partition("\n")
    first = next(iter(sentences(line)), "")
    if not first:
        return 0
    if more or len(first) < len(line):
        return start + len(first)
    return start + len(line) if is_ended(line) and not re.search(r"\d\W*$", line) else 0
