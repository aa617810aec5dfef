"""Reads the letters of one line as a set, where its sentences name the same ones, and knows options in a language."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import pairwise
from typing import NamedTuple

from gigavqa.answers.abstention import abstains, commits
from gigavqa.answers.all_options import all_but
from gigavqa.answers.answer_space import key_of
from gigavqa.answers.asked import Asked, language_of
from gigavqa.answers.known_words import asks_for_lack, denies, unknown_words
from gigavqa.answers.letter_lists import letters_alone
from gigavqa.answers.letters import LetterPatterns, letter_mentions, letters_of
from gigavqa.answers.lexicon import Words, lazy_pattern, words
from gigavqa.answers.listed import restated_option
from gigavqa.answers.negation import Mention, joined, said_values
from gigavqa.answers.option_groups import CROSS, TICK, is_joint
from gigavqa.answers.option_mentions import option_mentions
from gigavqa.answers.option_stances import LONGEST_UNDERSTOOD, MentionsOf, OptionStances, stances_of
from gigavqa.answers.parsed_answers import ParseStatus
from gigavqa.answers.readers import remembered
from gigavqa.answers.text import sentences
from gigavqa.answers.withdrawals import is_conditional

_ALTERNATIVE = lazy_pattern(words("alternative"))
_ASKS = re.compile(r"[?？؟]\W*$")
_LEFT_OPEN, _BOUND = Words("possibility", "equal_chance", "undecided"), Words("bound")
_ASKS_WITHIN = re.compile("[?？؟]")
_CAPITALS = re.compile(r"(?:[,;/&]|\band)\s+([A-Z])(?![^\W_]|['’.])")
"""A capital alone that is joined to others, be it an option's letter or not."""


@dataclass(frozen=True)
class ParsedLetters:
    """`letters` in the order of the options; none where no single set is meant. `status` says how it was found."""

    letters: tuple[str, ...]
    status: ParseStatus


AMBIGUOUS_LETTERS = ParsedLetters((), "ambiguous")


class SetReader(NamedTuple):
    """What reads replies to one question in one language: where a text names letters, or options by their words."""

    options: Mapping[str, str]
    letters: LetterPatterns
    asked: Asked | None
    language: str
    lettered: Callable[[str], list[Mention]]
    worded: Callable[[str], list[Mention]]

    def stances(self, text: str, mentions_of: MentionsOf, asked: Asked | None) -> OptionStances:
        """Return what a text says of the options that it names so."""
        return stances_of(text, mentions_of, self.options, asked, self.language)

    def ordered(self, found: Sequence[str] | frozenset[str], status: ParseStatus) -> ParsedLetters:
        """Return letters in the order of the options."""
        return ParsedLetters(tuple(letter for letter in self.options if letter in found), status)


def set_reader(options: Mapping[str, str], letters: LetterPatterns, asked: Asked | None, language: str) -> SetReader:
    """Make what reads one reply; each of its texts is looked through once, a long one for letters alone."""

    def worded(text: str) -> list[Mention]:
        return option_mentions(text, options, language) if len(text) <= LONGEST_UNDERSTOOD else []

    lettered = remembered(partial(letter_mentions, letters=letters))
    return SetReader(options, letters, asked, language, lettered, remembered(worded))


def reader_of(text: str, options: Mapping[str, str], asked: Asked | None) -> SetReader:
    """Make what reads one text, in its language, or else its question's."""
    language = language_of(text.lower(), asked.language if asked else "en")
    return set_reader(options, letters_of(tuple(options.items())), asked, language)


@lru_cache(maxsize=256)
def _wordings(options: tuple[tuple[str, str], ...]) -> dict[str, str]:
    return {key_of(wording): letter for letter, wording in options}


def worded_alone(text: str, options: Mapping[str, str]) -> str | None:
    """Return the option whose words are all of a text."""
    return _wordings(tuple(options.items())).get(key_of(text))


def letters_of_row(line: str, reader: SetReader) -> list[str]:
    """Return the letters that are all of a line, or the one that stands before its own words."""
    if alone := letters_alone(line, [*reader.options]):
        return alone
    restated = restated_option(line, reader.options)
    return [restated] if restated else []


