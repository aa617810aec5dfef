"""The samples of a data set, for people: all as a table, or one of them whole."""

import json
from collections.abc import Sequence

from benchmarks.ultravr.samples import Evidence, Sample, Step
from cli.console import out
from cli.tables import Column, print_table


def print_samples(samples: Sequence[Sample]) -> None:
    """Print a line a sample; the question takes the width that is left."""
    columns = (
        Column("sample"),
        Column("domain", leaves=2),
        Column("category", leaves=3),
        Column("image", leaves=5),
        Column("steps", leaves=1, right=True),
        Column("evidence", leaves=4),
        Column("question", least=24),
    )
    print_table(columns, [_row(sample) for sample in samples], more="`--json` has them")


def _row(sample: Sample) -> list[str]:
    evidence = _evidence(sample.evidence) if sample.evidence else "-"
    images = ", ".join(sample.images) or "-"
    question = " ".join(sample.question.split())
    return [sample.id, sample.domain, sample.category, images, str(len(sample.steps)), evidence, question]


def print_sample(sample: Sample) -> None:
    """Print everything of a sample that is asked or judged."""
    kind = " / ".join(part for part in (sample.domain, sample.category, sample.subcategory) if part)
    _say(f"{sample.id}: {kind}")
    for image in sample.images:
        _say(f"image: {image}")
    if sample.evidence:
        _say(f"evidence: {_evidence(sample.evidence)}")
    _say(f"\n{sample.question}")
    for letter, text in (sample.options or {}).items():
        _say(f"  {letter}. {text}")
    _say(f"answer: {sample.answer or '(awaits an expert)'}")
    for step in sample.steps:
        _print_step(step)
    if sample.extra:
        _say(f"\nalso in the record: {json.dumps(sample.extra, ensure_ascii=False)}")


def _print_step(step: Step) -> None:
    operation = f", {step.operation}" if step.operation else ""
    _say(f"\n{step.step_id} ({step.answer_format}{operation}): {step.question}")
    if step.options:
        _say(f"  one of: {', '.join(step.options)}")
    _say(f"  truth: {json.dumps(step.ground_truth, ensure_ascii=False)}")


def _evidence(evidence: Evidence) -> str:
    parts = [", ".join(evidence.quadrants)] if evidence.quadrants else []
    parts += [f"regions {', '.join(map(str, evidence.rois))}"] if evidence.rois else []
    if evidence.cell:
        (row, column), (rows, columns) = evidence.cell, evidence.grid
        parts.append(f"cell ({row}, {column}) of {rows} x {columns}")
    return "; ".join(parts) or "-"


def _say(line: str) -> None:
    out.print(line, markup=False, emoji=False)
