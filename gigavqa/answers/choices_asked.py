"""Choose, of several choices that a sentence states, those of the clause that speaks of what was asked for.

"The man on the ladder is of the maintenance team, whereas the two below belong to security" tells the team of the man
on the ladder. What is denied, supposed or unsure is no statement (decision 0010).
"""

import re
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import NamedTuple

from gigavqa.answers.abstention import abstains
from gigavqa.answers.asked import Asked, words_in
from gigavqa.answers.content_words import named, tokens
from gigavqa.answers.lexicon import lazy_pattern, words
from gigavqa.answers.negation import Mention, said_values
from gigavqa.answers.text import sentences_of
from gigavqa.answers.withdrawals import is_conditional, is_hypothesis

_LONGEST = 1_000
"""Characters of a text whose clauses are weighed; a longer one argues."""
_BORDER = lazy_pattern(
    rf"[;；:：—–]|[,，、،](?=\s?{words('contrast', 'set_against')})|(?<=[\s])(?!а\s){words('set_against')}|で、",
    re.IGNORECASE,
)
_UNSTATED = ("sought", "possibility", "equal_chance", "undecided", "condition", "first_thought", "speaker", "answerer")
"""Classes of words that make a text less than a plain statement, in its own language: "falls" is a verb in English."""


class _Clause(NamedTuple):
    values: tuple[Hashable, ...]
    cover: frozenset[str]


def stated_choices(asked: Asked, text: str, mentions_of: Callable[[str], Sequence[Mention]]) -> list[Hashable]:
    """Return the choices of the one clause that has words of the question which no clause with others has.

    None are returned where one clause alone names choices, or none stands out.
    """
    if len(text) > _LONGEST or _is_unstated(asked, text.lower()) or text.rstrip().endswith(("?", "？", "؟")):
        return []
    clauses = [*_clauses(asked, text, mentions_of)]
    if len(clauses) < 2:
        return []
    best = max(clauses, key=lambda one: len(one.cover))
    others = [one for one in clauses if set(one.values) != set(best.values)]
    if not others or not all(one.cover < best.cover for one in others):
        return []
    return list(best.values)


def _clauses(asked: Asked, text: str, mentions_of: Callable[[str], Sequence[Mention]]) -> Iterator[_Clause]:
    negator = words_in(asked.language, "negator")
    for sentence in sentences_of(text):
        for clause in _BORDER.split(sentence):
            mentions = mentions_of(clause)
            values = tuple(dict.fromkeys(said_values(clause, mentions))) if mentions else ()
            mentions = mentions_of(clause)
            values = tuple(dict.fromkeys(said_values(clause, mentions))) if mentions else ()
            if not values or abstains(clause) or is_conditional(clause) or is_hypothesis(clause):
                continue
            spoken = tokens(clause.lower(), asked.language)
            others = (word for word in spoken if not any(one.start <= word.start < one.end for one in mentions))
            is_denied = negator.search(clause.lower()) is not None
            yield _Clause(values, frozenset() if is_denied else named(others) & asked.words)


def _is_unstated(asked: Asked, lowered: str) -> bool:
    return words_in(asked.language, *_UNSTATED).search(lowered) is not None
