"""A number is credited only where its reply leaves open no further one of what was asked for, in every language."""

from typing import NamedTuple

import pytest

from gigavqa.answers.asked import asked_of
from gigavqa.answers.normalization import said
from gigavqa.answers.numbers import read_integer
from tests.answers.asked.wordings import GRAMMARS


class Wording(NamedTuple):
    """Ways to count what there is, and more of it: `{a}` is a noun behind a number above four, `{n}` and `{m}` counts.

    `sums` say what both come to, `{s}`.
    """

    more: tuple[str, ...]
    each: tuple[str, ...]
    groups: tuple[str, ...]
    given_up: tuple[str, ...]
    sums: tuple[str, ...]


WORDINGS = {
    "en": Wording(
        ("{n} {a} near the gate and {m} more by the fence.", "I see {n} {a} here, plus another {m}."),
        ("There are {n} {a} in each corner.", "Each side has {n} {a}."),
        ("{m} rows of {n} {a}.", "{n} groups of {a} can be seen."),
        ("I see {n} {a}. But I cannot tell how many there are in the dark.",),
        ("{n} {a} on the left and {m} on the right, {s} in total.", "- left: {n}\n- right: {m}\n\n**{s}**"),
    ),
    "de": Wording(
        ("{n} {a} am Tor und {m} weitere am Zaun.",),
        ("Auf jeder Seite sind {n} {a}.",),
        ("Es sind {m} Reihen mit {n} {a}.",),
        ("Ich sehe {n} {a}. Aber wie viele es sind, lässt sich nicht sagen.",),
        ("Links {n} {a}, rechts {m}, insgesamt {s}.", "- links: {n}\n- rechts: {m}\n\n{n} + {m} = {s}"),
    ),
    "fr": Wording(
        ("{n} {a} à gauche et {m} autres à droite.",),
        ("Il y a {n} {a} de chaque côté.",),
        ("On voit {m} rangées de {n} {a}.",),
        (),
        ("{n} {a} à gauche et {m} à droite, soit {s} au total.",),
    ),
    "es": Wording(
        ("{n} {a} a la izquierda y otros {m} a la derecha.",),
        ("Hay {n} {a} en cada lado.",),
        ("Hay {m} filas de {n} {a}.",),
        (),
        ("{n} {a} a la izquierda y {m} a la derecha, en total {s}.",),
    ),
    "pt": Wording(
        ("{n} {a} à esquerda e mais {m} à direita.",),
        ("Há {n} {a} em cada lado.",),
        ("Há {m} fileiras de {n} {a}.",),
        (),
        ("{n} {a} à esquerda e {m} à direita, {s} no total.",),
    ),
    "ru": Wording(("Слева {n} {a} и справа ещё {m}.",), ("По {n} {a} с каждого края, в каждом ряду.",), (), (), ()),
    "zh": Wording(("左边有{n}个{a}，另外还有{m}个。",), ("每排有{n}个{a}。",), ("共{m}排{a}。",), (), ()),
    "ja": Wording(("左に{a}が{n}個、さらに右に{m}個あります。",), ("各列に{a}が{n}個あります。",), (), (), ()),
    "ko": Wording(("왼쪽에 {a}가 {n}개, 오른쪽에 또 {m}개 있습니다.",), ("줄마다 {a}가 {n}개 있습니다.",), (), (), ()),
}
COUNTS = ((7, 5), (6, 6), (12, 8))


def read(question: str, text: str) -> int | None:
    """Return the number that a text tells of a question."""
    number: int | None = read_integer(said(text).text, asked=asked_of(question)).value
    return number


@pytest.mark.parametrize("form", ["more", "each", "groups", "given_up"])
@pytest.mark.parametrize("language", WORDINGS)
def test_a_count_that_is_not_all_is_none(language: str, form: str) -> None:
    """Where more is added to it, it is so of each, groups are counted, or it is given up."""
    grammar = GRAMMARS[language]
    for noun in grammar.nouns:
        question = grammar.how_many.format(a=noun.many)
        for wording in getattr(WORDINGS[language], form):
            for n, m in COUNTS:
                text = wording.format(a=noun.many, n=n, m=m)
                assert read(question, text) is None, text


@pytest.mark.parametrize("language", [name for name, wording in WORDINGS.items() if wording.sums])
def test_a_sum_that_is_told_is_the_count(language: str) -> None:
    """In words, as the last line in bold, or as a sum."""
    grammar = GRAMMARS[language]
    for noun in grammar.nouns:
        question = grammar.how_many.format(a=noun.many)
        for wording in WORDINGS[language].sums:
            for n, m in COUNTS:
                text = wording.format(a=noun.many, n=n, m=m, s=n + m)
                assert read(question, text) == n + m, text


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How many animals are in the yard?", "{n} cats and a dog."),
        ("¿Cuántas personas hay?", "Una mujer y {n} niños."),
        ("How many boats are there?", "Between the {n} jetties I see boats."),
        ("How many boats are there?", "Counting dinghies there would be {n} boats."),
        ("How many pedestrians are there?", "I counted {n} pedestrians, though one of them is a statue."),
        ("How many cells are positive?", "{n} cells are visible; roughly half are positive."),
        ("How many lesions are there?", "- left: {n}\n- right: {n}"),
        ("How many people are in the picture?", "The caption says {n} people took part."),
        ("How many people are on the platform?", "There are {n} people on the left and"),
        ("How many more cars than trucks are there?", "There are {n} cars and 4 trucks."),
    ],
)
def test_a_count_of_something_else_or_of_a_part_is_none(question: str, text: str) -> None:
    """No answer is better than a wrong one."""
    assert read(question, text.format(n=9)) is None


@pytest.mark.parametrize(
    ("question", "text", "number"),
    [
        ("How many swings are there?", "There are no children using the two swings.", 2),
        ("How many children are there?", "There are no children using the two swings.", 0),
        ("How many people are there?", "The caption says 25 people took part, but I see only 19 people.", 19),
        ("How many passengers wear no mask?", "Of 15 passengers, 12 wear a mask and 3 do not.", 3),
        ("图中有多少名乘客没有戴口罩？", "车厢内共有15名乘客，其中12名戴了口罩，3名没有戴。", 3),
        ("How many teeth have fillings?", "Fillings show up in five of the teeth.", 5),
    ],
)
def test_numbers_beside_it_are_of_other_things(question: str, text: str, number: int) -> None:
    """What is denied of one thing counts no other, and what others said counts nothing."""
    assert read(question, text) == number
