"""Parses a raw response into a final answer, by rules alone (source of the rules: arXiv 2606.05576, appendix D.2).

First what was only thought is cut off. Then the last announcement of a final answer decides, by the nearest option
letter behind it; without one, the text is read from its end, and the last sentence that names a letter decides. An
answer that only repeats an option's text names no letter and is incorrect, as the paper's rule has it; its status
says so.
"""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache, partial

from gigavqa.answers.announced_answers import announced_answer, is_in_list
from gigavqa.answers.cells import join_halves
from gigavqa.answers.doubts import is_doubtful
from gigavqa.answers.final_sentences import from_the_end
from gigavqa.answers.glosses import without_glosses
from gigavqa.answers.lexicon import Words
from gigavqa.answers.listed import begun_option, option_line
from gigavqa.answers.markers import answer_markers, final_markers
from gigavqa.answers.opening_answers import opening_answer
from gigavqa.answers.option_forms import with_option_words
from gigavqa.answers.option_numbers import are_listable, counted_option, without_list_numbers
from gigavqa.answers.ordinal_options import with_letters
from gigavqa.answers.own_labels import with_latin_labels, without_own_labels
from gigavqa.answers.parsed_answers import AMBIGUOUS_ANSWER, ParsedAnswer
from gigavqa.answers.readers import CELLS, AnswerReader, letter_reader, remembered
from gigavqa.answers.text import Answer, answer_of, is_ended, last_sentence
from gigavqa.answers.withdrawals import (
    behind_retraction,
    opens_with_contrast,
)

READER_VERSION = "answers/14"
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
        said = rest if rest is said or not is_in_list(said, len(said) - len(rest), reader) else said
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
        announced_answer(answer, reader)
        or opening_answer(answer, reader)
        or from_the_end(answer, reader)
        or ParsedAnswer(None, "none")
    )