def alone_in(line: str, reader: SetReader) -> list[str]:
    """Return the letters, or the options, that are all of a line, without a mark that ticks, crosses or doubts them."""
    if CROSS.search(line) or TICK.search(line) or _ASKS_WITHIN.search(line):
        return []
    if alone := letters_of_row(line, reader):
        return alone
    mentions = reader.worded(line)
    between = [line[one.end : other.start] for one, other in pairwise(mentions)]
    ends = (line[: mentions[0].start], line[mentions[-1].end :]) if mentions else ("a",)
    is_bare = not any(map(str.isalnum, "".join(ends))) and all(is_joint(one, reader.language) for one in between)
    return [str(one.value) for one in mentions] if is_bare else []


def letters_of_line(line: str, reader: SetReader, status: ParseStatus) -> ParsedLetters | None:
    """Return what a line says; of several sentences that name letters and do not deny them, all must name the same."""
    if alone := letters_alone(line, [*reader.options]):
        return reader.ordered(alone, status)
    lead, _, rest = line.replace("：", ":").rpartition(":")
    if lead and (alone := letters_alone(rest, [*reader.options])) and _is_announcing(lead, reader):
        return reader.ordered(alone, status)
    if _ASKS.search(line):
        return AMBIGUOUS_LETTERS if reader.lettered(line) else None
    found = [_in_sentence(sentence, reader, status) for sentence in sentences(line)]
    unclear = next((one for one in found if one and not one.letters), None)
    told = {one.letters for one in found if one and one.letters}
    if unclear or len(told) > 1:
        return unclear or AMBIGUOUS_LETTERS
    return ParsedLetters(told.pop(), status) if told else None


def _in_sentence(sentence: str, reader: SetReader, status: ParseStatus) -> ParsedLetters | None:
    """Return the letters that a sentence says and does not deny; None where it says none."""
    mentions = reader.lettered(sentence)
    if mentions and is_conditional(sentence):
        return AMBIGUOUS_LETTERS
    left = all_but(sentence, mentions, reader.options, reader.asked, reader.language)
    if left is not None:
        return reader.ordered(left, status) if left else AMBIGUOUS_LETTERS
    said = _said_in(sentence, mentions, reader)
    if abstains(sentence) and not (said and commits(sentence)):
        return ParsedLetters((), "abstained")
    if said is None or (said and not _stand_together(sentence, said, reader)):
        return AMBIGUOUS_LETTERS
    return reader.ordered(said, status) if said else None


def _is_announcing(lead: str, reader: SetReader) -> bool:
    """Return whether what stands before a colon says no more than that the answer follows."""
    if reader.lettered(lead) or reader.worded(lead) or denies(lead.lower(), reader.language):
        return False
    return not unknown_words(lead, reader.asked, reader.language)


def _said_in(sentence: str, mentions: Sequence[Mention], reader: SetReader) -> frozenset[str] | None:
    """Return the letters that a sentence says and does not deny; of what is asked to be missing, those it says so of.

    None where it is not known which those are.
    """
    if mentions and asks_for_lack(reader.asked):
        told = reader.stances(sentence, reader.lettered, reader.asked)
        return told.affirmed if told.is_sure else None
    return frozenset(map(str, said_values(sentence, mentions)))


def _stand_together(sentence: str, said: frozenset[str], reader: SetReader) -> bool:
    """Return whether letters are one list, "A, B and C", and no alternatives, "A or C"."""
    mentions = reader.lettered(sentence)
    between = [sentence[one.end : other.start].lower() for one, other in pairwise(mentions)]
    behind = sentence[mentions[0].start :].lower()
    if _LEFT_OPEN.search(behind) or _BOUND.search(sentence[: mentions[0].start].lower()):
        return False
    if any(letter not in reader.options for letter in _CAPITALS.findall(sentence[mentions[0].end :])):
        return False
    are_joined = joined(sentence, mentions) == said or all(is_joint(text, reader.language) for text in between)
    return are_joined and not any(map(_ALTERNATIVE.search, between))
