"""Numbers that count nothing of what was asked for are no counts: measures, names, times, years, places."""

from itertools import product
from typing import NamedTuple

import pytest

from gigavqa.answers.asked import asked_of
from gigavqa.answers.normalization import said
from gigavqa.answers.numbers import read_integer, read_number
from tests.answers.asked.wordings import GRAMMARS


class Wording(NamedTuple):
    """A sentence that counts, and sentences whose numbers tell something else."""

    counts: str
    others: tuple[str, ...]


WORDINGS = {
    "en": Wording("There are {n} {a}.", ("The quay is 120 m long.", "This is pier 7 at 14:05.", "Taken in 2019.")),
    "de": Wording("Es gibt {n} {a}.", ("Der Kai ist 120 m lang.", "Das ist Kai 7 um 14:05 Uhr.")),
    "fr": Wording("Il y a {n} {a}.", ("Le quai mesure 120 m.", "Voici le quai 7, à 14h05.", "Photo de mai 2019.")),
    "es": Wording("Hay {n} {a}.", ("El muelle mide 120 metros.", "Es el muelle 7, a las 14:05.")),
    "pt": Wording("Há {n} {a}.", ("O cais mede 120 metros.", "É o cais 7, às 14h05.")),
    "ru": Wording("На снимке {n} {a}.", ("Длина причала 120 метров.", "Снято в 2019 году в 14:05.")),
    "ar": Wording("هناك {n} {a}.", ("طول الرصيف 120 مترا.", "هذا الرصيف 7.")),
    "hi": Wording("यहाँ {n} {a} हैं।", ("घाट 120 मीटर लंबा है।", "यह घाट 7 है।")),
    "zh": Wording("图中有{n}个{a}。", ("码头长120米。", "这是7号码头。")),
    "ja": Wording("{a}が{n}個あります。", ("埠頭の長さは120メートルです。", "2019年の画像です。")),
    "ko": Wording("{a}가 {n}개 있습니다.", ("부두의 길이는 120미터입니다.", "2019년 영상입니다.")),
}  # fmt: skip


@pytest.mark.parametrize("language", WORDINGS)
def test_a_count_stands_beside_other_numbers(language: str) -> None:
    """Whichever comes first; and the others alone are no answer."""
    wording, grammar = WORDINGS[language], GRAMMARS[language]
    for noun, other, n in product(grammar.nouns, wording.others, (3, 14)):
        asked = asked_of(grammar.how_many.format(a=noun.many))
        counts = wording.counts.format(n=n, a=noun.many)
        for text in (f"{other} {counts}", f"{counts} {other}"):
            assert read_integer(said(text).text, asked=asked).value == n, text
        assert read_integer(said(other).text, asked=asked).value is None, other


@pytest.mark.parametrize(
    ("question", "text", "number"),
    [
        ("How many swans are there?", "A pair of swans glides past 6 moored boats.", 2),
        ("How many dogs are there?", "A single dog sits between 3 people.", 1),
        ("Combien de chiens y a-t-il ?", "Il n'y a qu'un seul chien, entouré de trois chats.", 1),
        ("¿Cuántas piscinas hay?", "Se ve una sola piscina.", 1),
        ("Wie viele Hunde gibt es?", "Es gibt einen einzigen Hund.", 1),
        ("Сколько собак на фото?", "На фото одна собака и трое детей.", 1),
    ],
)
def test_words_that_count_one_or_two_are_counts(question: str, text: str, number: int) -> None:
    """A denial of a single one counts none of them."""
    assert read_integer(text, asked=asked_of(question)).value == number
    assert read_integer("There isn't a single dog.", asked=asked_of("How many dogs are there?")).value != 1


@pytest.mark.parametrize("left", ["Leaves {n}.", "That leaves {n}.", "Subtracting both leaves {n}."])
def test_what_is_left_of_a_count_is_the_answer(left: str) -> None:
    """And not the count that it is left of."""
    asked = asked_of("How many birds are on the wire?")
    for first, taken in ((9, 2), (14, 3)):
        text = f"I count {first}. {taken} of those are insulators, though. {left.format(n=first - taken)}"
        assert read_number(text, whole=True, asked=asked).value == first - taken, text


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How many windows are on the facade?", "The ground floor has {n} openings, the upper one {m}."),
        ("How many cars are queueing at booth 3?", "Booth 1: {n} cars. Booth 2: {m} cars."),
        ("Wie viele Fenster hat das Haus?", "Im Erdgeschoss {n}, oben {m}."),
        ("How many barrels are red?", "Nine of twelve."),
        ("How many turbines are spinning?", "Of the park's 22 turbines, only 17 have blurred blades; 5 stand still."),
    ],
)  # fmt: skip
def test_of_several_numbers_none_is_read_that_nothing_singles_out(question: str, text: str) -> None:
    """No answer is better than a wrong one."""
    assert read_integer(text.format(n=4, m=6), asked=asked_of(question)).value is None


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How many cars are queueing at booth 3?", "Booth 1: {n} cars. Booth 3: {m} cars. Booth 5: {n} cars."),
        ("How many trucks are in lane 2?", "Lane 1 has {n} trucks, lane 2 has {m} and lane 3 has {n}."),
        ("2号仓库门口有几辆叉车？", "1号仓库门口有{n}辆叉车，2号仓库门口有{m}辆。"),
    ],
)
def test_the_count_of_a_thing_with_a_number_follows_its_name(question: str, text: str) -> None:
    """Up to the name of the next one."""
    assert read_integer(text.format(n=4, m=6), asked=asked_of(question)).value == 6
