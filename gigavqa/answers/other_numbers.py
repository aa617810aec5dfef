"""Leave out of a text the numbers that count nothing of what was asked for: measures, names, dates, places.

"Vessel 4, at pier 12 since 2019, is 80 m long and carries 3 boats." holds one count. What is left out keeps its place.
"""

import re
from functools import lru_cache

from gigavqa.answers.asked import Asked
from gigavqa.answers.content_words import function_words, preposition_words, stem_of, tokens
from gigavqa.answers.counting import numbers_in
from gigavqa.answers.lexicon import UNSPACED, Words, lazy_pattern, phrases, words
from gigavqa.answers.numerals import NUMBER, NUMERALS

_REACH = 32
"""Characters before a number in which it is told what it names."""
_UNIT = lazy_pattern(rf"\s?-?(?P<unit>{words('measure_unit')})(?!(?<=[x×])\s?\d)")
_JOINT = rf"\d{{1,4}}\s?(?:[,–-]|{words('addition', 'alternative', 'range_joint', 'range_to')})\s?"
_NAME = Words(
    "named_by_number", "place", "reference", pattern=rf"(?P<noun>{{}})\.?\s*(?:no\.?|nr\.?|#|№)?\s?(?:{_JOINT}){{0,4}}$"
)
_ARTICLE = re.compile(r"(?<![^\W_])(?:the|an?)\s+(?:[^\W\d_]+\s+)?$")
_SIGN = re.compile(r"(?:№|#|n[°º]|\bnr\.|\bno\.|\bnos\.)\s*$")
_CAPITAL = re.compile(r"(?:[a-zà-ÿа-я,;(]\s)([A-ZÀ-ÞА-Я][\w-]*)\s$")
_ACRONYM = re.compile(r"(?:[a-zà-ÿа-я,;(]\s)([A-ZÀ-Þ]{1,4})\s$")
_MAGNIFIED = re.compile(r"\s?[x×](?![\w\s]{0,3}\d)(?!\w)")
"""A name within a sentence, whose number is a part of it: "Boeing 737", "highway A 7"."""
_BEHIND = lazy_pattern(rf"\s?{words('named_behind')}")
_YEAR = re.compile(r"(?:1[89]|20)\d\d")
_YEAR_BEFORE = Words("year_before", "month", "named_by_number", pattern=r"{}\.?\s$")
_YEAR_BEHIND = lazy_pattern(rf"\s?{words('year_behind')}|\s?[)）–/-]|,\s\D")
_MONTH_BEFORE = Words("month", pattern=r"{}\.?\s$")
_MONTH_BEHIND = lazy_pattern(rf"\.?\s?(?:de\s|of\s)?{words('month')}")
_PER = Words("per", pattern=r"{}\s$")
_DATED = re.compile(
    r"(?<!\d)\d{1,2}[:h]\d{2}(?::\d{2})?(?!\d)|(?<!\d)\d{4}-\d{2}(?:-\d{2})?(?!\d)|(?<!\d)\d{1,2}[./]\d{1,2}[./]\d{2,4}(?!\d)"
    r"|(?<!\d)\d{1,3}/\d{1,4}(?!\d)"
)
"""A time of day, a date in digits, or a fraction."""
_LOCATED = re.compile(
    r"[(\[]\s?-?\d+(?:\.\d+)?(?:\s?[,;]\s?-?\d+(?:\.\d+)?){1,3}\s?[)\]]|\b[xy]\s?[=≈]\s?-?\d+(?:\.\d+)?"
)
"""A place in the picture, "(310, 77)"."""
_LISTED = re.compile(r"(?:(?<=\n)|(?<=\A)|(?<=[.:;]\s)|(?<=[。：；]))[ \t]*\d{1,2}[.)](?=\s?[^\s\d])")
"""The number of a list's row."""
_MOST = 200
"""Numbers of a text that are looked at."""
_LONGEST = 4_000
"""Characters of a text that is looked at: a longer one works its answer out."""


