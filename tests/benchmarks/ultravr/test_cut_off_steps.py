"""A step's answer that was cut off says what was complete before, in every format, and nothing that was only begun."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from gigavqa.answers.boxes import BoxFrame
from gigavqa.benchmarks.ultravr.answers import read_schema_reply
from gigavqa.benchmarks.ultravr.judging import UltraVRJudge
from gigavqa.benchmarks.ultravr.samples import ReasoningStep, UltraVRSample
from gigavqa.benchmarks.ultravr.step_judge import StepJudge, StepVerdict
from gigavqa.contract.responses import TurnResponse
from gigavqa.evaluation.replies import reply_of
from tests.benchmarks.ultravr.good_records import good_sample
from tests.evaluation.responses import response

BOX, OTHER_BOX = [0.1, 0.12, 0.5, 0.52], [0.6, 0.1, 0.65, 0.125]
VALUES: dict[str, tuple[Any, ...]] = {
    "cctv-comparison S3": (3, 12, 125),
    "cctv-comparison S1": (True, False),
    "cctv-comparison S2": ([], [BOX], [BOX, OTHER_BOX]),
    "cctv-comparison S9": ("2:1", "12:15"),
    "cctv-logic S10": ("upper-left", "tie", "lower-right"),
    "cctv-relation S7": ("front-left", "back-right"),
    "rs-comparison S1": (BOX, OTHER_BOX),
    "wsi-comparison Q1": (["Necrotic area"], ["Tumor-rich region", "Invasive component", "Necrotic area"]),
    "wsi-comparison Q2": ("Yes", "No"),
    "wsi-comparison Q2.1": ([8], [8, 9, 14, 31]),
    "wsi-comparison Q6.3": ("A high-grade pattern", "An in-situ component"),
    "ad-coordinate S7": ("(3, 7)", "(13, 17)"),
}
"""Answers to a step of every format, some of which begin as others do."""
ANSWERS = [(place, value) for place, values in VALUES.items() for value in values]
LISTS = {place for place, values in VALUES.items() if place != "rs-comparison S1" and isinstance(values[0], list)}
CHANGES = (
    ("", "."),
    ("", "\nThis is what 4 parts of the picture show. The others do not."),
    ("", ", or so it seems at first. There are 4 more of them."),
    ("Row 3: 14 of them stand there. Yes, and 5 do not. The answer is ", "."),
    ("I see 9 of them, no more. Final answer: ", "\nThis rests on 4 parts."),
    ("Not the first one. **Answer:** ", "."),
)


def step_at(place: str) -> tuple[UltraVRSample, ReasoningStep]:
    """The step of a good record, "rs-logic S3", and its sample."""
    record, step_id = place.split()
    sample = good_sample(record)
    return sample, next(step for step in sample.steps if step.step_id == step_id)


def texts_of(value: Any) -> list[str]:
    """A value as models write it: as JSON, and a list with commas, line by line and with bullets."""
    if not isinstance(value, list):
        return [value if isinstance(value, str) else {True: "Yes", False: "No"}.get(value, "") or str(value)]
    parts = [part if isinstance(part, str) else json.dumps(part) for part in value]
    lines = ["\n".join(parts), "\n".join(f"- {part}" for part in parts)] if len(parts) > 1 else []
    return [json.dumps(value), json.dumps(value, indent=1), ", ".join(parts) or "[]", *lines]


def replies_of(value: Any) -> Iterator[str]:
    """Ways in which models answer with a value, each of which says nothing else."""
    for told in ({"answer": value}, {"reason": "There are 9 of them, or so.", "answer": value, "sure": True}):
        for indent in (None, 2):
            written = json.dumps(told, indent=indent)
            yield from (
                written,
                f"```json\n{written}\n```\nIt shows 4.",
                f"Here it is:\n{written}\nIt shows 4.",
            )
    for text in texts_of(value):
        yield text
        yield from (f"{before}{text}{behind}" for before, behind in CHANGES)


def reading(verdict: StepVerdict) -> tuple[str, Any]:
    """What an answer was read as."""
    return verdict.status, verdict.value


@pytest.mark.parametrize(("place", "value"), ANSWERS, ids=[f"{place}: {value}" for place, value in ANSWERS])
def test_a_cut_anywhere_credits_what_the_whole_answer_says_or_nothing(place: str, value: Any) -> None:
    """In any wording: no number, text or list that goes on behind the cut. Or what it means, if that is misread."""
    judge = StepJudge(*step_at(place))
    meant = reading(judge.judge(json.dumps({"answer": value})))
    for text in replies_of(value):
        whole = reading(judge.judge(text))
        for cut in range(len(text)):
            verdict = judge.judge(text[:cut], cut_off=True)
            is_read = verdict.status in ("parsed", "blank")
            assert not is_read or reading(verdict) in (whole, meant), (text[:cut], text)


@pytest.mark.parametrize(("place", "value"), ANSWERS, ids=[f"{place}: {value}" for place, value in ANSWERS])
def test_what_is_complete_before_the_cut_is_an_answer(place: str, value: Any) -> None:
    """Closed JSON in every format, and but for lists an announced answer in a sentence or a line of its own."""
    judge = StepJudge(*step_at(place))
    expected = reading(judge.judge(json.dumps({"answer": value})))
    closed = [f'{{"answer": {json.dumps(value)}}}', f"```json\n{json.dumps(value)}\n```", f"{json.dumps(value)}\n\n"]
    announced = [] if place in LISTS else [f"Final answer: {text}\n" for text in texts_of(value)[:1]]
    for text in (*closed, *announced):
        verdict = judge.judge(f"{text}The reason is that 4 of", cut_off=True)
        assert reading(verdict) == expected, text


def schema_replies(sample: UltraVRSample, *, final: str) -> Iterator[str]:
    """Replies to S2 with the truths, written in any layout."""
    truths = {step.step_id: step.ground_truth for step in sample.steps}
    steps = [{"step_id": name, "reason": "It shows 9.", "answer": truth} for name, truth in truths.items()]
    for told in ({**truths, "final_answer": final}, {"steps": steps, "final_answer": final}):
        for indent in (None, 2):
            written = json.dumps(told, indent=indent)
            yield from (written, f"I think of B first.\n```json\n{written}\n```", written.replace('"', "'"))
    said = {'He says "no" to 4': True, **truths}
    yield json.dumps({**said, "final_answer": f'It is "{final}" here'}).replace('\\"', '"')
    yield "\n".join([*(f"{name}: {json.dumps(truth)}" for name, truth in truths.items()), f"Final answer: {final}."])


@pytest.mark.slow
@pytest.mark.parametrize("record", ["cctv-comparison", "cctv-relation", "wsi-comparison"])
def test_a_schema_reply_that_was_cut_off_says_nothing_that_the_whole_one_does_not(record: str) -> None:
    """Neither of a step, nor of the question."""
    sample = good_sample(record)
    for text in schema_replies(sample, final="C"):
        whole = read_schema_reply(text, sample.steps)
        assert set(whole.answers) == {step.step_id for step in sample.steps}, text
        for cut in range(len(text)):
            part = read_schema_reply(text[:cut], sample.steps, cut_off=True)
            assert part.answers.items() <= whole.answers.items(), text[:cut]
            assert part.final in (None, whole.final), text[:cut]


@pytest.mark.parametrize("cut_off", [True, False])
def test_a_reply_to_all_steps_is_cut_off_where_its_tokens_end(cut_off: bool) -> None:
    """The last line is no answer to its step, nor to the question; of a reply that ended by itself it is."""
    sample = good_sample("cctv-comparison")
    turn = TurnResponse(text="S1: yes\nS3: 2", finish_reason="length" if cut_off else "stop")
    reply = reply_of(response("cctv-1", turn.text, protocol="S2", turns=(turn,)))
    parts = {part.name: part.status for part in UltraVRJudge(sample)(reply, BoxFrame()).tell()}
    assert (parts["S1"], parts["S3"]) == ("parsed", "missing" if cut_off else "parsed")
