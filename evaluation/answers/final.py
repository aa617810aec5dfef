"""Parses a raw response into a final answer, by rules alone (source of the rules: arXiv 2606.05576, appendix D.2).

First what was only thought is cut off. Then the last announcement of a final answer decides, by the nearest option
letter behind it; without one, the text is read from its end, and the last sentence that names a letter decides. An
answer that only repeats an option's text names no letter and is incorrect, as the paper's rule has it; its status
says so.
"""

import re
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Literal

from evaluation.answers.abstention import abstains, commits
from evaluation.answers.cells import join_halves
from evaluation.answers.letters import behind_glue
from evaluation.answers.listed import Listing, listings, option_line
from evaluation.answers.markers import Announcement, Marker, answer_markers, final_markers
from evaluation.answers.readers import CELLS, Reader, announced_in, letter_reader, quoted_option
from evaluation.answers.stances import Rule, Settled, joined
from evaluation.answers.text import Answer, answer_of, plain, sentences
from evaluation.answers.withdrawals import behind_retraction, is_conditional, is_hypothesis

READER_VERSION = "answers/6"
"""6 reads one grammar in every language, lists by one parser, and asks first whether nothing is answered."""

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
`ambiguous` several incompatible ones, `abstained` said to be unanswerable, `unfinished` thinking that never ended, or
a last sentence without an end, `too_long` more than is read, of which the end does not tell, `overflowed` a chat that
outgrew the model's context before its answer, `filtered` an answer that who serves the model withheld or refused,
`none` nothing that could be an answer.
"""
ReadingRule = Literal[Announcement, Rule, "opening", "verdicts", "option text", ""]
"""By which rule an answer was read, more finely than its status tells: behind an announcement in words, in a box or
under a key of JSON; as the opening line; by a list of verdicts; by a sentence's stance. Empty where none was."""


@dataclass(frozen=True)
class ParsedAnswer:
    """`value` is a letter, or a coordinate "(row, column)"; None where there is no single answer.

    `quoted` is the letter of the option whose words are the answer, where it names no letter (`option_text`): whether
    that counts is for the benchmark to say.
    """

    value: str | None
    status: ParseStatus
    quoted: str | None = field(default=None, compare=False)
    rule: ReadingRule = field(default="", compare=False)


_AMBIGUOUS = ParsedAnswer(None, "ambiguous")


def parse_answer(text: str, options: Mapping[str, str] | None, *, cut_off: bool = False) -> ParsedAnswer:
    """Parse a response to a question with lettered `options`; without options, to one that asks for a coordinate.

    What a text that was `cut_off` names in passing in its last, unended sentence is no answer.
    """
    answer = answer_of(text)
    if answer is None:
        return ParsedAnswer(None, "unfinished")
    said, reader = (answer.text, letter_reader(options)) if options else (join_halves(answer.text), CELLS)
    read = cache(partial(_read, reader=reader))
    if len(said) > _SHORTEST_RETRACTION and not (options and "?" in said and listings(said, [], options)):
        said = behind_retraction(said, lambda rest: read(rest).value is not None)
    parsed = read(said)
    if cut_off and parsed.status == "last" and _is_broken_off(said, parsed, reader):
        return ParsedAnswer(None, "unfinished")
    return ParsedAnswer(None, "too_long") if answer.before and _is_uncertain(parsed, answer, reader) else parsed


def _is_uncertain(parsed: ParsedAnswer, answer: Answer, reader: Reader) -> bool:
    """Whether what was read of the end of an answer alone may not be what all of it says."""
    if parsed.status in ("marker", "ambiguous"):
        return False
    return parsed.status == "none" or answer.is_torn or _tells(answer.before, reader.options)


def _tells(text: str, options: Mapping[str, str]) -> bool:
    """Whether a text announces anything, or opens with an option."""
    if final_markers(text) or answer_markers(text):
        return True
    return bool(options) and option_line(text.partition("\n")[0], options) is not None


