"""Tell whether a clause has the words of a question in its order, and adds but to its nouns or behind them all."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from gigavqa.answers.asked import Asked, words_in
from gigavqa.answers.content_words import Token, is_content, named, tokens
from gigavqa.answers.lexicon import Words

_MOST_BETWEEN = 3
"""Words that may stand between two of a question's in a statement of it: adjectives, parts of a thing."""


_UNSPACED = frozenset({"zh", "ja"})


_COMPOUND = frozenset({"en", "de", "zh", "ja", "ko"})
"""Languages in which a noun right behind another makes it a part of its own name, "a phone case"."""


class Statement(NamedTuple):
    """The words of a clause without those that deny, with the number of these."""

    clause: str
    spoken: tuple[Token, ...]
    denials: int


def holds(asked: Asked, statement: Statement, said: Sequence[str]) -> bool:
    """Return whether a statement has the words of a question in its order, and adds to nouns, or behind them all."""
    places = next((found for wanted in _orders(asked) if (found := _places(wanted, said))), [])
    if len(places) < 2:
        return False
    spoken = statement.spoken
    others = [one for at, one in enumerate(spoken) if at not in places]
    if asked.is_contrary_to(named(others)) or any(
        one.is_preposition for one in others if one.start < spoken[places[-1]].start
    ):
        return False
    if any(words.search(statement.clause) for words in _sides(asked)):
        return False
    within = statement.clause[: spoken[places[-1]].start]
    if len(_located(asked.language, within)) > len(_located(asked.language, asked.text)):
        return False
    is_near = all(_is_near(asked, statement, one, other) for one, other in pairwise(places))
    return is_near and (asked.language not in _COMPOUND or not _is_compound(spoken, places[-1]))


def _orders(asked: Asked) -> Iterator[Sequence[str]]:
    """Yield the words of a question in the orders in which a statement may have them."""
    wanted = asked.in_order
    yield wanted
    if len(wanted) == 2 and asked.has_no_preposition:
        yield wanted[::-1]
    elif asked.opens_with_verb:
        yield from ((*wanted[1:at], wanted[0], *wanted[at:]) for at in range(2, len(wanted) + 1))


def _sides(asked: Asked) -> Iterator[Words]:
    side = words_in(asked.language, "side")
    if not side.search(asked.text):
        yield side


def _located(language: str, text: str) -> list[str]:
    return [found[0] for found in words_in(language, "place_before", "genitive", "relative").finditer(text)]


def _is_near(asked: Asked, statement: Statement, one: int, other: int) -> bool:
    """Return whether only words of the noun behind them stand between two, or of the one before, "porte rouge"."""
    between = statement.spoken[one + 1 : other]
    if not between:
        return True
    if len(between) > (2 * _MOST_BETWEEN if asked.language in _UNSPACED else _MOST_BETWEEN):
        return False
    start, end = statement.spoken[one].end, statement.spoken[other].start
    gaps = [statement.clause[between[-1].end : end]]
    if asked.is_head_first:
        gaps.append(statement.clause[start : between[0].start])
    return any(not tokens(gap, asked.language) for gap in gaps)


def _places(wanted: Sequence[str], said: Sequence[str]) -> list[int]:
    """Return where some words stand in others in the same order; nothing where they do not."""
    found: list[int] = []
    for word in wanted:
        start = found[-1] + 1 if found else 0
        if word not in said[start:]:
            return []
        found.append(said.index(word, start))
    return found


def _is_compound(spoken: Sequence[Token], last: int) -> bool:
    """Return whether a noun follows the last word of a question at once, "holds a phone case"."""
    if last + 1 == len(spoken):
        return False
    following = spoken[last + 1]
    return is_content(following) and following.start - spoken[last].end <= 1
