"""Replies that say several things are read by their question: as they mean it, or as ambiguous, in every language."""

from collections.abc import Callable, Iterator
from itertools import cycle, permutations
from typing import Any, NamedTuple

import pytest

from gigavqa.answers.asked import asked_of
from gigavqa.answers.booleans import read_boolean
from gigavqa.answers.normalization import said
from gigavqa.answers.numbers import read_integer
from gigavqa.answers.readings import Reading
from tests.answers.asked.wordings import GRAMMARS, Grammar, Noun

COUNTS = ((12, 7, 30), (5, 9, 14), (8, 21, 40))
"""Of what is asked for, of another thing, and of the whole of which the first is a part."""
LEAST = 0.9
"""The share of clear replies that are read as they mean it; the others are ambiguous."""


class Case(NamedTuple):
    """A question, a reply to it, and what it means; `is_clear` where a careful reader could tell."""

    question: str
    text: str
    meant: Any
    is_clear: bool = True


def filled(form: str, first: Noun, second: Noun, counts: tuple[int, int, int]) -> str:
    """Return a form of a grammar with two nouns and three counts."""
    n, m, w = counts
    return form.format(
        a=first.many, b=second.many, one_a=first.one, none_a=first.none, none_b=second.none, red=first.red,
        blue=first.blue, n=n, m=m, w=w,
    )  # fmt: skip


def counted(grammar: Grammar) -> Iterator[Case]:
    """Yield replies with competing counts of two nouns, two colours, two sides, or a whole and its part."""
    drawn = cycle(COUNTS)
    for first, second, third in permutations(grammar.nouns, 3):
        asked, asked_second, asked_third = (grammar.how_many.format(a=one.many) for one in (first, second, third))
        asked_red, asked_blue = (grammar.how_many_red.format(red=one) for one in (first.red, first.blue))
        counts = n, m, w = next(drawn)
        for form in grammar.two_kinds:
            text = filled(form, first, second, counts)
            yield from (Case(asked, text, n), Case(asked_second, text, m), Case(asked_third, text, None, False))
        for form in grammar.part_is_red:
            text = filled(form, first, second, counts)
            yield from (Case(asked_red, text, n), Case(asked, text, w), Case(asked_blue, text, None, False))
        for form in grammar.two_colours:
            text = filled(form, first, second, counts)
            yield from (Case(asked_red, text, n), Case(asked_blue, text, m), Case(asked, text, n + m, False))
        for form in grammar.two_sides:
            yield Case(asked, filled(form, first, second, counts), n + m, False)
        for form in grammar.none_of_the_other:
            text = filled(form, first, second, counts)
            yield from (Case(asked, text, n), Case(asked_second, text, 0))


def stated(grammar: Grammar) -> Iterator[Case]:
    """Yield replies that state that there is a thing, or none, beside what they say of another."""
    for first, second, third in permutations(grammar.nouns, 3):
        asked, asked_second, asked_third = (
            grammar.is_there.format(a=one.many, one_a=one.one) for one in (first, second, third)
        )
        for form in grammar.one_but_none:
            text = filled(form, first, second, COUNTS[0])
            yield from (Case(asked, text, True), Case(asked_second, text, False), Case(asked_third, text, None, False))
        for form in (one for one in grammar.two_kinds if "\n" not in one):
            text = filled(form, first, second, COUNTS[0])
            yield from (Case(asked, text, True), Case(asked_third, text, None, False))
        for form in grammar.there_is_none:
            yield Case(asked, filled(form, first, second, COUNTS[0]), False)


@pytest.mark.parametrize("language", GRAMMARS)
def test_a_count_is_that_of_what_was_asked_for(language: str) -> None:
    """Or none is read: never that of another thing, of a part, or of the whole."""
    _check([*counted(GRAMMARS[language])], read_integer)


@pytest.mark.parametrize("language", GRAMMARS)
def test_a_statement_answers_only_of_what_it_names(language: str) -> None:
    """What it denies of another thing is no answer."""
    _check([*stated(GRAMMARS[language])], read_boolean)


def _check(cases: list[Case], read: Callable[..., Reading]) -> None:
    read_as = [(case, read(said(case.text).text, asked=asked_of(case.question)).value) for case in cases]
    wrong = [(case, value) for case, value in read_as if value is not None and value != case.meant]
    missed = [case for case, value in read_as if case.is_clear and value is None]

    assert not wrong, wrong[:5]
    assert len(missed) <= (1 - LEAST) * sum(case.is_clear for case in cases), missed[:5]
