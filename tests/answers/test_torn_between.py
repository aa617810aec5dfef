"""Who is torn between two options announces neither, though the second stands behind the word for an answer."""

import pytest

from gigavqa.answers.final import parse_answer
from tests.answers.replies import LANGUAGES, OPTIONS

NOUNS = {
    "en": "answer {}", "de": "Antwort {}", "fr": "la réponse {}", "es": "la respuesta {}", "pt": "a resposta {}",
    "ru": "ответ {}", "zh": "答案{}", "ja": "答え{}", "ko": "답변 {}", "ar": "الإجابة {}", "hi": "उत्तर {}",
}  # fmt: skip
TORN = {
    "en": ("I cannot settle between {a} and {b}.", "It may be {a} or {b}; both look alike."),
    "de": ("Ich bin hin- und hergerissen zwischen {a} und {b}.", "Es wird {a} oder {b} sein."),
    "fr": ("Mon cœur balance entre {a} et {b}.", "Ce sera {a} ou {b}."),
    "es": ("Vacilo entre {a} y {b}.", "Será {a} o {b}."),
    "pt": ("Oscilo entre {a} e {b}.", "Será {a} ou {b}."),
    "ru": ("Выбор стоит между {a} и {b}.", "Это {a} или {b}."),
    "zh": ("我在{a}和{b}之间摇摆。", "是{a}或{b}。"),
    "ja": ("{a}と{b}の間で揺れています。",),
    "ko": ("{a} 또는 {b}입니다.",),
    "ar": ("أتردد بين {a} و {b}.", "إنها {a} أو {b}."),
    "hi": ("मैं {a} और {b} के बीच उलझा हूँ।", "यह {a} या {b} है।"),
}
PAIRS = (("A", "B"), ("D", "B"), ("B", "C"))


@pytest.mark.parametrize("language", LANGUAGES)
def test_two_options_that_somebody_is_torn_between_are_no_answer(language: str) -> None:
    """Each named with the word for an answer, alone or behind a courtesy."""
    for sentence in TORN[language]:
        for first, second in PAIRS:
            told = sentence.format(a=NOUNS[language].format(first), b=NOUNS[language].format(second))
            for text in (told, f"Bonjour.\n\n{told}", told.replace(f"{first} ", f"**{first}** ")):
                assert parse_answer(text, OPTIONS).value is None, text


@pytest.mark.parametrize(
    "text",
    [
        "Torn between answer {a} and answer {b}, I take answer {b}.",
        "Zwischen Antwort {a} und Antwort {b} wähle ich Antwort {b}.",
        "Entre la réponse {a} et la réponse {b}, je choisis la réponse {b}.",
        "Answer {a} and answer {c} are wrong, and answer {b} is right.",
        "Option {a} is wrong and answer {b} is right.",
        "The wall runs between {a} and {c}. Answer: {b}",
    ],
)
def test_the_one_that_is_taken_in_the_end_is_the_answer(text: str) -> None:
    """Whatever it was weighed against."""
    for first, second in PAIRS:
        other = next(letter for letter in OPTIONS if letter not in (first, second))
        assert parse_answer(text.format(a=first, b=second, c=other), OPTIONS).value == second


@pytest.mark.parametrize("word", ["Скорее", "Вероятнее", "Прежде"])
def test_a_superlative_is_no_total(word: str) -> None:
    """Of "всего" behind a comparative."""
    for first, second in PAIRS:
        text = f"{word} всего, подходит вариант {first} или {second}, но это только догадка."
        assert parse_answer(text, OPTIONS).value is None, text
