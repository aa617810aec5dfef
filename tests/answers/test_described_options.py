"""The one option that a reply names counts though it is described, where its sentence answers the question."""

from typing import NamedTuple

import pytest

from gigavqa.answers.asked import Asked
from gigavqa.answers.boxes import UNIT_FRAME
from gigavqa.answers.final import parse_answer
from gigavqa.answers.letter_sets import parse_letters
from gigavqa.answers.numbers import read_number
from gigavqa.benchmarks.questions.judging import QuestionJudge
from gigavqa.benchmarks.questions.samples import Question
from gigavqa.evaluation.replies import reply_of
from tests.answers.replies import LANGUAGES
from tests.evaluation.responses import response


class Place(NamedTuple):
    """A question of what lies at a place, with sentences of things that are described there, and elsewhere."""

    question: str
    options: tuple[str, ...]
    there: str
    elsewhere: tuple[str, ...]


PLACES = {
    "en": Place("What is lying on the bench?", ("a scarf", "a lantern", "a rope", "a bucket"),
                "On the bench lies {} that glistens with dew.",
                ("Beside the bench lies {} that glistens with dew.", "On the bench a painter holds {} full of dew.",
                 "On the bench lies no trace of {} that glistens.", "On the bench lies a drawing of {} with dew.",
                 "My colleague says that on the bench lies {} of wax.",
                 "On the bench lies something like {} of wax.",
                 "On the bench might lie {} that glistens.", "On the bench lies {} or a crate of wax.",
                 "If it rained, on the bench lies {} that glistens.")),
    "de": Place("Was liegt auf der Bank?", ("ein Schal", "ein Seil", "ein Eimer", "ein Hut"),
                "Auf der Bank liegt {}, feucht vom Tau.",
                ("Neben der Bank liegt {}, feucht vom Tau.", "Auf der Bank liegt vielleicht {}, feucht vom Tau.",
                 "Auf der Bank liegt nicht {}, feucht vom Tau.")),
    "fr": Place("Quel objet est posé sur le banc ?", ("une écharpe", "une corde", "une lanterne", "une cruche"),
                "Sur le banc est posé {} couvert de rosée.",
                ("Sous le banc est posé {} couvert de rosée.", "Sur le banc est peut-être posé {} couvert de rosée.",
                 "Sur le banc est posé un dessin de {} couvert de rosée.")),
    "es": Place("¿Qué objeto hay en el banco?", ("un farol", "un cubo", "un paraguas", "un libro"),
                "En el banco hay {} cubierto de rocío.",
                ("Junto a el banco hay {} cubierto de rocío.", "En el banco hay un dibujo de {} cubierto de rocío.",
                 "En el banco no hay {} cubierto de rocío.", "En el banco hay un pintor con {} cubierto de rocío.")),
    "pt": Place("Que objeto há sobre o banco?", ("um balde", "um livro", "um lampião", "um chapéu"),
                "Sobre o banco há {} coberto de orvalho.",
                ("Junto do banco há {} coberto de orvalho.", "Sobre o banco não há {} coberto de orvalho.",
                 "Sobre o banco há um desenho de {} coberto de orvalho.")),
    "ru": Place("Что лежит на скамейке?", ("шарф", "фонарь", "канат", "зонт"), "На скамейке лежит {}, мокрый от росы.",
                ("Под скамейкой лежит {}, мокрый от росы.", "На скамейке не лежит {}, мокрый от росы.",
                 "На скамейке, возможно, лежит {}, мокрый от росы.")),
}  # fmt: skip


class Doors(NamedTuple):
    """A question of which of several is so, and what is said of one and of all others."""

    question: str
    noun: str
    is_so: str
    is_not: str


DOORS = {
    "en": Doors("Which gate is open?", "Gate", "; the other three are {}.", "closed"),
    "de": Doors("Welches Tor ist offen?", "Tor", "; die anderen sind {}.", "geschlossen"),
    "fr": Doors("Quel portail est ouvert ?", "Portail", " ; les autres sont {}.", "fermés"),
    "es": Doors("¿Qué portón está abierto?", "Portón", "; los demás están {}.", "cerrados"),
    "pt": Doors("Qual portão está aberto?", "Portão", "; os demais estão {}.", "fechados"),
}
NOTHING_ANSWERED = {
    "en": "no, I cannot answer: the image did not load.", "de": "nein, ich kann nicht antworten: das Bild fehlt.",
    "fr": "non, je ne peux pas répondre : l'image n'a pas chargé.", "es": "no, no puedo responder: la imagen no cargó.",
    "pt": "não, não posso responder: a imagem não carregou.",
    "ru": "нет, изображение не загрузилось, я не могу ответить.",
    "zh": "不，图片没有加载，无法回答。", "ja": "いいえ、画像がないので、答えられません。",
    "ko": "아니요, 사진이 없어서, 대답할 수 없습니다.", "ar": "لا، الصورة لم تظهر، لا أستطيع الإجابة.",
    "hi": "नहीं, चित्र नहीं खुला, उत्तर नहीं दे सकता।",
}  # fmt: skip