def without_other_numbers(asked: Asked, text: str) -> str:
    """Return a text with dots in the place of the digits that count nothing of what a question counts."""
    if len(text) > _LONGEST or not NUMBER.search(text):
        return text
    text = _LOCATED.sub(_hidden, text)
    if asked.counts_things:
        text = _DATED.sub(_hidden, text)
        text = text if _is_no_row(text) else _LISTED.sub(_hidden, text)
        if (named := _NUMBERED.search(asked.text)) and stem_of(named["noun"]) not in asked.things:
            text = re.sub(rf"\b{re.escape(named['noun'])}\s\d{{1,4}}(?!\d)", _hidden, text, flags=re.IGNORECASE)
    lowered = text.lower()
    if len(lowered) != len(text):
        return text
    is_other = _is_other if asked.counts_things else _is_name
    found = numbers_in(text)[:_MOST]
    for one in reversed([one for one in found if is_other(asked, text, lowered, one)]):
        text = f"{text[: one.start()]}{'·' * len(one[0])}{text[one.end() :]}"
    return text


def _is_no_row(text: str) -> bool:
    """Return whether a text has no list that begins with 1 and goes on."""
    found = [re.sub(r"\D", "", row[0]) for row in _LISTED.finditer(text)]
    return found[:2] != ["1", "2"]


def _hidden(found: re.Match[str]) -> str:
    return re.sub(r"\d", "·", found[0]) if found.re is not _LISTED else "-".rjust(len(found[0]) - 1) + " "


def _is_other(asked: Asked, text: str, lowered: str, number: re.Match[str]) -> bool:
    """Return whether a number is a measure, a name, a year or a date."""
    start, end = number.span()
    if (unit := _UNIT.match(lowered, end)) and not _is_asked(asked, unit["unit"]):
        return not _is_counted_behind(asked, lowered, unit.end(), 1)
    if not number[0][-1].isdigit():
        return False
    before = lowered[max(0, start - _REACH) : start]
    if _SIGN.search(before) or _BEHIND.match(lowered, end):
        return True
    if _is_counted_behind(asked, lowered, end):
        return False
    return _is_date(lowered, before, number) or _is_name(asked, text, lowered, number)


def _is_date(lowered: str, before: str, number: re.Match[str]) -> bool:
    """Return whether a number is a year, a day of a month, or what something is counted per."""
    if _PER.search(before) or _MONTH_BEFORE.search(before) or _MONTH_BEHIND.match(lowered, number.end()):
        return True
    is_year = _YEAR.fullmatch(number[0]) is not None
    return is_year and bool(_YEAR_BEFORE.search(before) or _YEAR_BEHIND.match(lowered, number.end()))


def _is_name(asked: Asked, text: str, lowered: str, number: re.Match[str]) -> bool:
    """Return whether a number is a part of a name, or a magnification."""
    start, end = number.span()
    before = lowered[max(0, start - _REACH) : start]
    if _MAGNIFIED.match(lowered, end) or (_SIGN.search(before) and not asked.counts_things):
        return True
    if not number[0][-1].isdigit() or _UNIT.match(lowered, end):
        return False
    if not asked.counts_things and asked.measures and _is_date(lowered, before, number):
        return True
    return _names(asked, lowered, before, end) or _is_proper(asked, text[max(0, start - _REACH) : start], lowered, end)


def _is_proper(asked: Asked, before: str, lowered: str, end: int) -> bool:
    found = (_ACRONYM if asked.language == "de" else _CAPITAL).search(before)
    return found is not None and not _goes_on(lowered, end) and stem_of(found[1].lower()) not in asked.words


def _names(asked: Asked, lowered: str, before: str, end: int) -> bool:
    """Return whether a number names what stands before it, and no noun of its own follows: "pier 4, three ships"."""
    found = _NAME.search(before)
    known = asked.things if asked.counts_things else asked.words
    if found is None or stem_of(found["noun"]) in known or _ARTICLE.search(before, 0, found.start()):
        return False
    if UNSPACED.search(found["noun"]):
        return not _COUNTER.match(lowered, end)
    return asked.language == "en" or not _goes_on(lowered, end)


_COUNTER = lazy_pattern(rf"\s?{words('counted')}")
_NEXT = re.compile(r"\s([^\s\d.,;:!?()।،]+)")


