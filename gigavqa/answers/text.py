"""Brings a raw response into one written form, and cuts off what was only thought."""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from html import unescape
from typing import NamedTuple

from gigavqa.catalogue.families.registry import FAMILIES

_OTHER_THOUGHTS = (
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("[THINK]", "[/THINK]"),
    ("<|channel|>analysis", "<|channel|>final"),
)
_MARKS = tuple(dict.fromkeys(family.marks for family in FAMILIES.values()))
_THOUGHTS = (*dict.fromkeys(marks.thought for marks in _MARKS if marks.thought), *_OTHER_THOUGHTS)
"""Opening and closing marks of thoughts: the catalogue's families', and of others that are asked through the API."""
_BOXES = tuple(dict.fromkeys(marks.answer for marks in _MARKS if marks.answer))
_MEANINGLESS = re.compile(
    "|".join(
        re.escape(mark) for mark in sorted({m for marks in _MARKS for m in (*marks.places, *marks.others, *marks.ends)})
    )
    + r"|<\|[a-z_]+\|>"
)

LONGEST = 8_000  # reading costs at most 50 ms: decision 0010
"""Characters of an answer, its thoughts cut off, that are read: of a longer one its last ones, where answers stand
(docs/decisions/0010-reading-answers.md)."""

_BOUNDARY = re.compile(r"\n|[.!?]\s|[。！？।؟۔]")
_STOP = re.compile(r"[.!?]\s+|[。！？।؟۔]")
_LAST_WORD = re.compile(r"(?:[,:%]|(?:(?<![^\W\d_])(?![A-ZÀ-ÞА-Я])|^)[^\W\d_]+)$")
"""What stands before a letter that is a sentence's last word, "so it is B.": no capital, but for the sentence's own."""
_REACH_BEFORE = 40
_ABOUT_A_LETTER = " ()[]*_`"
_FORMAT = re.compile(
    r"[\u00ad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    r"\ufe00-\ufe0f\ufeff\ufff9-\ufffb\U000e0001-\U000e007f]"
)
"""Characters that only say how others are set (Unicode's Cf and variation selectors), and are no part of a text."""
_OUTER = re.compile(r"[*_`\"'“”‘’$\\{}<>]")
_STRUCK = re.compile(r"~~(?=\S)[^~\n]{1,200}~~|<(s|del|strike)>[^<>\n]{1,200}</\1>", re.IGNORECASE)
"""What is struck out, in Markdown and HTML: it was taken back."""
_INITIAL = re.compile(r"(?<![\w*])\*{1,2}([^\W\d_])\*{1,2}(?=[^\W\d_]{2})")
"""A word's first letter in markup of its own, "*A*nswer"."""
_TAGS = re.compile(r"</?(?:(?P<block>p|br|li|ul|ol|div|h[1-6])|b|i|em|strong|u|span)\s?/?>", re.IGNORECASE)
_ARROWS = str.maketrans(dict.fromkeys("➜➔➡➞⟶", "→"))
_ATTRIBUTES = re.compile(r"<(answer)\s[^<>]*>", re.IGNORECASE)
_ABBREVIATION = re.compile(r"\b(?:i\.e|e\.g|cf|vs|approx|ca|max|min|no|fig|z\.\s?B|d\.\s?h|p\.\s?ej)$", re.IGNORECASE)


def thoughts_apart(raw: str) -> tuple[str, str | None]:
    """Return what was only thought, and what was said; None instead of that where thinking never ended."""
    thought, text = "", raw
    for opening, closing in _THOUGHTS:
        if closing in text:
            before, _, text = text.rpartition(closing)
            thought += before.replace(opening, "", 1)
        if opening in text:
            text, _, after = text.partition(opening)
            thought += after
            if not text.strip():
                return thought, None
    return thought, text


class Answer(NamedTuple):
    """The part of an answer that is read, and the part before it that is not.

    `is_torn` tells that the text begins amid a sentence, because there is no other in it.
    """

    text: str
    before: str = ""
    is_torn: bool = False


