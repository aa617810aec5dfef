"""Take texts and queries of any script apart into the terms of the index.

Texts are taken apart here and not by SQLite, so that an index is the same whichever SQLite made it: what the index is
given are words between spaces, and its tokenizer has nothing left to decide.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from itertools import pairwise

_MOST_TERMS = 64
_MOST_QUERY = 4_000  # characters of a query that are looked at
_ACCENTS = dict.fromkeys(range(0x300, 0x370))
_UNSPACED = (  # scripts that put no space between words: Thai, Lao, Myanmar, Khmer, kana, Han
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)


def normalize_words(text: str) -> str:
    """Return the words of a text between single spaces: lower case, without accents, width and ligatures undone.

    Every character of a script without spaces is a word of its own, together with the marks that belong to it.
    """
    return " ".join(word for words in _split(text) for word in words)


def query_terms(query: str) -> tuple[str, ...]:
    """The different things that a query looks for, in its order: words, and pairs of neighbours of unspaced scripts.

    At most 64, of the first 4,000 characters; a term holds letters, digits, marks and single spaces, and nothing else.
    """
    found: dict[str, None] = {}
    for characters in _split(query[:_MOST_QUERY]):
        pairs = [f"{one} {two}" for one, two in pairwise(characters)]
        found.update(dict.fromkeys(pairs or characters))
        if len(found) >= _MOST_TERMS:
            break
    return tuple(found)[:_MOST_TERMS]


def count_shared_terms(asked: tuple[str, ...], text: str) -> int:
    """Return how many of a query's terms stand in a text."""
    within = f" {normalize_words(text)} "
    return sum(f" {term} " in within for term in asked)


def _split(text: str) -> Iterator[list[str]]:
    """Words, each alone; and runs of characters without spaces between them, each character a word."""
    for run in re.finditer(_runs(), _fold(text)):
        yield re.findall(_characters(), run[0]) if run.lastgroup == "unspaced" else [run[0]]


def _fold(text: str) -> str:
    if text.isascii():
        return text.lower()
    bare = unicodedata.normalize("NFKD", text.casefold()).translate(_ACCENTS)
    # What compatibility characters stand for may have capitals again.
    return unicodedata.normalize("NFKC", bare).casefold()


@cache
def _combining_marks() -> str:
    """Signs that belong to the letter before them, such as vowels of Indian scripts, as a class of a pattern."""
    ranges: list[list[int]] = []
    for point in range(0x300, 0x20000):
        if unicodedata.category(chr(point)).startswith("M"):
            if ranges and ranges[-1][1] == point - 1:
                ranges[-1][1] = point
            else:
                ranges.append([point, point])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


@cache
def _runs() -> re.Pattern[str]:
    unspaced = f"(?![\\W_])[{_UNSPACED}]"
    # Plain letters first: most texts have nothing else.
    spaced = f"(?:[a-z0-9]+|[^\\W_{_UNSPACED}][{_combining_marks()}]*)+"
    return re.compile(f"{spaced}|(?P<unspaced>(?:{unspaced}[{_combining_marks()}]*)+)")


@cache
def _characters() -> re.Pattern[str]:
    return re.compile(f"[^\\W_][{_combining_marks()}]*")
