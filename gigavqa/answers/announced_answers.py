"""Read what a text announces as its answer, where it means it: not quoted, supposed, denied at once or left open."""

import re

from gigavqa.answers.abstention import abstains
from gigavqa.answers.final_sentences import from_the_end
from gigavqa.answers.letters import behind_glue
from gigavqa.answers.lexicon import lazy_pattern
from gigavqa.answers.listed import listings, may_be_list
from gigavqa.answers.markers import CLAUSE_REACH, Marker, answer_markers, clause_before, final_markers
from gigavqa.answers.negation import joined
from gigavqa.answers.parsed_answers import AMBIGUOUS_ANSWER, ParsedAnswer, single
from gigavqa.answers.readers import AnswerReader, announced_in, quoted_option
from gigavqa.answers.sentence_forms import AND, DENIES
from gigavqa.answers.withdrawals import (
    holds_if,
    is_ascribed,
    is_conditional,
    is_denied_at_once,
    is_doubted,
    is_first_thought,
    is_hypothesis,
    is_unreal,
)

_SHORTEST_RETRACTION = 8


def announced_answer(text: str, reader: AnswerReader) -> ParsedAnswer | None:
    """Return what the last announcement says: final ones first, then others; of an option's words, its letter's."""
    quoted: str | None = None
    conditional, torn = False, -1
    for markers_in in (final_markers, answer_markers):
        for marker in reversed(markers_in(text)):
            before = clause_before(text, marker)
            if (before and _is_no_claim(before)) or is_in_list(text, marker.end, reader):
                continue
            announced = announced_in(text, marker)
            end = text.find(announced, marker.end) + len(announced)
            if markers_in is answer_markers and before and _is_joined(before, announced, reader):
                torn = marker.start
            if marker.start <= torn < end or _is_not_meant(text, marker, before, announced, end=end, reader=reader):
                continue
            parsed, words = _from_marker(text, marker, announced, reader)
            if parsed and ((before and is_conditional(before)) or _holds_if(parsed, announced, reader)):
                conditional = True
            elif parsed and quoted:
                return parsed if parsed.value == quoted else AMBIGUOUS_ANSWER
            elif parsed and markers_in is answer_markers and _is_contested(text[end:], parsed, reader):
                return AMBIGUOUS_ANSWER
            elif parsed:
                return parsed
            quoted = quoted or words
    if quoted:
        last = from_the_end(text, reader)
        return last if last and last.value == quoted else ParsedAnswer(None, "option_text", quoted, "option text")
    return AMBIGUOUS_ANSWER if conditional and not _unconditional(text, reader) else None


def _is_no_claim(before: str) -> bool:
    """Return whether what stands before an announcement says that others might make it, or its clause a first look."""
    return is_hypothesis(before) or is_first_thought(_COMMA.split(before)[-1])


_COMMA = re.compile("[,，;；、،]")


def _is_joined(before: str, announced: str, reader: AnswerReader) -> bool:
    """Return whether an announcement is joined to another option before it, "torn between answer A and answer B"."""
    mentions = reader.mentions(before) if reader.options else []
    if not mentions or not _JOINT.fullmatch(before, mentions[-1].end):
        return False
    return any(one.value != mentions[-1].value for one in reader.mentions(announced)[:1])


_JOINT = lazy_pattern(rf"[)\]*_`\"'”]{{0,4}}{AND}", re.IGNORECASE)
_CONTESTS = frozenset({"affirmed", "concluded", "only left", "last"})


def _is_contested(behind: str, parsed: ParsedAnswer, reader: AnswerReader) -> bool:
    """Return whether what stands behind an announcement, in its paragraph, settles on another value."""
    rest = behind.partition("\n")[0]
    if parsed.value is None or len(rest) < _SHORTEST_RETRACTION or not reader.mentions(rest):
        return False
    last = from_the_end(rest, reader)
    return last is not None and last.value not in (None, parsed.value) and last.rule in _CONTESTS


def _holds_if(parsed: ParsedAnswer, announced: str, reader: AnswerReader) -> bool:
    """Return whether an announcement goes on to say on which condition it holds."""
    return len(announced) > _SHORTEST_RETRACTION and any(
        mention.value == parsed.value and holds_if(announced[mention.end :]) for mention in reader.mentions(announced)
    )


