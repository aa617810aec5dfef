"""Reads a response to a question that has several right options: the set of letters that it settles on."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile

from gigavqa.answers.abstention import abstains, commits
from gigavqa.answers.answer_space import AnswerSpace, key_of
from gigavqa.answers.glosses import without_glosses
from gigavqa.answers.letters import LetterPatterns, behind_glue, latin, letter_mentions, letters_of
from gigavqa.answers.lexicon import lazy_pattern, words
from gigavqa.answers.listed import restated_option
from gigavqa.answers.markers import Marker, answer_markers, final_markers
from gigavqa.answers.negation import joined, said_values
from gigavqa.answers.parsed_answers import ParseStatus
from gigavqa.answers.several_choices import read_choices
from gigavqa.answers.text import answer_of, lines_backwards, sentences

_MARKUP = re.compile(r"\\(?:f?boxed|text|mathrm|mathbf)|[*_`\"'“”‘’$\\{}<>\[\]()]")
_JOINT = lazy_pattern(rf"\s*(?:[,;/&+|、，；]|{words('addition')}|\s)\s*", re.IGNORECASE)
_NOUN = re.compile(r"^\s*(?:options?|letters?|choices?|answers?|选项|答案)\s*:?\s*", re.IGNORECASE)
_ALTERNATIVE = lazy_pattern(words("alternative"))


@dataclass(frozen=True)
class ParsedLetters:
    """`letters` in the order of the options; none where no single set is meant. `status` says how it was found."""

    letters: tuple[str, ...]
    status: ParseStatus


def parse_letters(text: str, options: Mapping[str, str]) -> ParsedLetters:
    """Parse a response: behind its last announcement, else as a whole, by letters or by the options' words.

    Without an announcement, letters on a line of their own at the end count; those of sentences only where no other
    sentence settles on others.
    """
    answer = answer_of(text)
    if answer is None:
        return ParsedLetters((), "unfinished")
    letters = letters_of(tuple(options.items()))
    for markers in (final_markers(answer.text), answer_markers(answer.text)):
        if markers and (found := _announced(answer.text, markers[-1], letters, options)):
            return found
    if answer.before:
        return ParsedLetters((), "too_long")
    return _unannounced(answer.text, letters, options) or _by_words(answer.text, options)


def _announced(text: str, marker: Marker, letters: LetterPatterns, options: Mapping[str, str]) -> ParsedLetters | None:
    lines = [line for line in text[marker.end :].splitlines() if any(map(str.isalnum, line))]
    if listed := _restated(lines, options):
        return _ordered(listed, options, "marker")
    return _in_line(behind_glue(lines[0]), letters, options, "marker") if lines else None


def _unannounced(text: str, letters: LetterPatterns, options: Mapping[str, str]) -> ParsedLetters | None:
    lines = [line for line in reversed(list(lines_backwards(text))) if any(map(str.isalnum, line))]
    listed = _restated(lines, options)
    if listed and len(listed) == len(lines):
        return _ordered(listed, options, "last")
    if lines and (alone := _letters_alone(lines[-1], letters)):
        return _ordered(alone, options, "last")
    found = [one for line in lines if (one := _in_line(line, letters, options, "last"))]
    told = {one.letters for one in found if one.letters}
    if len(told) > 1 or (told and any(one.status == "ambiguous" for one in found)):
        return ParsedLetters((), "ambiguous")
    return next((one for one in reversed(found) if one.letters), found[-1]) if found else None


def _restated(lines: Sequence[str], options: Mapping[str, str]) -> list[str]:
    """Return the letters of the options that lines repeat one by one, "A. red"."""
    repeated = (restated_option(line, options) for line in lines)
    return list(filter(None, takewhile(bool, repeated)))


def _in_line(
    line: str, letters: LetterPatterns, options: Mapping[str, str], status: ParseStatus
) -> ParsedLetters | None:
    """Return what a line says; of several sentences that name letters and do not deny them, all must name the same."""
    if alone := _letters_alone(line, letters):
        return _ordered(alone, options, status)
    named: set[frozenset[str]] = set()
    for sentence in sentences(without_glosses(line, options)):
        said = frozenset(map(str, said_values(sentence, letter_mentions(sentence, letters))))
        if abstains(sentence) and not (said and commits(sentence)):
            return ParsedLetters((), "abstained")
        if len(said) > 1 and not _stand_together(sentence, said, letters):
            return ParsedLetters((), "ambiguous")
        named |= {said} if said else set()
    if len(named) > 1:
        return ParsedLetters((), "ambiguous")
    return _ordered(named.pop(), options, status) if named else None


def _stand_together(sentence: str, said: frozenset[str], letters: LetterPatterns) -> bool:
    """Return whether letters are one list, "A, B and C", and no alternatives, "A or C"."""
    mentions = letter_mentions(sentence, letters)
    between = (sentence[one.end : other.start].lower() for one, other in pairwise(mentions))
    return joined(sentence, mentions) == said and not any(_ALTERNATIVE.search(text) for text in between)


def _letters_alone(line: str, letters: LetterPatterns) -> list[str]:
    """Return the letters of a line that holds nothing else but marks and words such as "and" between them.

    "A, C", "AC".
    """
    bare = _NOUN.sub("", _MARKUP.sub(" ", line)).strip(" .:。")
    parts = [part.strip(" .:") for part in _JOINT.split(bare) if part.strip(" .:")]
    if len(parts) == 1 and parts[0].isupper():
        parts = list(parts[0])
    found = [latin(part) for part in parts]
    return found if found and len(set(found)) == len(found) and set(found) <= letters.valid else []


def _ordered(found: Sequence[str] | frozenset[str], options: Mapping[str, str], status: ParseStatus) -> ParsedLetters:
    return ParsedLetters(tuple(letter for letter in options if letter in found), status)


def _by_words(answer: str, options: Mapping[str, str]) -> ParsedLetters:
    reading = read_choices(answer, AnswerSpace(list(options.values()), {}))
    by_key = {key_of(text): letter for letter, text in options.items()}
    named = [by_key.get(key_of(text)) for text in reading.value or ()]
    if reading.status != "parsed" or None in named:
        return ParsedLetters((), "none")
    return _ordered([letter for letter in named if letter], options, "option_text")
