"""Counts of a text with the words that they count: of what each is one, as `counts_asked` weighs them.

A clause with one count is its phrase; of several in a clause each has the words behind it, or before it where none
stand behind the last. A count with no noun of its own has that of the count before it.
"""

import re
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from gigavqa.answers.abstention import abstains
from gigavqa.answers.asked import Asked, words_in
from gigavqa.answers.content_words import Token, is_content, named, run_at, tokens
from gigavqa.answers.contraries import STATES
from gigavqa.answers.count_clauses import CountClause, count_clauses, zero_in
from gigavqa.answers.counting import is_compared
from gigavqa.answers.lexicon import phrases
from gigavqa.answers.negation import Mention, stances
from gigavqa.answers.numerals import value_of
from gigavqa.answers.parts_of_wholes import has_whole, is_among, is_whole, opens_with_whole, weighed_in
from gigavqa.answers.withdrawals import is_ascribed

_EQUALS = re.compile(r"[=＝≈][\s*_$]*$")
_ROW = re.compile(r"\s*(?:[-*•–|#]|\d{1,2}[.)])\s|[^\d]{1,48}[:：]\W*\d+\W*$")
"""A line of a list or table."""
_JOINED = frozenset((*phrases("part_of"), *phrases("article"), *phrases("others_behind")))
"""What may stand between a count and its noun."""


@dataclass(eq=False)
class CountedPhrase:
    """A count, the words of its clause, all and those behind it, and the noun phrases right behind and before it.

    It `is_beside` where a preposition stands right before it, "between 3 people".
    """

    value: float
    said: frozenset[str]
    behind: frozenset[str]
    before: frozenset[str]
    sentence: str
    is_part: bool
    is_row: bool
    rest: frozenset[str] = frozenset()
    is_whole: bool = False
    is_outcome: bool = False
    is_denied: bool = False
    is_beside: bool = False
    inherited: frozenset[str] = frozenset()


def counted_phrases(asked: Asked, in_order: Sequence[str], language: str = "") -> list[CountedPhrase] | None:
    """Return the counts of some sentences in order, zero for what is denied; None beside a bound or choice."""
    found: list[CountedPhrase] = []
    language = language or asked.language
    for sentence in in_order:
        if is_compared(sentence):
            continue
        if (numbers := weighed_in(language, sentence)) is None:
            return None
        if asked.counts_things:
            numbers = [one for one in numbers if not is_ascribed(sentence[: one.start()])]
        if numbers or zero_in(language).search(sentence.lower()):
            found += _Sentence(language, sentence, numbers).phrases()
    _inherit(asked, found)
    return found


def _denied(sentence: str, numbers: Sequence[re.Match[str]]) -> Collection[Hashable]:
    """Return the numbers that a sentence denies, "12, not 7"."""
    if len(numbers) < 2:
        return ()
    return stances(sentence, [Mention(*one.span(), value_of(one[0])) for one in numbers]).denied