def _is_broken_off(text: str, parsed: ParsedAnswer, reader: Reader) -> bool:
    """Whether an answer stands amid the last sentence of a text, and that sentence has no end."""
    last = next(reversed(sentences(next(reversed(text.splitlines()), ""))), "").strip(" *_(")
    if last.endswith((".", "!", "?", "。", "।")) or not parsed.value or last.startswith(parsed.value):
        return False
    return parsed.value in reader.within(last).values


_SHORTEST_RETRACTION = 8


def _read(answer: str, reader: Reader) -> ParsedAnswer:
    return (
        _announced_answer(answer, reader)
        or _opening_answer(answer, reader)
        or _from_the_end(answer, reader)
        or ParsedAnswer(None, "none")
    )


def _announced_answer(text: str, reader: Reader) -> ParsedAnswer | None:
    """Return what the last announcement says: final ones first, then others; of an option's words, its letter's."""
    quoted: str | None = None
    conditional = False
    for markers_in in (final_markers, answer_markers):
        for marker in reversed(markers_in(text)):
            before = _clause_before(text, marker)
            if (before and is_hypothesis(before)) or _is_of_list(text, marker, reader):
                continue
            parsed, words = _from_marker(text, marker, reader)
            if parsed and before and is_conditional(before):
                conditional = True
            elif parsed and quoted:
                return parsed if parsed.value == quoted else _AMBIGUOUS
            elif parsed:
                return parsed
            quoted = quoted or words
    if quoted:
        last = _from_the_end(text, reader)
        return last if last and last.value == quoted else ParsedAnswer(None, "option_text", quoted, "option text")
    return _AMBIGUOUS if conditional and not _unconditional(text, reader) else None


def _unconditional(text: str, reader: Reader) -> bool:
    last = _from_the_end(text, reader)
    return last is not None and last.value is not None


def _is_of_list(text: str, marker: Marker, reader: Reader) -> bool:
    """Whether what announces is a verdict in a list of options, with nothing behind it in its line."""
    line_end = text.find("\n", marker.end)
    if line_end < 0 or not reader.options or any(map(str.isalnum, text[marker.end : line_end])):
        return False
    return text.count("\n", 0, marker.start) in listings(text, text.splitlines(), reader.options)


_CLAUSE = re.compile(r"[.!?;。！？;।\n]")
_CLAUSE_REACH = 160


def _clause_before(text: str, marker: Marker) -> str:
    """Return what stands before an announcement in its clause."""
    return _CLAUSE.split(text[max(0, marker.start - _CLAUSE_REACH) : marker.start])[-1].strip()


def _from_marker(text: str, marker: Marker, reader: Reader) -> tuple[ParsedAnswer | None, str | None]:
    """Return what one announcement says, or the letter of the option whose words it quotes instead."""
    values = reader.behind(text, marker)
    announced = announced_in(text, marker)
    if marker.form != "json" and values and len(announced) > 1 and reader.options:
        mentions = reader.mentions(announced)
        if any(mention.value not in values for mention in mentions):
            values |= frozenset(map(str, joined(announced, mentions)))
    if not values and not marker.direct:
        values = frozenset(map(str, reader.within(announced).values))
    if values:
        return _single(values, "marker", marker.form), None
    if marker.direct:
        return None, None
    quoted = quoted_option(announced, reader.options) or quoted_option(behind_glue(announced), reader.options)
    return (ParsedAnswer(None, "abstained") if not quoted and abstains(announced) else None), quoted


def _opening_answer(text: str, reader: Reader) -> ParsedAnswer | None:
    """Return the option that a text begins with, on a line of its own, before it explains."""
    opening, line_end, rest = text.partition("\n")
    if not line_end or not reader.options:
        return None
    letter = option_line(opening, reader.options)
    if letter is None or any(option_line(line, reader.options) for line in rest.splitlines()):
        return None
    return ParsedAnswer(letter, "last", rule="opening")


