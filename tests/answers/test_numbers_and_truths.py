"""Numbers and truths are read as their sentences mean them, in digits and in words."""

import re

import pytest

from gigavqa.answers.booleans import read_boolean
from gigavqa.answers.normalization import said
from gigavqa.answers.numbers import read_integer, read_number
from tests.answers import wordings
from tests.answers.replies import LANGUAGES


@pytest.mark.parametrize("language", LANGUAGES)
def test_short_truths_are_read(language: str) -> None:
    """Alone, and behind an announcement."""
    for yes, no in wordings.BOOLEANS[language]:
        assert read_boolean(yes).value is True, yes
        assert read_boolean(no).value is False, no


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_count_is_the_total_and_no_part_of_it(language: str) -> None:
    """Whatever its parts are."""
    for sentence in wordings.COUNTS[language]:
        for first, second in ((7, 5), (20, 3), (2, 40)):
            text = sentence.format(n=first + second, a=first, b=second)
            assert read_integer(said(text).text).value == first + second, text


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_count_that_stands_first_decides(language: str) -> None:
    """What is said of a part of it behind is a remark; a total behind, or another count, is none."""
    for sentence in wordings.REMARKS[language]:
        for whole, part in ((7, 5), (20, 3), (12, 2)):
            text = sentence.format(n=whole, a=part)
            assert read_integer(said(text).text).value == whole, text
    assert read_integer("3 birds. 2 birds. 5 in total.").value == 5


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_number_or_truth_that_was_but_mentioned_before_a_reply_broke_off_is_no_answer(language: str) -> None:
    """One that was announced is, and so is one with which the reply opens."""
    unended = wordings.COURTESIES[language].rstrip(".!।！。")
    announced = wordings.SENTENCES[language]["announce"][1].format(x=7)
    counted = f"{wordings.COURTESIES[language]} {wordings.COUNTS[language][0].format(n=7)} {unended}"

    assert read_integer(counted, cut_off=True).status == "unfinished"
    assert read_integer(f"{announced}\n{unended}", cut_off=True).value == 7
    for truth in wordings.BOOLEANS[language][0]:
        assert read_boolean(f"{truth} {unended}", cut_off=True) == read_boolean(truth)
        assert read_boolean(f"{unended}. {truth} {unended}", cut_off=True).value is None


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_bound_is_no_count(language: str) -> None:
    """At least seven are not seven."""
    for bound in wordings.BOUNDS[language]:
        for number in (7, 12, 30):
            assert read_integer(said(bound.format(n=number)).text).value is None, bound


@pytest.mark.parametrize("mark", [",", " ", "\u00a0", "\u202f", "'", "’", "_"])
@pytest.mark.parametrize("number", [1_204, 35_000, 1_000_001])
def test_thousands_are_parted_by_any_mark(number: int, mark: str) -> None:
    """In groups of exactly three."""
    written = f"{number:,}".replace(",", mark)

    assert read_integer(f"There are {written} trees.").value == read_integer(written).value == number


NUMBERS_IN_WORDS = {
    "en": ("twenty-three", "forty two", "ninety-nine", "nineteen"),
    "es": ("veintitrés", "cuarenta y dos", "noventa y nueve", "diecinueve"),
    "de": ("dreiundzwanzig", "zweiundvierzig", "neunundneunzig", "neunzehn"),
    "fr": ("vingt-trois", "quarante-deux", "quatre-vingt-dix-neuf", "dix-neuf"),
    "pt": ("vinte e três", "quarenta e dois", "noventa e nove", "dezenove"),
    "ru": ("двадцать три", "сорок два", "девяносто девять", "девятнадцать"),
}


@pytest.mark.parametrize("language", NUMBERS_IN_WORDS)
@pytest.mark.parametrize("frame", ["{}", "{}.", "Total: {}", "= {} m", "({})"])
def test_a_number_of_two_words_is_no_part_of_it(frame: str, language: str) -> None:
    """Tens with ones."""
    words = NUMBERS_IN_WORDS[language]
    read = [read_integer(frame.format(word)).value for one in words for word in (one, one.capitalize())]
    assert read == [23, 23, 42, 42, 99, 99, 19, 19]


