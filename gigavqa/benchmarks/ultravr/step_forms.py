"""In which form each step's answer is asked for, by its answer format (appendix F).

A form never depends on a step's ground truth: what may be answered with null follows from the schema alone.
"""

import json
from typing import Any

from pydantic import JsonValue

from gigavqa.answers.coordinates import format_coordinate, read_coordinate
from gigavqa.benchmarks.ultravr.prompts import read_texts
from gigavqa.benchmarks.ultravr.samples import AnswerFormat, ReasoningStep, UltraVRSample
from gigavqa.benchmarks.ultravr.schemas import NULLABLE
from gigavqa.benchmarks.ultravr.vocabulary import STEP_CHOICES, WSI_OPTIONS
from gigavqa.evaluation.closing_turns import ClosingForm, object_form

_TEXTS = read_texts("forms")
_TRAJECTORY = read_texts("s3")
NOT_APPLICABLE = {False: "null", True: "N/A"}
"""How a step that does not apply is answered, by whether the sample is of WSI, whose questions say "N/A"."""

_BOXES: frozenset[AnswerFormat] = frozenset(
    ["bbox_coordinates", "bbox_coordinates_normalized", "bbox_coordinates_list"]
)
_CHOICES: frozenset[AnswerFormat] = frozenset(["multiple_choice", "single_choice", "multi_select", "short_text"])
_RATIO = ("cctv", "comparison", "S9")
_ORDERING = ("cctv", "comparison", "S10")


def choices_of(sample: UltraVRSample, step: ReasoningStep) -> tuple[str, ...]:
    """Return the texts that a step may be answered with; empty where its answers are not listed.

    The record's own options win over the fixed answer spaces of appendix F.
    """
    if step.answer_format not in _CHOICES:
        return ()
    if step.options:
        return step.options
    if sample.domain == "wsi":
        return WSI_OPTIONS.get(step.step_id, ())
    return STEP_CHOICES.get((sample.domain, sample.category), {}).get(step.step_id, ())


def answer_form_of(sample: UltraVRSample, step: ReasoningStep) -> str:
    """Say in which form a step is to be answered, as the end of a sentence that begins "Answer with"."""
    form = _form(sample, step)
    if step.step_id in NULLABLE.get((sample.domain, sample.category), frozenset()):
        form += _TEXTS["or_not"].format(nothing=NOT_APPLICABLE[sample.domain == "wsi"])
    return form


def step_label(step: ReasoningStep) -> str:
    """Return how other steps' questions call a step: "Step 5" for S5, "Q2.1" as it is."""
    number = step.step_id[1:]
    return f"Step {number}" if step.step_id[:1] == "S" and number.isdecimal() else step.step_id


def box_note(sample: UltraVRSample) -> str:
    """Say how boxes are written; empty for a sample without a step that asks for one."""
    asked = any(step.answer_format in _BOXES for step in sample.steps)
    return _TEXTS["box_note"] if asked else ""


def _form(sample: UltraVRSample, step: ReasoningStep) -> str:
    place, choices = (sample.domain, sample.category, step.step_id), choices_of(sample, step)
    if place == _RATIO and not choices:
        return _TEXTS["ratio"]
    if not choices:
        return _TEXTS[step.answer_format]
    name = "ordering" if place == _ORDERING else f"{step.answer_format}_of"
    return _TEXTS[name].format(choices=", ".join(f'"{choice}"' for choice in choices))


def format_truth(sample: UltraVRSample, step: ReasoningStep) -> str:
    """Write a step's ground truth in the form that `answer_form_of` asks for: texts as they are, all else as JSON."""
    truth = step.ground_truth
    if truth is None:
        return NOT_APPLICABLE[sample.domain == "wsi"]
    return truth if isinstance(truth, str) else json.dumps(truth, ensure_ascii=False)


def write_trajectory(sample: UltraVRSample) -> str:
    """Tell a sample's whole trajectory: each step's question and true answer."""
    return "\n".join(_write_step(sample, step) for step in sample.steps)


def _write_step(sample: UltraVRSample, step: ReasoningStep) -> str:
    return _TRAJECTORY["step"].format(
        label=step_label(step), question=step.question.strip(), answer=format_truth(sample, step)
    )


def cell_form(sample: UltraVRSample) -> ClosingForm:
    """Return a cell as an object with its row and its column, or with null for both."""
    side: dict[str, JsonValue] = {"type": ["integer", "null"]}
    return object_form(
        "the row and the column of your final answer",
        {"row": side, "column": side},
        _cell,
        lambda cell: cell == sample.answer,
    )


def _cell(said: Any) -> str | None:
    if said == {"row": None, "column": None}:
        return None
    if not isinstance(said, dict) or (cell := read_coordinate(said)) is None:
        raise ValueError(f"{said!r} is no cell")
    return format_coordinate(cell)