def _goes_on(lowered: str, end: int) -> bool:
    """Return whether a word right behind a number may be what it counts, and is no verb, article or preposition."""
    behind = _NEXT.match(lowered, end)
    if behind is None:
        return False
    return behind[1] not in NUMERALS and not _is_function_word(behind[1])


@lru_cache(maxsize=1 << 12)
def _is_function_word(word: str) -> bool:
    return any(word in function_words(language) or word in preposition_words(language) for language in _LANGUAGES)


_LANGUAGES = ("en", "de", "fr", "es", "pt", "ru", "ar", "hi")


def _is_counted_behind(asked: Asked, lowered: str, end: int, most: int = 2) -> bool:
    """Return whether one of the first words behind a number is what is counted."""
    text = _OF_ITS_OWN.split(lowered[end : end + _REACH], maxsplit=1)[0]
    behind = [one for one in tokens(text, asked.language) if one.stem][:most]
    return any(one.stem in asked.things and text[one.start : one.end] not in NUMERALS for one in behind)


_OF_ITS_OWN = lazy_pattern(rf"[,.;:()，。；：、]|(?:{NUMBER.pattern})", re.IGNORECASE)
"""What stands behind the noun of a number at the latest."""


def _is_asked(asked: Asked, unit: str) -> bool:
    """Return whether a unit is what a question counts, as Chinese counts carriages by a sign of degrees."""
    return UNSPACED.match(unit) is not None and unit in asked.text


_NUMBERING = re.compile(r"\b(ones|they|[^\W\d_]{3,}s) number(?=\s\d)", re.IGNORECASE)


def with_few_in_digits(asked: Asked, text: str) -> str:
    """Return a text with digits where words count one or two of something, "a single dog", "a pair of swans"."""
    if not asked.counts_things:
        return text
    lowered = text.lower()
    if " number " in lowered:
        text = _NUMBERING.sub(r"\1 are", text)
    if not _FEW.may_be_in(lowered):
        return text
    for language in {asked.language, "en"}:
        for name, digit in (("single", "1"), ("pair", "2")):
            if phrases(f"{name}.{language}"):
                text = _few(name, language).sub(lambda found: _digit(asked, found, digit), text)  # noqa: B023
    return text


_FEW = Words("single", "pair")
_DENIED = Words("negator", "negation", pattern=r"{}\s$")
_SHORT_REACH = 12


def _digit(asked: Asked, found: re.Match[str], digit: str) -> str:
    if _DENIED.search(found.string[max(0, found.start() - _SHORT_REACH) : found.start()].lower()):
        return found[0]
    is_sure = " " in found[0] or _is_counted_behind(asked, found.string.lower(), found.end())
    return digit if is_sure else found[0]


@lru_cache(maxsize=32)
def _few(name: str, language: str) -> re.Pattern[str]:
    return re.compile(rf"{words(f'{name}.{language}')}(?=\s)", re.IGNORECASE)


def of_numbered(asked: Asked, text: str) -> str:
    """Return of a text what it says of the thing whose number a question names, "booth 3"; all where it names none.

    What follows a thing's name is of it, up to the next one's.
    """
    named = _NUMBERED.search(asked.text) or _NUMBERED_BEFORE.search(asked.text)
    if named is None:
        return text
    noun, number = map(re.escape, (named["noun"], named["number"]))
    pattern = rf"(?<!\d)(\d+)\s?{noun}" if named.re is _NUMBERED_BEFORE else rf"(?<![^\W_]){noun}s?\s(\d+)"
    found = [*re.finditer(pattern, text.lower())]
    if all(one[1] == named["number"] for one in found):
        return text
    ends = [*(one.start() for one in found[1:]), len(text)]
    return " ".join(f"{text[one.end() : end]}." for one, end in zip(found, ends, strict=True) if one[1] == number)


_NUMBERED = re.compile(r"(?P<noun>[^\W\d_]{2,})\s(?P<number>\d{1,4})(?!\d|\s?(?:mm|cm|m|km)\b)")
_NUMBERED_BEFORE = re.compile(r"(?P<number>\d{1,4})(?P<noun>[号號番번호]\s?[^\W\d_]{2})")
