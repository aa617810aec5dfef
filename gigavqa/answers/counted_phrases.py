"""Counts of a text with the words that they count: of what each is one, as `counts_asked` weighs them.

A clause with one count is its phrase; of several in a clause each has the words behind it, or before it where none
stand behind the last. A count with no noun of its own has that of the count before it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from gigavqa.answers.abstention import abstains
from gigavqa.answers.asked import STATES, Asked, words_in
from gigavqa.answers.content_words import Token, function_words, is_content, named, postures, run_at, tokens
from gigavqa.answers.counting import counts_in, is_compared
from gigavqa.answers.lexicon import Words, by_language, lazy_pattern, phrases, words
from gigavqa.answers.negation import Mention, stances
from gigavqa.answers.numerals import NUMBER, NUMERALS, value_of

_EQUALS = re.compile(r"[=＝≈][\s*_$]*$")
_ROW = re.compile(r"\s*(?:[-*•–|#]|\d{1,2}[.)])\s|[^\d]{1,48}[:：]\W*\d+\W*$")
"""A line of a list or table."""
_WHOLE_BEHIND = lazy_pattern(rf"\s*{words('part_of')}\s+(?:{words('article')}\s+)?", re.IGNORECASE)
_WHOLE_BEFORE = lazy_pattern(rf"\s?{words('counted')}?\s?(?:중|中|のうち)에?서?\s?")
_WHOLE_OPENED = re.compile("中|중|うち|में से")
"""What stands between a whole and its part where the whole is told first."""
_JOINED = frozenset((*phrases("part_of"), *phrases("article"), *phrases("others_behind"), "los", "das", "den"))
_ALTERNATIVE = lazy_pattern(rf"\s?(?:{words('alternative', 'range_to')}|[–~〜/-])\s?", re.IGNORECASE)
_COUNTERS = frozenset(phrases("counted"))


@lru_cache(maxsize=16)
def _border(language: str) -> re.Pattern[str]:
    """Return what stands between two clauses; one that opens does so only behind a count, "Trucks: 12"."""
    joints = words(f"addition.{language}", f"contrast.{language}")
    return re.compile(rf"(?P<open>[:：(（|—–])|[,，、،;；)）]|\s-\s|{joints}")


@lru_cache(maxsize=16)
def _opens_whole(language: str) -> re.Pattern[str]:
    """Return what stands before a whole that a sentence begins with, "Of the 14 cars, 5 are red"."""
    if not by_language("part_of").get(language):
        return re.compile(r"(?!)")
    article = words(f"article.{language}") if language in by_language("article") else "(?!)"
    return re.compile(rf"^\W*{words(f'part_of.{language}')}\s+(?:{article}\s+)?$")


@lru_cache(maxsize=16)
def zero_in(language: str) -> Words:
    """Return what finds a denial that there is any, in one language."""
    return words_in(language, "nothing", "no_such", "none_alone", "none_there", "none_behind")


@dataclass(eq=False)
class CountedPhrase:
    """A count, the words of its clause, all and those behind it, and the noun phrases right behind and before it."""

    value: float
    said: frozenset[str]
    rest: frozenset[str]
    behind: frozenset[str]
    before: frozenset[str]
    is_part: bool
    is_row: bool
    is_outcome: bool
    inherited: frozenset[str] = field(default=frozenset())


class _Clause(NamedTuple):
    start: int
    end: int
    numbers: list[re.Match[str]]


def counted_phrases(asked: Asked, in_order: Sequence[str]) -> list[CountedPhrase] | None:
    """Return the counts of some sentences in order, zero for what is denied; None where two stand for choice."""
    found: list[CountedPhrase] = []
    for sentence in in_order:
        if is_compared(sentence):
            continue
        numbers = [one for one in _meant(sentence) if one[0].lower() not in function_words(asked.language)]
        if any(_is_choice(sentence, one, other) for one, other in pairwise(numbers)):
            return None
        found += _phrases_of(asked.language, sentence, numbers)
    _inherit(asked, found)
    return found


def with_parts_in_digits(sentence: str) -> str:
    """Return a sentence with the number of a part in digits, "2 of them"."""
    if not has_part_in_words(sentence.lower()):
        return sentence
    return _PART_IN_WORDS.sub(lambda word: f"{NUMERALS[word[0].lower()]}", sentence)


def has_part_in_words(lowered: str) -> bool:
    """Return whether a text may hold the number of a part in words, which is none where no question tells."""
    return (" of " in lowered or " de ell" in lowered) and _PART_IN_WORDS.search(lowered) is not None


_PART_IN_WORDS = lazy_pattern(
    rf"\b(?:{'|'.join(sorted((word for word in NUMERALS if word.isascii() and ' ' not in word), key=len)[::-1])})"
    r"(?=\s+(?:of|de\s+ell[oa]s)\b)",
    re.IGNORECASE,
)
"""A number in words before its whole, "two of them"."""


def _meant(sentence: str) -> list[re.Match[str]]:
    numbers = counts_in(sentence)
    if shares := _shares(sentence):
        starts = {one.start() for one in numbers}
        numbers = sorted([*numbers, *(one for one in shares if one.start() not in starts)], key=re.Match.start)
    if len(numbers) < 2:
        return numbers
    denied = stances(sentence, [Mention(*one.span(), value_of(one[0])) for one in numbers]).denied
    return [one for one in numbers if value_of(one[0]) not in denied]


def _shares(sentence: str) -> list[re.Match[str]]:
    """Return the numbers of parts and of wholes that stand right behind them, "5 of the 14 cars"."""
    found = [*NUMBER.finditer(sentence)]
    joints = (_WHOLE_BEHIND, _WHOLE_BEFORE)
    pairs = [
        (one, other)
        for one, other in pairwise(found)
        if any(joint.fullmatch(sentence, one.end(), other.start()) for joint in joints)
    ]
    return [number for pair in pairs for number in pair]


def _is_choice(sentence: str, one: re.Match[str], other: re.Match[str]) -> bool:
    return one[0] != other[0] and bool(_ALTERNATIVE.fullmatch(sentence, one.end(), other.start()))


def _phrases_of(language: str, sentence: str, numbers: list[re.Match[str]]) -> Iterator[CountedPhrase]:
    lowered = sentence.lower()
    spoken = _content(language, lowered, [*NUMBER.finditer(sentence)])
    is_row = bool(_ROW.match(sentence))
    lead: list[Token] = []
    is_of_whole = False
    for clause in _clauses(language, lowered, numbers):
        own = lead + [one for one in spoken if clause.start <= one.start < clause.end]
        lead = []
        if clause.numbers:
            for phrase in _of_clause(language, lowered, clause, own, is_row):
                yield replace(phrase, is_part=True) if is_of_whole else phrase
                is_of_whole |= bool(_opens_whole(language).search(lowered[: clause.numbers[0].start()]))
        elif zero_in(language).search(lowered[clause.start : clause.end]) and any(map(is_content, own)):
            if not abstains(lowered):
                yield _zero(language, lowered, clause, own, is_row=is_row)
        else:
            lead = own


def _clauses(language: str, lowered: str, numbers: list[re.Match[str]]) -> list[_Clause]:
    """Split a sentence into clauses; one without a count and a denial goes on with the one before it."""
    found: list[_Clause] = []
    start = 0
    ends = [
        one
        for one in _border(language).finditer(lowered)
        if not any(n.start() < one.end() and one.start() < n.end() for n in numbers)
    ]
    for end, following in (*((one.start(), one) for one in ends), (len(lowered), None)):
        inside = [one for one in numbers if start <= one.start() < end]
        if following is not None and following["open"] and not inside:
            continue
        clause = _Clause(start, end, inside)
        if found and not inside and found[-1].numbers and not zero_in(language).search(lowered[start:end]):
            found[-1] = found[-1]._replace(end=end)
        else:
            found.append(clause)
        start = end
    return found


def _content(language: str, lowered: str, numbers: list[re.Match[str]]) -> list[Token]:
    """Return the words of a sentence without its numbers and their measure words."""
    spans = [one.span() for one in numbers]
    ends = {end for _, end in spans}
    return [
        one
        for one in tokens(lowered, language)
        if not any(start <= one.start < end for start, end in spans)
        and not one.stem.isdigit()
        and lowered[one.start : one.end] not in NUMERALS
        and one.stem not in postures(language)
        and not (one.start in ends and lowered[one.start : one.end] in _COUNTERS)
    ]


def _of_clause(language: str, lowered: str, clause: _Clause, own: list[Token], is_row: bool) -> Iterator[CountedPhrase]:
    """Yield the counts of a clause, a part with the words behind its whole, and that with its noun alone."""
    numbers = clause.numbers
    is_before = len(numbers) > 1 and not any(is_content(one) and one.start >= numbers[-1].end() for one in own)
    starts = [0, *(one.end() for one in numbers[:-1])] if is_before else [0, *(one.start() for one in numbers[1:])]
    ends = [*starts[1:], clause.end]
    is_whole = False
    for at, number in enumerate(numbers):
        last = at
        while last + 1 < len(numbers) and _has_whole(lowered, numbers[last], numbers[last + 1]):
            last += 1
        spoken = [one for one in own if starts[at] <= one.start < ends[last]]
        phrase = _phrase(language, lowered, (number, numbers[last]), spoken, clause, is_row=is_row)
        if at and _WHOLE_OPENED.search(lowered, numbers[at - 1].end(), number.start()):
            phrase = replace(phrase, is_part=True)
        yield replace(phrase, said=phrase.behind) if is_whole else phrase
        is_whole = last > at


def _has_whole(lowered: str, part: re.Match[str], whole: re.Match[str]) -> bool:
    return bool(_WHOLE_BEHIND.fullmatch(lowered, part.end(), whole.start()))


def _phrase(
    language: str,
    lowered: str,
    numbers: tuple[re.Match[str], re.Match[str]],
    own: list[Token],
    clause: _Clause,
    *,
    is_row: bool,
) -> CountedPhrase:
    number, whole = numbers
    others = [one for one in clause.numbers if one.end() <= number.start()]
    start = others[-1].end() if others else clause.start
    before = lowered[start : number.start()]
    said = before if clause.numbers[-1] is not whole and not others else lowered[start : clause.end]
    told = tokens(lowered, language)
    following = clause.numbers[clause.numbers.index(whole) + 1 :][:1]
    end = following[0].start() if following else clause.end
    return CountedPhrase(
        value_of(number[0]),
        named(own),
        named(one for one in told if whole.end() <= one.start < end),
        _run_behind(lowered, [one for one in own if one.start >= whole.end()], whole.end()),
        _run_before([one for one in own if one.end <= number.start()]),
        bool(words_in(language, "part_opening").search(said)) or number is not whole,
        is_row,
        bool(
            _EQUALS.search(before)
            or words_in(language, "total", "conclusion").search(lowered[clause.start : clause.end])
        ),
    )


def _zero(language: str, lowered: str, clause: _Clause, own: list[Token], *, is_row: bool) -> CountedPhrase:
    denied = zero_in(language).search(lowered[clause.start : clause.end])
    end = clause.start + (denied.end() if denied else 0)
    behind = _run_behind(lowered, [one for one in own if one.start >= end], end)
    before = _run_before([one for one in own if one.end <= end])
    is_part = bool(words_in(language, "part_opening").search(lowered[clause.start : clause.end]))
    return CountedPhrase(0.0, named(own), frozenset(), behind, before, is_part, is_row, is_outcome=False)


def _run_behind(lowered: str, own: list[Token], end: int) -> frozenset[str]:
    """Return the noun phrase that begins right behind a count, but for "of the"."""
    for at, one in enumerate(own):
        if is_content(one):
            return named(run_at(own, at))
        said = lowered[one.start : one.end]
        if said not in _JOINED and not (one.start == end and len(said) <= 2):
            break
    return frozenset()


def _run_before(own: list[Token]) -> frozenset[str]:
    """Return the noun phrase that stands last before a count."""
    for at in reversed(range(len(own))):
        if own[at].is_preposition:
            break
        if own[at].stem:
            return named(run_at(own, at))
    return frozenset()


def _inherit(asked: Asked, found: list[CountedPhrase]) -> None:
    """Give a count without a noun of its own the words that were asked for of the last count with one."""
    head: frozenset[str] = frozenset()
    is_behind = False
    for one in found:
        noun = one.behind if is_behind else one.before or one.behind
        if one.is_part or not noun - asked.words - STATES:
            one.inherited = asked.without_contraries(head, one.said) & asked.things
        if one.said & asked.things and not one.is_part:
            head = (one.said | one.inherited) & asked.words
            is_behind = bool(one.behind & asked.things)
