"""Sets of options: lists of letters lose none, and options by their words count where all of a reply is understood."""

from itertools import combinations

import pytest

from gigavqa.answers.asked import Asked
from gigavqa.answers.letter_sets import parse_letters
from gigavqa.answers.lexicon import by_language

LETTERS = "ABCDEF"
ANIMALS = dict(zip(LETTERS, ("Dog", "Cat", "Horse", "Cow", "Sheep", "Goat"), strict=True))
QUESTION = "Which animals appear in the image?"
SETS = ["".join(one) for size in (1, 2, 3) for one in combinations("ABEF", size)]


def read(text: str, options: dict[str, str] = ANIMALS, question: str = QUESTION) -> str:
    """Return the letters that a reply is read as; empty for none."""
    return "".join(parse_letters(text, options, Asked(question)).letters)


JOINTS = (", ", ",", "; ", " / ", " & ", " + ", "・", "、", " · ", " | ", " ")
FRAMES = (
    "{}",
    "{}.",
    "({})",
    "**{}**",
    "Answer: {}",
    "\\boxed{{{}}}",
    "<answer>{}</answer>",
    "正解は{}です。",
    "Only {}.",
)


@pytest.mark.parametrize("frame", FRAMES)
def test_a_list_of_letters_loses_none(frame: str) -> None:
    for meant in SETS:
        for joint in JOINTS:
            assert read(frame.format(joint.join(meant))) == meant, (frame, joint)
        assert read(frame.format(meant)) == meant, frame


ADDITIONS = {language: ones for language, ones in by_language("addition").items() if language != "ar"}


@pytest.mark.parametrize("language", ADDITIONS)
def test_letters_that_a_word_joins_are_all_read(language: str) -> None:
    for word in ADDITIONS[language]:
        if word in ("nor", "ni", "nem", "noch", "ни", "quanto", "quanto a", "quanto o"):
            continue
        for meant in SETS:
            first, last = meant[:-1], meant[-1]
            text = f"{', '.join(first)} {word} {last}" if first else last
            assert read(text) == meant, text
            assert read(text.lower() if word.isascii() and len(word) > 1 else text) == meant, text


@pytest.mark.parametrize("text", ["a) y e)", "Las correctas son la a), la e).", "Richtig sind a) und e).", "(a), (e)"])
def test_small_letters_with_a_bracket_are_labels(text: str) -> None:
    assert read(text) == "AE"


def test_a_small_letter_that_may_be_a_word_leaves_the_list_unread() -> None:
    assert read("a e d") == ""


EXCEPT = ("All except {}.", "Everything but {}", "Alle außer {}.", "Toutes sauf {}.", "Todas menos {}.",
          "Todas exceto {}.",           "Все, кроме {}.", "除了{}以外都有。", "{}以外すべて", "{}를 제외한 모두",
          "جميعها ما عدا {}", "{} को छोड़कर सभी")  # fmt: skip


@pytest.mark.parametrize("form", EXCEPT)
def test_all_but_some_are_the_others(form: str) -> None:
    for letter in LETTERS:
        assert read(form.format(letter)) == LETTERS.replace(letter, "")


@pytest.mark.parametrize(
    ("text", "meant"), [("A to C", "ABC"), ("A–C", "ABC"), ("A-C and E", "ABCE"), ("A-C-E", "ACE")]
)
def test_a_range_holds_what_is_between(text: str, meant: str) -> None:
    assert read(text) == meant


SERIES = [
    ("Wagon {}", "Which wagons are loaded?", ("Wagons {} and {} are loaded.", "So wagons {} and {}.", "{}, {}")),
    ("Raum {}", "Welche Räume sind besetzt?", ("Die Räume {} und {} sind besetzt.",)),
    ("Vagón {}", "¿Qué vagones están cargados?", ("Los vagones {} y {} están cargados.",)),
    ("Вагон {}", "Какие вагоны загружены?", ("Загружены вагоны {} и {}.",)),
    ("车厢{}", "哪些车厢装了货？", ("车厢{}和{}装了货。",)),
    ("{}号车厢", "哪些车厢装了货？", ("{}号和{}号车厢装了货。",)),
    ("화차 {}", "적재된 화차를 모두 고르시오.", ("화차 {}과 {}이 적재되어 있습니다.",)),
    ("العربة {}", "أي العربات محملة؟", ("العربتان {} و{} محملتان.",)),
    ("डिब्बा {}", "कौन से डिब्बे भरे हैं?", ("डिब्बे {} और {} भरे हैं।",)),
]


