"""The answers of the diagnostic workflow Q1 to Q6.3 of a slide: an expert's, or a preset for what is asked."""

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from gigavqa.benchmarks.ultravr.schemas import WSI_FORMATS
from gigavqa.benchmarks.ultravr.vocabulary import WSI_OPTIONS
from gigavqa.construction.annotations import AttributeValue

SEPARATOR = ";"
"""Between the choices of one step, where a table's field holds several."""
ROI_STEP, _CRITERIA = "Q2.1", "Q5.1"
_PLAIN = "0"
_MOST_FEATURES = 5
_COMPONENTS = {"An invasive component": "invasive", "An in-situ component": "in_situ"}
_GATES = {"Q2": (ROI_STEP, "Q3", "Q4"), "Q5": (_CRITERIA, "Q5.2")}
"""Steps that are answered where the answer to a question is Yes, and blank where it is No."""


def preset_workflow(about: str, value: int, rois: Sequence[int]) -> dict[str, Any]:
    """Return the answers by step for a finding of a value (0 the plainer, 1 the other), looked into in cells `rois`."""
    presets = _presets()[about]
    found = {**presets[_PLAIN], **presets.get(str(value), {})}
    asked: dict[str, Any] = {"Q2": "Yes", ROI_STEP: list(rois), "Q5": "Yes" if _CRITERIA in found else "No"}
    return {step: {**found, **asked}.get(step) for step in WSI_FORMATS}


def contradicts(steps: Mapping[str, Any], findings: Mapping[str, int]) -> bool:
    """Return whether a preset tells of a component that a slide is known not to have."""
    named = _COMPONENTS.get(str(steps["Q6.3"]), "")
    return findings.get(named) == 0


@cache
def _presets() -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def step_label(category: str, step: str) -> str:
    """Return the label of a slide that holds what an expert answered to a step of a category."""
    return f"{category}/{step}"


def expert_workflow(labels: Mapping[str, AttributeValue], category: str, rois: Sequence[int]) -> dict[str, Any] | None:
    """Return what an expert answered, in the cells `rois` where none are named; None where nobody did, or not to all.

    A step behind a No is blank, whatever stands there.
    """
    texts = {step: str(labels.get(step_label(category, step), "")).strip() for step in WSI_FORMATS}
    if not any(texts.values()):
        return None
    if texts["Q2"] == "Yes" and not texts[ROI_STEP]:
        texts[ROI_STEP] = SEPARATOR.join(map(str, rois))
    closed = {step for gate, steps in _GATES.items() if texts[gate] == "No" for step in steps}
    if any(not text and step not in closed for step, text in texts.items()):
        return None
    return {step: None if step in closed else read_step(step, text) for step, text in texts.items()}


def read_step(step: str, text: str) -> Any:
    """Return the answer to a step as records have it. Raises ValueError that says what is none of its choices."""
    parts = [part.strip() for part in text.split(SEPARATOR) if part.strip()]
    form = WSI_FORMATS[step]
    if form == "roi_list":
        cells = [int(part) for part in parts if part.isdecimal() and 1 <= int(part) <= 36]
        if len(cells) != len(parts) or len(set(cells)) != len(cells):
            raise ValueError(f"{step}: '{text}' is no list of cells from 1 to 36, each once")
        return cells
    if form == "short_text":
        return text
    if unknown := [part for part in parts if part not in WSI_OPTIONS[step]]:
        raise ValueError(f"{step}: '{unknown[0]}' is none of {'; '.join(WSI_OPTIONS[step])}")
    if step == "Q4" and len(parts) > _MOST_FEATURES:
        raise ValueError(f"{step}: names {len(parts)} features, and may name {_MOST_FEATURES}")
    if form == "single_choice" and len(parts) != 1:
        raise ValueError(f"{step}: '{text}' holds {len(parts)} choices, and must be one")
    return parts[0] if form == "single_choice" else parts
