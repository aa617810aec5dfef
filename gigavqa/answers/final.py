"""Parses a raw response into a final answer, by rules alone (source of the rules: arXiv 2606.05576, appendix D.2).

First what was only thought is cut off. Then the last announcement of a final answer decides, by the nearest option
letter behind it; without one, the text is read from its end, and the last sentence that names a letter decides. An
answer that only repeats an option's text names no letter and is incorrect, as the paper's rule has it; its status
says so.
"""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache, partial

from gigavqa.answers.abstention import abstains
from gigavqa.answers.cells import join_halves
from gigavqa.answers.doubts import is_doubtful
from gigavqa.answers.final_sentences import from_the_end
from gigavqa.answers.glosses import without_glosses
from gigavqa.answers.letters import behind_glue
from gigavqa.answers.lexicon import Words, lazy_pattern
from gigavqa.answers.listed import begun_option, listings, may_be_list, option_line
from gigavqa.answers.markers import CLAUSE_REACH, Marker, answer_markers, clause_before, final_markers
from gigavqa.answers.negation import joined
from gigavqa.answers.opening_answers import opening_answer
from gigavqa.answers.option_forms import with_option_words
from gigavqa.answers.option_numbers import are_listable, counted_option, without_list_numbers
from gigavqa.answers.ordinal_options import with_letters
from gigavqa.answers.own_labels import with_latin_labels, without_own_labels
from gigavqa.answers.parsed_answers import AMBIGUOUS_ANSWER, ParsedAnswer, single
from gigavqa.answers.readers import CELLS, AnswerReader, announced_in, letter_reader, quoted_option, remembered
from gigavqa.answers.sentence_forms import AND, DENIES
from gigavqa.answers.text import Answer, answer_of, is_ended, last_sentence
from gigavqa.answers.withdrawals import (
    behind_retraction,
    holds_if,
    is_ascribed,
    is_conditional,
    is_denied_at_once,
    is_doubted,
    is_first_thought,
    is_hypothesis,
    is_unreal,
    opens_with_contrast,
)

READER_VERSION = "answers/11"
"""What each version changed stands in `versions.toml`."""


def parse_answer(text: str, options: Mapping[str, str] | None, *, cut_off: bool = False) -> ParsedAnswer:
    """Parse a response to a question with lettered `options`; without options, to one that asks for a coordinate.

    What a text that was `cut_off` amid a sentence names in passing, there or before, is no answer.
    """
    answer = answer_of(text)
    if answer is None:
        return ParsedAnswer(None, "unfinished")
    if options:
        options, own = without_own_labels(tuple(options.items()))
        answer = answer._replace(text=with_latin_labels(answer.text, options, own))
    said = without_glosses(answer.text, options) if options else join_halves(answer.text)
    reader = letter_reader(options) if options else CELLS
    if options:
        said = without_list_numbers(said) if _are_listable(tuple(options.values())) else said
        said = with_letters(said, options, reader.mentions)
    read = remembered(partial(_read, reader=reader))
    if len(said) > _SHORTEST_RETRACTION:
        rest = behind_retraction(said, lambda rest: read(rest).value is not None)
        said = rest if rest is said or not _is_in_list(said, len(said) - len(rest), reader) else said
    parsed = read(said)
    if options and parsed.status == "none":
        own = with_option_words(said, options)
        quoted = None if own is not said else counted_option(said, options, cut_off=cut_off)
        parsed = ParsedAnswer(None, "option_text", quoted, "option text") if quoted else read(own)
    if parsed.value is not None and _leaves_open(said, parsed, reader):
        return AMBIGUOUS_ANSWER
    if cut_off and parsed.status == "last" and _ends_in_option(answer.text, reader.options):
        return ParsedAnswer(None, "unfinished")
    if cut_off and not is_ended(said) and _is_broken_off(said, parsed, read, reader):
        return ParsedAnswer(None, "unfinished")
    return ParsedAnswer(None, "too_long") if answer.before and _is_uncertain(parsed, answer, reader) else parsed


_are_listable = lru_cache(maxsize=256)(are_listable)


def _leaves_open(said: str, parsed: ParsedAnswer, reader: AnswerReader) -> bool:
    return bool(reader.options) and parsed.rule != "verdicts" and is_doubtful(said, parsed.value, reader.mentions)


