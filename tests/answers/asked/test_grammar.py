"""Replies that say several things are read by their question: as they mean it, or as ambiguous, in every language."""

from collections.abc import Iterator
from itertools import permutations
from typing import Any, NamedTuple

import pytest

from gigavqa.answers.asked import asked_of
from gigavqa.answers.booleans import read_boolean
from gigavqa.answers.normalization import said
from gigavqa.answers.numbers import read_integer
from tests.answers.asked.wordings import GRAMMARS, Noun

COUNTS = ((12, 7, 30), (5, 9, 14), (8, 21, 40))
"""Of what is asked for, of another thing, and of the whole of which the first is a part."""
LEAST = {"counts": 0.9, "truths": 0.9}
"""The share of replies that are read as they mean it; the others are ambiguous."""


class Case(NamedTuple):
    """A question, a reply to it, and what it means; `unclear` ones mean nothing that can be told."""

    question: str
    text: str
    meant: Any
    unclear: bool = False


def _filled(form: str, first: Noun, second: Noun, counts: tuple[int, int, int]) -> str:
    n, m, w = counts
    return form.format(
        a=first.many, b=second.many, one_a=first.one, none_a=first.none, none_b=second.none, red=first.red,
        blue=first.blue, n=n, m=m, w=w,
    )  # fmt: skip


def _counts(language: str) -> Iterator[Case]:
    grammar = GRAMMARS[language]
    for first, second, third in permutations(grammar.nouns, 3):
        for counts in COUNTS:
            n, m, w = counts

            def fill(form: str) -> str:
                return _filled(form, first, second, counts)

            first_asked, red_asked = (grammar.how_many.format(a=first.many), grammar.how_many_red.format(red=first.red))
            second_asked, third_asked = (grammar.how_many.format(a=one.many) for one in (second, third))
            blue_asked = grammar.how_many_red.format(red=first.blue)
            for text in map(fill, grammar.two_kinds):
                yield from (Case(first_asked, text, n), Case(second_asked, text, m))
                yield Case(third_asked, text, None, unclear=True)
            for text in map(fill, grammar.part_is_red):
                yield from (Case(red_asked, text, n), Case(first_asked, text, w))
                yield Case(blue_asked, text, None, unclear=True)
            for text in map(fill, grammar.two_colours):
                yield from (Case(red_asked, text, n), Case(blue_asked, text, m))
                yield Case(first_asked, text, n + m, unclear=True)
            for text in map(fill, grammar.two_sides):
                yield Case(first_asked, text, n + m, unclear=True)
            for text in map(fill, grammar.none_of_the_other):
                yield from (Case(first_asked, text, n), Case(second_asked, text, 0))


def _truths(language: str) -> Iterator[Case]:
    grammar = GRAMMARS[language]
    for first, second, third in permutations(grammar.nouns, 3):
        asked = [grammar.is_there.format(a=one.many, one_a=one.one) for one in (first, second, third)]
        for form in grammar.one_but_none:
            text = _filled(form, first, second, COUNTS[0])
            yield from (Case(asked[0], text, True), Case(asked[1], text, False))
            yield Case(asked[2], text, None, unclear=True)
        for form in (one for one in grammar.two_kinds if "\n" not in one):
            text = _filled(form, first, second, COUNTS[0])
            yield from (Case(asked[0], text, True), Case(asked[2], text, None, unclear=True))
        for form in grammar.there_is_none:
            yield Case(asked[0], _filled(form, first, second, COUNTS[0]), False)


@pytest.mark.parametrize("language", GRAMMARS)
def test_a_count_is_that_of_what_was_asked_for(language: str) -> None:
    """Or none is read; never that of another thing, nor of a part, nor of the whole."""
    _check([*_counts(language)], read_integer, LEAST["counts"])


@pytest.mark.parametrize("language", GRAMMARS)
def test_a_statement_answers_only_of_what_it_names(language: str) -> None:
    """What it denies of another thing is no answer."""
    _check([*_truths(language)], read_boolean, LEAST["truths"])


def _check(cases: list[Case], read: Any, least: float) -> None:
    read_as = [(case, read(said(case.text).text, asked=asked_of(case.question)).value) for case in cases]
    wrong = [(case, value) for case, value in read_as if value is not None and value != case.meant]
    clear = [(case, value) for case, value in read_as if not case.unclear]
    missed = [case for case, value in clear if value is None]

    assert not wrong, wrong[:5]
    assert len(missed) <= (1 - least) * len(clear), missed[:5]
