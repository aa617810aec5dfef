"""Checklist of whole-slide imaging: the questions Q1 to Q6.3 (appendix F.3)."""

from collections.abc import Iterator
from typing import Any

from gigavqa.benchmarks.ultravr.checklists.common import truths
from gigavqa.benchmarks.ultravr.samples import ReasoningStep, UltraVRSample
from gigavqa.benchmarks.ultravr.vocabulary import WSI_OPTIONS

_BLANK_VALUES: tuple[Any, ...] = (None, "", [], "N/A")
_GATES = {"Q2": ("Q2.1", "Q3", "Q4"), "Q5": ("Q5.1", "Q5.2")}
"""Steps that are left blank when the answer to a question is No."""
_MOST_FEATURES = 5


def check_slide(sample: UltraVRSample) -> Iterator[str]:
    """Answers come from the option lists, ROIs from 1 to 36, and blanks stand exactly where a gate says No."""
    truth = truths(sample)
    closed = {step_id for gate, gated in _GATES.items() if truth[gate] == "No" for step_id in gated}
    for step in sample.steps:
        blank = step.ground_truth in _BLANK_VALUES
        if blank != (step.step_id in closed):
            yield f"{step.step_id} must be {'answered' if blank else 'blank'}, as its gate question says"
        elif not blank:
            yield from _check_step(step)
    if isinstance(truth["Q4"], list) and len(truth["Q4"]) > _MOST_FEATURES:
        yield f"Q4 names {len(truth['Q4'])} features, but at most {_MOST_FEATURES} are allowed"
    yield from _check_evidence(sample, truth["Q2.1"])


def _check_step(step: ReasoningStep) -> Iterator[str]:
    allowed = step.options or WSI_OPTIONS.get(step.step_id, ())
    if step.answer_format == "roi_list":
        yield from _check_rois(step)
    elif step.answer_format == "single_choice" and step.ground_truth not in allowed:
        yield f"{step.step_id} is {step.ground_truth!r}, which is none of its options"
    elif step.answer_format == "multi_select":
        if not isinstance(step.ground_truth, list):
            yield f"{step.step_id} must be a list of its options"
        elif unknown := [choice for choice in step.ground_truth if choice not in allowed]:
            yield f"{step.step_id} names {unknown[0]!r}, which is none of its options"
    elif step.answer_format == "short_text" and not isinstance(step.ground_truth, str):
        yield f"{step.step_id} must be a text"


def _check_rois(step: ReasoningStep) -> Iterator[str]:
    rois = step.ground_truth
    if not isinstance(rois, list) or not all(type(roi) is int and 1 <= roi <= 36 for roi in rois):
        yield f"{step.step_id} must be a list of integers from 1 to 36, not {rois!r}"
    elif len(set(rois)) != len(rois):
        yield f"{step.step_id} lists a region twice"


def _check_evidence(sample: UltraVRSample, rois: Any) -> Iterator[str]:
    annotated = sample.evidence.rois if sample.evidence else ()
    if annotated and isinstance(rois, list) and not set(rois) <= set(annotated):
        yield f"Q2.1 selects regions {rois} that the evidence {list(annotated)} lacks"