@pytest.mark.parametrize(
    ("text", "number"),
    [("1.2 million people", 1.2e6), ("3 thousand", 3000), ("2 dozen", 24), ("300万", 3e6), ("5千克", 5), ("3만", 3e4)],
)
def test_a_scale_multiplies_its_number(text: str, number: float) -> None:
    """And a unit does not."""
    assert read_number(text).value == number


@pytest.mark.parametrize(
    "counts", [("3 left.", "4 right."), ("I see 5 boats.", "I see 2 piers."), ("3 Autos.", "4 Busse.")]
)
def test_counts_alike_are_no_answer_unless_they_are_summed_up(counts: tuple[str, str]) -> None:
    """The last one is no more than the first."""
    total = sum(int(re.findall(r"\d", count)[0]) for count in counts)

    assert read_integer(" ".join(counts)).status == "ambiguous"
    assert read_integer(f"{' '.join(counts)} {total} things.").value == total
    assert read_integer(f"Total: {total}\n- {counts[0]}\n- {counts[1]}").value == total


@pytest.mark.parametrize(
    "turn", ["{}... actually {}, it is a lamp.", "{}, wait, {}.", "{}. Actually, {}, it is a lamp."]
)
def test_a_truth_that_is_taken_back_at_once_is_the_other(turn: str) -> None:
    """Yes to no, and no to yes."""
    assert read_boolean(turn.format("Yes", "no")).value is False
    assert read_boolean(turn.format("No", "yes")).value is True


def test_an_object_says_the_one_thing_that_is_of_the_kind_asked_for() -> None:
    """Whatever its key; two are ambiguous."""
    assert read_boolean({"anomaly": "no", "why": "all nine match"}).value is False
    assert read_integer({"count": 11, "what": "cars"}).value == 11
    assert read_integer({"cars": 11, "vans": 3}).status == "ambiguous"


WORKED_OUT = (
    ("$4 \\times 6 = 24$ cells, minus 2 that are blank, gives $\\boxed{22}$.", 22),
    ("4 × 6 = 24 cells; two are blank, leaving 22.", 22),
    ("So the speed is 97 km/h. The limit here is 60.", 97),
    ("With r = 1.5 the area is 7.", 7),
    ("The pier is 120 px long, and at 0.25 m per pixel its length works out to 30 m.", 30),
    ("左に2台、右に3台の車があり、合計5台です。", 5),
    ("위쪽에 4개, 아래쪽에 3개가 있어 합계는 7개입니다.", 7),
    ("Its length is 12 m; no, I misread the scale bar: it is 25 m.", 25),
    ("Trois voitures et deux motos, soit cinq véhicules.", 5),
    ("62%", 62),
    ("총 다섯 명이 보입니다.", 5),
    ("In image 12 there are 3 of them; the total is 9.", 9),
)


@pytest.mark.parametrize(("text", "number"), WORKED_OUT)
def test_a_number_is_what_a_text_comes_to(text: str, number: int) -> None:
    """And none that it was worked out of, or is compared with."""
    assert read_integer(said(text).text).value == number


@pytest.mark.parametrize("text", ["答案是：否", "所以答案是:否", "最终答案是：**否**", "답은 '아니요'입니다."])
def test_a_copula_before_a_colon_says_no_yes(text: str) -> None:
    """In Chinese it is the word for yes."""
    assert read_boolean(text).value is False


@pytest.mark.parametrize(
    "text", ["Le rapport vaut 2,4.", "**Ответ:** 2,4", "Also sind es 2,4 m.", "Ergebnis: das ist 2,4."]
)
def test_a_comma_begins_decimals_in_the_languages_that_have_it(text: str) -> None:
    """And parts no two numbers there."""
    assert read_number(text).value == 2.4


