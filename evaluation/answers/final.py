"""Parses a raw response into a final answer, by rules alone (source of the rules: arXiv 2606.05576, appendix D.2).

First what was only thought is cut off. Then the last announcement of a final answer decides, by the nearest option
letter behind it; without one, the text is read from its end, and the last sentence that names a letter decides. An
answer that only repeats an option's text names no letter and is incorrect, as the paper's rule has it; its status
says so.
"""

import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from typing import Literal

from evaluation.answers.abstention import abstains, commits
from evaluation.answers.cells import bare_cell, cell_mentions, join_halves, lone_cell
from evaluation.answers.coordinates import Coordinate, format_coordinate
from evaluation.answers.letters import (
    Letters,
    behind_glue,
    direct_letters,
    latin,
    letter_mentions,
    letters_of,
    mentioned_letters,
    preceding_letter,
)
from evaluation.answers.markers import Marker, answer_markers, final_markers
from evaluation.answers.stances import (
    Mention,
    behind_retraction,
    is_conditional,
    is_hypothesis,
    joined,
    settled,
    verdicts,
)
from evaluation.answers.text import Answer, answer_of, lines_backwards, plain, sentences

READER_VERSION = "answers/5"

ParseStatus = Literal[
    "marker",
    "last",
    "option_text",
    "ambiguous",
    "abstained",
    "unfinished",
    "too_long",
    "overflowed",
    "filtered",
    "none",
]
"""How an answer was found, or why there is none; whether it is correct is another matter.

`marker` behind an announcement, `last` the last one named, `option_text` an option's words without its letter,
`ambiguous` several incompatible ones, `abstained` said to be unanswerable, `unfinished` thinking that never ended,
`too_long` more than is read, of which the end does not tell, `overflowed` a chat that outgrew the model's context
before its answer, `filtered` an answer that who serves the model withheld or refused, `none` nothing that could be an
answer.
"""


@dataclass(frozen=True)
class ParsedAnswer:
    """`value` is a letter, or a coordinate "(row, column)"; None where there is no single answer.

    `quoted` is the letter of the option whose words are the answer, where it names no letter (`option_text`): whether
    that counts is for the benchmark to say.
    """

    value: str | None
    status: ParseStatus
    quoted: str | None = field(default=None, compare=False)


@dataclass(frozen=True)
class _Reader:
    """How one kind of answer is recognized: behind a marker, and in any sentence, where its values are mentioned."""

    behind: Callable[[str, Marker], frozenset[str]]
    within: Callable[[str], frozenset[str]]
    mentions: Callable[[str], list[Mention]]
    options: Mapping[str, str]


_REACH = 400
"""How many characters behind a marker its answer may begin at the furthest."""


def parse_answer(text: str, options: Mapping[str, str] | None) -> ParsedAnswer:
    """Parse a response to a question with lettered `options`; without options, to one that asks for a coordinate."""
    answer = answer_of(text)
    if answer is None:
        return ParsedAnswer(None, "unfinished")
    said, reader = (answer.text, _letter_reader(options)) if options else (join_halves(answer.text), _CELLS)
    read = cache(partial(_read, reader=reader))
    if len(said) > _SHORTEST_RETRACTION:
        said = behind_retraction(said, lambda rest: read(rest).value is not None)
    parsed = read(said)
    return ParsedAnswer(None, "too_long") if answer.before and _is_uncertain(parsed, answer, reader) else parsed


def _is_uncertain(parsed: ParsedAnswer, answer: Answer, reader: _Reader) -> bool:
    """Whether what was read of the end of an answer alone may not be what all of it says."""
    if parsed.status in ("marker", "ambiguous"):
        return False
    return parsed.status == "none" or answer.is_torn or _tells(answer.before, reader.options)


def _tells(text: str, options: Mapping[str, str]) -> bool:
    """Whether a text announces anything, or opens with an option."""
    if final_markers(text) or answer_markers(text):
        return True
    opening = text.partition("\n")[0]
    return bool(options) and _option_line(opening, letters_of(tuple(options.items())), options) is not None


_SHORTEST_RETRACTION = 8


def _read(answer: str, reader: _Reader) -> ParsedAnswer:
    return (
        _announced_answer(answer, reader)
        or _opening_answer(answer, reader)
        or _from_the_end(answer, reader)
        or ParsedAnswer(None, "none")
    )