def _from_the_end(text: str, reader: Reader) -> ParsedAnswer | None:
    """Return what the last sentence that settles on anything says, or the last list.

    One that only speaks of a value in passing gives way to one before it that affirms another, or concludes with it;
    where others are but named before it, nothing is settled. What is denied later is none.
    """
    passing: ParsedAnswer | None = None
    quoted: ParsedAnswer | None = None
    denied: set[Hashable] = set()
    unsure = False
    for piece in _backwards(text, reader):
        if isinstance(piece, Listing):
            if quoted or piece.letter or piece.ambiguous:
                return quoted or _from_list(piece)
            unsure = unsure or passing is None
            continue
        said = reader.within(piece)
        parsed = _from_sentence(piece, said, reader)
        if quoted:  # an option's words behind its letter, "It is B. Four."
            return parsed if parsed and parsed.value == quoted.quoted else quoted
        if parsed and parsed.quoted and passing is None:
            quoted = parsed
        elif is_conditional(piece) or (said.values and _is_question(piece)):
            unsure = unsure or bool(said.values and passing is None)
        elif parsed is None or parsed.value in denied:
            unsure = unsure or parsed is not None
        elif _settles(parsed, said.rule, passing):
            return parsed
        else:
            passing = passing or parsed
            unsure = unsure or parsed.value not in (None, passing.value)
        denied |= said.denied
    return quoted or (_AMBIGUOUS if unsure else passing)


_STRONG = frozenset({"affirmed", "concluded", "only left"})


def _settles(parsed: ParsedAnswer, rule: Rule, passing: ParsedAnswer | None) -> bool:
    """Whether a sentence settles the answer: by a strong rule; or as the last one, unless it but speaks of a value."""
    if parsed.value is None or rule == "last":
        return passing is None
    return rule in _STRONG


def _from_list(listing: Listing) -> ParsedAnswer:
    return ParsedAnswer(listing.letter, "last", rule="verdicts") if listing.letter else _AMBIGUOUS


def _is_question(sentence: str) -> bool:
    """Whether a sentence asks, "Is it B?"; a letter alone with a mark of doubt, "B?", answers."""
    asked = sentence.rstrip(" *_`")
    return asked.endswith(("?", "؟")) and len(plain(asked)) > 1


def _backwards(text: str, reader: Reader) -> Iterator[str | Listing]:
    """Yield the sentences of a text from its end, and in place of those of a list, the list."""
    lines = text.splitlines()
    lists = listings(text, lines, reader.options) if reader.options else {}
    at = len(lines)
    while at > 0:
        at -= 1
        if at in lists:
            yield lists[at]
            at = lists[at].first
        else:
            yield from reversed(sentences(lines[at]))


def _from_sentence(sentence: str, said: Settled, reader: Reader) -> ParsedAnswer | None:
    values = frozenset(map(str, said.values))
    if len(values) > 1 and _is_aside(sentence):
        return None
    refused = abstains(sentence) and not (len(values) == 1 and (said.rule in _STRONG or commits(sentence)))
    if values and (not refused or quoted_option(sentence, reader.options)):
        return _single(values, "last", said.rule)
    if not values and not said.denied and (quoted := quoted_option(sentence, reader.options)):
        return ParsedAnswer(None, "option_text", quoted, "option text")
    return ParsedAnswer(None, "abstained") if refused else None


_ASIDE = re.compile(r"[(（][^()（）]*[)）]")


def _is_aside(sentence: str) -> bool:
    return bool(_ASIDE.fullmatch(sentence.strip(" .。")))


def _single(values: frozenset[str], status: ParseStatus, rule: ReadingRule) -> ParsedAnswer:
    return ParsedAnswer(next(iter(values)), status, rule=rule) if len(values) == 1 else _AMBIGUOUS
