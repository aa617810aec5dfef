"""Reads a response to a question that has several right options: the set of letters that it settles on."""

import re
from collections.abc import Mapping, Sequence
from itertools import takewhile

from gigavqa.answers.all_options import all_but, all_options
from gigavqa.answers.asked import Asked, words_in
from gigavqa.answers.broken_lists import ends_in_list, ends_in_sentence
from gigavqa.answers.doubts import is_struck
from gigavqa.answers.glosses import without_glosses
from gigavqa.answers.known_words import asks_for_lack, denies, unknown_words
from gigavqa.answers.letter_lists import letters_alone, with_capital_labels
from gigavqa.answers.letters import behind_glue, letter_mentions, letters_of
from gigavqa.answers.lexicon import Words
from gigavqa.answers.markers import Marker, answer_markers, final_markers
from gigavqa.answers.option_rows import affirmed_rows
from gigavqa.answers.option_series import with_full_names
from gigavqa.answers.ordinal_options import with_letters
from gigavqa.answers.own_labels import with_latin_labels, without_own_labels
from gigavqa.answers.set_sentences import (
    AMBIGUOUS_LETTERS,
    ParsedLetters,
    SetReader,
    alone_in,
    letters_of_line,
    letters_of_row,
    reader_of,
    worded_alone,
)
from gigavqa.answers.text import answer_of, lines_backwards, sentences, sentences_of
from gigavqa.answers.unanswered import ends_unanswered
from gigavqa.answers.withdrawals import behind_retraction


def parse_letters(text: str, options: Mapping[str, str], asked: Asked | None = None) -> ParsedLetters:
    """Parse a response: behind its last announcement, else as a whole, by letters or by the options' words.

    Without an announcement, letters on a line of their own at the end count, then what the last sentence concludes,
    then rows that say yes or no of each option; of other sentences only what all of them say.
    """
    answer = answer_of(text)
    if answer is None:
        return ParsedLetters((), "unfinished")
    if alone := letters_alone(answer.text, [*options]):
        return ParsedLetters(tuple(letter for letter in options if letter in alone), "last")
    options, own = without_own_labels(tuple(options.items()))
    if whole := worded_alone(answer.text, options):
        return ParsedLetters((whole,), "option_text")
    letters = letters_of(tuple(options.items()))
    told = with_capital_labels(with_latin_labels(answer.text, options, own), letters.valid)
    told = without_glosses(_with_bare_letters(_BOXES.sub(", ", told), options), options)
    told = with_letters(with_full_names(told, options), options, lambda sentence: letter_mentions(sentence, letters))
    return _read(told, reader_of(told, options, asked), is_whole=not answer.before)


def _read(text: str, reader: SetReader, *, is_whole: bool) -> ParsedLetters:
    if ends_in_list(text, reader):
        return ParsedLetters((), "unfinished")
    for markers in (final_markers(text), answer_markers(text)):
        if markers and (found := _announced(text, markers[-1], reader)):
            return found
    if not is_whole:
        return ParsedLetters((), "too_long")
    found = _unannounced(text, reader)
    if found and found.letters and is_struck(text, found.letters, reader.lettered):
        return AMBIGUOUS_LETTERS
    return found or ParsedLetters((), "none")


_BOXES = re.compile(r"\}[\s$]*(?:,|;|&|and)?[\s$]*\\boxed\{")
"""What stands between two boxes."""


def _with_bare_letters(text: str, options: Mapping[str, str]) -> str:
    """Return a text with the letter alone in place of an option's words and its letter in brackets, "a dog (A)"."""
    for letter, wording in options.items():
        if f"({letter})" in text:
            words_before = rf"(?:\b(?:an?|the)\s+)?(?<![^\W_]){re.escape(wording.strip(' .'))}\s?\({letter}\)"
            text = re.sub(words_before, letter, text, flags=re.IGNORECASE)
    return text


def _announced(text: str, marker: Marker, reader: SetReader) -> ParsedLetters | None:
    lines = [line for line in text[marker.end :].splitlines() if any(map(str.isalnum, line))]
    if not lines:
        return None
    ones = list(takewhile(lambda found: len(found) == 1, (letters_of_row(line, reader) for line in lines)))
    if len(ones) > 1:
        return reader.ordered([letter for one in ones for letter in one], "marker")
    line = behind_glue(lines[0])
    first, *rest = sentences(line) or [line]
    alone = letters_alone(first, [*reader.options])
    if reader.asked and ends_unanswered(text[marker.end :], reader.asked, reader.language):
        return ParsedLetters((), "abstained")
    if alone and not any(_TAKES_BACK.search(one.lower()) for one in (*rest, *lines[1:])):
        return reader.ordered(alone, "marker")
    return letters_of_line(line, reader, "marker") or _by_words("\n".join([line, *lines[1:]]), reader)


_TAKES_BACK = Words("retraction", "taken_back", "dropped", "second_look", "rejecting")


