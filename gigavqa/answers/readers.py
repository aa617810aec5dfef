"""Recognize one kind of answer, letters or cells: behind a marker, in a sentence, and by an option's words."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import lru_cache, partial
from typing import NamedTuple, TypeVar

from gigavqa.answers.cells import bare_cell, cell_mentions, lone_cell
from gigavqa.answers.coordinates import Coordinate, format_coordinate
from gigavqa.answers.letters import (
    direct_letters,
    latin,
    letter_mentions,
    letters_of,
    preceding_letter,
)
from gigavqa.answers.listed import option_line
from gigavqa.answers.markers import Marker
from gigavqa.answers.negation import Mention, SentenceConclusion, joined, settle
from gigavqa.answers.option_numbers import is_counted
from gigavqa.answers.spellings import one_spelling
from gigavqa.answers.text import plain, sentences

_ReadingT = TypeVar("_ReadingT")
_REACH = 400
"""How many characters behind a marker its answer may begin at the furthest."""


class AnswerReader(NamedTuple):
    """Recognizes one kind of answer; `options` are empty for cells. `is_whole` tells what is a value alone."""

    behind: Callable[[str, Marker], frozenset[str]]
    within: Callable[[str], SentenceConclusion]
    mentions: Callable[[str], list[Mention]]
    is_whole: Callable[[str], bool]
    options: Mapping[str, str]


class _TextCache(dict[str, _ReadingT]):
    def __init__(self, function: Callable[[str], _ReadingT]) -> None:
        super().__init__()
        self._function = function

    def __missing__(self, text: str) -> _ReadingT:
        found = self[text] = self._function(text)
        return found


def remembered(function: Callable[[str], _ReadingT]) -> Callable[[str], _ReadingT]:
    """Return the function, called once for each text: as `functools.cache`, which takes longer to make than to use."""
    return _TextCache(function).__getitem__


def letter_reader(options: Mapping[str, str]) -> AnswerReader:
    """Make what reads answers to a question with lettered options."""
    letters = letters_of(tuple(options.items()))
    mentions = remembered(partial(letter_mentions, letters=letters))

    def behind(text: str, marker: Marker) -> frozenset[str]:
        return direct_letters(text, marker.end, letters) & letters.valid or preceding_letter(
            text, marker.start, letters
        )

    return AnswerReader(
        behind,
        remembered(lambda sentence: _letters_within(sentence, mentions, options)),
        mentions,
        lambda sentence: option_line(sentence, options) is not None,
        options,
    )


def _letters_within(
    sentence: str, mentions: Callable[[str], list[Mention]], options: Mapping[str, str]
) -> SentenceConclusion:
    alone = latin(plain(sentence)) if len(sentence) < len(max(options)) + 16 else ""
    line = alone if alone in options else option_line(sentence, options)
    return SentenceConclusion(frozenset({line})) if line else settle(sentence, mentions(sentence))


def _cells_behind(text: str, marker: Marker) -> frozenset[str]:
    announced = announced_in(text, marker)
    if mentions := cell_mentions(announced):
        return _written(joined(announced, mentions))
    cell = bare_cell(text[marker.end : marker.end + _REACH])
    return _written([cell] if cell else [])


def _cells_within(sentence: str) -> SentenceConclusion:
    if cell := lone_cell(sentence):
        return SentenceConclusion(_written([cell]))
    said = settle(sentence, cell_mentions(sentence))
    return SentenceConclusion(_written(said.values), said.rule, _written(said.denied))


def _written(cells: Iterable[Hashable]) -> frozenset[str]:
    return frozenset(format_coordinate(cell) for cell in cells if isinstance(cell, Coordinate))


CELLS = AnswerReader(_cells_behind, _cells_within, cell_mentions, lambda sentence: lone_cell(sentence) is not None, {})


def announced_in(text: str, marker: Marker) -> str:
    """Return the first sentence behind a marker."""
    for line in text[marker.end : marker.end + _REACH].splitlines():
        if any(character.isalnum() for character in line):
            return next((part for part in sentences(line) if any(c.isalnum() for c in part)), line)
    return ""


def quoted_option(text: str, options: Mapping[str, str]) -> str | None:
    """Return the letter of the option whose words a text is, or holds, undenied, those of no other being in it."""
    if not options:
        return None
    said, wordings = one_spelling(plain(text)), _wordings(tuple(options.items()))
    if said in wordings:
        return wordings[said] if said else None
    last = said.rpartition(" ")[2]
    quoted = {wording for wording in wordings if (wording in said if len(wording) >= 4 else wording == last != "")}
    longest = [wording for wording in quoted if not any(wording in other and wording != other for other in quoted)]
    if len(longest) != 1 or not is_counted(said, longest[0]):
        return None
    start = said.rfind(longest[0])
    said_of = settle(said, [Mention(start, start + len(longest[0]), longest[0])])
    return None if said_of.denied else wordings[longest[0]]


@lru_cache(maxsize=256)
def _wordings(options: tuple[tuple[str, str], ...]) -> dict[str, str]:
    return {one_spelling(plain(text)): letter for letter, text in options}