def _letter_reader(options: Mapping[str, str]) -> _Reader:
    letters = letters_of(tuple(options.items()))

    def behind(text: str, marker: Marker) -> frozenset[str]:
        return direct_letters(text, marker.end, letters) & letters.valid or preceding_letter(
            text, marker.start, letters
        )

    return _Reader(
        behind,
        lambda sentence: _sentence_letters(sentence, letters),
        lambda sentence: letter_mentions(sentence, letters),
        options,
    )


def _sentence_letters(sentence: str, letters: Letters) -> frozenset[str]:
    alone = latin(plain(sentence))
    return frozenset({alone}) if alone in letters.valid else mentioned_letters(sentence, letters)


def _cells_behind(text: str, marker: Marker) -> frozenset[str]:
    announced = _announced(text, marker)
    if mentions := cell_mentions(announced):
        return _written(joined(announced, mentions))
    cell = bare_cell(text[marker.end : marker.end + _REACH])
    return _written([cell] if cell else [])


def _written(cells: Iterable[Hashable]) -> frozenset[str]:
    return frozenset(format_coordinate(cell) for cell in cells if isinstance(cell, Coordinate))


def _cells_within(sentence: str) -> frozenset[str]:
    cell = lone_cell(sentence)
    return _written([cell] if cell else settled(sentence, cell_mentions(sentence)))


_CELLS = _Reader(_cells_behind, _cells_within, cell_mentions, {})


def _announced_answer(text: str, reader: _Reader) -> ParsedAnswer | None:
    """Return what the last announcement says: final ones first, then others; of an option's words, its letter's."""
    quoted: str | None = None
    conditional = False
    for markers in (final_markers(text), answer_markers(text)):
        for marker in reversed(markers):
            before = _clause_before(text, marker)
            if before and is_hypothesis(before):
                continue
            parsed, words = _from_marker(text, marker, reader)
            if parsed and before and is_conditional(before):
                conditional = True
            elif parsed and quoted:
                return parsed if parsed.value == quoted else ParsedAnswer(None, "ambiguous")
            elif parsed:
                return parsed
            quoted = quoted or words
    if quoted:
        last = _from_the_end(text, reader)
        return last if last and last.value == quoted else ParsedAnswer(None, "option_text", quoted)
    return ParsedAnswer(None, "ambiguous") if conditional and not _unconditional(text, reader) else None


def _unconditional(text: str, reader: _Reader) -> bool:
    last = _from_the_end(text, reader)
    return last is not None and last.value is not None


_CLAUSE = re.compile(r"[.!?;。！？；\n]")
_CLAUSE_REACH = 160


def _clause_before(text: str, marker: Marker) -> str:
    """Return what stands before an announcement in its clause."""
    return _CLAUSE.split(text[max(0, marker.start - _CLAUSE_REACH) : marker.start])[-1].strip()


def _from_marker(text: str, marker: Marker, reader: _Reader) -> tuple[ParsedAnswer | None, str | None]:
    """Return what one announcement says, or the letter of the option whose words it quotes instead."""
    values = reader.behind(text, marker)
    announced = _announced(text, marker)
    if values and len(announced) > 1 and (mentions := reader.mentions(announced)):
        values |= frozenset(map(str, joined(announced, mentions))) if reader.options else frozenset()
    if not values and not marker.direct:
        values = reader.within(announced)
    if values:
        return _single(values, "marker"), None
    if marker.direct:
        return None, None
    quoted = _quoted_option(announced, reader.options) or _quoted_option(behind_glue(announced), reader.options)
    return (ParsedAnswer(None, "abstained") if not quoted and abstains(announced) else None), quoted


def _announced(text: str, marker: Marker) -> str:
    """Return the first sentence behind a marker."""
    for line in text[marker.end : marker.end + _REACH].splitlines():
        if any(character.isalnum() for character in line):
            return next((part for part in sentences(line) if any(c.isalnum() for c in part)), line)
    return ""


def _opening_answer(text: str, reader: _Reader) -> ParsedAnswer | None:
    """Return the option that a text begins with, on a line of its own, before it explains."""
    opening, line_end, rest = text.partition("\n")
    if not line_end or not reader.options:
        return None
    letters = letters_of(tuple(reader.options.items()))
    letter = _option_line(opening, letters, reader.options)
    if letter is None or any(_option_line(line, letters, reader.options) for line in rest.splitlines()):
        return None
    return ParsedAnswer(letter, "last")