def answer_of(raw: str) -> Answer | None:
    """Return what follows the thinking, as `answer_text` does, or as much of its end as is read."""
    _, said = thoughts_apart(raw)
    if said is None:
        return None
    said = said.strip()
    before, text = said[:-LONGEST], _cleaned(said[-LONGEST:])
    if len(text) > LONGEST:  # one character can stand for eighteen
        before, text = before + text[:-LONGEST], text[-LONGEST:]
    if not before:
        return Answer(text)
    boundary = _BOUNDARY.search(text)
    if boundary is None:
        return Answer(text, before, is_torn=True)
    return Answer(text[boundary.end() :].strip(), before + text[: boundary.end()])


def answer_text(raw: str) -> str | None:
    """Return what follows the thinking, in Unicode's compatibility form; None where thinking never ended."""
    _, text = thoughts_apart(raw)
    return None if text is None else _cleaned(text)


def _cleaned(text: str) -> str:
    text = text if text.isascii() else unicodedata.normalize("NFKC", _FORMAT.sub("", text)).translate(_ARROWS)
    text = text.replace("\r\n", "\n") if "\r" in text else text
    text = _INITIAL.sub(r"\1", text) if "*" in text else text
    if "~~" in text or "</" in text:
        text = _STRUCK.sub(" ", text)
        text = _TAGS.sub(_without_tag, unescape(text)) if _TAGS.search(text) else text
    if "<" in text or "[" in text:
        for opening, closing in _BOXES:
            text = text.replace(opening, "\\boxed{").replace(closing, "}")
        text = _MEANINGLESS.sub(" ", text)
    return _ATTRIBUTES.sub(r"<\1>", text).strip()


def _without_tag(tag: re.Match[str]) -> str:
    return "\n" if tag["block"] else ""


def lines_backwards(text: str) -> Iterator[str]:
    """Yield the lines that hold anything, the last one first."""
    return (line for line in reversed(text.splitlines()) if line.strip())


def sentences(line: str) -> list[str]:
    """Split a line into sentences; the stops of an option's letter, "B. Four", and of "i.e." end none, nor are one."""
    parts, start = [], 0
    for stop in _STOP.finditer(line):
        if not _is_option_stop(line, stop.start()) and not _is_abbreviation(line, stop.start()):
            parts.append(line[start : stop.end()])
            start = stop.end()
    return [part for part in (*parts, line[start:]) if part.strip().strip(".!?。！？।؟۔")]


def sentences_of(text: str) -> list[str]:
    """Split all lines of a text into sentences, in their order."""
    return list(_sentences_of(text))


@lru_cache(maxsize=64)
def _sentences_of(text: str) -> tuple[str, ...]:
    return tuple(sentence for line in text.splitlines() for sentence in sentences(line))


def last_sentence(text: str) -> str:
    """Return the last sentence of the last line; empty where that holds none."""
    return next(reversed(sentences(text.rpartition("\n")[2])), "")


def is_ended(text: str) -> bool:
    """Return whether a text ends where a sentence does."""
    return text.rstrip(" \t\n*_`\"'”’»」』)]}").endswith((*".!?。！？।؟۔…",))


def _is_abbreviation(line: str, stop: int) -> bool:
    found = _ABBREVIATION.search(line, max(0, stop - 8), stop)
    if found is None:
        return False
    return found[0].lower() != "no" or line[stop + 1 : stop + 3].strip()[:1].isdigit()


def _is_option_stop(line: str, stop: int) -> bool:
    """Return whether a stop is that of an option's letter, be it in markup or brackets: "**C**. four"."""
    if line[stop] not in ".。":
        return False
    before = line[max(0, stop - _REACH_BEFORE) : stop].rstrip(_ABOUT_A_LETTER)
    letter = before[-1:]
    if not ("A" <= letter <= "Z" or "a" <= letter <= "z") or before[-2:-1].isalnum():
        return False
    if letter.islower():
        return not before[:-1].strip(_ABOUT_A_LETTER)
    behind = line[stop + 1 : stop + 8].lstrip(_ABOUT_A_LETTER)
    if behind[:1].islower() or behind[1:2] == ".":  # the option's words, or another initial
        return True
    return not _LAST_WORD.search(before[:-1].rstrip(_ABOUT_A_LETTER))


def plain(text: str) -> str:
    """Lower-case a text and drop markup, outer punctuation and repeated space, to compare wordings."""
    return " ".join(_OUTER.sub(" ", text).lower().split()).strip(" .,:;!?()[]。")