class _Sentence:
    """A sentence with counts, made ready to tell their phrases."""

    def __init__(self, language: str, sentence: str, numbers: list[re.Match[str]]) -> None:
        self._language, self._numbers = language, numbers
        self._lowered = sentence.lower()
        self._told = tokens(self._lowered, language)
        self._is_row = bool(_ROW.match(sentence))
        self._denied = _denied(sentence, numbers)

    def phrases(self) -> Iterator[CountedPhrase]:
        """Yield the phrases of all counts, and of what is denied."""
        is_of_whole = False
        for clause in count_clauses(self._language, self._lowered, self._numbers):
            for phrase in self._of_clause(clause) if clause.numbers else self._zero(clause):
                yield replace(phrase, is_part=True) if is_of_whole else phrase
                if clause.numbers and not is_of_whole:
                    is_of_whole = opens_with_whole(self._language, self._lowered[: clause.numbers[0].start()])

    def _of_clause(self, clause: CountClause) -> Iterator[CountedPhrase]:
        """Yield the counts of a clause, a part with the words behind its whole, and that with its noun alone."""
        numbers, lowered = clause.numbers, self._lowered
        denied = self._denied_before(clause)
        first = denied[-1].end if denied else 0
        if denied:
            clause = clause._replace(start=first)
            noun = named(denied)
            yield CountedPhrase(0.0, noun, noun, frozenset(), lowered, is_part=False, is_row=self._is_row)
        is_before = len(numbers) > 1 and not any(
            is_content(one) and numbers[-1].end() <= one.start < clause.end for one in (*clause.spoken, *self._told)
        )
        starts = [first, *(one.end() if is_before else other.start() for one, other in pairwise(numbers))]
        ends = [*starts[1:], clause.end]
        has_part = False
        for at, number in enumerate(numbers):
            last = at
            while last + 1 < len(numbers) and has_whole(lowered, numbers[last], numbers[last + 1]):
                last += 1
            own = [one for one in clause.spoken if starts[at] <= one.start < ends[last]]
            phrase = self._phrase(clause, at, last, own)
            if at and is_among(lowered, numbers[at - 1], number):
                phrase = replace(phrase, is_part=True)
            if at + 1 < len(numbers) and is_among(lowered, number, numbers[at + 1]):
                phrase = replace(phrase, is_whole=True)
            yield replace(phrase, said=phrase.behind, is_whole=True) if has_part else phrase
            has_part = last > at

    def _denied_before(self, clause: CountClause) -> Sequence[Token]:
        """Return the noun phrase that is denied before the numbers of a clause, "no children on the 2 swings"."""
        before = clause.numbers[0].start()
        none = words_in(self._language, "none_there").search(self._lowered[clause.start : before])
        if none is None:
            return ()
        at = clause.start + none.end()
        behind = [one for one in clause.spoken if at <= one.start < before]
        return run_at(behind, 0) if behind and is_content(behind[0]) and behind[0].start == at + 1 else ()

    def _phrase(self, clause: CountClause, at: int, last: int, own: list[Token]) -> CountedPhrase:
        """Return the phrase of a clause's number; a part's, with the last whole behind it."""
        number, whole = clause.numbers[at], clause.numbers[last]
        start = clause.numbers[at - 1].end() if at else clause.start
        end = clause.numbers[last + 1].start() if last + 1 < len(clause.numbers) else clause.end
        before = self._lowered[start : number.start()]
        opened = before if not at and last + 1 < len(clause.numbers) else self._lowered[start : clause.end]
        total = words_in(self._language, "total", "conclusion")
        return CountedPhrase(
            value=value_of(number[0]),
            said=named(own),
            rest=named(one for one in self._told if whole.end() <= one.start < end),
            behind=self._run_behind(own, whole.end()),
            before=_run_before(own, number.start()),
            sentence=self._lowered,
            is_part=last > at or self._opens_part(opened),
            is_whole=is_whole(self._language, self._lowered[: number.start()], self._lowered[number.end() : end]),
            is_row=self._is_row,
            is_outcome=bool(_EQUALS.search(before) or total.search(self._lowered[clause.start : clause.end])),
            is_denied=value_of(number[0]) in self._denied or self._is_denied(number, self._lowered[start:end]),
            is_beside=any(one.is_preposition and 0 < number.start() - one.end <= 1 for one in self._told),
        )

    def _zero(self, clause: CountClause) -> Iterator[CountedPhrase]:
        said = self._lowered[clause.start : clause.end]
        denied = zero_in(self._language).search(said)
        if denied is None or abstains(self._lowered):
            return
        end = clause.start + denied.end()
        behind, before = self._run_behind(clause.spoken, end), _run_before(clause.spoken, end)
        is_part = self._opens_part(said)
        yield CountedPhrase(0.0, named(clause.spoken), behind, before, self._lowered, is_part, self._is_row)

    def _is_denied(self, number: re.Match[str], said: str) -> bool:
        return value_of(number[0]) > 0 and words_in(self._language, "negator").search(said) is not None

    def _opens_part(self, said: str) -> bool:
        return words_in(self._language, "part_opening").search(said) is not None

    def _run_behind(self, own: list[Token], end: int) -> frozenset[str]:
        """Return the noun phrase that begins right behind a place, but for "of the"."""
        behind = [one for one in own if one.start >= end]
        for at, one in enumerate(behind):
            if is_content(one):
                return named(run_at(behind, at))
            if self._lowered[one.start : one.end] not in _JOINED and one.start > end:
                break
        return frozenset()


def _run_before(own: list[Token], start: int) -> frozenset[str]:
    """Return the noun phrase that stands last before a place."""
    before = [one for one in own if one.end <= start]
    for at in reversed(range(len(before))):
        if before[at].is_preposition:
            break
        if before[at].stem:
            return named(run_at(before, at))
    return frozenset()


def _inherit(asked: Asked, found: list[CountedPhrase]) -> None:
    """Give a count without a noun of its own the words that were asked for of the last count with one."""
    head: frozenset[str] = frozenset()
    noun_of = _NOUNS[0]
    for one in found:
        if one.is_part or not noun_of(one) - asked.words - STATES:
            one.inherited = asked.without_contraries(head, one.said) & asked.things
        if one.said & asked.things and not one.is_part and not one.inherited:
            head = one.said & asked.words
            noun_of = next((noun for noun in _NOUNS if noun(one) & asked.things), _NOUNS[-1])


_NOUNS: tuple[Callable[[CountedPhrase], frozenset[str]], ...] = (
    lambda one: one.behind,
    lambda one: one.before or one.behind,
    lambda one: one.behind or one.before or one.rest,
)
"""Where the noun of a count stands: behind it, before it, or in what is said of it, "4 are swans"."""
