"""Raw step answers of every format, and what they are worth."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gigavqa.answers.boxes import UNIT_FRAME, BoxFrame
from gigavqa.answers.matching import BoxCorners, iou, matched
from gigavqa.benchmarks.ultravr.errors import StepTruthInvalidError, StepUnknownError
from gigavqa.benchmarks.ultravr.samples import ReasoningStep, UltraVRSample
from gigavqa.benchmarks.ultravr.step_judge import StepJudge, StepVerdict
from gigavqa.tiling.geometry import Size
from tests.benchmarks.ultravr.good_records import GOOD, good_record, good_sample, sample_from, step_of

CASES = [json.loads(line) for line in (Path(__file__).parent / "step_answers.jsonl").read_text().splitlines()]


def verdict_on(place: str, raw: str | None, frame: BoxFrame = UNIT_FRAME) -> StepVerdict:
    """Judge an answer to the step of a good record, "rs-logic S3"."""
    record, step_id = place.split()
    sample = good_sample(record)
    return StepJudge(sample, step_named(sample, step_id)).judge(raw, frame)


def step_named(sample: UltraVRSample, step_id: str) -> ReasoningStep:
    """Return a sample's step."""
    return next(step for step in sample.steps if step.step_id == step_id)


def changed(record: str, step_id: str, /, **fields: Any) -> tuple[UltraVRSample, ReasoningStep]:
    """Return a good sample with fields of one step changed, and that step."""
    changes = good_record(record)
    step_of(changes, step_id).update(fields)
    sample = sample_from(changes)
    return sample, step_named(sample, fields.get("step_id", step_id))


@pytest.mark.parametrize("joint", ["+", " + "])
def test_a_sum_and_nothing_else_is_the_number_that_it_makes(joint: str) -> None:
    """Of any terms; one of two, or beside a number that the text says itself, is not worked out."""
    step = next(
        f"{name} {one.step_id}" for name in GOOD for one in good_sample(name).steps if one.answer_format == "integer"
    )
    for terms in ((2, 1), (10, 4, 3), (0, 7)):
        assert verdict_on(step, joint.join(map(str, terms))).value == sum(terms)
    assert verdict_on(step, f"2{joint}1 = 4").value == 4
    for unsure in (f"2{joint}1 or 4", f"2{joint}1 or 2{joint}2"):
        assert verdict_on(step, unsure).value is None


@pytest.mark.parametrize("case", CASES, ids=[f"{case['step']}: {case['raw']}" for case in CASES])
def test_an_answer_is_read_and_judged(case: dict[str, Any]) -> None:
    """Status, verdict, and F1 for lists."""
    verdict = verdict_on(case["step"], case["raw"])

    assert (verdict.status, verdict.correct) == (case["status"], case["correct"])
    assert verdict.f1 == (pytest.approx(case["f1"], abs=1e-4) if "f1" in case else None)
    if "value" in case:
        assert verdict.value == case["value"]


@pytest.mark.parametrize("record", GOOD)
def test_the_ground_truth_is_the_right_answer_to_every_step(record: str) -> None:
    """As a model would write it: texts as they are, all else as JSON."""
    sample = good_sample(record)
    for step in sample.steps:
        raw = step.ground_truth if isinstance(step.ground_truth, str) else json.dumps(step.ground_truth)
        assert StepJudge(sample, step).judge(raw).correct, step


@pytest.mark.parametrize(
    ("question", "raw", "value"),
    [
        ("How many red cars are in the image?", "14 cars, 5 of which are red.", 5),
        ("How many cars are in the image?", "14 cars, 5 of which are red.", 14),
        ("How many trucks are in the image?", "I count 12 trucks and 7 cars.", 12),
        ("How many buses are in the image?", "I count 12 trucks and 7 cars.", None),
    ],
)
def test_of_several_counts_that_of_the_question_is_read(question: str, raw: str, value: int | None) -> None:
    """And none where each is of something else."""
    step = {"question": question, "answer_format": "integer", "ground_truth": 5, "options": None}
    assert StepJudge(*changed("rs-logic", "S3", **step)).judge(raw).value == value


@pytest.mark.parametrize("null", ["null", "None", "N/A", "not applicable"])
def test_null_is_a_legal_truth(null: str) -> None:
    """Where an object is missing, its box is null; a box instead is wrong."""
    sample, step = changed("rs-relation", "S4", ground_truth=None)

    assert StepJudge(sample, step).judge(null).correct
    assert not StepJudge(sample, step).judge("[0.1, 0.1, 0.2, 0.2]").correct


@pytest.mark.parametrize(
    "nothing", ["", "  \n", '""', "```\n```", "\\boxed{}", "**", ".", "<think>hm</think>", '{"answer": ""}']
)
@pytest.mark.parametrize(("record", "step_id", "truth"), [("rs-relation", "S4", None), ("rs-logic", "S3", [])])
def test_an_empty_text_is_never_credited(record: str, step_id: str, truth: Any, nothing: str) -> None:
    """Who says nothing did not say that there is nothing: null and the empty list are answers that must be written."""
    sample, step = changed(record, step_id, ground_truth=truth)

    verdict = StepJudge(sample, step).judge(nothing)

    assert (verdict.status, verdict.correct) == ("missing", False)


