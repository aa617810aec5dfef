"""What lies beside the records of a data set: `dataset.toml`, and the own files of a benchmark."""

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from gigavqa.evaluation.benchmark import Benchmark
from gigavqa.evaluation.capabilities import DatasetFiles
from gigavqa.evaluation.errors import BenchmarkUnknownError, Problem
from gigavqa.evaluation.installed import find_benchmark, installed_benchmarks
from gigavqa.tiling.displays.display_rules import image_displays

_SETTINGS = (".toml", ".yaml", ".json", ".jsonl")
"""Endings of what benchmarks read beside records."""
REVIEWS = "reviews"
"""The folder of what people said of samples."""


def find_benchmark_of(settings: Mapping[str, str], problems: list[Problem]) -> Benchmark[Any, Any] | None:
    """Return the benchmark that `dataset.toml` names; None where it names none that is installed."""
    try:
        return find_benchmark(settings["benchmark"]) if isinstance(settings.get("benchmark"), str) else None
    except BenchmarkUnknownError as error:
        problems.append(Problem("dataset.toml", None, None, str(error)))
        return None


def configure_benchmark(
    benchmark: Benchmark[Any, Any] | None, folder: Path, problems: list[Problem]
) -> Benchmark[Any, Any] | None:
    """Return the benchmark as its own files of a folder configure it; None where they cannot be read."""
    try:
        if benchmark is None:
            return None
        files = DatasetFiles.found_in(benchmark)
        return files.configured(read_settings(sidecar_files(benchmark, folder)), folder) if files else benchmark
    except ValueError as error:
        file, _, message = str(error).partition(": ")
        problems.append(Problem(file, None, None, message))
        return None


def read_settings(files: Iterable[Path]) -> dict[str, str]:
    """Return the texts of files beside `dataset.toml`, by name.

    Raises ValueError, beginning with the name, for no UTF-8.
    """
    texts = {}
    for path in files:
        try:
            texts[path.name] = path.read_text(encoding="utf-8-sig")
        except UnicodeDecodeError as error:
            raise ValueError(f"{path.name}: is not UTF-8 text: {error}") from error
    return texts


def list_settings_files(folder: Path) -> list[Path]:
    """`dataset.toml` and whatever a benchmark may read beside it, in a folder such as a corpus, too; sorted by path.

    Reviews are none of it: with each verdict all samples would be read again.
    """
    texts = (path for suffix in _SETTINGS for path in folder.glob(f"*{suffix}"))
    beside = (path for path in folder.glob("*/*.jsonl") if path.parent.name != REVIEWS)
    return sorted([*texts, *beside])


def sidecar_names(benchmark: Benchmark[Any, Any]) -> Sequence[str]:
    """Return the names of files that a benchmark reads beside records."""
    files = DatasetFiles.found_in(benchmark)
    return files.beside if files else ()


def sidecar_files(benchmark: Benchmark[Any, Any], folder: Path) -> list[Path]:
    """Return those of the benchmark's own files that lie in a folder."""
    return [path for name in sidecar_names(benchmark) if (path := folder / name).is_file()]


def read_dataset_settings(folder: Path, problems: list[Problem]) -> dict[str, Any]:
    """Return what `dataset.toml` says, or so much of it as can be read."""
    try:
        settings = tomllib.loads((folder / "dataset.toml").read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        problems.append(Problem("dataset.toml", None, None, f"is missing in {folder.name}"))
        return {"name": folder.name}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        problems.append(Problem("dataset.toml", None, None, str(error)))
        return {"name": folder.name}
    problems.extend(Problem("dataset.toml", None, None, message) for message in _check_settings(settings, folder))
    return {"name": folder.name, **settings}


def _check_settings(settings: dict[str, object], folder: Path) -> Iterator[str]:
    for key in ("name", "benchmark", "title", "description"):
        if not isinstance(settings.get(key, ""), str):
            yield f"{key}: must be a text"
    if settings.get("name") != folder.resolve().name:
        yield f"name: '{settings.get('name')}' differs from the folder's name '{folder.resolve().name}'"
    try:
        image_displays(settings.get("show", {}))
    except ValueError as error:
        yield str(error)
    if not settings.get("benchmark"):
        yield f"benchmark: is missing; known: {', '.join(installed_benchmarks())}"
