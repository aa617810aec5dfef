"""Reads a response to a question that has several right options: the set of letters that it settles on."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import NamedTuple

from gigavqa.answers.abstention import abstains, commits
from gigavqa.answers.all_options import all_but, all_options
from gigavqa.answers.answer_space import key_of
from gigavqa.answers.asked import Asked, language_of, words_in
from gigavqa.answers.doubts import is_struck
from gigavqa.answers.glosses import without_glosses
from gigavqa.answers.letter_lists import letters_alone, with_capital_labels
from gigavqa.answers.letters import LetterPatterns, behind_glue, letter_mentions, letters_of
from gigavqa.answers.lexicon import Words, lazy_pattern, words
from gigavqa.answers.listed import restated_option
from gigavqa.answers.markers import Marker, answer_markers, final_markers
from gigavqa.answers.negation import Mention, joined, said_values
from gigavqa.answers.option_mentions import option_mentions
from gigavqa.answers.option_rows import affirmed_rows
from gigavqa.answers.option_series import with_full_names
from gigavqa.answers.option_stances import (
    MentionsOf,
    OptionStances,
    asks_for_lack,
    denies,
    is_joint,
    stances_of,
    unknown_words,
)
from gigavqa.answers.ordinal_options import with_letters
from gigavqa.answers.own_labels import with_latin_labels, without_own_labels
from gigavqa.answers.parsed_answers import ParseStatus
from gigavqa.answers.text import answer_of, is_ended, lines_backwards, sentences, sentences_of
from gigavqa.answers.withdrawals import behind_retraction

_ALTERNATIVE = lazy_pattern(words("alternative"))


@dataclass(frozen=True)
class ParsedLetters:
    """`letters` in the order of the options; none where no single set is meant. `status` says how it was found."""

    letters: tuple[str, ...]
    status: ParseStatus


AMBIGUOUS_LETTERS = ParsedLetters((), "ambiguous")


class _Reader(NamedTuple):
    """What reads replies to one question in one language."""

    options: Mapping[str, str]
    letters: LetterPatterns
    asked: Asked | None
    language: str

    def lettered(self, text: str) -> list[Mention]:
        """Return where a text names letters."""
        return letter_mentions(without_glosses(text, self.options), self.letters)

    def worded(self, text: str) -> list[Mention]:
        """Return where a text names options by their words."""
        return option_mentions(text, self.options, self.language)

    def stances(self, text: str, mentions_of: MentionsOf, asked: Asked | None) -> OptionStances:
        """Return what a text says of the options that it names so."""
        return stances_of(text, mentions_of, self.options, asked, self.language)

    def ordered(self, found: Sequence[str] | frozenset[str], status: ParseStatus) -> ParsedLetters:
        """Return letters in the order of the options."""
        return ParsedLetters(tuple(letter for letter in self.options if letter in found), status)


def parse_letters(text: str, options: Mapping[str, str], asked: Asked | None = None) -> ParsedLetters:
    """Parse a response: behind its last announcement, else as a whole, by letters or by the options' words.

    Without an announcement, letters on a line of their own at the end count, then what the last sentence concludes,
    then rows that say yes or no of each option; of other sentences only what all of them say.
    """
    answer = answer_of(text)
    if answer is None:
        return ParsedLetters((), "unfinished")
    options, own = without_own_labels(tuple(options.items()))
    letters = letters_of(tuple(options.items()))
    if whole := next((one for one, wording in options.items() if key_of(wording) == key_of(answer.text)), ""):
        return ParsedLetters((whole,), "option_text")
    told = with_capital_labels(with_latin_labels(answer.text, options, own), letters.valid)
    told = _with_bare_letters(_BOXES.sub(", ", told), options)
    told = with_letters(with_full_names(told, options), options, lambda sentence: letter_mentions(sentence, letters))
    reader = _Reader(options, letters, asked, language_of(told.lower(), asked.language if asked else "en"))
    if _ends_open(told):
        return ParsedLetters((), "unfinished")
    for markers in (final_markers(told), answer_markers(told)):
        if markers and (found := _announced(told, markers[-1], reader)):
            return found
    if answer.before:
        return ParsedLetters((), "too_long")
    found = _unannounced(told, reader)
    if found and found.letters and is_struck(told, found.letters, reader.lettered):
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


def _announced(text: str, marker: Marker, reader: _Reader) -> ParsedLetters | None:
    lines = [line for line in text[marker.end :].splitlines() if any(map(str.isalnum, line))]
    if listed := _restated(lines, reader.options):
        return reader.ordered(listed, "marker")
    if not lines:
        return None
    ones = list(takewhile(lambda found: len(found) == 1, (letters_alone(line, [*reader.options]) for line in lines)))
    if len(ones) > 1:
        return reader.ordered([letter for one in ones for letter in one], "marker")
    line = behind_glue(lines[0])
    first, *rest = sentences(line) or [line]
    alone = letters_alone(first, [*reader.options])
    if alone and not any(_TAKES_BACK.search(one.lower()) for one in (*rest, *lines[1:])):
        return reader.ordered(alone, "marker")
    return _in_line(line, reader, "marker") or _by_words("\n".join([line, *lines[1:]]), reader)


_TAKES_BACK = Words("retraction", "taken_back", "dropped", "second_look", "rejecting")


def _unannounced(text: str, reader: _Reader) -> ParsedLetters | None:
    lines = [line for line in reversed(list(lines_backwards(text))) if any(map(str.isalnum, line))]
    listed = _restated(lines, reader.options)
    if listed and len(listed) == len(lines):
        return reader.ordered(listed, "last")
    if concluded := _concluded(text, reader):
        return concluded
    if not asks_for_lack(reader.asked) and (affirmed := affirmed_rows(text, reader.options)):
        return reader.ordered(affirmed, "last")
    if alone := _each_alone(lines, reader.options) or (lines and letters_alone(lines[-1], [*reader.options])):
        return reader.ordered(alone, "last")
    if len(lines) > 1 and (alone := _alone(lines[-1], reader)) and not _alone(lines[-2], reader):
        return reader.ordered(alone, "option_text")
    if listed := _listed_last(lines, reader):
        return reader.ordered(listed, "last")
    rest = behind_retraction(text, lambda rest: bool(reader.lettered(rest) or reader.worded(rest)), short=True)
    if rest is not text:
        alone = letters_alone((sentences_of(rest) or [""])[0], [*reader.options])
        return reader.ordered(alone, "last") if alone else AMBIGUOUS_LETTERS
    said = reader.stances(text, reader.lettered, reader.asked)
    if said.is_sure and said.affirmed and said.affirmed | said.denied == {*reader.options}:
        return reader.ordered(said.affirmed, "last")
    if _is_broken_off(lines, reader):
        return ParsedLetters((), "unfinished")
    return _in_lines(lines, reader) or _by_words(text, reader)


def _each_alone(lines: Sequence[str], options: Mapping[str, str]) -> list[str]:
    """Return the letters of lines that are one letter each."""
    found = [letters_alone(line, [*options]) for line in lines]
    letters = [letter for one in found for letter in one]
    return letters if len(lines) > 1 and all(len(one) == 1 for one in found) and len({*letters}) == len(letters) else []


def _listed_last(lines: Sequence[str], reader: _Reader) -> list[str]:
    """Return the options that the last lines are, one by one, behind a line that announces them, "The animals are:"."""
    at = max((at for at, line in enumerate(lines) if line.rstrip(" *_").endswith((":", "："))), default=-1)
    block = lines[at + 1 :]
    if at < 0 or not 0 < len(block) < len(reader.options):
        return []
    if denies(lines[at].lower(), reader.language) or unknown_words(lines[at], reader.asked, reader.language):
        return []
    ones = [[one] if (one := restated_option(line, reader.options)) else _alone(line, reader) for line in block]
    return [one[0] for one in ones] if all(len(one) == 1 for one in ones) else []


def _alone(line: str, reader: _Reader) -> list[str]:
    """Return the letters, or the options, that are all of a line."""
    if alone := letters_alone(line, [*reader.options]):
        return alone
    mentions = reader.worded(line)
    between = [line[one.end : other.start] for one, other in pairwise(mentions)]
    ends = (line[: mentions[0].start], line[mentions[-1].end :]) if mentions else ("a",)
    is_bare = not any(map(str.isalnum, "".join(ends))) and all(is_joint(one, reader.language) for one in between)
    return [str(one.value) for one in mentions] if is_bare else []


def _concluded(text: str, reader: _Reader) -> ParsedLetters | None:
    """Read what the last sentence concludes, behind the last word that draws a conclusion before letters or options."""
    *before, last = sentences_of(text) or [""]
    mentions = reader.lettered(last) or reader.worded(last)
    conclusions = [*words_in(reader.language, "conclusion", "summing_up").finditer(last.lower())] if mentions else []
    ends = [
        found.end()
        for found in conclusions
        if any(one.start >= found.end() for one in mentions) and _BORDER.search(last[: found.start()])
    ]
    if not ends or not (before or any(one.end <= ends[-1] for one in mentions)):
        return None
    told = last[ends[-1] :]
    return _in_line(told, reader, "last") or _by_words(told, reader)


def _in_lines(lines: Sequence[str], reader: _Reader) -> ParsedLetters | None:
    found = [one for line in lines if (one := _in_line(line, reader, "last"))]
    told = {one.letters for one in found if one.letters}
    if len(told) < 2 and not any(one.status == "ambiguous" for one in found):
        return next((one for one in reversed(found) if one.letters), found[-1]) if found else None
    said = reader.stances("\n".join(lines), reader.lettered, reader.asked)
    is_known = said.is_sure or said.affirmed | said.denied == {*reader.options}
    is_set = said.affirmed and is_known and not said.affirmed & said.denied
    return reader.ordered(said.affirmed, "last") if is_set else AMBIGUOUS_LETTERS


def _restated(lines: Sequence[str], options: Mapping[str, str]) -> list[str]:
    """Return the letters of the options that lines repeat one by one, "A. red"."""
    repeated = (restated_option(line, options) for line in lines)
    return list(filter(None, takewhile(bool, repeated)))


def _in_line(line: str, reader: _Reader, status: ParseStatus) -> ParsedLetters | None:
    """Return what a line says; of several sentences that name letters and do not deny them, all must name the same."""
    if alone := letters_alone(line, [*reader.options]):
        return reader.ordered(alone, status)
    lead, _, rest = line.replace("：", ":").rpartition(":")
    if lead and (alone := letters_alone(rest, [*reader.options])) and _is_announcing(lead, reader):
        return reader.ordered(alone, status)
    if _ASKS.search(line):
        return AMBIGUOUS_LETTERS if reader.lettered(line) else None
    named: set[frozenset[str]] = set()
    for sentence in sentences(without_glosses(line, reader.options)):
        mentions = letter_mentions(sentence, reader.letters)
        left = all_but(sentence, mentions, reader.options, reader.asked, reader.language)
        if left is not None:
            return reader.ordered(left, status) if left else AMBIGUOUS_LETTERS
        said = _said_in(sentence, mentions, reader)
        if abstains(sentence) and not (said and commits(sentence)):
            return ParsedLetters((), "abstained")
        if said is None or (said and not _stand_together(sentence, said, reader)):
            return AMBIGUOUS_LETTERS
        named |= {said} if said else set()
    if len(named) > 1:
        return AMBIGUOUS_LETTERS
    return reader.ordered(named.pop(), status) if named else None


def _is_announcing(lead: str, reader: _Reader) -> bool:
    """Return whether what stands before a colon says no more than that the answer follows."""
    if reader.lettered(lead) or reader.worded(lead) or denies(lead.lower(), reader.language):
        return False
    return not unknown_words(lead, reader.asked, reader.language)


def _said_in(sentence: str, mentions: Sequence[Mention], reader: _Reader) -> frozenset[str] | None:
    """Return the letters that a sentence says and does not deny; of what is asked to be missing, those it says so of.

    None where it is not known which those are.
    """
    if mentions and asks_for_lack(reader.asked):
        told = reader.stances(sentence, reader.lettered, reader.asked)
        return told.affirmed if told.is_sure else None
    return frozenset(map(str, said_values(sentence, mentions)))


def _stand_together(sentence: str, said: frozenset[str], reader: _Reader) -> bool:
    """Return whether letters are one list, "A, B and C", and no alternatives, "A or C"."""
    mentions = letter_mentions(sentence, reader.letters)
    between = [sentence[one.end : other.start].lower() for one, other in pairwise(mentions)]
    behind = sentence[mentions[0].start :].lower()
    if _LEFT_OPEN.search(behind) or _BOUND.search(sentence[: mentions[0].start].lower()):
        return False
    if any(letter not in reader.options for letter in _CAPITALS.findall(sentence[mentions[0].end :])):
        return False
    are_joined = joined(sentence, mentions) == said or all(is_joint(text, reader.language) for text in between)
    return are_joined and not any(map(_ALTERNATIVE.search, between))


def _by_words(text: str, reader: _Reader) -> ParsedLetters | None:
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


def _ends_open(text: str) -> bool:
    """Return whether a text ends with a word that more must follow, "A, C and"."""
    return _OPEN.search(text[-_LONGEST_OPEN:]) is not None and _CAPITAL.search(text) is not None


def _is_broken_off(lines: Sequence[str], reader: _Reader) -> bool:
    """Return whether a text of sentences ends before the stop of the last one, behind an option that it names."""
    if not lines or is_ended(lines[-1]):
        return False
    *before, last = sentences(lines[-1]) or [lines[-1]]
    is_prose = before or _STOP_WITHIN.search(last) or (len(lines) > 1 and is_ended(lines[-2]))
    mentions = reader.lettered(last) or reader.worded(last)
    return bool(is_prose and mentions) and any(map(str.isalpha, last[mentions[-1].end :]))


_BORDER = re.compile(r"(?:^|[,，،、;；:：–—-])[\s*_\"']*(?:and\s)?$")
_ASKS = re.compile(r"[?？؟]\W*$")
_LEFT_OPEN, _BOUND = Words("possibility", "equal_chance", "undecided"), Words("bound")
_CAPITALS = re.compile(r"(?:[,;/&]|\band)\s+([A-Z])(?![^\W_]|['’.])")
"""A capital alone that is joined to others, be it an option's letter or not."""
_OPEN = lazy_pattern(rf"(?:{words('addition', 'alternative', 'copula', 'article')}|[,、،])\s*$")
_CAPITAL = re.compile(r"(?<![^\W_])[A-Z](?![^\W_])")
_LONGEST_OPEN = 40
_STOP_WITHIN = re.compile("[;；]")
