"""Replies that were cut off have answered only where they had said so before."""

import pytest

from gigavqa.answers.final import parse_answer
from gigavqa.answers.text import plain
from tests.answers import wordings
from tests.answers.replies import LANGUAGES, OPTIONS, told

ROWS = ("{}. {}", "{}) {}", "({}) {}", "{}: {}", "- {}: {}", "**{}.** {}", "* {} – {}")
"""How a line of a list writes an option."""
LEADS = ("", "Let me go through the options.\n\n", "The question names four places:\n", "画像を見ます。\n")
STOPS = ".!?。！？।؟"
COPULAS = {"ja": "です", "ko": "입니다", "hi": " है"}
"""What ends the sentence behind its value in languages that put the verb last."""


def beginnings(text: str, start: int) -> list[str]:
    """Every beginning of a text that is longer than `start`, and more than a letter."""
    return [text[:end] for end in range(start + 1, len(text)) if len(plain(text[:end])) > 1]


@pytest.mark.parametrize("lead", LEADS)
@pytest.mark.parametrize("row", ROWS)
def test_a_list_of_options_that_breaks_off_answers_nothing(row: str, lead: str) -> None:
    """Wherever it breaks off behind a first word of an option, and whatever stands before it."""
    text = lead + "\n".join(row.format(letter, words) for letter, words in OPTIONS.items())
    first = len(lead) + len(row.format("A", ""))
    alone = len(lead) + len(row.format("A", OPTIONS["A"])) if not lead else 0

    read = {part: parse_answer(part, OPTIONS, cut_off=True).value for part in beginnings(text, first)}

    assert not {part: value for part, value in read.items() if value and len(part.rstrip()) != alone}


def test_a_row_that_repeats_its_option_in_a_sentence_is_no_answer_where_it_breaks_off() -> None:
    """Its words with a few others; with reasons behind them it is one."""
    for letter, words in OPTIONS.items():
        assert parse_answer(f"{letter}. It stands {words}", OPTIONS, cut_off=True).status == "unfinished"
        assert parse_answer(f"{letter}. It stands {words}, as its shadow shows", OPTIONS, cut_off=True).value == letter


@pytest.mark.parametrize("row", ROWS[:4])
def test_an_option_that_is_all_of_a_reply_answers_though_it_was_cut_off(row: str) -> None:
    """Its letter alone, or with all of its words."""
    for letter, words in OPTIONS.items():
        assert parse_answer(row.format(letter, words), OPTIONS, cut_off=True).value == letter
        assert parse_answer(letter, OPTIONS, cut_off=True).value == letter


@pytest.mark.parametrize("form", ["affirm", "conclude"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_conclusion_that_breaks_off_has_not_been_drawn(language: str, form: str) -> None:
    """In any language, wherever its first sentence ends: what follows could deny it, or make it hold on a condition."""
    for reply in told(language, form):
        end = min(at for at, one in enumerate(reply.text) if one in STOPS)
        for part in beginnings(reply.text[:end], reply.text.index(reply.meant) + 1):
            parsed = parse_answer(part, OPTIONS, cut_off=True)
            assert parsed.value is None or parsed.status == "marker", part


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_announcement_that_lacks_but_its_stop_is_made_in_every_language(language: str) -> None:
    """One that closes with its value, or with the verb that ends its sentence."""
    opening = wordings.COURTESIES[language]
    for letter in OPTIONS:
        announced = wordings.SENTENCES[language]["announce"][1].format(x=letter).rstrip(STOPS)
        for text in (announced, announced + COPULAS.get(language, "")):
            for said in (text, f"{opening}\n{text}"):
                assert parse_answer(said, OPTIONS, cut_off=True).value == letter, said


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_conclusion_that_was_drawn_before_a_reply_broke_off_stands(language: str) -> None:
    """Whatever it had begun to say then."""
    begun = wordings.COURTESIES[language].rstrip(STOPS)
    for reply in told(language, "conclude"):
        assert parse_answer(f"{reply.text} {begun}", OPTIONS, cut_off=True).value == reply.meant
