"""Numbers as texts write them: digits in groups, decimals, words, Han and Korean numerals, scales."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import TypeGuard

from gigavqa.answers.lexicon import UNSPACED, by_language, lazy_pattern, phrases, words

_TENS = {word: 10 * ten for tens in by_language("tens").values() for ten, word in enumerate(tens, 2) if word}
_ONES = {word: number for numerals in by_language("numeral").values() for number, word in enumerate(numerals) if word}
NUMERALS = (
    _ONES
    | _TENS
    | {
        "quatre-vingts": 80,
        "catorze": 14,
        "duas": 2,
        "dos": 2,
        "две": 2,
        "двое": 2,
        "пятеро": 5,
        "шестеро": 6,
        "семеро": 7,
        "трое": 3,
        "четверо": 4,
        "ثلاث": 3,
        "أربع": 4,
        "خمس": 5,
        "سبع": 7,
        "两": 2,
        "俩": 2,
        "〇": 0,
        "half a dozen": 6,
    }
    | dict.fromkeys(("a dozen", "una docena", "une douzaine", "uma dúzia", "ein dutzend", "дюжина"), 12)
)
"""Numbers in one word."""
_KOREAN_ONES = {"한": 1, "두": 2, "세": 3, "네": 4} | {
    word: number for number, word in enumerate(by_language("numeral")["ko"][:10]) if word
}
_KOREAN = (
    {
        ten + one: 10 * tens + number
        for tens, ten in enumerate(("열", "스물", "서른", "마흔", "쉰"), 1)
        for one, number in {"": 0, **_KOREAN_ONES}.items()
    }
    | {"스무": 20}
    | _KOREAN_ONES
)
"""Numerals that stand before what they count."""
_SCALES = {
    word: factor
    for scales in by_language("scale").values()
    for words_of, factor in zip(scales, (12, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9), strict=False)
    for word in filter(None, words_of.split("|"))
}


def _any_of(numerals: Iterable[str]) -> str:
    spaced = (re.escape(word) for word in numerals if word and word[0] < "\u3000")
    return "|".join(sorted(spaced, key=len, reverse=True))


_GERMAN_ONES = {"ein": 1} | {word: _ONES[word] for word in by_language("numeral")["de"][2:10]}
_JOINT = "|".join(sorted(map(re.escape, phrases("tens_joint")), key=len, reverse=True))
_BEHIND_TENS = {word: number for word, number in _ONES.items() if 0 < number < 20} | dict.fromkeys(
    ("un", "une", "uno", "una", "um", "uma", "один", "одна", "одно"), 1
)
"""What stands behind tens; "one" by itself may be a pronoun or an article."""
_UNDER_TWENTY = _any_of(_BEHIND_TENS)
_COMPOUND = lazy_pattern(rf"({_any_of(_TENS)})(?:{_JOINT})({_UNDER_TWENTY})")
_REVERSED = lazy_pattern(rf"({_any_of(_GERMAN_ONES)})und({_any_of(by_language('tens')['de'])})")

COUNTED = "".join(phrases("counted"))
"""The characters of measure words."""
_HAN = (
    rf"(?<![第零〇一二两三四五六七八九十百千万])(?:[二三四五六七八九]?十[一二三四五六七八九]?|[零〇一二两俩三四五六七八九])"
    rf"(?={words('counted')})"
    r"|(?<=[是为為])(?:[二三四五六七八九]?十[一二三四五六七八九]?|[零〇一二三四五六七八九])(?=[。．.！!]|\s*$)"
)
"""Numbers that count something, or that a sentence ends with behind "is"."""
_HANGUL = rf"(?<![가-힣])(?:{'|'.join(sorted(_KOREAN, key=len, reverse=True))})(?=\s?{words('counted')})"
_GAPS = r"(?: \d{3})+|(?:['’]\d{3})+|(?:_\d{3})+|(?:[\u00a0\u2009\u202f]\d{3})+"
_THOUSANDS = rf"[1-9]\d{{0,2}}(?:(?:,\d{{3}})+(?:\.\d+)?|(?:\.\d{{3}})+,\d+|(?:\.\d{{3}}){{2,}}|(?:{_GAPS})(?:\.\d+)?)"
"""Digits in groups of three, by one mark; a point alone could begin decimals."""
_COMMA = r"(?<![(\[])(?:0,\d+|[1-9]\d*,\d{1,2}(?=\s?[^\W\d_]|\s?°))(?!\d|\.\d|,\s?\d)"
"""Decimals behind a comma: they are such behind a zero, and where one or two of them have a unit."""
_DIGITS = rf"(?<![A-Za-z0-9_.])[-−]?(?>{_THOUSANDS}(?!\d)|{_COMMA}|\d+(?:\.\d+)?(?!\d))(?!\s*[%％])"
_NO_PRONOUN = "".join(f"(?<!{word} )" for word in phrases("before_one"))
_NO_PART = (
    r"(?!\s+(?:of|by|another|side|point|et\s+demie?|y\s+medi[oa]|e\s+mei[oa]|с\s+половиной|and\s+a\s+half|half|quarters?|thirds?|halves"
    r"|de\s+ell[oa]s)\b)"
)
_SCALE_WORDS = "|".join(
    re.escape(word) + ("" if UNSPACED.match(word) else r"(?![^\W_])") for word in sorted(_SCALES, key=len, reverse=True)
)
_SCALED = rf"(?:[\s-]?(?:{_SCALE_WORDS})(?![克米瓦赫分])){{0,2}}"
_SCALE = lazy_pattern(rf"[\s-]?({_SCALE_WORDS})\Z", re.IGNORECASE)
_WORDS = (
    rf"(?:{_any_of(_TENS)})(?:(?:{_JOINT})(?:{_UNDER_TWENTY})\b)?"
    rf"|(?:{_any_of(_GERMAN_ONES)})und(?:{_any_of(by_language('tens')['de'])})"
    rf"|{_any_of(word for word in NUMERALS if word not in _TENS)}"
)
_FIRST = "".join(sorted({word[0] for word in NUMERALS if word[0] < "\u3000"}))
_MINUS_WORDS = ("minus", "negative", "moins", "menos")
_NOT_BEHIND = "".join(f"(?<!{word} )" for word in ("point", *_MINUS_WORDS))
NUMBER = lazy_pattern(
    rf"{_DIGITS}{_SCALED}(?!(?-i:\s?(?:k|K|M|B)\b)|x\d|h\d)"
    rf"|\b(?=[{_FIRST}])(?=(?:{_WORDS})\b){_NOT_BEHIND}(?:(?!one\b)|{_NO_PRONOUN})(?:{_WORDS})\b{_SCALED}{_NO_PART}|{_HAN}|{_HANGUL}",
    re.IGNORECASE,
)
_HAN_TENS = re.compile(r"([二三四五六七八九]?)十([一二三四五六七八九]?)")
_MARKS = re.compile(r"[, '’_\u00a0\u2009\u202f]|\.(?=.*\.)|(?<=\.\d{3})\.")
"""What parts thousands; a point does so only beside another."""
_DECIMAL_COMMA = re.compile(r"[-−]?[\d.]+,(?:\d{1,2}|(?<=\b0,)\d+|(?<=\.\d{3},)\d+)")
EITHER = re.compile(r"[-−]?[1-9]\d{0,2}\.\d{3}")
"""A number that is one thing where a point begins decimals, and another where it parts thousands."""


_SPELLED = lazy_pattern(
    rf"\b({_any_of(NUMERALS)})\s+point((?:\s+(?:{_any_of(by_language('numeral')['en'][:10])}))+)\b", re.IGNORECASE
)
"""Decimals in words, "two point five"."""


_COMMA_LANGUAGE = re.compile(
    r"[а-я]|(?<![^\W\d_])(?:der|die|das|ist|und|sind|le|la|les|est|et|soit|el|los|de|que|es|são|os|é|da|do|réponse|antwort"
    r"|respuesta|resposta)(?![^\W\d_])"
)
"""What tells a text in a language whose decimals stand behind a comma."""
_LANGUAGES_COMMA = re.compile(r"(?<=\d)(?<!\.\d{3}),(?=\d{1,2}(?!\d|,\s?\d|\s?[)\]]))")
_LEAST = "".join(f"(?<!{word} )" for word in ("au", "al", "ao", "lo"))
_MINUS = lazy_pattern(
    rf"(?<![^\W_])(?<!\d ){_LEAST}(?:{'|'.join(_MINUS_WORDS)}|минус|ناقص)\s+(?=\d)|(?:零下|マイナス|영하\s?)(?=\d)",
    re.IGNORECASE,
)
_HALVES = phrases("and_a_half")
_GERMAN_HALF = lazy_pattern(rf"\b({_any_of(_GERMAN_ONES)})einhalb\b|\b(anderthalb)\b", re.IGNORECASE)
_HALF = lazy_pattern(
    rf"(?<![\w.,])(\d{{1,9}}|{_any_of(NUMERALS)})((?:\s+(?!(?:and|y|et|e|с)\s)[^\W\d_]{{1,14}})?)"
    rf"\s+(?:{'|'.join(sorted(map(re.escape, _HALVES), key=len, reverse=True))})(?!\w)",
    re.IGNORECASE,
)
"""A number, perhaps its unit, and a half, "two and a half metres", "doce metros y medio"."""
_REWRITTEN = (" point ", "{,}", *_MINUS_WORDS, "минус", "ناقص", "零下", "マイナス", "영하")
"""What stands in every text in which numbers are written anew."""
_ENGLISH_ONES = {"a": 1} | {word: number for number, word in enumerate(by_language("numeral")["en"][:10]) if number}
_ENGLISH_TENS = {word: 10 * ten for ten, word in enumerate(by_language("tens")["en"], 2) if word}
_ENGLISH_SMALL = {word: number for number, word in enumerate(by_language("numeral")["en"][:20]) if number}
_HUNDREDS = lazy_pattern(
    rf"\b({_any_of(_ENGLISH_ONES)})\s+hundred\s+(?:and\s+)?"
    rf"(?:({_any_of(_ENGLISH_TENS)})(?:[\s-]({_any_of(_ENGLISH_ONES)}))?|({_any_of(_ENGLISH_SMALL)}))\b",
    re.IGNORECASE,
)
"""Hundreds with what stands behind them, "one hundred and twenty-five"."""
_PERCENT = re.compile(r"\s?[%％]")


_EASTERN = str.maketrans("٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹٫٬", "01234567890123456789.,")
"""Digits, and the marks among them, of Arabic and Persian."""
_BARE_POINT = re.compile(r"(?:(?<=\A)|(?<=[\s:=]))\.(?=\d)")
"""A point before which no zero is written, ".35"."""


def is_number(value: object) -> TypeGuard[int | float]:
    """Return whether a value is a number itself, and neither a bool nor a text of one."""
    return type(value) in (int, float)


def with_plain_digits(text: str) -> str:
    """Return a text in plain digits: decimals behind a point, a zero before it, and percents bare."""
    if not text.isascii():
        text = text.translate(_EASTERN)
    text = _BARE_POINT.sub("0.", text)
    lowered = text.lower()
    if any(map(lowered.__contains__, _REWRITTEN)):
        text = _MINUS.sub("-", _SPELLED.sub(_spelled_digits, text.replace("{,}", ",")))
    if any(map(lowered.__contains__, _HALVES)):
        text = _HALF.sub(_halved, text)
    if "halb" in lowered:
        text = _GERMAN_HALF.sub(lambda half: f"{_GERMAN_ONES[(half[1] or 'ein').lower()]}.5", text)
    if "hundred" in lowered:
        text = _HUNDREDS.sub(_hundreds_digits, text)
    if "," in text and _COMMA_LANGUAGE.search(text.lower()):
        text = _LANGUAGES_COMMA.sub(".", text)
    if "%" not in text and "％" not in text:
        return text
    return text if NUMBER.search(text) else _PERCENT.sub("", text)


def _halved(half: re.Match[str]) -> str:
    return f"{value_of(half[1]) + 0.5:g}{half[2]}"


def _hundreds_digits(found: re.Match[str]) -> str:
    hundreds, tens, ones, small = (word.lower() if word else "" for word in found.groups())
    rest = _ENGLISH_TENS.get(tens, 0) + _ENGLISH_ONES.get(ones, 0) + _ENGLISH_SMALL.get(small, 0)
    return str(100 * _ENGLISH_ONES[hundreds] + rest)


def _spelled_digits(spelled: re.Match[str]) -> str:
    return f"{NUMERALS[spelled[1].lower()]}.{''.join(str(NUMERALS[word]) for word in spelled[2].lower().split())}"


@lru_cache(maxsize=1 << 10)
def value_of(text: str) -> float:
    """Return the number that a match of `NUMBER` is."""
    lowered = text.lower()
    known = NUMERALS.get(lowered, _KOREAN.get(lowered))
    if known is not None:
        return float(known)
    if compound := _COMPOUND.fullmatch(lowered):
        return float(_TENS[compound[1]] + _BEHIND_TENS[compound[2]])
    if compound := _REVERSED.fullmatch(lowered):
        return float(_GERMAN_ONES[compound[1]] + _TENS[compound[2]])
    if han := _HAN_TENS.fullmatch(text):
        return float(10 * NUMERALS.get(han[1], 1) + NUMERALS.get(han[2], 0))
    if scale := _SCALE.search(lowered):
        return value_of(text[: scale.start()]) * _SCALES[scale[1]]
    if _DECIMAL_COMMA.fullmatch(text):
        text = text.replace(".", "").replace(",", ".")
    return float(_MARKS.sub("", text).replace("−", "-"))
