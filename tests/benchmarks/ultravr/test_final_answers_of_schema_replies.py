"""Which final answer a reply to S2 gives: its own, or what stands beside its steps, and never what a step says."""

import pytest

from gigavqa.answers.boxes import BoxFrame
from gigavqa.benchmarks.ultravr.judging import UltraVRJudge
from gigavqa.evaluation.replies import reply_of
from gigavqa.evaluation.verdicts import Verdict
from tests.benchmarks.ultravr.good_records import good_sample
from tests.evaluation.responses import response

FINAL_ANSWERS = {
    '{"S1": true, "S3": 2, "final_answer": "C"}': "C",
    'The answer is A.\n{"S1": true, "S3": 2, "final_answer": "C"}': "C",
    '{"S1": true, "S3": "B"}': None,
    '{"S1": "I cannot see it", "S3": 2}': None,
    '{"S1": true, "S3": "B", "final_answer": ""}': None,
    '{"S1": true, "S3": "B", "final_answer": null}': None,
    '{"S1": true, "S3": "B", "final_answer": []}': None,
    '{"S1": "", "S3": "", "final_answer": null}': None,
    '{"S1": true, "S3": "B", "final_answer": "C': None,
    '{"S1": true, "S3": "the answer is B': None,
    '{"S1": true, "S3": "B"}\nFinal answer: C': "C",
    '{"S1": true, "S3": "B", "final_answer": null}\nFinal answer: C': "C",
    'I choose C.\n{"S1": "A", "S3": "B"}': "C",
    '```json\n{"S1": true,\n"S3": "B",\n```\nThe final answer is C.': "C",
    '{"S1": true,\n"S3": 2\nThe final answer is C.': "C",
    "S1: yes\nS3: the answer is B": None,
    "S1: yes\nS3: I cannot tell\n": None,
    "S1: yes\nS3: B\nFinal answer: C": "C",
    "The final answer is C.": "C",
    '{"choice": "C"}': "C",
    "": None,
}


def judged(text: str) -> Verdict:
    """What is said of a reply to S2."""
    return UltraVRJudge(good_sample("cctv-comparison"))(reply_of(response("cctv-1", text, protocol="S2")), BoxFrame())


@pytest.mark.parametrize(("text", "letter"), FINAL_ANSWERS.items(), ids=[repr(text) for text in FINAL_ANSWERS])
def test_steps_decide_nothing(text: str, letter: str | None) -> None:
    """A step's value or a step's refusal is neither the final answer nor an abstention."""
    verdict = judged(text)

    assert (verdict.value, verdict.status == "abstained") == (letter, False)


def test_a_refusal_beside_the_steps_is_an_abstention() -> None:
    """What is said of the question itself counts."""
    text = '{"S1": true, "S3": "B"}\nThe question cannot be answered from this image.'

    assert judged(text).status == "abstained"


def test_thinking_that_never_ended_stays_unfinished() -> None:
    """There is nothing beside the steps that could be read."""
    text = '<think>{"S1": true, "final_answer": "B"}'

    assert judged(text).status == "unfinished"