@pytest.mark.parametrize("said", ["[]", "**[]**", "[ ]", "null", "None", "N/A"])
def test_an_empty_list_that_is_said_is_an_answer(said: str) -> None:
    """Where nothing is to be found, saying so is right."""
    sample, step = changed("rs-logic", "S3", ground_truth=[])

    assert StepJudge(sample, step).judge(said).correct


def test_boxes_in_thousandths_are_converted() -> None:
    """[50, 50, 400, 400] of a family that counts to 1000 is [0.05, 0.05, 0.4, 0.4], and recorded as converted."""
    verdict = verdict_on("rs-comparison S1", "[50, 50, 400, 400]", BoxFrame("thousand"))

    assert (verdict.value, verdict.correct, verdict.converted) == ((0.05, 0.05, 0.4, 0.4), True, True)


def test_boxes_in_pixels_of_the_raster_are_converted() -> None:
    """(100, 50) to (800, 400) of 2000 x 1000 pixels."""
    frame = BoxFrame("pixels", Size(2000, 1000))
    verdict = verdict_on("rs-comparison S1", "<box>(100,50),(800,400)</box>", frame)

    assert (verdict.value, verdict.correct, verdict.converted) == ((0.05, 0.05, 0.4, 0.4), True, True)


def test_boxes_as_they_were_asked_for_are_not_converted() -> None:
    """Fractions stay fractions, whatever the family usually writes."""
    assert not verdict_on("rs-comparison S1", "[0.05, 0.05, 0.4, 0.4]", BoxFrame("thousand")).converted


def test_a_box_counts_from_an_iou_of_one_half() -> None:
    """[0, 0, 1, 0.5] and [0, 0, 1, 1] share exactly one half; a little less does not count."""
    sample, step = changed("rs-comparison", "S1", ground_truth=[0, 0, 1, 1])

    assert StepJudge(sample, step).judge("[0, 0, 1, 0.5]").correct
    assert not StepJudge(sample, step).judge("[0, 0, 1, 0.49]").correct


def test_a_matching_is_the_largest_one() -> None:
    """The first box lies near both others, the second near one: taking the nearest first would match only one."""
    wide, left, right = (0.0, 0.0, 1.0, 1.0), (0.0, 0.0, 0.7, 1.0), (0.25, 0.0, 1.0, 1.0)
    near_left: BoxCorners = (0.0, 0.0, 0.6, 1.0)

    assert [iou(wide, left) >= 0.5, iou(wide, right) >= 0.5] == [True, True]
    assert [iou(near_left, left) >= 0.5, iou(near_left, right) >= 0.5] == [True, False]
    assert matched([wide, near_left], [left, right]) == 2


def test_variants_of_the_annotation_stand_for_the_answer() -> None:
    """A record may name other spellings of an answer."""
    sample, step = changed("cctv-relation", "S5", variants={"a_is_behind_b": ["Person B"]})

    assert StepJudge(sample, step).judge("Person B.").correct


def test_a_multi_select_truth_may_be_a_text() -> None:
    """As some annotations have it: choices between commas."""
    sample, step = changed("wsi-comparison", "Q4", ground_truth="Nuclear atypia, Mitoses")

    assert StepJudge(sample, step).judge('["Mitoses", "Nuclear atypia"]').correct


def test_a_truth_that_does_not_fit_its_format_is_named() -> None:
    """Sample, step, format and what stands there."""
    sample, step = changed("cctv-comparison", "S3", ground_truth="many")

    with pytest.raises(StepTruthInvalidError, match=r"'cctv-comparison'.*'S3' is no integer: 'many'"):
        StepJudge(sample, step).judge("2")


def test_a_step_outside_the_schema_is_named() -> None:
    """Sample and step."""
    sample, step = changed("rs-logic", "S5", step_id="S6")

    with pytest.raises(StepUnknownError, match=r"'rs-logic'.*'S6'"):
        StepJudge(sample, step).judge("yes")


DIGITS = "9" * 5000
LOOPS = (
    "[" * 5000,
    "{" * 5000,
    '{"a":' * 5000,
    DIGITS,
    f"{DIGITS}:77",
    "[1e999, 0, 1, 1]",
    "[NaN, 0, 1, 1]",
    "1e999",
    "-",
)
EVERY_STEP = [(sample, step) for name in GOOD for sample in [good_sample(name)] for step in sample.steps]
EVERY_FORMAT = list({step.answer_format: (sample, step) for sample, step in EVERY_STEP}.values())


@pytest.mark.parametrize("raw", LOOPS, ids=[raw[:12] for raw in LOOPS])
def test_degenerate_answers_are_wrong_and_break_nothing(raw: str) -> None:
    """What models write when they fall into loops."""
    for sample, step in EVERY_FORMAT:
        assert not StepJudge(sample, step).judge(raw).correct
        assert not StepJudge(sample, step).judge(raw, cut_off=True).correct


@settings(deadline=None, max_examples=50)
@given(raw=st.text("0123456789[]{}(),.:\"'-= \nabcxyQSNo/\\", max_size=60))
def test_no_text_breaks_a_reader(raw: str) -> None:
    """A step of every format judges any text."""
    for sample, step in EVERY_FORMAT:
        StepJudge(sample, step).judge(raw)
        StepJudge(sample, step).judge(raw, cut_off=True)
