"""Print a data set: its samples, one of them whole, and what a check has found."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gigavqa.cli.console import err, out, print_json
from gigavqa.cli.errors import ArgumentError
from gigavqa.cli.tables import TableColumn, print_table
from gigavqa.evaluation.errors import Problem
from gigavqa.runtime.plurals import count_noun, first_lines

if TYPE_CHECKING:
    from gigavqa.evaluation.capabilities import SampleDisplay
    from gigavqa.evaluation.datasets import Dataset
    from gigavqa.evaluation.importing import ImportSummary
    from gigavqa.evaluation.inspection import Inspection
    from gigavqa.evaluation.samples import Sample

_MOST_LINES = 50
_MOST_WARNINGS = 12


def report_findings(
    folder: Path, found: "Inspection", *, strict: bool, json: bool, more: Mapping[str, Any] | None = None
) -> None:
    """Print what was found, in JSON with `more`; raises ArgumentError for errors, or warnings that count."""
    counting = [*found.errors, *(found.warnings if strict else ())]
    if json:
        print_json({**_describe(folder, found, ok=not counting), **(more or {})})
    elif found.dataset:
        _print_counts(found.dataset)
        out.print(f"types: {describe_kinds(found.kinds)}", markup=False)
    if found.warnings and not strict and not json:
        err.print(f"{count_noun(len(found.warnings), 'warning')}: these samples can be asked, but not in every way")
        for line in problem_lines(found.warnings):
            err.print(f"  {line}", markup=False)
    if counting:
        lines = "" if json else "".join(f"\n  {line}" for line in problem_lines(counting))
        raise ArgumentError(f"{_totals(found, strict=strict)} in {folder}{lines}")
    if not json:
        out.print("no error found" if found.warnings else "no problem found")


def report_import(name: str, made: "ImportSummary") -> None:
    """Print what was left out, how files were read, and what keeps samples from a table or a condition."""
    for line in problem_lines(made.left_out):
        err.print(f"left out: {line}", markup=False)
    for line in problem_lines(made.notes):
        err.print(f"note: {line}", markup=False)
    for line in problem_lines(made.warnings, _MOST_WARNINGS):
        err.print(f"warning: {line}", markup=False)
    if made.warnings:
        told = f"{count_noun(len(made.warnings), 'warning')}; `gigavqa dataset check {name}` lists them at any time"
        err.print(told, markup=False)


def import_record(made: "ImportSummary", benchmark: str) -> dict[str, Any]:
    """Return what an import did as JSON has it: all but its first samples, which the data set's files hold."""
    return {
        "folder": str(made.folder),
        "benchmark": benchmark,
        "samples": made.samples,
        "images": made.images,
        "kinds": dict(made.kinds),
        **{name: [asdict(one) for one in getattr(made, name)] for name in ("left_out", "notes", "warnings")},
    }


def problem_lines(problems: Iterable[Problem], most: int = _MOST_LINES) -> Iterator[str]:
    """One line for each message: the place of the first record that it is about, and how many more there are."""
    by_message: dict[str, list[Problem]] = {}
    for problem in problems:
        by_message.setdefault(problem.message, []).append(problem)
    lines = [
        f"{first} ({count_noun(len(others), 'other')} too)" if others else str(first)
        for first, *others in by_message.values()
    ]
    yield from first_lines(lines, most)


def describe_kinds(kinds: Mapping[str, int]) -> str:
    """Return how many questions of which type there are: "8 choice, 4 number"."""
    return ", ".join(f"{number} {kind}" for kind, number in kinds.items())


def describe_leaving_out(others: int, doing: str) -> str:
    """Return what --leave-out-bad would do with so many good records; nothing where there is none."""
    return f"\n--leave-out-bad {doing} the other {count_noun(others, 'question')}" if others else ""


