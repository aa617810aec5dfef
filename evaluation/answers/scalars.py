"""Reads yes-or-no answers and counts (appendix D.2: numbers without commas and fixed units)."""

import re
import sys
from collections.abc import Sequence
from math import isfinite
from typing import Any

from evaluation.answers.abstention import abstains, commits
from evaluation.answers.letters import behind_glue
from evaluation.answers.lexicon import Words, by_language, phrases, words
from evaluation.answers.readings import AMBIGUOUS, UNPARSABLE, Reading, parsed
from evaluation.answers.stances import Mention, behind_retraction, is_first_thought, settled, verdicts
from evaluation.answers.text import lines_backwards, plain, sentences
from evaluation.answers.utterances import passages

_TRUTH = {**dict.fromkeys(phrases("yes"), True), **dict.fromkeys(phrases("no"), False)}
_PAIR = re.compile(rf"[/,，、|]|{words('alternative', 'addition')}")
_OPENING = re.compile(r"[\s*_`\"'“(\[]*([^\W\d_]+)[\s*_`\"'”)\]]*(?:[.,;:!。，；：！—–\n-]|$)")
_PART = re.compile(r"\W*+(?:[^:：]{2,60}|(?<=[^\w:：])[^:：])[:：]\s*(.+)")
"""One line of several that say yes or no of a part each, "upper-left: yes"."""
_SUMS_UP = re.compile(rf"{words('conclusion')}|answer|result|conclusion|答案|结论|respuesta", re.IGNORECASE)
"""What a line says that is of no part, but of all."""

_NUMERALS = {
    word: number for numerals in by_language("numeral").values() for number, word in enumerate(numerals) if word
} | {"两": 2, "俩": 2, "〇": 0}
_HAN = rf"(?<!第)(?:十[一二三四五六七八九]|[零〇一二两俩三四五六七八九十])(?={words('counted')})"
_WORD_NUMERALS = "|".join(sorted((re.escape(word) for word in _NUMERALS if word[0] < "\u3000"), key=len, reverse=True))
_NONE = frozenset({"none", "no one", "nobody", "nothing"})
"""What counts nothing; to any other kind of question "none" is no answer."""
_DIGITS = r"(?<![A-Za-z0-9_.])[-−]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d)|\d+(?:\.\d+)?(?!\d))(?!\s*[%％])"
_NUMBER = re.compile(
    rf"{_DIGITS}|\b(?:{_WORD_NUMERALS})\b(?!\s+(?:of|by|another|side|de\s+ell[oa]s)\b)|{_HAN}", re.IGNORECASE
)
_LONGEST_BEFORE = 5
_GOES_ON = re.compile(r"[.,]\d|[ \u00a0\u2009\u202f'’]\d{3}(?!\d)")
_BEGINS_BEFORE = re.compile(r"\d[.,]$|(?<!\d)\d{1,3}[ \u00a0\u2009\u202f'’]$")
"""What stands around a part of a number that has a decimal comma, or points or gaps between its thousands."""
_NOTHING = Words("nothing")
_REFERENCE = re.compile(rf"{words('reference')}\s*$", re.IGNORECASE)
_SAYS = re.compile(
    r"(?:=|:|≈|\b(?:is|are|equals|was|were|total(?:s|ing)?|of|has|have|contains?|counted|count)\b)[\s*_`\"'$(]*"
    r"(?:(?:only|exactly|about|therefore|thus)\s+)?[*_`$(]*$",
    re.IGNORECASE,
)
_REACH_BEFORE = 40
"""Characters before a number in which it is told what it is."""


def read_boolean(value: Any) -> Reading:
    """Read a bool, or a text that says yes or no: opening with it, or in its last sentence that says either."""
    if isinstance(value, bool):
        return parsed(value)
    if not isinstance(value, str):
        return parsed(bool(value)) if value in (0, 1) else UNPARSABLE
    if (known := _truth(value)) is not None:
        return parsed(known)
    if _says_both(value):
        return AMBIGUOUS
    value = behind_retraction(value, lambda rest: _last_verdict(rest).status != "unparsable", short=True)
    for passage in passages(value):
        for told in (passage,) if passage is value else (passage, behind_glue(passage)):
            opening = _OPENING.match(told)
            if opening and (known := _TRUTH.get(opening[1].lower())) is not None and not _is_withdrawn(told):
                return parsed(known)
    return _last_verdict(value)


def _says_both(text: str) -> bool:
    """Whether a text is nothing but yes and no."""
    known: set[bool | None] = set()
    for part in _PAIR.split(text):
        known.add(_truth(part))
        if None in known:
            return False
    return len(known) > 1


def _truth(text: str) -> bool | None:
    return _TRUTH.get(plain(text))


def _known(text: str) -> frozenset[bool]:
    known = _truth(text)
    return frozenset() if known is None else frozenset({known})


