"""Options are told by their alphabet's labels as well as by Latin letters, and no word is taken for a label."""

import pytest

from gigavqa.answers.final import parse_answer

OPTIONS = {"A": "rust", "B": "crack", "C": "dent", "D": "none"}
LABELS = {"ru": "АБВГ", "ar": "أبجد", "ko": "가나다라", "ja": "アイウエ", "zh": "甲乙丙丁"}
FORMS = {
    "ru": ("Правильный ответ: {}", "Ответ — ({})", "Ответ: {}) скол", "Верен вариант {}."),
    "ar": ("الجواب: ({})", "الإجابة الصحيحة هي ({})", "الخيار ({})."),
    "ko": ("정답: {}", "정답은 ({})입니다.", "답: ({})"),
    "ja": ("正解: {}", "答えは({})です。", "答え: ({})"),
    "zh": ("答案：{}", "答案是（{}）。", "选（{}）"),
}
CASES = [(language, form, at) for language, forms in FORMS.items() for form in forms for at in range(len(OPTIONS))]


@pytest.mark.parametrize(("language", "form", "at"), CASES)
def test_labels_that_options_carry_stand_for_their_letters(language: str, form: str, at: int) -> None:
    labels = LABELS[language]
    options = {letter: f"{labels[place]}) {text}" for place, (letter, text) in enumerate(OPTIONS.items())}

    assert parse_answer(form.format(labels[at]), options).value == "ABCD"[at]


@pytest.mark.parametrize(("language", "form", "at"), [case for case in CASES if LABELS[case[0]][case[2]] not in "АВ"])
def test_labels_that_look_like_no_latin_letter_stand_for_options(language: str, form: str, at: int) -> None:
    label = LABELS[language][at]

    assert parse_answer(form.format(label), OPTIONS).value == "ABCD"[at]


def test_a_label_that_looks_latin_is_of_the_alphabet_that_the_reply_uses() -> None:
    text = "А) нет.\nБ) кромка ровная, нет.\nВ) да, тонкая линия.\nГ) нет.\n\nПравильный ответ: В"

    assert parse_answer(text, OPTIONS).value == "C"


@pytest.mark.parametrize("text", ["В кадре видна трещина. Ответ: A", "А вот и скол. Б/у деталь. Ответ: A"])
def test_words_of_one_letter_are_no_labels(text: str) -> None:
    assert parse_answer(text, OPTIONS).value == "A"
