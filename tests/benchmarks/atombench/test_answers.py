"""What the reader takes for the answer: of printed cases, of JSON as models write it, of other ways to answer."""

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gigavqa.benchmarks.atombench.answers import read_answer, unwrap_answer
from gigavqa.benchmarks.atombench.judging import outcome_of, points_of
from gigavqa.benchmarks.atombench.samples import LETTERS

CASES: list[dict[str, Any]] = tomllib.loads((Path(__file__).parent / "printed_answers.toml").read_text())["case"]
OPTIONS = {
    "A": "Blue plates",
    "B": "Yellow plates",
    "C": "There is no such plate",
    "D": "White plates",
}

FORMS: dict[str, Callable[[str], str]] = {
    "as printed": str,
    "an object": lambda said: json.dumps({"answer": said}),
    "fenced": lambda said: f"```json\n{json.dumps({'answer': said}, indent=1, ensure_ascii=False)}\n```",
    "the misprint": lambda said: f'["answer": {json.dumps(said)} }}]',
    "the misprint with bare quotes": lambda said: f'["answer": "{said}" }}]',
    "bare quotes": lambda said: f'{{"answer": "{said}"}}',
    "never closed": lambda said: f'{{"answer": "{said}',
    "fenced, never closed": lambda said: f"```json\n{json.dumps({'answer': said})[:-2]}",
    "behind prose": lambda said: f"Let me look at it.\n\n{json.dumps({'answer': said})}",
    "in a list": lambda said: json.dumps([{"answer": said}]),
    "behind other keys": lambda said: json.dumps({"analysis": "Option A is tempting.", "answer": said}),
    "in parts": lambda said: json.dumps({"answer": {"analysis": said}}),
    "behind thinking": lambda said: f"<think>The answer is E.</think>{json.dumps({'answer': said})}",
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"figure {case['figure']}")
def test_the_printed_answers_are_read_as_the_paper_took_them(case: dict[str, Any], form: str) -> None:
    """In every form that the prompt invites; all of them are wrong, or name no option at all."""
    options = dict(zip(LETTERS, case["options"], strict=False))
    found = read_answer(FORMS[form](case["said"]), options)
    assert (found.value or "") == case["reads"], found
    assert outcome_of(found, case["truth"]) == ("wrong" if case["reads"] else "unanswered")


@pytest.mark.parametrize(
    ("raw", "value", "status"),
    [
        ("B", "B", "last"),
        ('{"answer": "B"}', "B", "last"),
        ('{"answer": "(B)"}', "B", "last"),
        ('{"Answer": "It is option D."}', "D", "last"),
        ('{"answer": ["The plates are yellow.", "B"]}', "B", "last"),
        ("{'answer': 'It must be (A)'}", "A", "last"),
        ('{"answer": "Yellow plates"}', "B", "option_text"),
        ("The cars have yellow plates.", "B", "option_text"),
        ('{"answer": "A or B"}', None, "ambiguous"),
        ('{"answer": "No option is correct: there is no plate."}', None, "none"),
        ('{"answer": "It cannot be determined from the image."}', None, "abstained"),
        ('{"answer": ""}', None, "none"),
        ("", None, "none"),
        ("<think>It could be A, or B", None, "unfinished"),
        ('{"answer": "B. On these plates ... While C notes the format, D is wrong."}', "B", "last"),
        ("A. Blue plates\nB. Yellow plates\nC. There is no such plate\nD. White plates", None, "ambiguous"),
        ("A. The first plate is blurred. Therefore, D is the best.", "D", "last"),
        ('{"answer": "A"}\nOn second thoughts, the answer is B.', "B", "marker"),
    ],
)  # fmt: skip
def test_other_ways_to_answer(raw: str, value: str | None, status: str) -> None:
    """A letter, an option's own words, several options, none, and thinking that never ended."""
    found = read_answer(raw, OPTIONS)
    assert (found.value, found.status) == (value, status)


def test_a_text_that_goes_on_behind_its_object_is_read_whole() -> None:
    """Only an object that a text is or ends with is unwrapped."""
    assert unwrap_answer('{"answer": "A"} ```') == "A"
    assert unwrap_answer('{"answer": "A"} That is all.') is None
    assert unwrap_answer('{"reason": "A"}') is None


def test_points_make_guessing_worth_nothing() -> None:
    """One for right, a share of it lost for wrong, nothing for no answer; over all options they add up to 0."""
    for number in range(2, 7):
        assert points_of("right", number) + (number - 1) * points_of("wrong", number) == pytest.approx(0)
        assert points_of("unanswered", number) == 0
