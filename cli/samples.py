"""The samples of a data set, for people: all as a table, or one of them whole."""

import json

from cli.console import out
from cli.tables import Column, print_table
from evaluation.datasets import Dataset
from evaluation.samples import Sample


def print_samples(dataset: Dataset) -> None:
    """Print a line a sample; the question takes the width that is left."""
    levels = dataset.benchmark.grouping.levels
    columns = (
        Column("sample"),
        *(Column(level, leaves=2 + at) for at, level in enumerate(levels)),
        Column("image", leaves=5),
        Column("question", least=24),
    )
    rows = [_row(sample, levels) for sample in dataset.samples]
    print_table(columns, rows, more="`--json` has them")


def _row(sample: Sample, levels: tuple[str, ...]) -> list[str]:
    groups = [sample.groups.get(level, "") or "-" for level in levels]
    return [sample.id, *groups, ", ".join(sample.images) or "-", " ".join(sample.question.split())]


def print_sample(dataset: Dataset, sample: Sample) -> None:
    """Print everything of a sample that is asked or judged."""
    groups = " / ".join(name for name in sample.groups.values() if name)
    _say(f"{sample.id}: {groups}" if groups else sample.id)
    for image in sample.images:
        _say(f"image: {image}")
    _say(f"\n{sample.question}")
    for letter, text in (sample.options or {}).items():
        _say(f"  {letter}. {text}")
    _say(f"answer: {sample.truth or '(awaits an expert)'}")
    for line in dataset.benchmark.describe(sample):
        _say(line)
    if sample.extra:
        _say(f"\nalso in the record: {json.dumps(sample.extra, ensure_ascii=False)}")


def _say(line: str) -> None:
    out.print(line, markup=False, emoji=False)