def chosen(text: str, question: str, options: tuple[str, ...]) -> str | None:
    """The words of the option that a reply is judged to choose."""
    lettered = dict(zip("ABCD", options, strict=True))
    asked = {"id": "q", "images": ("a.jpg",), "question": question, "kind": "choice", "options": lettered}
    value = QuestionJudge(Question.model_validate(asked))(reply_of(response("q", text)), UNIT_FRAME).value
    return None if value is None else lettered[value]


@pytest.mark.parametrize("language", PLACES)
def test_what_is_at_the_place_is_meant_however_it_is_described(language: str) -> None:
    place = PLACES[language]
    for option in place.options:
        text = place.there.format(option)
        assert chosen(text, place.question, place.options) == option, text


@pytest.mark.parametrize("language", PLACES)
def test_what_is_elsewhere_denied_possible_or_only_of_another_thing_is_not(language: str) -> None:
    place = PLACES[language]
    for option in place.options:
        for elsewhere in place.elsewhere:
            text = elsewhere.format(option)
            assert chosen(text, place.question, place.options) is None, text


@pytest.mark.parametrize("language", DOORS)
@pytest.mark.parametrize("names", ["DCBA", "BADC", "4321"])
def test_one_is_meant_where_the_others_are_the_contrary(language: str, names: str) -> None:
    """Its name is read by its words, whatever letter or number they hold."""
    doors = DOORS[language]
    options = tuple(f"{doors.noun} {name}" for name in names)
    for option in options:
        text = f"{option} ={doors.is_so.format(doors.is_not)}".replace(" =", "")
        assert chosen(text, doors.question, options) == option, text
        denied = f"{option} {doors.is_not}{doors.is_so.format(doors.is_not)}"
        assert chosen(denied, doors.question, options) is None, denied


@pytest.mark.parametrize("other", ["the dark one", "the dark blue one", "the van"])
def test_an_option_that_is_told_from_another_is_meant(other: str) -> None:
    options = ("Dark blue van", "Blue van", "Blue lorry", "White van")
    text = f"It's the blue lorry, not {other}, that has the cracked windscreen."

    assert chosen(text, "Which vehicle is damaged?", options) == "Blue lorry"
    assert chosen(f"It's not {other}, that has the cracked windscreen.", "Which vehicle is damaged?", options) is None


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_announcement_that_ends_without_an_answer_is_none(language: str) -> None:
    options = ("red", "blue", "white", "green")
    for letter in "ABCD":
        for text in (
            f"Answer: **{letter}** ... {NOTHING_ANSWERED[language]}",
            f"{letter}. {NOTHING_ANSWERED[language]}",
        ):
            assert chosen(text, "What colour is the roof of the barn?", options) is None, text


SEATS = Asked("How many seats of the bus are free?")


@pytest.mark.parametrize(
    "text",
    [
        "All but {n} of the 40 seats are free.",
        "Row 1 has {n} free seats, row 2 seems to have 9, so",
        "1. left seat\n2. right seat\n{n}.",
        "| bus | seats | free |\n|---|---|---|\n| 1 | 20 | 2 |\n| total | 40 | {n} |",
    ],
)
def test_what_is_left_out_breaks_off_or_has_several_totals_counts_nothing(text: str) -> None:
    for number in (3, 5, 8):
        told = text.format(n=number)
        assert read_number(told, asked=SEATS).status != "parsed", told


def test_a_numbered_list_that_ends_with_its_first_row_is_no_set() -> None:
    options = {"A": "a silo", "B": "a barn", "C": "a mill"}
    asked = Asked("Which buildings stand there?")

    assert not parse_letters("The buildings are:\n1. B", options, asked).letters
    assert parse_letters("The buildings are:\n1. B\n2. C", options, asked).letters == ("B", "C")


def test_a_letter_that_is_announced_stands_where_only_something_else_is_not_answered() -> None:
    text = "Answer: B. I cannot answer why it stands there."
    assert parse_answer(text, {"A": "one", "B": "two"}).value == "B"