def _is_uncertain(parsed: ParsedAnswer, answer: Answer, reader: AnswerReader) -> bool:
    """Return whether what was read of the end of an answer alone may not be what all of it says."""
    if parsed.status in ("marker", "ambiguous"):
        return False
    return (
        parsed.status == "none" or parsed.rule == "opening" or answer.is_torn or _tells(answer.before, reader.options)
    )


def _tells(text: str, options: Mapping[str, str]) -> bool:
    """Return whether a text announces anything, or opens with an option."""
    if final_markers(text) or answer_markers(text):
        return True
    return bool(options) and option_line(text.partition("\n")[0], options) is not None


def _ends_in_option(text: str, options: Mapping[str, str]) -> bool:
    """Return whether a text ends in a row of options that may go on: one that is begun, or one among other lines."""
    if not options:
        return False
    *before, line = [line for line in text.splitlines() if line.strip()] or [""]
    if before and sum(map(str.isalnum, line)) <= 1:  # the next row's label, or its markup
        return begun_option(before[-1], options) is not None
    letter = begun_option(line, options)
    if letter is None or (is_ended(line) and not is_ended(options[letter])):
        return False
    return bool(before) or option_line(line, options) is None


def _is_broken_off(text: str, parsed: ParsedAnswer, read: Callable[[str], ParsedAnswer], reader: AnswerReader) -> bool:
    """Return whether the answer of a text that ends amid a sentence was but named in passing, or is not closed there.

    Nor does a conclusion hold that a last "But" goes against, or that only the broken sentence draws.
    """
    if parsed.status not in ("marker", "last"):
        return False
    last = last_sentence(text)
    if parsed.status == "last" and parsed.rule in ("last", "described", "only left"):
        return not reader.is_whole(text.rpartition("\n")[2])
    if parsed.status == "last" and (opens_with_contrast(last) or _EITHER.search(last.lower())):
        return True
    if (parsed.status == "marker" and _is_closed(last)) or parsed.rule in ("opening", "verdicts"):
        return False
    return read(_ENDED.match(text)[0]).value != parsed.value  # type: ignore[index]


_ENDED = re.compile(r"(?:.*(?:[.!?]\s|[。！？।؟۔\n]))?", re.DOTALL)
"""What stands before the last stop of a text."""
_CLOSERS = ")]*_`\"'”’}>$ \t\n"
_LETTER_LAST = re.compile(r"(?<![^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3])[A-Z]$")
_COPULA_LAST = re.compile(r"(?:です|である|だ|입니다|이다|है)[*_`\s]{0,8}$")
"""What ends a sentence behind its value, in languages that put the verb last."""


def _is_closed(sentence: str) -> bool:
    """Return whether a sentence without an end is whole up to its value: "Answer: B", no "either B", no `\\boxed{B`."""
    told = sentence[: found.start()] if (found := _COPULA_LAST.search(sentence, len(sentence) - 12)) else sentence
    said = told.rstrip(_CLOSERS)
    if sentence.count("{") != sentence.count("}") or sentence.count('"') % 2:
        return False
    is_value = ")" in told[len(said) :] or bool(_LETTER_LAST.search(said[-2:]))
    return is_value and not _EITHER.search(sentence.lower())


_EITHER = Words("either")
_SHORTEST_RETRACTION = 8


_ECHO = re.compile(
    r"[\"“«„「](?P<said>[^\"”»“」\n]{0,240}?(?<![^\W_])[A-H](?:\s?[,/|、]\s?[A-H]){1,7},?\s?(?:or|oder|ou|o|или|या|أو|或|または|또는)\s[A-H][^\"”»“」\n]{0,80})[\"”»“」]"
)
"""The request in quotation marks, which names every option: "Answer with A, B, C or D." """


def _read(answer: str, reader: AnswerReader) -> ParsedAnswer:
    answer = _ECHO.sub(" ", answer) if reader.options else answer
    return (
        _announced_answer(answer, reader)
        or opening_answer(answer, reader)
        or from_the_end(answer, reader)
        or ParsedAnswer(None, "none")
    )


def _announced_answer(text: str, reader: AnswerReader) -> ParsedAnswer | None:
    """Return what the last announcement says: final ones first, then others; of an option's words, its letter's."""
    quoted: str | None = None
    conditional, torn = False, -1
    for markers_in in (final_markers, answer_markers):
        for marker in reversed(markers_in(text)):
            before = clause_before(text, marker)
            if (before and _is_no_claim(before)) or _is_in_list(text, marker.end, reader):
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


def _is_in_list(text: str, position: int, reader: AnswerReader) -> bool:
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
