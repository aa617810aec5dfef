"""Writes the annotated truth of steps as a model would be asked to write it."""

import json

from benchmarks.ultravr.forms import NOT_APPLICABLE, label_of
from benchmarks.ultravr.prompts.texts import read_texts
from benchmarks.ultravr.samples import Sample, Step

_TEXTS = read_texts("s3")


def write_truth(sample: Sample, step: Step) -> str:
    """Write a step's ground truth in the form that `form_of` asks for: texts as they are, all else as JSON."""
    truth = step.ground_truth
    if truth is None:
        return NOT_APPLICABLE[sample.domain == "wsi"]
    return truth if isinstance(truth, str) else json.dumps(truth, ensure_ascii=False)


def tell_steps(sample: Sample) -> str:
    """Tell a sample's whole trajectory: each step's question and true answer."""
    return "\n".join(_tell(sample, step) for step in sample.steps)


def _tell(sample: Sample, step: Step) -> str:
    return _TEXTS["step"].format(label=label_of(step), question=step.question.strip(), answer=write_truth(sample, step))
