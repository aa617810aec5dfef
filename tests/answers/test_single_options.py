"""One option that a reply tells in words counts where it is said of what was asked, and nothing unsays it."""

from typing import NamedTuple

import pytest

from gigavqa.answers.asked import Asked
from gigavqa.answers.boxes import UNIT_FRAME
from gigavqa.answers.final import parse_answer
from gigavqa.answers.letter_sets import parse_letters
from gigavqa.answers.lexicon import by_language
from gigavqa.benchmarks.questions.judging import QuestionJudge
from gigavqa.benchmarks.questions.samples import Question
from gigavqa.evaluation.replies import reply_of
from tests.answers.replies import LANGUAGES, OPTIONS
from tests.evaluation.responses import response


class Scene(NamedTuple):
    """A question of a colour, its options, and sentences that say one of what was asked and of something else."""

    question: str
    options: tuple[str, ...]
    asked: str
    other: str
    unknown: str
    """Says that what was asked for cannot be told."""
    unknown_else: str
    """Says that something else cannot be told."""


SCENES = {
    "en": Scene("What colour is the roof of the barn?", ("red", "blue", "white", "green"),
                "The roof of the barn is {}.", "The tractor is {}.", "I cannot tell the colour of the roof.",
                "I cannot tell which brand it is."),
    "de": Scene("Welche Farbe hat das Dach der Scheune?", ("rot", "blau", "weiß", "grün"),
                "Das Dach der Scheune ist {}.", "Der Traktor ist {}.", "Die Farbe des Daches ist nicht zu erkennen.",
                "Die Marke ist unbekannt."),
    "fr": Scene("De quelle couleur est le toit de la grange ?", ("rouge", "bleu", "blanc", "vert"),
                "Le toit de la grange est {}.", "Le tracteur est {}.", "Je ne sais pas la couleur du toit.",
                "Je ne sais pas de quelle marque il s'agit."),
    "es": Scene("¿De qué color es el techo del granero?", ("rojo", "azul", "blanco", "verde"),
                "El techo del granero es {}.", "El tractor es {}.", "No puedo determinar el color del techo.",
                "No puedo determinar la marca."),
    "pt": Scene("De que cor é o telhado do celeiro?", ("vermelho", "azul", "branco", "verde"),
                "O telhado do celeiro é {}.", "O trator é {}.", "Não sei a cor do telhado.", "Não sei a marca."),
    "ru": Scene("Какого цвета крыша амбара?", ("красная", "синяя", "белая", "зелёная"), "Крыша амбара {}.",
                "Машина {}.", "Я не знаю, какого цвета крыша.", "Марку трактора я не знаю."),
    "zh": Scene("谷仓的屋顶是什么颜色？", ("红色", "蓝色", "白色", "绿色"), "谷仓的屋顶是{}。", "拖拉机是{}。",
                "无法判断屋顶的颜色。", "无法判断品牌。"),
    "ja": Scene("納屋の屋根は何色ですか。", ("赤", "青", "白", "緑"), "納屋の屋根は{}です。", "トラクターは{}です。",
                "屋根の色は分かりません。", "メーカーは分かりません。"),
    "ko": Scene("헛간의 지붕은 무슨 색입니까?", ("빨간색", "파란색", "흰색", "초록색"), "헛간의 지붕은 {}입니다.",
                "트랙터는 {}입니다.", "지붕의 색은 알 수 없습니다.", "상표는 알 수 없습니다."),
    "ar": Scene("ما لون سقف الحظيرة؟", ("أحمر", "أزرق", "أبيض", "أخضر"), "سقف الحظيرة لونه {}.", "الجرار {}.",
                "لا أعرف لون السقف.", "لا أعرف الشركة."),
    "hi": Scene("खलिहान की छत किस रंग की है?", ("लाल", "नीला", "सफ़ेद", "हरा"), "खलिहान की छत का रंग {} है।",
                "ट्रैक्टर {} है।", "छत का रंग पता नहीं।", "कंपनी पता नहीं।"),
}  # fmt: skip
TAKEN_BACK = {
    "en": "Scratch that.", "de": "Das nehme ich zurück.", "fr": "Je retire.", "es": "Retiro lo dicho.",
    "pt": "Retiro o que disse.", "ru": "Беру свои слова обратно.", "zh": "我收回。", "ja": "取り消します。",
    "ko": "취소합니다.", "ar": "أسحب ما قلت.", "hi": "यह सही नहीं है।",
}  # fmt: skip


def chosen(text: str, scene: Scene) -> str | None:
    """The words of the option that a reply is judged to choose."""
    options = dict(zip("ABCD", scene.options, strict=True))
    asked = {"id": "q", "images": ("a.jpg",), "question": scene.question, "kind": "choice", "options": options}
    value = QuestionJudge(Question.model_validate(asked))(reply_of(response("q", text)), UNIT_FRAME).value
    return None if value is None else options[value]


@pytest.fixture(params=LANGUAGES)
def scene(request: pytest.FixtureRequest) -> Scene:
    """The scene of each language in turn."""
    return SCENES[request.param]


def test_what_is_said_of_the_asked_thing_is_chosen_and_of_another_is_not(scene: Scene) -> None:
    for at, option in enumerate(scene.options):
        asked, other = scene.asked.format(option), scene.other.format(scene.options[at - 1])

        assert chosen(asked, scene) == option, asked
        assert chosen(other, scene) is None, other
        for text in (f"{asked} {other}", f"{other} {asked}"):
            assert chosen(text, scene) == option, text


