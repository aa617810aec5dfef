"""Options are told by near forms of their words, by either spelling and by counts, and by no number of a list."""

import pytest

from gigavqa.answers.boxes import UNIT_FRAME
from gigavqa.answers.lexicon import by_language
from gigavqa.answers.numbers import read_integer, read_number
from gigavqa.answers.spellings import PAIRS as SPELLINGS
from gigavqa.benchmarks.questions.judging import QuestionJudge
from gigavqa.benchmarks.questions.samples import Question
from gigavqa.evaluation.replies import reply_of
from tests.answers import wordings
from tests.answers.replies import LANGUAGES
from tests.evaluation.responses import response

LISTS = ("{}. {}", "{}) {}", "- {}. {}", "**{}.** {}", "**{}. {}**", "  {}.  {}")
"""How a line of a list writes its number."""


def chosen(text: str, *options: str, question: str = "Which?") -> str | None:
    """The words of the option that a reply to a question is judged to choose."""
    lettered = dict(zip("ABCDEFGH", options, strict=False))
    asked = {"id": "q", "images": ("a.jpg",), "question": question, "kind": "choice", "answers": ("A",)}
    question = Question.model_validate({**asked, "options": lettered})
    value = QuestionJudge(question)(reply_of(response("q", text)), UNIT_FRAME).value
    return None if value is None else lettered[value]


