"""Parses a raw response into a final answer, by rules alone (UltraVR, appendix D.2).

First what was only thought is cut off. Then the last announcement of a final answer decides, by the nearest option
letter behind it; without one, the text is read from its end, and the last sentence that names a letter decides. An
answer that only repeats an option's text names no letter and is incorrect, as the paper's rule has it; its status
says so.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from evaluation.ultravr.coordinates import Coordinate, format_coordinate
from evaluation.ultravr.parsing.abstention import abstains, commits
from evaluation.ultravr.parsing.cells import bare_cell, join_halves, lone_cell, named_cells
from evaluation.ultravr.parsing.letters import (
    Letters,
    behind_glue,
    direct_letters,
    latin,
    letters_of,
    mentioned_letters,
    preceding_letter,
)
from evaluation.ultravr.parsing.markers import Marker, answer_markers, final_markers
from evaluation.ultravr.parsing.text import answer_text, lines_backwards, plain, sentences

PARSER_VERSION = "ultravr-answers/3"

ParseStatus = Literal["marker", "last", "option_text", "ambiguous", "abstained", "unfinished", "overflowed", "none"]
"""How an answer was found, or why there is none; whether it is correct is another matter.

`marker` behind an announcement, `last` the last one named, `option_text` an option's words without its letter,
`ambiguous` several incompatible ones, `abstained` said to be unanswerable, `unfinished` thinking that never ended,
`overflowed` a chat that outgrew the model's context before its answer, `none` nothing that could be an answer.
"""


@dataclass(frozen=True)
class ParsedAnswer:
    """`value` is a letter, or a coordinate "(row, column)"; None where there is no single answer."""

    value: str | None
    status: ParseStatus


@dataclass(frozen=True)
class _Reader:
    """How one kind of answer is recognized: behind a marker, and in any sentence."""

    behind: Callable[[str, Marker], frozenset[str]]
    within: Callable[[str], frozenset[str]]
    options: Mapping[str, str]


_REACH = 400
"""How many characters behind a marker its answer may begin at the furthest."""

_MOST_MARKERS = 64
"""Announcements that are looked at, from the end: a model that runs in circles writes thousands."""


def parse_answer(text: str, options: Mapping[str, str] | None) -> ParsedAnswer:
    """Parse a response to a question with lettered `options`; without options, to one that asks for a coordinate."""
    answer = answer_text(text)
    if answer is None:
        return ParsedAnswer(None, "unfinished")
    answer, reader = (answer, _letter_reader(options)) if options else (join_halves(answer), _CELLS)
    for markers in (final_markers(answer), answer_markers(answer)):
        if parsed := _from_markers(answer, markers, reader):
            return parsed
    return _from_the_end(answer, reader) or ParsedAnswer(None, "none")


def _letter_reader(options: Mapping[str, str]) -> _Reader:
    letters = letters_of(tuple(options))

    def behind(text: str, marker: Marker) -> frozenset[str]:
        return direct_letters(text, marker.end, letters) & letters.valid or preceding_letter(
            text, marker.start, letters
        )

    return _Reader(behind, lambda sentence: _sentence_letters(sentence, letters), options)


def _sentence_letters(sentence: str, letters: Letters) -> frozenset[str]:
    alone = latin(plain(sentence))
    return frozenset({alone}) if alone in letters.valid else mentioned_letters(sentence, letters)


def _cells_behind(text: str, marker: Marker) -> frozenset[str]:
    cell = bare_cell(text[marker.end : marker.end + _REACH])
    return _written([cell] if cell else named_cells(_announced(text, marker)))


def _written(cells: Iterable[Coordinate]) -> frozenset[str]:
    return frozenset(format_coordinate(cell) for cell in cells)


def _cells_within(sentence: str) -> frozenset[str]:
    cell = lone_cell(sentence)
    return _written([cell] if cell else named_cells(sentence))


_CELLS = _Reader(_cells_behind, _cells_within, {})


def _from_markers(text: str, markers: list[Marker], reader: _Reader) -> ParsedAnswer | None:
    for marker in reversed(markers[-_MOST_MARKERS:]):
        values = reader.behind(text, marker)
        announced = _announced(text, marker)
        if not values and not marker.direct:
            values = reader.within(announced)
        if values:
            return _single(values, "marker")
        if not marker.direct and (parsed := _without_value(announced, reader)):
            return parsed
    return None


def _announced(text: str, marker: Marker) -> str:
    """Return the first sentence behind a marker."""
    for line in text[marker.end : marker.end + _REACH].splitlines():
        if any(character.isalnum() for character in line):
            return next((part for part in sentences(line) if any(c.isalnum() for c in part)), line)
    return ""


def _without_value(announced: str, reader: _Reader) -> ParsedAnswer | None:
    if _quotes_option(announced, reader.options) or _quotes_option(behind_glue(announced), reader.options):
        return ParsedAnswer(None, "option_text")
    return ParsedAnswer(None, "abstained") if abstains(announced) else None


def _from_the_end(text: str, reader: _Reader) -> ParsedAnswer | None:
    restated = _restated_lines(text, reader.options)
    for line in lines_backwards(text):
        if line in restated:
            continue
        for sentence in reversed(sentences(line)):
            if parsed := _from_sentence(sentence, reader):
                return parsed
    return ParsedAnswer(None, "ambiguous") if restated else None


def _from_sentence(sentence: str, reader: _Reader) -> ParsedAnswer | None:
    if _is_conditional(sentence):
        return None
    values = reader.within(sentence)
    refused = abstains(sentence) and not (len(values) == 1 and commits(sentence))
    if values and (not refused or _quotes_option(sentence, reader.options)):
        return _single(values, "last")
    if not values and _quotes_option(sentence, reader.options):
        return ParsedAnswer(None, "option_text")
    return ParsedAnswer(None, "abstained") if refused else None


def _is_conditional(sentence: str) -> bool:
    start = sentence.lstrip(" *_-").lower()
    return start.startswith(("if ", "were ", "suppose ")) and not start.startswith(
        ("if i had to", "if i must", "if forced")
    )


def _single(values: frozenset[str], status: ParseStatus) -> ParsedAnswer:
    return ParsedAnswer(next(iter(values)), status) if len(values) == 1 else ParsedAnswer(None, "ambiguous")


def _quotes_option(text: str, options: Mapping[str, str]) -> bool:
    """Whether a text is an option's words, or holds those of exactly one option."""
    if not options:
        return False
    said, wordings = plain(text), _wordings(tuple(options.values()))
    if said in wordings:
        return bool(said)
    quoted = {wording for wording in wordings if len(wording) >= 4 and wording in said}
    longest = {wording for wording in quoted if not any(wording in other and wording != other for other in quoted)}
    return len(longest) == 1


@lru_cache(maxsize=256)
def _wordings(options: tuple[str, ...]) -> frozenset[str]:
    return frozenset(map(plain, options))


def _restated_lines(text: str, options: Mapping[str, str]) -> frozenset[str]:
    """Return lines that only list the options again; a single such line is an answer, and no list."""
    if not options:
        return frozenset()
    pattern, found = letters_of(tuple(options)).restated, {}
    for line in text.splitlines():
        match = pattern.fullmatch(line.strip())
        if match and plain(match[2]) == plain(options[match[1]]):
            found[line] = match[1]
    return frozenset(found) if len(set(found.values())) > 1 else frozenset()
