"""Choose the benchmark that reads records."""

from collections import Counter
from collections.abc import Callable, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from gigavqa.evaluation.benchmark import Benchmark
from gigavqa.evaluation.capabilities import RecordLayout
from gigavqa.evaluation.dataset_settings import sidecar_names
from gigavqa.evaluation.errors import Problem
from gigavqa.evaluation.installed import find_benchmark, installed_benchmarks
from gigavqa.evaluation.records import Record
from gigavqa.evaluation.sample_files import load_samples, record_files

_MOST_TRIED = 1000
"""Records of a file by which its benchmark is found."""


def find_reader(
    path: Path, benchmark: str | None = None, named: Callable[[Record], Record] = lambda record: record
) -> Benchmark[Any, Any]:
    """Return the benchmark of that name, or the one that reads most of a file's or folder's records.

    `named` gives records' columns other names before. Raises BenchmarkUnknownError.
    """
    if benchmark:
        return find_benchmark(benchmark)
    return best_reader(record_files(path) if path.is_dir() else [path], path if path.is_dir() else path.parent, named)


def best_reader(
    files: Sequence[Path], base: Path, named: Callable[[Record], Record] = lambda record: record
) -> Benchmark[Any, Any]:
    """Return the benchmark that finds the fewest problems in files of records, of those that are made for such records.

    The first thousand records of each file decide.

    One that reads records of any kind goes behind them, unless they leave unread what it needs of its own, such as
    options, cannot read half of what there is, or are known by fields that there are not.
    """
    seen: set[str] = set()

    def noted(record: Record) -> Record:
        record = named(record)
        seen.update(record.value if isinstance(record.value, dict) else ())
        return record

    vital = [name for benchmark in installed_benchmarks().values() for name in RecordLayout.of(benchmark).asked_by]

    def rank(benchmark: Benchmark[Any, Any]) -> tuple[bool, bool, bool, bool, int]:
        problems: list[Problem] = []
        unread: dict[str, Counter[str]] = {}
        own, layout = [file for file in files if file.name not in sidecar_names(benchmark)], RecordLayout.of(benchmark)
        samples = load_samples(benchmark, own, base, problems, named=noted, unread=unread, most=_MOST_TRIED)
        lost = any(
            fnmatch(name.lower().replace(" ", "_"), one) for names in unread.values() for name in names for one in vital
        )
        bad = {(problem.file, problem.line) for problem in problems}
        is_other = bool(layout.known_by) and seen.isdisjoint(layout.known_by)
        return lost, len(samples) < max(1, len(bad)), is_other, layout.general, len(problems)

    return min(installed_benchmarks().values(), key=rank)
