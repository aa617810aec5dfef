"""Checklist of anomaly detection (appendix A.4 and table C.5)."""

from collections.abc import Iterator

from gigavqa.answers.cells import only_cell
from gigavqa.answers.coordinates import format_coordinate, read_coordinate
from gigavqa.benchmarks.ultravr.operations import ad_last_step
from gigavqa.benchmarks.ultravr.samples import UltraVRSample


def check_anomaly(sample: UltraVRSample) -> Iterator[str]:
    """Steps are numbered without a gap up to the product's last one, and the anomaly's place is the answer."""
    ids = [step.step_id for step in sample.steps]
    if ids != [f"S{number}" for number in range(1, len(ids) + 1)]:
        yield f"steps must be numbered S1, S2, ... without a gap, not {', '.join(ids)}"
    last = ad_last_step(sample)
    if last is not None and len(ids) != last:
        yield f"{sample.subcategory} has {last} steps, not {len(ids)}"
    yield from _check_place(sample)
    yield from _check_last_step(sample)


def _check_place(sample: UltraVRSample) -> Iterator[str]:
    cell = sample.evidence.cell if sample.evidence else None
    if cell is None:
        yield "evidence.cell must say where the anomaly is"
        return
    told = only_cell(_answer_text(sample))
    if told is None and sample.options:
        yield f"option {sample.answer} must be a coordinate '(row, column)'"
    elif told != cell:
        yield f"the answer is {_answer_text(sample)}, but the anomaly is at {format_coordinate(cell)}"


def _check_last_step(sample: UltraVRSample) -> Iterator[str]:
    told = read_coordinate(sample.steps[-1].ground_truth) if sample.steps else None
    if told is not None and told != only_cell(_answer_text(sample)):
        yield f"the last step says {format_coordinate(told)}, but the answer is {_answer_text(sample)}"


def _answer_text(sample: UltraVRSample) -> str:
    return sample.options.get(sample.answer, "") if sample.options else sample.answer
