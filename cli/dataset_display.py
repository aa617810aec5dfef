"""What people see of a data set: its samples, one of them whole, and what a check has found."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.ultravr.samples import Evidence, Sample, Step
from cli.console import err, out, print_json
from cli.errors import ArgumentError
from cli.tables import Column, print_table
from evaluation.datasets import Dataset
from evaluation.errors import Problem
from evaluation.inspection import Inspection

_MOST_LINES = 50


def report_findings(folder: Path, found: Inspection, *, strict: bool, json: bool) -> None:
    """Print what was found; raises ArgumentError where there are errors, or warnings that count."""
    counting = [*found.errors, *(found.warnings if strict else ())]
    if json:
        print_json(_describe(folder, found, ok=not counting))
    elif found.dataset:
        _print_counts(found.dataset)
    if found.warnings and not strict and not json:
        err.print(f"{counted(len(found.warnings), 'warning')}: these samples can be asked, but not in every way")
        for line in lines_of(found.warnings):
            err.print(f"  {line}", markup=False)
    if counting:
        lines = "" if json else "".join(f"\n  {line}" for line in lines_of(counting))
        raise ArgumentError(f"{_totals(found, strict=strict)} in {folder}{lines}")
    if not json:
        out.print("no error found" if found.warnings else "no problem found")


def lines_of(problems: Iterable[Problem]) -> Iterator[str]:
    """One line for each message: the place of the first record that it is about, and how many more there are."""
    by_message: dict[str, list[Problem]] = {}
    for problem in problems:
        by_message.setdefault(problem.message, []).append(problem)
    for first, *others in list(by_message.values())[:_MOST_LINES]:
        yield f"{first} ({counted(len(others), 'other')} too)" if others else str(first)
    if len(by_message) > _MOST_LINES:
        yield f"... and {len(by_message) - _MOST_LINES} more"


def counted(number: int, noun: str) -> str:
    """The number with its noun: "1 problem", "2 problems"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _totals(found: Inspection, *, strict: bool) -> str:
    parts = [counted(len(found.errors), "error")] if found.errors else []
    parts += [counted(len(found.warnings), "warning")] if found.warnings and strict else []
    return " and ".join(parts)


def _describe(folder: Path, found: Inspection, *, ok: bool) -> dict[str, Any]:
    samples = found.dataset.samples if found.dataset else ()
    return {
        "folder": str(folder),
        "ok": ok,
        "digest": found.dataset.digest if found.dataset else None,
        "samples": Counter(f"{sample.domain}/{sample.category}" for sample in samples),
        "errors": [asdict(problem) for problem in found.errors],
        "warnings": [asdict(problem) for problem in found.warnings],
    }


def _print_counts(dataset: Dataset) -> None:
    counts = Counter((sample.domain, sample.category) for sample in dataset.samples)
    columns = (Column("domain"), Column("category"), Column("samples", right=True))
    rows = [(domain, category, str(count)) for (domain, category), count in sorted(counts.items())]
    out.print(dataset.title, markup=False)
    print_table(columns, rows)


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
