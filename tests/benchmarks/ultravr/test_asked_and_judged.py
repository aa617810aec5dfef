"""What a prompt asks for is what the judge takes: an answer in exactly the form that was asked is judged right."""

import json
from collections.abc import Sequence

import pytest

from gigavqa.benchmarks.ultravr.answers import read_schema_reply
from gigavqa.benchmarks.ultravr.asking import PROTOCOLS, AskingContext
from gigavqa.benchmarks.ultravr.conditions import show_condition
from gigavqa.benchmarks.ultravr.samples import ReasoningStep, UltraVRSample
from gigavqa.benchmarks.ultravr.step_forms import choices_of
from gigavqa.benchmarks.ultravr.step_judge import StepJudge
from gigavqa.benchmarks.ultravr.vocabulary import WSI_OPTIONS
from gigavqa.evaluation.benchmark import Scene
from gigavqa.tiling.geometry import Size
from tests.benchmarks.ultravr.good_records import GOOD, good_sample


def given_answers(sample: UltraVRSample) -> dict[str | None, str | None]:
    """S5's given answers by step id."""
    showing = show_condition(sample, Scene(("tiny/image.png",), lambda _: Size(1000, 600), "0"), "V2")
    return {turn.asks: turn.given for turn in PROTOCOLS["S5"].turns(AskingContext(sample, showing))}


def wrong(sample: UltraVRSample, answers: Sequence[tuple[ReasoningStep, str]]) -> list[str]:
    """Steps whose answer is judged wrong."""
    return [step.step_id for step, raw in answers if not StepJudge(sample, step).judge(raw).correct]


@pytest.mark.parametrize("name", GOOD)
def test_a_given_answer_is_judged_right(name: str) -> None:
    """The form in which S3 and S5 tell the truth is one that a model may imitate."""
    sample = good_sample(name)
    given = given_answers(sample)

    assert wrong(sample, [(step, given[step.step_id] or "") for step in sample.steps]) == []


@pytest.mark.parametrize("name", GOOD)
def test_the_truth_in_the_object_that_s2_asks_for_is_judged_right(name: str) -> None:
    """Every value as JSON, and N/A as a text."""
    sample = good_sample(name)
    truths = {step.step_id: step.ground_truth for step in sample.steps}
    reply = read_schema_reply(json.dumps(truths | {"final_answer": sample.answer}), sample.steps)

    assert (reply.complete, reply.final) == (True, sample.answer)
    assert wrong(sample, [(step, reply.answers[step.step_id]) for step in sample.steps]) == []


@pytest.mark.parametrize("name", GOOD)
def test_another_choice_is_judged_wrong(name: str) -> None:
    """Each listed choice but the true one, quoted as the prompt quotes it."""
    sample = good_sample(name)
    single = [step for step in sample.steps if step.answer_format in {"multiple_choice", "single_choice"}]
    others = [
        (step, f'"{choice}"') for step in single for choice in choices_of(sample, step) if choice != step.ground_truth
    ]

    assert wrong(sample, others) == [step.step_id for step, _ in others]


@pytest.mark.parametrize("step_id", [name for name in WSI_OPTIONS if name.startswith(("Q1", "Q4", "Q5.", "Q6.1"))])
def test_a_list_with_one_choice_too_many_is_judged_wrong(step_id: str) -> None:
    """Multi-select steps ask for exactly the right set."""
    sample = good_sample("wsi-comparison")
    step = next(step for step in sample.steps if step.step_id == step_id)
    truth = step.ground_truth or []
    extra = next(choice for choice in choices_of(sample, step) if choice not in truth)

    assert wrong(sample, [(step, json.dumps([*truth, extra]))]) == [step_id]