@pytest.mark.parametrize("form", LISTS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_number_of_a_line_is_no_option(language: str, form: str) -> None:
    """In a list of any length, behind a line of prose or not."""
    line = wordings.COURTESIES[language]
    for length in (2, 3, 4):
        listed = "\n".join(form.format(number, line) for number in range(1, length + 1))
        for text in (listed, f"{line}\n\n{listed}", f"{line}\n{form.format(length, line)}"):
            assert chosen(text, "1", "2", "3", "4") is None, text


@pytest.mark.parametrize("form", LISTS[:4])
def test_an_option_that_stands_alone_behind_a_lists_number_is_one(form: str) -> None:
    """As is a number that stands alone."""
    listed = "\n".join(form.format(at, one) for at, one in enumerate(("Trees stand there.", "So the count is 3."), 1))

    assert chosen(listed, "1", "2", "3", "4") == "3"
    assert chosen("3.", "1", "2", "3", "4") == chosen("3", "1", "2", "3", "4") == "3"


COUNTED = {
    "en": "There are {} white benches near the fountain.",
    "de": "Am Brunnen stehen {} weiße Bänke.",
    "fr": "Il y a {} bancs blancs près de la fontaine.",
    "es": "Hay {} bancos blancos junto a la fuente.",
    "pt": "Há {} bancos brancos perto da fonte.",
    "ru": "У фонтана стоят {} белых скамеек.",
    "zh": "喷泉旁边有{}张白色的长椅。",
    "ja": "噴水のそばに白いベンチが{}脚あります。",
    "ko": "분수 옆에 흰 벤치가 {}개 있습니다.",
    "ar": "هناك {} مقاعد بيضاء قرب النافورة.",
    "hi": "फव्वारे के पास {} सफ़ेद बेंच हैं।",
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_count_with_its_noun_is_the_option_that_is_its_number(language: str) -> None:
    """Where all options are numbers; a bound, a range or a second option's number is none."""
    counted, others = COUNTED[language], wordings.COUNTS[language]
    for number in (7, 12, 30):
        options = [str(number + away) for away in (-1, 0, 1, 2)]
        assert chosen(counted.format(number), *options) == str(number)
        assert chosen(f"{counted.format(number)} {counted.format(number + 1)}", *options) is None
        assert chosen(counted.format(number + 9), *options) is None
        for bound in wordings.BOUNDS[language]:
            assert chosen(bound.format(n=number), *options) is None, bound
        for told in others:
            assert chosen(told.format(n=40, a=number, b=40 - number), *options, "40") != str(number), told


def test_a_part_is_no_count_of_all() -> None:
    """Though its number is an option, and that of the others is none."""
    assert chosen("Five lamps stand on the left. There is 1 further lamp by the gate.", "1", "2", "3", "6") is None
    assert chosen("Of the 20 lamps, 4 are broken.", "3", "4", "5", "6") is None


NO_COUNTS = (
    "Each bench has {} legs.",
    "The photo was taken at {} pm.",
    "The plaza is split into {} parts.",
    "Quadrant {} holds the benches.",
    "There are not {} benches.",
    "If the wall counts, there are {} benches.",
    "My colleague counted {} benches.",
    "There might be {} benches.",
    "Are there {} benches?",
    "Jede Bank hat {} Beine.",
    "Chaque banc a {} pieds.",
    "Cada banco tiene {} patas.",
    "每张长椅有{}条腿。",
)


@pytest.mark.parametrize("sentence", NO_COUNTS)
def test_a_number_that_counts_nothing_asked_for_is_no_option(sentence: str) -> None:
    """What is so of each, a place, a time, or what is denied, asked, supposed or said by others."""
    for number in (3, 4, 6):
        assert chosen(sentence.format(number), "3", "4", "5", "6") is None


PREDICATES = {
    "ja": (("青", "緑色", "茶色", "銀色"), ("車の屋根は{}です。", "{}です。", "色は{}でした。", "車は{}だ。")),
    "ko": (("검은색", "초록색", "노란색", "분홍색"), ("자동차는 {}입니다.", "{}이에요.", "색은 {}이다.")),
    "zh": (("黑色", "绿色", "黄色", "紫色"), ("汽车是{}的。", "{}的。", "车身呈{}。", "车的颜色为{}。")),
}
OF_CARS = {"ja": "車の屋根は何色ですか。", "ko": "자동차는 무슨 색입니까?", "zh": "汽车的车身是什么颜色？"}
DENIALS = {"ja": "車の屋根は{}ではありません。", "ko": "자동차는 {}이 아닙니다.", "zh": "汽车不是{}的。"}
PAIRS = {"ja": "車は{}と{}です。", "ko": "자동차는 {}과 {}입니다.", "zh": "汽车是{}和{}的。"}


@pytest.mark.parametrize("language", PREDICATES)
def test_a_sentence_that_ends_with_an_option_chooses_it(language: str) -> None:
    """Behind its subject and before the verb; denied, or beside another option, it is none."""
    (options, frames), question = PREDICATES[language], OF_CARS[language]
    for at, option in enumerate(options):
        for frame in frames:
            assert chosen(frame.format(option), *options, question=question) == option, frame
        assert chosen(DENIALS[language].format(option), *options, question=question) is None
        assert chosen(PAIRS[language].format(options[at - 1], option), *options, question=question) is None


VERBS = {
    "ja": (
        ("魚を釣っている", "本を読んでいる", "絵を描いている"),
        "いる",
        ("います", "いました", "いた"),
        "橋の上の女性は{}。",
        "橋の上の女性は何をしていますか。",
    ),
    "ko": (
        ("책을 읽고 있다", "그림을 그리고 있다", "낚시를 하고 있다"),
        "다",
        ("습니다", "어요"),
        "다리 위의 여자는 {}.",
        "다리 위의 여자는 무엇을 하고 있습니까?",
    ),
}


@pytest.mark.parametrize("language", VERBS)
def test_a_verb_in_another_form_is_the_options(language: str) -> None:
    """Polite, plain, past."""
    options, ending, forms, frame, question = VERBS[language]
    for option in options:
        for form in forms:
            told = frame.format(option.removesuffix(ending) + form)
            assert chosen(told, *options, question=question) == option, form


OF_WOMEN = {
    "en": "What is the woman in the hat doing?", "de": "Was macht die Frau mit Hut?",
    "fr": "Que fait la femme au chapeau ?", "es": "¿Qué hace la mujer del sombrero?",
    "pt": "O que faz a mulher de chapéu?",
}  # fmt: skip
LED = {
    "en": ("The woman in the hat", "She", ("is reading a paper", "carries a basket", "waters the roses"), "is asleep"),
    "de": ("Die Frau mit Hut", "Sie", ("liest eine Zeitung", "trägt einen Korb", "gießt die Rosen"), "schläft"),
    "fr": ("La femme au chapeau", "Elle", ("lit un journal", "porte un panier", "arrose les roses"), "dort"),
    "es": ("La mujer del sombrero", "Ella", ("lee un diario", "lleva una cesta", "riega las rosas"), "duerme"),
    "pt": ("A mulher de chapéu", "Ela", ("lê um jornal", "leva uma cesta", "rega as rosas"), "dorme"),
}


@pytest.mark.parametrize("language", LED)
def test_an_option_is_told_with_another_subject(language: str) -> None:
    """In place of its pronoun; two of them are none, nor is what no option says."""
    subject, pronoun, verbs, other = LED[language]
    options, question = [f"{pronoun} {verb}" for verb in verbs], OF_WOMEN[language]
    for at, option in enumerate(options):
        assert chosen(f"{subject} {verbs[at]}.", *options, question=question) == option
        assert chosen(f"{subject} {verbs[at]}. {subject} {verbs[at - 1]}.", *options, question=question) is None
    assert chosen(f"{subject} {other}.", *options, question=question) is None


NOT_SAID = {
    "en": ("Nobody {}.", "{}?", "Another woman {}.", "It seems that the woman {}.", "If the woman {}, it is noon."),
    "de": ("Niemand {}.", "{}?", "Eine andere {}.", "Vielleicht {} die Frau.", "Es ist unklar, wer {}."),
    "fr": ("Personne ne {}.", "{} ?", "Une autre femme {}.", "Peut-être {} la femme."),
    "es": ("Nadie {}.", "¿{}?", "Otra mujer {}.", "Quizás {} la mujer."),
    "pt": ("Ninguém {}.", "{}?", "Outra mulher {}.", "Talvez {} a mulher."),
}


@pytest.mark.parametrize("language", NOT_SAID)
def test_an_option_that_is_said_of_nobody_is_not_chosen(language: str) -> None:
    """Nor of another, nor one that is asked, supposed or only possible."""
    _, pronoun, verbs, _ = LED[language]
    options = [f"{pronoun} {verb}" for verb in verbs]
    for sentence in NOT_SAID[language]:
        said = {verb for verb in verbs if chosen(sentence.format(verb), *options, question=OF_WOMEN[language])}
        assert not said, sentence


@pytest.mark.parametrize("pair", SPELLINGS, ids="-".join)
def test_both_spellings_are_one_option(pair: tuple[str, str]) -> None:
    """Whichever the option has: alone, announced and in a sentence."""
    for asked, told in (pair, pair[::-1]):
        options = (f"{asked} thing", "wooden thing", f"old {asked}")
        for option in (options[0], options[2]):
            said = option.replace(asked, told)
            for text in (said, said.capitalize(), f"Final answer: {said}", f"This is the {said}."):
                assert chosen(text, *options) == option, text


ROUGHLY = {**by_language("roughly"), "ja": ["約", "およそ"], "ko": ["약"], "zh": ["约", "大约", "大概"]}
MEASURED = {
    "en": "The pond is {} {} metres long.", "de": "Der Teich misst {} {} Meter.", "fr": "L'étang mesure {} {} mètres.",
    "es": "El estanque mide {} {} metros.", "pt": "O lago mede {} {} metros.", "ru": "Длина пруда {} {} метров.",
    "zh": "池塘长{}{}米。", "ja": "池の長さは{}{}メートルです。", "ko": "연못의 길이는 {} {}미터입니다.",
    "ar": "طول البركة {} {} مترا.", "hi": "तालाब की लंबाई {} {} मीटर है।",
}  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_number_that_is_said_to_be_rough_is_the_number(language: str) -> None:
    """In every language, by each of its words that is no bound: as a measure, and at a sentence's beginning."""
    for word in {*ROUGHLY[language]}.difference(by_language("bound")[language]):
        for number in (12, 48):
            measured = MEASURED[language].format(word, number)
            assert read_integer(measured).value == number, measured
            assert read_number(measured).value == number, measured
            assert read_integer(f"{word.capitalize()} {number}.").value == number, word


SET_APART = {
    "en": (("yellow", "purple", "brown"),
           ("The boat isn't {y}; it's {x}.", "It is {x} rather than {y}.", "Not {y} but {x}.")),
    "de": (("gelb", "lila", "braun"), ("Das Boot ist nicht {y}, sondern {x}.", "Es ist {x}, nicht {y}.")),
    "fr": (("jaune", "violet", "marron"), ("Il est {x}, et non {y}.", "Il est {x} plutôt que {y}.")),
    "es": (("amarillo", "morado", "marrón"), ("El barco no es {y}, sino {x}.", "Es {x}, no {y}.")),
    "pt": (("amarelo", "roxo", "marrom"), ("O barco não é {y}, mas {x}.", "É {x}, não {y}.")),
    "ru": (("жёлтый", "лиловый", "бурый"), ("Катер не {y}, а {x}.", "Он {x}, а не {y}.")),
    "zh": (("黄色", "紫色", "棕色"), ("这艘船不是{y}，而是{x}。",)),
    "ko": (("노란색", "보라색", "갈색"), ("배는 {y}이 아니라 {x}입니다.",)),
}  # fmt: skip
OF_BOATS = {
    "en": "What colour is the boat?", "de": "Welche Farbe hat das Boot?", "fr": "De quelle couleur est le bateau ?",
    "es": "¿De qué color es el barco?", "pt": "De que cor é o barco?", "ru": "Какого цвета катер?",
    "zh": "这艘船是什么颜色？", "ko": "배는 무슨 색입니까?",
}  # fmt: skip
WEIGHED = (
    "The boat is more {x} than {y}.",
    "The boat may be {x}, not {y}.",
    "Is the boat {x}, not {y}?",
    "A friend says it is {x}, not {y}.",
    "If the light is dim, it is {x}, not {y}.",
)


@pytest.mark.parametrize("language", SET_APART)
def test_an_option_that_is_set_against_one_denied_is_chosen(language: str) -> None:
    """Whichever it is; two that are said, or nothing but denied ones, are none."""
    (options, frames), question = SET_APART[language], OF_BOATS[language]
    for at, option in enumerate(options):
        for frame in frames:
            text = frame.format(x=option, y=options[at - 1])
            assert chosen(text, *options, question=question) == option, text
            both = f"{text} {frame.format(x=options[at - 2], y=option)}"
            assert chosen(both, *options, question=question) is None, text


@pytest.mark.parametrize("frame", WEIGHED)
def test_an_option_that_is_only_weighed_against_another_is_not_chosen(frame: str) -> None:
    """Nor one that is asked, supposed, or said by others; nor is a number that is denied beside another."""
    options, _ = SET_APART["en"]
    for at, option in enumerate(options):
        told = frame.format(x=option, y=options[at - 1])
        assert chosen(told, *options, question=OF_BOATS["en"]) is None


NOUNS = ("ducks", "stone arches", "red kites")
UNCOUNTED = (
    "There are at least {n} {noun}.",
    "More than {n} {noun} can be seen.",
    "There are at least {n} {noun}, possibly {m}.",
    "I see {n} or {m} {noun}.",
    "Between {n} and {m} {noun}.",
    "There are {m} to {n} {noun}.",
)


@pytest.mark.parametrize("noun", NOUNS)
def test_a_bound_of_a_number_and_its_noun_is_no_option(noun: str) -> None:
    """Nor is a range; a plain count is, with its parts behind a colon or none."""
    for number in (3, 6, 14):
        options = [f"{one} {noun}" for one in (number - 1, number, number + 1)]
        for form in UNCOUNTED:
            assert chosen(form.format(n=number, m=number + 1, noun=noun), *options) is None, form
        for form in ("There are {}.", "{}", "I count {}: two here and the others there.", "I see {}: 1 left, 2 right."):
            assert chosen(form.format(options[1]), *options) == options[1], form


OUT_OF_VIEW = {
    "en": (("grey", "pink"), "There is a {} bicycle.", "What colour is the {}?", "bicycle", "bus",
           ("The bus is out of view.", "The bus is hidden by a tree.")),
    "de": (("grau", "rosa"), "Man sieht ein Rad in {}.", "Welche Farbe hat das Fahrzeug: das {}?", "Rad", "Auto",
           ("Das Auto liegt außerhalb des Bildes.",)),
    "fr": (("gris", "rose"), "On voit un vélo {}.", "De quelle couleur est le {} ?", "vélo", "bus",
           ("Le bus est hors champ.", "Le bus n'apparaît pas.")),
    "es": (("gris", "rosa"), "Se ve un patinete {}.", "¿De qué color es el {}?", "patinete", "autobús",
           ("El autobús no aparece.",)),
    "pt": (("cinza", "rosa"), "Há um patinete {}.", "De que cor é o {}?", "patinete", "ônibus",
           ("O ônibus está fora do quadro.",)),
    "ru": (("серый", "розовый"), "Виден {} самокат.", "Какого цвета {}?", "самокат", "автобус",
           ("Автобус остался за кадром.",)),
}  # fmt: skip


@pytest.mark.parametrize("language", OUT_OF_VIEW)
def test_what_there_is_beside_something_out_of_view_is_no_answer(language: str) -> None:
    """Of what is asked for the same sentence chooses its option, and of nothing else, be that out of view or not."""
    options, scene, asks, seen, sought, hidden = OUT_OF_VIEW[language]
    for option in options:
        told = scene.format(option)
        assert chosen(told, *options, question=asks.format(seen)) == option, told
        for text in (told, *(f"{told} {other}" for other in hidden)):
            assert chosen(text, *options, question=asks.format(sought)) is None, text
