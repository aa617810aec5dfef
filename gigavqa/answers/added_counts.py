"""Tell what a sentence adds to the count that was read of it, or takes back of it."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gigavqa.answers.asked import Asked, words_in
from gigavqa.answers.clauses import clauses_of
from gigavqa.answers.content_words import is_content, named, run_at, stem_of, tokens
from gigavqa.answers.contraries import STATES
from gigavqa.answers.counted_phrases import CountedPhrase
from gigavqa.answers.counting import numbers_in
from gigavqa.answers.lexicon import Words, lazy_pattern, phrases, words
from gigavqa.answers.numerals import NUMBER, value_of


class Count(NamedTuple):
    """A count that was read, the language of its text, and the sentences that say it or stand behind it."""

    value: float
    language: str
    sentences: Sequence[str]
    is_outcome: bool


def values_in(sentence: str) -> list[float]:
    """Return the values of all numbers of a sentence."""
    return [value_of(one[0]) for one in numbers_in(sentence)]


def takes_back(count: Count, sentence: str) -> bool:
    """Return whether a sentence goes against its count by a part of it, "6 people, though one of them is a statue"."""
    against, *behind = _AGAINST.split(sentence.lower())
    parts = words_in(count.language, "part_opening")
    return count.value in values_in(against) and any(map(parts.search, behind))


_AGAINST = Words("contrast", "concession")


def clauses_in(language: str, sentence: str) -> Iterator[str]:
    return clauses_of(language, sentence.lower())


def holds(clause: str, count: Count) -> bool:
    return count.value in values_in(clause)


def is_other(asked: Asked, one: CountedPhrase) -> bool:
    """Return whether a count is of another thing by its noun."""
    noun = one.behind or one.before
    return bool(noun - STATES) and not noun & asked.things


def goes_on(asked: Asked, count: Count, sentence: str, read: Sequence[CountedPhrase]) -> bool:
    """Return whether a sentence adds something: to the count, or to things of a noun that was not asked for."""
    told, covered = asked.words - asked.things, frozenset().union(*(one.said for one in read))
    is_told = bool(told) and told <= covered
    whole, *parts = _PARTS.split(sentence, maxsplit=1)
    for clause in clauses_in(count.language, whole if parts and holds(whole, count) else sentence):
        added = _added(asked, count, clause)
        if added is not None and not (is_told and not told & added):
            return True
    own = [one for one in read if one.sentence == sentence.lower()]
    is_of_kind = own and all(one.behind and not one.behind & asked.words for one in own)
    return bool(is_of_kind) and _joins_another(count, sentence)


_PARTS = re.compile(r"[:：(（—–]")
"""What may stand between a count and what it is made up of."""


def _added(asked: Asked, count: Count, clause: str) -> frozenset[str] | None:
    """Return what a clause says of what it adds to the count, "plus one more"; None where it adds nothing of it."""
    for added in words_in(count.language, "additional").finditer(clause):
        if _is_first(count, clause, added.end()):
            continue
        behind = _ONE.sub(lambda one: " " * len(one[0]), clause[added.end() :])
        told = tokens(behind, count.language)
        if not told or not is_content(told[0]) or told[0].stem in asked.words | STATES | _SIDES:
            return named(told)
    return _one_more(asked, count, clause)


def _is_first(count: Count, clause: str, end: int) -> bool:
    """Return whether a clause is the first that counts, and does so right behind a word that may also say "still"."""
    clauses = (one for sentence in count.sentences for one in clauses_in(count.language, sentence))
    number = NUMBER.search(clause)
    return number is not None and number.start() == end + 1 and next(filter(NUMBER.search, clauses), "") == clause


_ONE = lazy_pattern(rf"^\s?(?:{NUMBER.pattern}|{words('pronoun_of_one')})", re.IGNORECASE)


def _one_more(asked: Asked, count: Count, clause: str) -> frozenset[str] | None:
    """Return what a clause says of one of what was asked for that it tells of, "a lesion here", "uma em pé"."""
    if not asked.find("count_asked"):
        return None
    clause = NUMBER.sub(lambda one: " " * len(one[0]), clause)
    spoken = tokens(clause, count.language)
    for one in words_in(count.language, "pronoun_of_one").finditer(clause):
        behind = [token for token in spoken if token.start >= one.end()]
        if not behind or not is_content(behind[0]) or asked.things <= named(run_at(behind, 0)):
            return named(behind)
    return None


_SIDES = frozenset(map(stem_of, phrases("side")))


def _joins_another(count: Count, sentence: str) -> bool:
    """Return whether a sentence joins a thing without a number to the one that it counts, "2 cats and a dog"."""
    lowered = sentence.lower()
    for joint in words_in(count.language, "addition").finditer(lowered):
        for side in (lowered[: joint.start()], lowered[joint.end() :]):
            if NUMBER.search(side):
                continue
            is_told = count.language not in _ARTICLED or words_in(count.language, "indefinite").search(side)
            if is_told and any(map(is_content, tokens(side, count.language))):
                return True
    return False


_ARTICLED = frozenset({"en", "de", "fr", "es", "pt"})
