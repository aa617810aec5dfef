"""Reads yes-or-no answers and counts (appendix D.2: numbers without commas and fixed units)."""

import re
from math import isfinite
from typing import Any

from evaluation.ultravr.parsing.abstention import abstains
from evaluation.ultravr.parsing.text import lines_backwards, plain, sentences
from evaluation.ultravr.steps.readings import AMBIGUOUS, UNPARSABLE, Reading, parsed
from evaluation.ultravr.steps.utterances import passages

_YES = ("yes", "true", "correct", "sí", "oui", "ja", "да", "是", "是的", "はい", "예", "네")
_NO = ("no", "false", "incorrect", "non", "nein", "нет", "否", "不是", "いいえ", "아니요", "아니오")
_TRUTH = {**dict.fromkeys(_YES, True), **dict.fromkeys(_NO, False)}
_WORD = re.compile(r"\b(yes|no|true|false|correct|incorrect)\b", re.IGNORECASE)
_OPENING = re.compile(r"[\s*_`\"'(\[]*([^\W\d_]+)[\s*_`\"')\]]*(?:[.,;:!—–\n-]|$)")

_NUMERALS = {word: number for number, word in enumerate((
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
))}  # fmt: skip
_NONE = frozenset({"none", "no one", "nobody", "nothing"})
"""What counts nothing; to any other kind of question "none" is no answer."""
_NUMBER = re.compile(
    rf"(?<![\w.])[-−]?\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?(?![\d])|(?<![\w.])[-−]?\d+(?:\.\d+)?(?!\d)|\b(?:{'|'.join(_NUMERALS)})\b",
    re.IGNORECASE,
)
_SAYS = re.compile(
    r"(?:=|:|≈|\b(?:is|are|equals|was|were|total(?:s|ing)?|of|has|have|contains?|counted|count)\b)[\s*_`\"'$(]*"
    r"(?:(?:only|exactly|about|therefore|thus)\s+)?[*_`$(]*$",
    re.IGNORECASE,
)


def read_boolean(value: Any) -> Reading:
    """Read a bool, or a text that says yes or no: opening with it, or in its last sentence that says either."""
    if isinstance(value, bool):
        return parsed(value)
    if not isinstance(value, str):
        return parsed(bool(value)) if value in (0, 1) else UNPARSABLE
    if (known := _TRUTH.get(plain(value))) is not None:
        return parsed(known)
    for passage in passages(value):
        opening = _OPENING.match(passage)
        if opening and (known := _TRUTH.get(opening[1].lower())) is not None:
            return parsed(known)
    return _last_verdict(value)


def _last_verdict(text: str) -> Reading:
    for line in lines_backwards(text):
        for sentence in reversed(sentences(line)):
            said = {_TRUTH[word.lower()] for word in _WORD.findall(sentence)}
            if said and not abstains(sentence):
                return parsed(said.pop()) if len(said) == 1 else AMBIGUOUS
    return UNPARSABLE


def counts_nothing(value: Any) -> bool:
    """Whether a value is a word for zero."""
    return isinstance(value, str) and plain(value) in _NONE


def read_integer(value: Any) -> Reading:
    """Read a whole number, or the one that a text's announcement or last sentence with a number comes to."""
    if isinstance(value, bool):
        return UNPARSABLE
    if isinstance(value, int | float):
        return parsed(value) if isinstance(value, int) else _whole(value)
    if not isinstance(value, str):
        return UNPARSABLE
    if counts_nothing(value):
        return parsed(0)
    for passage in passages(value):
        lines = passage.splitlines() if passage != value else list(lines_backwards(value))
        for line in lines:
            parts = sentences(line)
            for sentence in parts if passage != value else reversed(parts):
                if numbers := list(_NUMBER.finditer(sentence)):
                    return _number_of(sentence, numbers)
    return UNPARSABLE


def _number_of(sentence: str, numbers: list[re.Match[str]]) -> Reading:
    distinct = {_value(number[0]) for number in numbers}
    if len(distinct) == 1:
        return _whole(distinct.pop())
    result = [number for number in numbers if sentence[: number.start()].rstrip(" *_$").endswith(("=", "＝"))]
    if result:
        return _whole(_value(result[-1][0]))
    told = {_value(number[0]) for number in numbers if _SAYS.search(sentence[: number.start()])}
    return _whole(told.pop()) if len(told) == 1 else AMBIGUOUS


def _value(text: str) -> float:
    known = _NUMERALS.get(text.lower())
    return float(text.replace(",", "").replace("−", "-")) if known is None else float(known)


def _whole(number: float) -> Reading:
    return parsed(int(number)) if isfinite(number) and number == int(number) else UNPARSABLE
