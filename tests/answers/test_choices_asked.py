"""Of several choices that a reply states, those are read that it states of what its question asks for."""

import pytest

from gigavqa.answers.answer_space import AnswerSpace
from gigavqa.answers.asked import asked_of
from gigavqa.answers.choices import read_choice
from gigavqa.answers.several_choices import read_choices

TEAMS = AnswerSpace(["security", "maintenance", "cleaning"], {})
QUESTION = "Which team does the man on the ladder work for?"
STATED = "The man on the ladder wears the jacket of {}"
OTHERS = (
    "{one}, whereas the two below belong to {other}.",
    "{one}; the woman at the gate is from {other}.",
    "{one}, while the van belongs to {other}.",
    "{one}. The woman at the gate is from {other}.",
)


@pytest.mark.parametrize("form", OTHERS)
def test_a_choice_that_is_stated_of_something_else_is_not_taken(form: str) -> None:
    text = form.format(one=STATED.format("maintenance"), other="security")

    assert read_choice(text, TEAMS, asked_of(QUESTION)).value == "maintenance"


def test_an_announcement_decides_before_what_is_stated() -> None:
    text = f"{STATED.format('maintenance')}, whereas the two below belong to security.\nAnswer: security"

    assert read_choice(text, TEAMS, asked_of(QUESTION)).value == "security"


def test_what_only_may_be_is_not_stated() -> None:
    text = "The man on the ladder might work for maintenance; the two below belong to security."

    assert read_choice(text, TEAMS, asked_of(QUESTION)) == read_choice(text, TEAMS)


LINES = [
    ("en", "Which lines of the chart rise?", ["red", "blue", "green", "grey"],
     "Not all: red falls, while blue and green rise.", {"blue", "green"}),
    ("de", "Welche Linien steigen?", ["rot", "blau", "grün", "grau"],
     "Grau bleibt gleich; blau und grün steigen.", {"blau", "grün"}),
    ("ru", "Какие линии растут?", ["красная", "синяя", "зелёная", "серая"],
     "Не все: красная падает, а синяя и зелёная растут.", {"синяя", "зелёная"}),
]  # fmt: skip


@pytest.mark.parametrize(("language", "question", "choices", "text", "meant"), LINES)
def test_only_the_choices_of_the_clause_that_tells_what_was_asked_are_listed(
    language: str, question: str, choices: list[str], text: str, meant: set[str]
) -> None:
    assert set(read_choices(text, AnswerSpace(choices, {}), asked_of(question)).value) == meant


CONCLUDED = [
    ("en", ["rust", "crack", "dent"], "- rust: present\n- crack: no crack\n- dent: present\n\nSo the part shows {}.",
     "rust and a dent"),
    ("de", ["Rost", "Riss", "Delle"], "- Rost: vorhanden\n- Riss: kein Riss\n- Delle: vorhanden\n\nEs zeigt also {}.",
     "Rost und eine Delle"),
    ("ar", ["كوب", "هاتف", "كتاب"], "- كوب: موجود\n- هاتف: موجود\n- كتاب: ليس هنا\n\nإذن الأشياء هي: {}.", "كوب، هاتف"),
]  # fmt: skip


@pytest.mark.parametrize(("language", "choices", "text", "listed"), CONCLUDED)
def test_a_conclusion_lists_what_counts_of_all_that_were_gone_through(
    language: str, choices: list[str], text: str, listed: str
) -> None:
    meant = {choice for choice in choices if choice in listed}

    assert set(read_choices(text.format(listed), AnswerSpace(choices, {})).value) == meant
