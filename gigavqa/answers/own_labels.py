"""Labels of other alphabets in place of an option's Latin letter: "Б) Скол", "الخيار (ب)", "(다)"."""

import re
from collections.abc import Mapping
from functools import lru_cache

from gigavqa.answers.lexicon import lazy_pattern, words

_ALPHABETS = (
    "АБВГДЕЖЗ",
    "أبجدهوزح",
    "ابجدهوزح",
    "가나다라마바사아",
    "ㄱㄴㄷㄹㅁㅂㅅㅇ",
    "アイウエオカキク",
    "甲乙丙丁戊己庚辛",
    "ΑΒΓΔΕΖΗΘ",
)
"""Labels in their order: the first one is option A's."""
_LOOKS_LATIN = frozenset("АВЕЗΑΒΕΖΗ")
"""Labels that may be written for the Latin letter that they look like: alone they tell of no other alphabet."""
_OWN = re.compile(r"\s*[(（\[]?(?P<label>[^\W\d_a-zA-Z])[)）\].:：、．]\s*(?=\S)")
_LETTER = r"(?<![^\W_])"
_END = r"(?![^\W_]|\s+(?!и\s+[А-З](?![^\W_]))[а-яё])"
"""No word goes on behind a label, and none that it could be is followed by another: "В кадре", "А дальше"."""


@lru_cache(maxsize=256)
def without_own_labels(options: tuple[tuple[str, str], ...]) -> tuple[dict[str, str], str]:
    """Return options without labels of another alphabet that all of them begin with, and that alphabet's labels."""
    found = [_OWN.match(text) for _, text in options]
    own = "".join(one["label"] for one in found if one)
    if len(own) == len(options) > 1 and any(labels.startswith(own) for labels in _ALPHABETS):
        return {letter: text[one.end() :] for (letter, text), one in zip(options, found, strict=True) if one}, own
    return dict(options), ""


def with_latin_labels(text: str, options: Mapping[str, str], own: str) -> str:
    """Return a text with options' letters in place of labels of another alphabet: their `own`, or one that it uses."""
    if text.isascii():
        return text
    labels = own or _labels_used(text, len(options))
    if not labels:
        return text
    letters = dict(zip(labels, options, strict=False))
    return re.sub(f"{_LETTER}[{labels}]{_END}", lambda found: letters[found[0]], text)


_ONE = r"([^\W\d_a-zA-Z])"


def _labels_used(text: str, number: int) -> str:
    """Return the labels of so many options in the alphabet of which a text has one that looks like no Latin letter."""
    used = {found[found.lastindex or 0] for found in _LABELLED.finditer(text)} - _LOOKS_LATIN
    used |= {label for found in _LISTED.finditer(text) for label in re.findall(_ONE, found[0])} - _LOOKS_LATIN
    return next((known[:number] for known in _ALPHABETS if used & {*known[:number]}), "")


_LABELLED = lazy_pattern(
    rf"(?:(?:[(（\[|]\s?|[:：]\s{{0,3}}|^[\s*_-]{{0,6}}|{words('option_noun')}\s{{1,2}}[*_\"«“(]{{0,3}}){_ONE}\s?[)）\]*_\"»”.:|]"
    rf"|(?:[:：]\s{{0,3}}|[は\s])[*_\"«“「]{{0,3}}{_ONE}[*_\"»”」]{{0,3}}(?:です|だ|입니다|이다)?\s?[.。!]?\s*$)",
    re.MULTILINE,
)
"""A single letter that labels an option: in brackets, at the beginning or end of a line, or behind "option"."""
_LISTED = lazy_pattern(
    r"(?:^|[:：])\s{0,3}[^\W\d_a-zA-Z](?:(?:\s?[,،、;/]\s?|\s(?:и|و|와|と)\s?)[^\W\d_a-zA-Z](?![^\W_])){1,8}[.。]?\s*$",
    re.MULTILINE,
)
"""Such letters alone in a line, or behind its colon."""