@pytest.mark.parametrize(("name", "question", "forms"), SERIES)
def test_options_of_a_series_are_told_by_their_numbers(name: str, question: str, forms: tuple[str, ...]) -> None:
    options = {letter: name.format(at + 1) for at, letter in enumerate("ABCD")}
    for form in forms:
        for one, other in combinations(range(4), 2):
            assert read(form.format(one + 1, other + 1), options, question) == "ABCD"[one] + "ABCD"[other], form


MARKS = (("yes", "no"), ("✓", "✗"), ("true", "false"), ("correct", "incorrect"))
ROWS = (
    "{letter}: {verdict}",
    "- {letter}. {text}: {verdict}",
    "| {letter} | {text} | {verdict} |",
    "{letter} — {verdict}",
)


@pytest.mark.parametrize("marks", MARKS)
@pytest.mark.parametrize("row", ROWS)
def test_rows_mean_the_options_that_they_affirm(row: str, marks: tuple[str, str]) -> None:
    for meant in SETS:
        lines = [row.format(letter=one, text=text, verdict=marks[one not in meant]) for one, text in ANIMALS.items()]
        assert read("\n".join(lines)) == meant


AFFIRMED, DENIED = "The {} and the {} are visible", "the {} and the {} are not"


def test_what_is_denied_is_no_member_unless_it_is_asked_for() -> None:
    text = f"{AFFIRMED.format('dog', 'cat')}; {DENIED.format('horse', 'cow')}."

    assert read(text) == "AB"
    assert read(text, question="Which animals are not visible?") == "CD"


@pytest.mark.parametrize("text", [
    "A dog and a puma are in the barn.", "There is a dog; behind it stands a puma.", "The dog sleeps elsewhere.",
    "The dog, the cat and", "The dog is visible; the cat is not; the horse looks", "A dog might be visible.",
    "Is there a dog?", "The caption mentions a dog.", "A, G", "A, C?", "A, C, and possibly E", "At least A and C.",
])  # fmt: skip
def test_a_set_of_which_a_part_is_not_understood_is_none(text: str) -> None:
    assert read(text) == ""


PARTS = [
    ("en", "Which parts are damaged?", ("saddle", "frame", "chain", "wheel"),
     "The saddle and the frame are intact, while the chain and the wheel are damaged."),
    ("de", "Welche Teile sind beschädigt?", ("Sattel", "Rahmen", "Kette", "Rad"),
     "Sattel und Rahmen sind in Ordnung, Kette und Rad sind beschädigt."),
    ("fr", "Quelles pièces sont abîmées ?", ("selle", "cadre", "chaîne", "roue"),
     "La selle et le cadre sont intacts ; la chaîne et la roue sont abîmées."),
    ("ru", "Какие части повреждены?", ("седло", "рама", "цепь", "колесо"),
     "Седло и рама целы, а цепь и колесо повреждены."),
    ("zh", "哪些部件损坏了？", ("车座", "车架", "链条", "车轮"), "车座和车架完好，链条和车轮损坏了。"),
    ("ja", "損傷している部品はどれですか。", ("サドル", "フレーム", "チェーン", "ホイール"),
     "サドルとフレームは問題なく、チェーンとホイールが損傷しています。"),
    ("ko", "손상된 부품은 무엇입니까?", ("안장", "프레임", "체인", "바퀴"),
     "안장과 프레임은 멀쩡하고, 체인과 바퀴가 손상되었습니다."),
]  # fmt: skip


@pytest.mark.parametrize(("language", "question", "parts", "text"), PARTS)
def test_what_nothing_is_wrong_with_is_no_member(
    language: str, question: str, parts: tuple[str, ...], text: str
) -> None:
    assert read(text, dict(zip("ABCD", parts, strict=True)), question) == "CD"