def _unannounced(text: str, reader: SetReader) -> ParsedLetters | None:
    lines = [line for line in reversed(list(lines_backwards(text))) if any(map(str.isalnum, line))]
    if concluded := _concluded(text, reader):
        return concluded
    rows = [] if asks_for_lack(reader.asked) else affirmed_rows(text, reader.options)
    if listed := rows or _last_alone(lines, reader):
        return reader.ordered(listed, "last")
    return _behind_retraction(text, reader) or _by_sentences(text, lines, reader)


def _by_sentences(text: str, lines: Sequence[str], reader: SetReader) -> ParsedLetters | None:
    said = reader.stances(text, reader.lettered, reader.asked)
    if said.is_sure and said.affirmed and said.affirmed | said.denied == {*reader.options}:
        return reader.ordered(said.affirmed, "last")
    if ends_in_sentence(text, reader):
        return ParsedLetters((), "unfinished")
    return _in_lines(lines, reader) or _by_words(text, reader)


def _last_alone(lines: Sequence[str], reader: SetReader) -> list[str]:
    """Return the letters, or the options, that the last lines are: those of the last one, or one by one.

    None where a line before them says that these are not meant, or nothing is known of what it says.
    """
    found = list(takewhile(bool, (alone_in(line, reader) for line in reversed(lines))))[::-1]
    ones = list(takewhile(lambda one: len(one) == 1, reversed(found)))[::-1] if found else []
    are_rows = len(ones) > 1 and (len(ones) == len(lines) or len(ones) < len(reader.options))
    found = ones if are_rows else found[-1:]
    letters = [letter for one in found for letter in one]
    lead = lines[-len(found) - 1] if len(lines) > len(found) else ""
    if not letters or len({*letters}) < len(letters) or _leads_elsewhere(lead, lines, reader):
        return []
    return letters


def _leads_elsewhere(lead: str, lines: Sequence[str], reader: SetReader) -> bool:
    """Return whether a line opens a list of others than are asked for, or of options for it is not known what."""
    if not lead.rstrip(" *_").endswith((":", "：")):
        return False
    is_lettered = bool(letters_alone(lines[-1], [*reader.options]))
    said = lead.lower()
    return denies(said, reader.language) or not (is_lettered or not unknown_words(lead, reader.asked, reader.language))


def _behind_retraction(text: str, reader: SetReader) -> ParsedLetters | None:
    """Read the list of letters behind a retraction; nothing is sure of what any other one leaves."""
    rest = behind_retraction(text, lambda rest: bool(reader.lettered(rest) or reader.worded(rest)), short=True)
    if rest is text:
        return None
    alone = letters_alone((sentences_of(rest) or [""])[0], [*reader.options])
    return reader.ordered(alone, "last") if alone else AMBIGUOUS_LETTERS


def _concluded(text: str, reader: SetReader) -> ParsedLetters | None:
    """Read what the last sentence concludes, behind the last word that draws a conclusion before letters or options."""
    *before, last = sentences_of(text) or [""]
    mentions = reader.lettered(last) or reader.worded(last)
    conclusions = [*words_in(reader.language, "conclusion", "summing_up").finditer(last.lower())] if mentions else []
    ends = [
        found.end()
        for found in conclusions[-_MOST_CONCLUSIONS:]
        if mentions[-1].start >= found.end() and _BORDER.search(last[max(0, found.start() - _NEAR) : found.start()])
    ]
    if not ends or not (before or mentions[0].end <= ends[-1]):
        return None
    told = last[ends[-1] :]
    return letters_of_line(told, reader, "last") or _by_words(told, reader)


def _in_lines(lines: Sequence[str], reader: SetReader) -> ParsedLetters | None:
    found = [one for line in lines if (one := letters_of_line(line, reader, "last"))]
    told = {one.letters for one in found if one.letters}
    if len(told) < 2 and not any(one.status == "ambiguous" for one in found):
        return next((one for one in reversed(found) if one.letters), found[-1]) if found else None
    said = reader.stances("\n".join(lines), reader.lettered, reader.asked)
    is_known = said.is_sure or said.affirmed | said.denied == {*reader.options}
    is_set = said.affirmed and is_known and not said.affirmed & said.denied
    return reader.ordered(said.affirmed, "last") if is_set else AMBIGUOUS_LETTERS


def _by_words(text: str, reader: SetReader) -> ParsedLetters | None:
    """Read the options that a text names by their words, where all of its sentences are understood."""
    mentions = reader.worded(text)
    if not mentions:
        is_all = all_options(text, reader.asked, reader.language)
        return reader.ordered([*reader.options], "option_text") if is_all else None
    left = all_but(text, mentions, reader.options, reader.asked, reader.language)
    if left is not None:
        return reader.ordered(left, "option_text") if left else AMBIGUOUS_LETTERS
    said = reader.stances(text, reader.worded, reader.asked)
    if not said.is_sure:
        return AMBIGUOUS_LETTERS
    return reader.ordered(said.affirmed, "option_text") if said.affirmed else None


_MOST_CONCLUSIONS, _NEAR = 8, 12
"""Conclusions of a sentence that are looked at, and characters before one in which its clause begins."""
_ASKS = re.compile("[?？؟]")
_BORDER = re.compile(r"(?:^|[,，،、;；:：–—-])[\s*_\"']*(?:and\s)?$")
