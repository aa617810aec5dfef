"""Replies to one's own questions are judged by rules, each type by its own."""

from typing import Any

import pytest

from gigavqa.answers.boxes import UNIT_FRAME
from gigavqa.benchmarks.questions.judging import QuestionJudge
from gigavqa.benchmarks.questions.samples import Question
from gigavqa.contract.responses import TurnResponse
from gigavqa.evaluation.replies import reply_of
from gigavqa.evaluation.verdicts import Verdict
from tests.evaluation.responses import response

ANIMALS = {"A": "cat", "B": "dog", "C": "a red fox"}


def judged(text: str, **fields: Any) -> Verdict:
    """The verdict on a reply to a question with these fields."""
    question = Question.model_validate({"id": "q", "images": ("a.jpg",), "question": "What?", **fields})
    return QuestionJudge(question)(reply_of(response("q", text)), UNIT_FRAME)


@pytest.mark.parametrize(
    ("text", "value", "outcome"),
    [
        ("Final answer: B", "B", "right"),
        ("(b)", "B", "right"),
        ("The answer is A.", "A", "wrong"),
        ("dog", "B", "right"),
        ("It is a dog.", "B", "right"),
        ("Final answer: a red fox", "C", "wrong"),
        ("It is not a dog.", None, "unreadable"),
        ("A or B", None, "unreadable"),
        ("Final answer: not sure", None, "abstained"),
        ("", None, "unreadable"),
    ],
)
def test_a_choice_is_a_letter_or_its_options_own_words(text: str, value: str | None, outcome: str) -> None:
    """Words count as their letter, unless they are denied."""
    verdict = judged(text, kind="choice", options=ANIMALS, answers=("B",))
    assert (verdict.value, verdict.outcome) == (value, outcome)


def test_the_ninth_option_is_not_who_speaks() -> None:
    """ "I" before a word of lower case is the model itself."""
    options = {letter: f"number {at}" for at, letter in enumerate("ABCDEFGHIJ")}
    assert judged("I think it is J.", kind="choice", options=options, answers=("J",)).outcome == "right"
    assert judged("(I)", kind="choice", options=options, answers=("I",)).outcome == "right"


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("Yes.", "right"),
        ("Final answer: yes", "right"),
        ("No, there is none.", "wrong"),
        ("I cannot determine that.", "abstained"),
        ("Perhaps.", "unreadable"),
    ],
)
def test_yes_or_no_is_read_from_words(text: str, outcome: str) -> None:
    """What says neither is unreadable, what says that it cannot be said abstains."""
    assert judged(text, kind="yes_no", answers=("yes",)).outcome == outcome


@pytest.mark.parametrize(
    ("question", "text", "fields", "outcome"),
    [
        ("How many red cars?", "14 cars, 5 of which are red.", {"kind": "number", "answers": ("5",)}, "right"),
        ("How many cars?", "14 cars, 5 of which are red.", {"kind": "number", "answers": ("14",)}, "right"),
        ("How many trucks?", '{"trucks": 12, "cars": 7}', {"kind": "number", "answers": ("12",)}, "right"),
        ("Is there a crane?", "A crane, but no workers.", {"kind": "yes_no", "answers": ("yes",)}, "right"),
        ("Are there workers?", "A crane, but no workers.", {"kind": "yes_no", "answers": ("no",)}, "right"),
        ("Are there trains?", "A crane, but no workers.", {"kind": "yes_no", "answers": ("no",)}, "unreadable"),
    ],
)
def test_a_reply_that_says_several_things_answers_its_question(
    question: str, text: str, fields: dict[str, Any], outcome: str
) -> None:
    """Of each the one that was asked for counts."""
    assert judged(text, question=question, **fields).outcome == outcome


@pytest.mark.parametrize(
    ("text", "tolerance", "outcome"),
    [
        ("Final answer: 12.5", {}, "right"),
        ("There are 12.5 of them.", {}, "right"),
        ("12.4", {}, "wrong"),
        ("12.4", {"tolerance": 0.2}, "right"),
        ("13.1", {"relative_tolerance": 0.05}, "right"),
        ("13.2", {"relative_tolerance": 0.05}, "wrong"),
        ("12.5 %", {}, "right"),
        ("none", {}, "wrong"),
        ("many", {}, "unreadable"),
    ],
)
def test_a_number_is_right_within_its_tolerance(text: str, tolerance: dict[str, float], outcome: str) -> None:
    """Absolute, or as a share of the truth; without one it must be the same number."""
    assert judged(text, kind="number", answers=("12.5",), **tolerance).outcome == outcome


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("Final answer: The Cat.", "right"),
        ("I see fur.\nkitten", "right"),
        ("**Final answer: a kitten**", "right"),
        ("Final answer: dog", "wrong"),
        ("Final answer: cat and dog", "wrong"),
        ("not sure", "abstained"),
    ],
)
def test_a_short_text_is_compared_without_case_articles_and_markup(text: str, outcome: str) -> None:
    """With each of the truths, and as a whole."""
    assert judged(text, kind="text", answers=("cat", "kitten")).outcome == outcome


def test_an_open_answer_is_kept_and_not_scored() -> None:
    """Whoever reads it judges it, whether or not there is a text to compare it with."""
    verdict = judged("A long story.", kind="open", answers=("Another story.",))
    assert (verdict.value, verdict.score, verdict.outcome) == ("A long story.", None, "unscored")


def test_a_choice_without_a_truth_awaits_one() -> None:
    """Its answer is read all the same."""
    verdict = judged("Final answer: B", kind="choice", options=ANIMALS)
    assert (verdict.value, verdict.outcome) == ("B", "unscored")


def test_an_unfinished_thought_is_no_answer() -> None:
    """Whatever the type."""
    for fields in ({"kind": "yes_no", "answers": ("yes",)}, {"kind": "text", "answers": ("cat",)}, {"kind": "open"}):
        assert judged("<think>yes, a cat", **fields).status == "unfinished"


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "text", "answers": ("cat",)},
        {"kind": "choices", "answers": ("A",), "options": ANIMALS},
    ],
    ids=["text", "letters"],
)
def test_an_answer_that_was_cut_off_may_have_gone_on(fields: dict[str, Any]) -> None:
    """`A cat` was the start of `A catfish`, and `A` of `A and C`; what ends as sentences do is whole."""
    question = Question.model_validate({"id": "q", "images": ("a.jpg",), "question": "What?", **fields})
    for text, is_whole in (("Final answer: A", False), ("Final answer: A.", True)):
        turn = TurnResponse(text=text, finish_reason="length")
        verdict = QuestionJudge(question)(reply_of(response("q", text, turns=(turn,))), UNIT_FRAME)
        assert (verdict.status != "unfinished", verdict.value is not None) == (is_whole, is_whole)