def _is_withdrawn(text: str) -> bool:
    return is_first_thought(next(iter(sentences(text.partition("\n")[0])), ""))


def _last_verdict(text: str) -> Reading:
    lines = list(lines_backwards(text))
    if _is_of_parts(lines):
        return AMBIGUOUS
    for line in lines:
        for sentence in reversed(sentences(line)):
            said = verdicts(sentence) or _known(sentence)
            if said and (commits(sentence) or not abstains(sentence)):
                return parsed(*said) if len(said) == 1 else AMBIGUOUS
    return UNPARSABLE


def _is_of_parts(lines: Sequence[str]) -> bool:
    """Whether each of several lines says yes or no of a part, and not all the same."""
    said: set[frozenset[bool]] = set()
    for line in lines:
        part = _PART.fullmatch(line)
        if part is None or _SUMS_UP.search(line) or not (told := verdicts(part[1]) or _known(part[1])):
            return False
        said.add(told)
    return len(said) > 1


def counts_nothing(value: Any) -> bool:
    """Whether a value is a word for zero."""
    return isinstance(value, str) and plain(value) in _NONE


def read_integer(value: Any) -> Reading:
    """Read a whole number, or the one that a text's announcement or last sentence with a number comes to."""
    if isinstance(value, int) and not isinstance(value, bool):
        return parsed(value)
    reading = read_number(value)
    return _whole(reading.value) if reading.status == "parsed" else reading


def read_number(value: Any) -> Reading:
    """Read a number, as a float, or the one that a text's announcement or last sentence with a number comes to.

    What is too large for a float is none.
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        return parsed(float(value)) if abs(value) <= _LARGEST else UNPARSABLE
    reading = _read_number(value) if isinstance(value, str) else UNPARSABLE
    return reading if reading.status != "parsed" or abs(reading.value) <= _LARGEST else UNPARSABLE


_LARGEST = sys.float_info.max


def _read_number(value: str) -> Reading:
    if counts_nothing(value):
        return parsed(0.0)
    if (known := _NUMERALS.get(plain(value).rstrip("".join(phrases("counted"))))) is not None:
        return parsed(float(known))
    value = behind_retraction(value, lambda rest: bool(_NUMBER.search(rest)))
    for passage in passages(value):
        lines = passage.splitlines() if passage != value else list(lines_backwards(value))
        for line in lines:
            parts = sentences(line)
            for sentence in parts if passage != value else reversed(parts):
                if numbers := _numbers_in(sentence):
                    return _unless_cut(sentence, numbers, _number_of(sentence, numbers))
    return parsed(0.0) if _NOTHING.search(value.lower()) and not abstains(value) else UNPARSABLE


def _numbers_in(sentence: str) -> list[re.Match[str]]:
    found = list(_NUMBER.finditer(sentence))
    return [number for number in found if not _REFERENCE.search(sentence, max(0, number.start() - 12), number.start())]


def _number_of(sentence: str, numbers: list[re.Match[str]]) -> Reading:
    distinct = {_value(number[0]) for number in numbers}
    if len(distinct) == 1:
        return parsed(distinct.pop())
    result = [number for number in numbers if _before(sentence, number).rstrip(" *_$").endswith(("=", "＝"))]
    if result:
        return parsed(_value(result[-1][0]))
    mentions = [Mention(*number.span(), _value(number[0])) for number in numbers]
    meant = settled(sentence, mentions)
    if len(meant) == 1:
        return parsed(float(str(next(iter(meant)))))
    told = {_value(number[0]) for number in numbers if _SAYS.search(_before(sentence, number))}
    return parsed(told.pop()) if len(told) == 1 else AMBIGUOUS


def _before(sentence: str, number: re.Match[str]) -> str:
    """What stands before a number, as far as it can say of it."""
    return sentence[max(0, number.start() - _REACH_BEFORE) : number.start()]


def _unless_cut(sentence: str, numbers: list[re.Match[str]], reading: Reading) -> Reading:
    """Return a reading, or that it is ambiguous where its number is part of one that is written otherwise: "0,5"."""
    read = [number for number in numbers if _value(number[0]) == reading.value]
    return AMBIGUOUS if read and all(_is_cut(sentence, number) for number in read) else reading


def _is_cut(sentence: str, number: re.Match[str]) -> bool:
    if not number[0][-1].isdigit():
        return False
    before = sentence[max(0, number.start() - _LONGEST_BEFORE) : number.start()]
    return bool(_GOES_ON.match(sentence, number.end()) or _BEGINS_BEFORE.search(before))


def _value(text: str) -> float:
    known = _NUMERALS.get(text.lower())
    return float(text.replace(",", "").replace("−", "-")) if known is None else float(known)


def _whole(number: float) -> Reading:
    return parsed(int(number)) if isfinite(number) and number == int(number) else UNPARSABLE