def test_decimals_in_words_are_read_whole() -> None:
    """And so are halves, behind a number or its unit."""
    assert read_number("The answer is two point five.").value == 2.5
    for text in ("one and a half metres", "anderthalb Meter", "1 metro y medio"):
        assert read_number(text).value == 1.5


def test_a_frame_or_a_time_is_no_count_beside_one() -> None:
    """Alone it is the number that there is."""
    assert read_integer("In frame 3, at 14:05, 6 people cross.").value == 6
    assert read_integer("It is in row 3.").value == 3


MEASURED = (
    ("two million", 2e6), ("two hundred thousand", 2e5), ("zwei Millionen", 2e6), ("двадцать тысяч", 2e4),
    ("12 Mio.", 12e6), ("1,5 млн", 1.5e6), ("3 lakh", 3e5), ("minus 5 °C", -5), ("moins 5", -5), ("零下5度", -5),
    ("二十三艘船", 23), ("3 hundred thousand", 3e5), ("sept et demi", 7.5), ("три с половиной", 3.5), ("열네 명", 14),
    ("двадцать один", 21), ("a dozen", 12), ("五つです", 5),
)  # fmt: skip


UNREAD = (
    "5k", "2.3M", "cent vingt", "cento e vinte", "trescientos veinte", "quatre cents", "一百二十三艘",
    "three out of five", "0x10", "1h30", "negative five",
)  # fmt: skip


@pytest.mark.parametrize(("text", "number"), MEASURED)
def test_scales_signs_and_compounds_are_of_their_number(text: str, number: float) -> None:
    """In words and beside digits."""
    assert read_number(text).value == number


@pytest.mark.parametrize("text", UNREAD)
def test_a_part_of_a_number_that_is_not_read_is_none(text: str) -> None:
    """Nor is one of its digits."""
    assert read_number(text).status != "parsed"


@pytest.mark.parametrize(
    "text",
    [
        "Sorry, the timestamp is unreadable, so I don't know how many seconds passed between the two events.",
        "The sign says 30. I cannot tell how many cars there are.",
        "The image shows three lanes, but I cannot determine how many vehicles are in the two outer ones.",
        "At least one of the two signs cannot be read, so the number is unknown.",
        "无法判断两个事件之间间隔了多少秒。",
        "Je ne sais pas combien des trois voitures roulent.",
        "1,234",
    ],
)
def test_a_number_that_is_said_not_to_be_known_is_none(text: str) -> None:
    """Nor is one that nothing tells how to read."""
    assert read_number(text).status != "parsed"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("There are 12 cars. I cannot tell their colours.", 12),
        ("I'm not sure, but I count 7.", 7),
        ("En divisant 15 mètres par 6 secondes, on obtient une vitesse moyenne de 2,5 m/s.", 2.5),
        ("Sumando los 0,4 km que faltaban, la distancia total es de 3,6 km.", 3.6),
        ("5.2 ± 0.3 cm", 5.2),
        (".35", 0.35),
        ("المسافة حوالي ٢٫٥ كيلومتر.", 2.5),
        ("4 في الأعلى و2 في الأسفل، فالمجموع 6.", 6),
        ("Ich zähle 9 – nein, 10, denn hinter dem Baum steht noch ein Zelt.", 10),
    ],
)
def test_an_outcome_is_read_whatever_it_is_worked_out_of(text: str, number: float) -> None:
    """However its language writes numbers."""
    assert read_number(text).value == number


def test_a_number_that_stands_alone_is_the_answer_before_its_remarks() -> None:
    """In digits and in words, whatever numbers these name."""
    assert read_number("Three. Two of them stand by the machine; the other one sits against pillar 8.").value == 3
    assert read_number("1.75 m. The door behind has 2.1 m.").value == 1.75


def test_a_text_that_says_yes_and_then_no_is_ambiguous() -> None:
    """Neither takes the other back."""
    assert read_boolean("Yes, he is in the lane. No, he is not in the lane.").status == "ambiguous"
