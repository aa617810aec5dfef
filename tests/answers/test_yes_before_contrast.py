"""A yes that ends its clause before a contrast is the answer, whatever the clause behind it denies."""

import pytest

from gigavqa.answers.booleans import read_boolean
from gigavqa.answers.lexicon import by_language
from tests.answers.replies import LANGUAGES

AGREEING = {
    "en": ("I would say yes", "Most likely yes", "I think yes, a ferry is moored"),
    "de": ("Ich würde sagen, ja", "Meiner Meinung nach ja"),
    "fr": ("Je crois que oui", "Il me semble que oui"),
    "es": ("Diría que sí", "Me parece que sí"),
    "pt": ("Acho que sim", "Eu diria que sim"),
    "ru": ("Полагаю, да", "Скорее да"),
    "zh": ("我觉得有", "我想是的"),
    "ja": ("答えとしては、はい", "おおむね、はい"),
    "ko": ("제 생각에는 네", "제 판단으로는 예"),
    "ar": ("أظن أن الجواب نعم", "في رأيي نعم"),
    "hi": ("मेरा मानना है हाँ", "मुझे लगता है हां"),
}
OF_OTHERS = {
    "en": ("no passengers are on board", "there are no sailors", "its flag is not raised"),
    "de": ("es sind keine Fahrgäste an Bord", "es gibt kein Segel"),
    "fr": ("il n'y a pas de passagers", "aucun drapeau n'est visible"),
    "es": ("no hay pasajeros", "no está iluminado"),
    "pt": ("não há passageiros", "não está iluminado"),
    "ru": ("нет ни одного пассажира", "парус не виден"),
    "zh": ("没有乘客", "没有挂旗"),
    "ja": ("乗客はいません", "旗はありません"),
    "ko": ("승객은 없습니다", "깃발은 없습니다"),
    "ar": ("لا يوجد ركاب", "لا توجد أعلام"),
    "hi": ("कोई यात्री नहीं है", "झंडा नहीं दिखता है"),
}
MAYBE = {
    "en": "Perhaps yes", "de": "Vielleicht ja", "fr": "Peut-être que oui", "es": "Quizás sí", "pt": "Talvez sim",
    "ru": "Возможно, да", "zh": "可能是的", "ja": "もしかすると、はい", "ko": "어쩌면 네",
    "ar": "ربما نعم", "hi": "शायद हाँ",
}  # fmt: skip
CONTRASTS = {
    **{language: by_language("contrast")[language][:2] for language in LANGUAGES},
    "en": ["but", "however"],
    "ja": ["しかし"],
    "ko": ["하지만", "그러나"],
    "ru": ["но", "однако"],
    "zh": ["但是", "不过"],
    "es": ["pero", "sin embargo"],
    "de": ["aber", "jedoch"],
    "ar": ["لكن", "ولكن"],
    "hi": ["लेकिन", "मगर"],
}


def contrasted(language: str, before: str, behind: str) -> list[str]:
    """Write a sentence of two clauses with each of the contrast words, behind a comma and a semicolon."""
    joint = "，" if language == "zh" else "、" if language == "ja" else ", "
    return [f"{before}{mark}{word} {behind}." for word in CONTRASTS[language] for mark in (joint, "; ")]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_yes_before_a_contrast_is_the_answer(language: str) -> None:
    """What is denied behind it is of something else."""
    for before in AGREEING[language]:
        for behind in OF_OTHERS[language]:
            for text in contrasted(language, before, behind):
                for told in (text, f"Harbour scene.\n{text}"):
                    assert read_boolean(told).value is True, told


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_yes_that_is_but_possible_is_never_a_no(language: str) -> None:
    """Nor is it a yes, where it opens no text."""
    for behind in OF_OTHERS[language]:
        for text in contrasted(language, MAYBE[language], behind):
            assert read_boolean(text).value is None, text


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_no_before_a_contrast_is_no_yes(language: str) -> None:
    """Though a yes stands behind it."""
    no = {"ja": "いいえ", "ko": "아니요", "zh": "不是"}.get(language, by_language("no")[language][0])
    yes = by_language("yes_ending")[language][0]
    for text in contrasted(language, no, yes):
        assert read_boolean(text.capitalize()).value is not True, text


@pytest.mark.parametrize(
    "text",
    [
        "At first glance yes, but there is no ferry.",
        "One might say yes, but there is no ferry.",
        "My colleague would answer yes, but no ferry is moored.",
        "I would say yes, but the statement is not true.",
        "I cannot say yes, but no ferry is moored.",
        "I would say yes, but actually no.",
        'The skipper said "yes", but no ferry is moored.',
        "The ferry is on the right, but no sailors are.",
    ],
)
def test_a_yes_that_is_a_first_thought_or_anothers_is_none(text: str) -> None:
    """Nor is one that is denied, or that the clause behind takes back."""
    assert read_boolean(text).value is not True
