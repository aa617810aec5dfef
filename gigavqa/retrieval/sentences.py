"""Split texts of any script into sentences, and rank them by a query."""

import re
from collections.abc import Iterator

from gigavqa.retrieval.terms import count_shared_terms

MAX_SENTENCE_CHARACTERS = 500
"""Characters of a sentence; a longer one, such as a table's, is taken apart between words."""

_CLOSERS = "\"'”’»)\\]」』）】"
_WITHOUT_SPACE = "。！？｡．।॥။។"
_END = re.compile(
    f"\\n[^\\S\\n]*\\n"  # an empty line
    f"|(?<=[.!?…؟۔։።])[{_CLOSERS}]*(?=\\s)"  # with a space behind it
    f"|(?<=[{_WITHOUT_SPACE}])[{_CLOSERS}]*"  # without
)
_BEHIND_NO_END = re.compile(
    r"\b(?:[^\W\d_]|(?:[Ee]\.g|[Ii]\.e|[Dd]r|[Mm]rs?|[Mm]s|[Ss]t|[Pp]rof|vs|ca|cf|approx|[Ff]ig|[Jj]r|[Ss]r|Inc|Ltd|Co))\.$"
)
_LONGEST_ABBREVIATION = 8


def split_sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text, in order, each on one line of at most 500 characters.

    A stop behind an initial or a common abbreviation, or before a small letter, ends none.
    """
    begin = 0
    for end in re.finditer(_END, text):
        if not _goes_on(text, end.start(), end.end()):
            yield from _pieces(text[begin : end.end()])
            begin = end.end()
    yield from _pieces(text[begin:])


def nearest_sentences(asked: tuple[str, ...], text: str, most: int) -> list[str]:
    """At most so many sentences that share most of a query's terms, the earlier of equals, in the text's order."""
    found = list(split_sentences(text))
    best = sorted(range(len(found)), key=lambda at: -count_shared_terms(asked, found[at]))[:most]
    return [found[at] for at in sorted(best)]


def _goes_on(text: str, stop: int, end: int) -> bool:
    if text[stop - 1] in _WITHOUT_SPACE or text[stop] == "\n":
        return False
    before = text[max(0, stop - _LONGEST_ABBREVIATION) : stop]
    follows = text[end : end + 3].lstrip()[:1]
    return bool(_BEHIND_NO_END.search(before)) or follows.islower()


def _pieces(sentence: str) -> Iterator[str]:
    rest = " ".join(sentence.split())
    while len(rest) > MAX_SENTENCE_CHARACTERS:
        cut = rest.rfind(" ", 1, MAX_SENTENCE_CHARACTERS + 1)
        cut = MAX_SENTENCE_CHARACTERS if cut < 0 else cut
        yield rest[:cut]
        rest = rest[cut:].lstrip()
    if rest:
        yield rest