def _totals(found: "Inspection", *, strict: bool) -> str:
    parts = [count_noun(len(found.errors), "error")] if found.errors else []
    parts += [count_noun(len(found.warnings), "warning")] if found.warnings and strict else []
    return " and ".join(parts)


def _describe(folder: Path, found: "Inspection", *, ok: bool) -> dict[str, Any]:
    samples = found.dataset.samples if found.dataset else ()
    return {
        "folder": str(folder),
        "ok": ok,
        "digest": found.dataset.digest if found.dataset else None,
        "samples": Counter("/".join(filter(None, found.dataset.benchmark.grouping.place(sample))) for sample in samples)
        if found.dataset
        else {},
        "examples": len(found.dataset.examples) if found.dataset else 0,
        "types": found.kinds,
        "errors": [asdict(problem) for problem in found.errors],
        "warnings": [asdict(problem) for problem in found.warnings],
    }


def _print_counts(dataset: "Dataset") -> None:
    grouping = dataset.benchmark.grouping
    counts = Counter(grouping.place(sample)[: len(grouping.levels)] for sample in dataset.samples)
    columns = (*map(TableColumn, grouping.levels), TableColumn("samples", right=True))
    rows = [(*place, str(count)) for place, count in sorted(counts.items())]
    out.print(dataset.title, markup=False)
    print_table(columns, rows)
    if dataset.examples:
        out.print(f"{count_noun(len(dataset.examples), 'example')} set apart, never asked", markup=False)


def print_samples(dataset: "Dataset") -> None:
    """Print a line a sample; the question takes the width that is left."""
    # Half a second, which who is told of problems alone need not wait for.
    from gigavqa.evaluation.capabilities import SampleDisplay  # noqa: PLC0415

    display, levels = SampleDisplay.of(dataset.benchmark), dataset.benchmark.grouping.levels
    told = display.summary(dataset.samples[0])
    columns = (
        TableColumn("sample"),
        *(TableColumn(level, leaves=2 + at) for at, level in enumerate(levels)),
        TableColumn("image", leaves=9),
        *(TableColumn(name, leaves=1 + 7 * at) for at, name in enumerate(told)),
        TableColumn("question", least=24),
    )
    print_table(columns, _SampleRows(dataset, display, levels), more="`--json` has them")


class _SampleRows:
    """The rows of samples, made anew for each who goes through them: there may be a million."""

    def __init__(self, dataset: "Dataset", display: "SampleDisplay[Any]", levels: tuple[str, ...]) -> None:
        self._samples, self._display, self._levels = dataset.samples, display, levels

    def __iter__(self) -> Iterator[list[str]]:
        return (_row(sample, self._levels, self._display.summary(sample)) for sample in self._samples)


def _row(sample: "Sample", levels: tuple[str, ...], summary: Mapping[str, str]) -> list[str]:
    groups = [sample.groups.get(level, "") or "-" for level in levels]
    return [sample.id, *groups, ", ".join(sample.images) or "-", *summary.values(), " ".join(sample.question.split())]


def print_sample(dataset: "Dataset", sample: "Sample") -> None:
    """Print everything of a sample that is asked or judged."""
    from gigavqa.evaluation.capabilities import SampleDisplay  # noqa: PLC0415 - as above

    groups = " / ".join(name for name in sample.groups.values() if name)
    _print_line(f"{sample.id}: {groups}" if groups else sample.id)
    for image in sample.images:
        _print_line(f"image: {image}")
    _print_line(f"\n{sample.question}")
    for letter, text in (sample.options or {}).items():
        _print_line(f"  {letter}. {text}")
    _print_line(f"answer: {sample.truth or '(awaits an expert)'}")
    for line in SampleDisplay.of(dataset.benchmark).describe(sample):
        _print_line(line)
    if sample.extra:
        _print_line(f"\nalso in the record: {json.dumps(sample.extra, ensure_ascii=False)}")


def _print_line(line: str) -> None:
    out.print(line, markup=False, emoji=False)
