"""Options that differ in a number alone: "wagons 1, 3 and 4" names "Wagon 1", "Wagon 3" and "Wagon 4"."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from gigavqa.answers.lexicon import UNSPACED, phrases

_ONE = re.compile(r"(?P<before>\D*?)(?P<number>\d{1,6})(?P<behind>\D*)")
_LAST_WORD = re.compile(r"([^\W\d_](?:[^\W\d_]|[\u0900-\u0963])*)[^\w]*$")
_LEAST, _SHARE = 3, 0.6
"""Letters of a noun that all its forms begin with, at least, and their share of the word."""
_ADDED = 3
"""Letters that another form may have more."""
_MARKED = r"[\w\u0900-\u0963]"


def _any_of(name: str) -> str:
    ones = sorted(map(re.escape, phrases(name)), key=len, reverse=True)
    return "|".join(ones)


_SPACE = r"[^\S\n]*"
_AND = f"(?:{_any_of('addition')})"
_JOINT = rf"{_SPACE}(?:,{_SPACE}{_AND}\s+|[,،、，;；/&+・]{_SPACE}|{_AND}{_SPACE})(?:the\s+)?"
_RANGE = rf"{_SPACE}(?:[-–—~～〜]|(?:{_any_of('range_to')})(?![a-zà-ÿа-я])){_SPACE}"
_COUNTER = r"(?:\s?[号號番번호])?"
_MOST = 20
"""Numbers of one list at most."""


class _Series(NamedTuple):
    names: dict[int, str]
    lists: re.Pattern[str]


def with_full_names(text: str, options: Mapping[str, str]) -> str:
    """Return a text with the whole words of each option whose number alone a list of them tells."""
    series = _series_of(tuple(options.items()))
    if series is None or not any(map(str.isdigit, text)):
        return text
    text = _NUMBERS_ALONE.sub(lambda found: _named(found, series.names), text)
    return series.lists.sub(lambda found: _named(found, series.names), text)


def numbered_option(text: str, options: Mapping[str, str]) -> str | None:
    """Return the letter of the option of which a text is the number alone."""
    series = _series_of(tuple(options.items()))
    told = text.strip(" .:#*")
    name = series.names.get(int(told)) if series and told.isdecimal() and len(told) < _MOST else None
    return next((letter for letter, one in options.items() if one == name), None)


def _named(found: re.Match[str], names: Mapping[int, str]) -> str:
    parts, before = [found.groupdict().get("and") or ""], 0
    for number, joint in _numbers(found["list"]):
        if number not in names:
            return found[0]
        if joint == "range":
            parts += [f", {names[one]}" for one in names if before < one < number]
        parts.append(f"{', ' if joint == 'range' else joint}{names[number]}")
        before = number
    return "".join(parts)


def _numbers(listed: str) -> Iterator[tuple[int, str]]:
    end = 0
    for found in re.finditer(r"\d{1,6}", listed):
        between = listed[end : found.start()]
        yield int(found[0]), "range" if end and _IS_RANGE.fullmatch(between) else _joint_of(between)
        end = found.end()


def _joint_of(between: str) -> str:
    """Return what joins two numbers, without the first one's counter and the noun before the second."""
    said = _BARE_COUNTER.sub("", between)
    joint = _JOINED.match(said)
    return joint[0] if joint else said


_JOINED = re.compile(_JOINT, re.IGNORECASE)
_IS_RANGE = re.compile(rf"{_COUNTER}{_RANGE}(?:\s*[^\W\d_]+\s*)?", re.IGNORECASE)
_NUMBERS_ALONE = re.compile(
    rf"^(?P<list>\d{{1,6}}(?:(?:{_RANGE}|{_JOINT})\d{{1,6}}){{0,{_MOST}}})(?=[\s.。]*$)", re.IGNORECASE
)
_BARE_COUNTER = re.compile(rf"^{_COUNTER}")


@lru_cache(maxsize=256)
def _series_of(options: tuple[tuple[str, str], ...]) -> _Series | None:
    found = [_ONE.fullmatch(text.strip()) for _, text in options]
    around = {(one["before"].lower(), one["behind"].lower()) if one else ("", "") for one in found}
    if len(options) < 2 or len(around) != 1 or ("", "") in around:
        return None
    before, behind = around.pop()
    names = {int(one["number"]): text for one, (_, text) in zip(found, options, strict=True) if one}
    return _Series(names, _lists(before, behind)) if len(names) == len(options) else None


_NOTHING = re.compile(r"(?!)")


def _lists(before: str, behind: str) -> re.Pattern[str]:
    listed = rf"(?P<list>\d{{1,6}}(?:{_COUNTER}(?:{_RANGE}|{_JOINT})\d{{1,6}}){{0,{_MOST}}})"
    noun = _LAST_WORD.search(before)
    end = r"(?!\d|[.,]\d)"
    if noun is None and not UNSPACED.search(behind):
        return _NOTHING
    if noun is None:
        return re.compile(rf"(?<!\d)(?<!\d[.,]){listed}{re.escape(behind)}", re.IGNORECASE)
    if UNSPACED.search(noun[1]):
        return re.compile(rf"{re.escape(noun[1])}\s?{listed}{re.escape(behind)}{end}", re.IGNORECASE)
    root = noun[1][: max(_LEAST, round(_SHARE * len(noun[1])))]
    longest = len(noun[1]) - len(root) + _ADDED
    pattern = "".join(f"[{re.escape(one)}{re.escape(_bare(one))}{_UMLAUTS.get(one.lower(), '')}]" for one in root)
    again = f"(?:{pattern}{_MARKED}{{0,{longest}}}\\s*)?"
    listed = rf"(?P<list>\d{{1,6}}(?:(?:{_RANGE}|{_JOINT}){again}\d{{1,6}}){{0,{_MOST}}})"
    written = rf"(?<![^\W_])(?P<and>[وف]?){pattern}{_MARKED}{{0,{longest}}}\s*(?:[#№]|no\.?)?\s*"
    return re.compile(rf"{written}{listed}(?:{re.escape(behind)})?{end}", re.IGNORECASE)


_UMLAUTS = {"a": "ä", "o": "ö", "u": "ü"}
"""What German writes in some plurals."""


def _bare(letter: str) -> str:
    return unicodedata.normalize("NFD", letter)[0]