def _unconditional(text: str, reader: AnswerReader) -> bool:
    last = from_the_end(text, reader)
    return last is not None and last.value is not None


def is_in_list(text: str, position: int, reader: AnswerReader) -> bool:
    """Return whether a place of a text is in a list of options, all of it one line, or at the end of a line of one."""
    line_start, line_end = text.rfind("\n", 0, position) + 1, text.find("\n", position)
    line = text[line_start:] if line_end < 0 else text[line_start:line_end]
    ends_line = line_end >= 0 and not any(map(str.isalnum, text[position:line_end]))
    if not reader.options or not (ends_line or may_be_list(line, reader.options)):
        return False
    listing = listings(text, text.splitlines(), reader.options).get(text.count("\n", 0, position))
    return listing is not None and (ends_line or listing.first == listing.last)


def _is_not_meant(text: str, marker: Marker, before: str, announced: str, *, end: int, reader: AnswerReader) -> bool:
    """Return whether an announcement is another's, denied by the next sentence, or holds on a condition that does not.

    `end` is where what is announced ends in the text.
    """
    if (
        _is_quoted(text, marker)
        or (_ASKS.search(before) and _ASKED.match(announced))
        or (before and is_doubted(before))
        or is_ascribed(before, announced)
        or is_denied_at_once(text[end : end + CLAUSE_REACH])
    ):
        return True
    value = end - len(announced) + next((mention.start for mention in reader.mentions(announced)), len(announced))
    return is_unreal(f"{before} {text[marker.start : value]}", text[value:end])


_ASKS = re.compile(r"\b(?:is|are|was|could|ist|est|es|é)\W*(?:the|die|la|le|a|o)?\s*$", re.IGNORECASE)
"""What opens a question about the answer, "Is the answer A?"."""
_ASKED = re.compile(r"[^.!;。;\n?？]{0,160}[?？]")
_QUOTES = (("“", "”"), ("„", "“"), ("«", "»"), ("「", "」"), ("『", "』"), ('"', '"'))


def _is_quoted(text: str, marker: Marker) -> bool:
    """Return whether an announcement in words stands amid a line's quotation, which others said or wrote."""
    if marker.form != "announced" or not any(opening in text for opening, _ in _QUOTES):
        return False
    start = text.rfind("\n", 0, marker.start) + 1
    before, behind = text[start : marker.start], text[marker.end :].partition("\n")[0]
    if behind.lstrip().startswith('":') or before.rpartition('"')[0].rstrip().endswith('":'):  # a key or value of JSON
        return False
    return any(
        opening in before
        and before.rpartition(opening)[0].strip(" {,:*_(")
        and closing in behind
        and (before.count(opening) % 2 == 1 if opening == closing else closing not in before.rpartition(opening)[2])
        for opening, closing in _QUOTES
    )


def _from_marker(
    text: str, marker: Marker, announced: str, reader: AnswerReader
) -> tuple[ParsedAnswer | None, str | None]:
    """Return what one announcement says, or the letter of the option whose words it quotes instead."""
    values = reader.behind(text, marker)
    if marker.form != "json" and values and len(announced) > 1 and reader.options:
        mentions = reader.mentions(announced)
        if any(mention.value not in values for mention in mentions):
            values |= frozenset(map(str, joined(announced, mentions)))
    if not values and not marker.direct:
        values = frozenset(map(str, reader.within(announced).values))
    elif (
        values
        and marker.form != "json"
        and len(announced) > _SHORTEST_RETRACTION
        and DENIES.may_be_in(announced.lower())
    ):
        within = reader.within(announced)
        if values <= within.denied and not within.values:
            return AMBIGUOUS_ANSWER, None
        values = frozenset(map(str, within.values)) if values & within.denied else values
    if values:
        return single(values, "marker", marker.form), None
    if marker.direct:
        return None, None
    quoted = quoted_option(announced, reader.options) or quoted_option(behind_glue(announced), reader.options)
    return (ParsedAnswer(None, "abstained") if not quoted and abstains(announced) else None), quoted