def test_two_options_of_one_thing_are_none(scene: Scene) -> None:
    for at, option in enumerate(scene.options):
        text = f"{scene.asked.format(option)} {scene.asked.format(scene.options[at - 1])}"
        assert chosen(text, scene) is None, text


def test_who_cannot_tell_in_the_end_what_was_asked_has_not_answered(scene: Scene) -> None:
    """Who cannot tell something else has."""
    for option in scene.options:
        asked = scene.asked.format(option)

        assert chosen(f"{asked} {scene.unknown}", scene) is None, scene.unknown
        assert chosen(f"{asked} {scene.unknown_else}", scene) == option, scene.unknown_else
        assert chosen(f"{scene.other.format(option)} {scene.unknown}", scene) is None


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_taken_back_and_not_replaced_is_no_answer(language: str) -> None:
    """An option's words, and a letter that was announced."""
    scene, back = SCENES[language], TAKEN_BACK[language]
    for letter, option in zip("ABCD", scene.options, strict=True):
        assert chosen(f"{scene.asked.format(option)} {back}", scene) is None, back
        assert parse_answer(f"Answer: {letter}\n\n{back}", OPTIONS).value is None, back
        assert parse_answer(f"Answer: A\n\n{back} Answer: {letter}", OPTIONS).value == letter, back


@pytest.mark.parametrize(
    ("behind", "stands"),
    [
        ("Wait, let me look at it once more. Yes, it is.", True),
        ("If the wall were blue, it would be {y}.", True),
        ("{y} would need a second tower.", True),
        ("Wait, that is the neighbour's.", False),
        ("But if the wall is blue, it is {y}.", False),
        ("However, {y} is also possible.", False),
        ("Hang on, there are two of them.", False),
    ],
)
def test_an_announcement_stands_where_what_follows_leaves_it(behind: str, stands: bool) -> None:
    for at, letter in enumerate(OPTIONS):
        text = f"The answer is {letter}. {behind.format(y='ABCD'[at - 1])}"
        assert parse_answer(text, OPTIONS).value == (letter if stands else None), text


NOUNS = ("gate", "Gate", "pier", "bay", "vitamin", "block", "figure", "car", "platform", "room", "team")


@pytest.mark.parametrize("noun", NOUNS)
def test_a_letter_that_names_something_else_is_no_option(noun: str) -> None:
    for letter in OPTIONS:
        for text in (f"It is at {noun} {letter}.", f"Next to {noun} {letter}, a man waits."):
            assert parse_answer(text, OPTIONS).value is None, text


@pytest.mark.parametrize("others", ["Some would say {y}, others {x}.", "My colleague chose {y}, my teacher chose {x}."])
def test_what_only_others_say_is_no_answer(others: str) -> None:
    for at, letter in enumerate(OPTIONS):
        text = others.format(x=letter, y="ABCD"[at - 1])
        assert parse_answer(text, OPTIONS).value is None, text


MEANT = (
    "It's {x}.",
    "The beard decides: {x}.",
    "The roof is red, so {x}.",
    "{x}, I would say.",
    "Of these, that is option {x}.",
)
PASSING = ("I considered {x}.", "{x} was my first idea.", "Option {x} mentions a dog.", "{x} differs from {y} in size.",
           "Let me start with {x}.", "It would be wrong to answer {x}.", "Don't pick {x}.")  # fmt: skip


@pytest.mark.parametrize("sentence", MEANT)
def test_a_letter_in_a_predicates_place_is_meant(sentence: str) -> None:
    scene = SCENES["en"]
    for at, (letter, option) in enumerate(zip("ABCD", scene.options, strict=True)):
        assert chosen(sentence.format(x=letter, y="ABCD"[at - 1]), scene) == option


@pytest.mark.parametrize("sentence", PASSING)
def test_a_letter_that_is_only_spoken_of_is_not(sentence: str) -> None:
    scene = SCENES["en"]
    for at, letter in enumerate("ABCD"):
        assert chosen(sentence.format(x=letter, y="ABCD"[at - 1]), scene) is None


THINGS = dict(zip("ABCD", ("lantern", "hammock", "compass", "blanket"), strict=True))
ASKED = Asked("Which things lie in the tent?")


@pytest.mark.parametrize("item", ["- {}", "* {}", "{n}. {}"])
def test_a_list_whose_last_row_says_nothing_has_broken_off(item: str) -> None:
    """As has one that ends amid the words of an option; one of bare options has not."""
    for first, last in (("A", "B"), ("A", "D"), ("B", "C")):
        rows = (item.format(THINGS[first], n=1), item.format(THINGS[last], n=2))
        begun = f"They are: {first}. {THINGS[first]}, {last}. {THINGS[last][:4]}"

        assert parse_letters("\n".join(rows), THINGS, ASKED).letters == (first, last)
        assert not parse_letters(f"{rows[0]}: it lies there\n{rows[1]}", THINGS, ASKED).letters
        assert parse_letters(begun, THINGS, ASKED).status == "unfinished"


def test_what_is_counted_behind_options_does_not_list_them() -> None:
    """The count may be less than is asked for."""
    question = Asked("Which tents hold at least three lamps?")
    told = "\n".join(f"{name}: {at} lamps" for at, name in enumerate(THINGS.values(), 1))

    assert not parse_letters(told, THINGS, question).letters


def test_a_set_that_holds_on_a_condition_is_none() -> None:
    assert not parse_letters("If the left one is a bag, A and B; if not, only A.", THINGS, ASKED).letters


def test_every_language_of_the_lexicon_has_a_scene() -> None:
    assert {*SCENES} == {*TAKEN_BACK} == {*by_language("contrast")} - {"it", "other"}