def _option_line(line: str, letters: Letters, options: Mapping[str, str]) -> str | None:
    alone = latin(plain(line)) if len(line) < 12 else ""
    if alone in letters.valid:
        return alone
    match = letters.restated.fullmatch(line.strip())
    return match[1] if match and _only_restates(match[1], match[2], options) else None


def _from_the_end(text: str, reader: _Reader) -> ParsedAnswer | None:
    listed = _listed_lines(text, reader.options)
    conditional = False
    for line in lines_backwards(text):
        if line in listed:
            if parsed := _from_list(listed, reader.options):
                return parsed
            continue
        for sentence in reversed(sentences(line)):
            if is_conditional(sentence):
                conditional = conditional or bool(reader.within(sentence))
            elif parsed := _from_sentence(sentence, reader):
                return parsed
    return ParsedAnswer(None, "ambiguous") if listed or conditional else None


def _from_sentence(sentence: str, reader: _Reader) -> ParsedAnswer | None:
    values = reader.within(sentence)
    if len(values) > 1 and _is_aside(sentence):
        return None
    refused = abstains(sentence) and not (len(values) == 1 and commits(sentence))
    if values and (not refused or _quoted_option(sentence, reader.options)):
        return _single(values, "last")
    if not values and (quoted := _quoted_option(sentence, reader.options)):
        return ParsedAnswer(None, "option_text", quoted)
    return ParsedAnswer(None, "abstained") if refused else None


_ASIDE = re.compile(r"[(（][^()（）]*[)）]")


def _is_aside(sentence: str) -> bool:
    return bool(_ASIDE.fullmatch(sentence.strip(" .。")))


def _single(values: frozenset[str], status: ParseStatus) -> ParsedAnswer:
    return ParsedAnswer(next(iter(values)), status) if len(values) == 1 else ParsedAnswer(None, "ambiguous")


def _quoted_option(text: str, options: Mapping[str, str]) -> str | None:
    """Return the letter of the option whose words a text is, or holds, those of no other option being in it."""
    if not options:
        return None
    said, wordings = plain(text), _wordings(tuple(options.items()))
    if said in wordings:
        return wordings[said] if said else None
    last = said.rpartition(" ")[2]
    quoted = {wording for wording in wordings if (wording in said if len(wording) >= 4 else wording == last != "")}
    longest = [wording for wording in quoted if not any(wording in other and wording != other for other in quoted)]
    return wordings[longest[0]] if len(longest) == 1 else None


@lru_cache(maxsize=256)
def _wordings(options: tuple[tuple[str, str], ...]) -> dict[str, str]:
    return {plain(text): letter for letter, text in options}


def _listed_lines(text: str, options: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Return the lines that go through the options one by one, with their letters and what they say of them.

    A single such line is an answer, and no list; so are lines that say something else than a verdict.
    """
    if not options or "\n" not in text:
        return {}
    pattern, found = letters_of(tuple(options.items())).restated, {}
    for line in text.splitlines():
        if match := pattern.fullmatch(line.strip()):
            found[line] = (match[1], match[2])
    listed = {
        line: head
        for line, head in found.items()
        if _only_restates(*head, options) or verdicts(head[1]) or _SHARE.fullmatch(head[1])
    }
    return listed if len({letter for letter, _ in listed.values()}) > 1 else {}


_SHARE = re.compile(r"\W*(?:\d+(?:\.\d+)?\s*%|0?\.\d+)\W*")


def _only_restates(letter: str, said: str, options: Mapping[str, str]) -> bool:
    return plain(said) == plain(options[letter])


def _from_list(listed: Mapping[str, tuple[str, str]], options: Mapping[str, str]) -> ParsedAnswer | None:
    """Return the one option that a list of verdicts leaves; None where the list gives none."""
    judged = {letter: verdicts(said) for letter, said in listed.values() if not _only_restates(letter, said, options)}
    affirmed = [letter for letter, verdict in judged.items() if verdict == {True}]
    denied = [letter for letter, verdict in judged.items() if verdict == {False}]
    if len(affirmed) == 1 and len(affirmed) + len(denied) == len(judged) > 1:
        return ParsedAnswer(affirmed[0], "last")
    return ParsedAnswer(None, "ambiguous") if len(affirmed) > 1 else None
