"""Loads data sets: a folder with `dataset.toml`, `samples/` and `images/`; or just files of records, for scoring."""

import hashlib
import re
import reprlib
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from evaluation.benchmark import Benchmark, Origin, find_benchmark, installed_benchmarks, name_of_picture
from evaluation.errors import BenchmarkUnknownError, DatasetInvalidError, Problem
from evaluation.judgements import Panel
from evaluation.records import RECORD_SUFFIXES, Record, read_records
from evaluation.samples import Sample

_SETTINGS = (".toml", ".yaml", ".json", ".jsonl")
"""Endings of what benchmarks read beside records."""
_PLAIN_WORDS = {
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "tuple_type": "must be a list",
    "missing": "is missing",
}
"""What a record must hold, in the words of JSON instead of Python's."""

_REMEDIES = {("options", "dict_type"): "must be an object of letters and texts, or a list of texts"}
PAGE_SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".webp", ".tif", ".tiff", ".jp2"})
_SAYS_ITS_INPUT = frozenset({"missing", "value_error"})


@dataclass(frozen=True)
class Dataset:
    """A named set of samples.

    `digest` identifies by content what is asked (records, not images), `labels` what people said of replies since; ''
    where nobody did.
    """

    name: str
    benchmark: Benchmark[Any]
    title: str
    description: str
    samples: tuple[Sample, ...]
    digest: str
    labels: str = ""
    panel: Panel = field(default_factory=Panel)

    def judged_with(self, panel: Panel) -> "Dataset":
        """The data set whose replies are judged by what models said of them, where there is any judge."""
        if not panel.judges:
            return self
        return replace(self, benchmark=self.benchmark.judged_with(panel), panel=panel)

    def image_of(self, image: str) -> str:
        """Name of one of its images relative to the data root, as views name it."""
        return f"{self.name}/{image}"


def load_dataset(folder: Path) -> Dataset:
    """Load and check a data set's folder. Raises DatasetInvalidError listing every problem by file and line.

    Names of images are checked for where they point, not for whether the files exist.
    """
    problems: list[Problem] = []
    settings = _settings(folder, problems)
    benchmark = _settled(_benchmark_of(settings, problems), folder, problems)
    if benchmark is None:
        raise DatasetInvalidError(problems)
    files = record_files(folder / "samples")
    samples = load_samples(
        benchmark, files, folder, problems,
        images=_images_by_stem(folder), images_required=True, pages=partial(_pages_in, folder),
    )  # fmt: skip
    problems.extend(_of_emptiness("samples", files, samples, problems))
    if problems:
        raise DatasetInvalidError(problems)
    digest, labels = _digests(benchmark, folder, [folder / "dataset.toml"], files)
    return Dataset(
        name=settings["name"],
        benchmark=benchmark,
        title=settings.get("title", settings["name"]),
        description=settings.get("description", ""),
        samples=tuple(samples),
        digest=digest,
        labels=labels,
    )


def load_loose(path: Path, benchmark: str | None = None) -> Dataset:
    """Load records for scoring alone: a data set's folder, a folder of records, or one file; images are not needed.

    Without a name, the benchmark is that of `dataset.toml`, else the one that reads most of the records. Raises
    DatasetInvalidError as `load_dataset` does, and BenchmarkUnknownError.
    """
    if path.is_dir():
        base, files = path, record_files(path / "samples" if (path / "samples").is_dir() else path)
    else:
        base, files = path.parent, [path]
    settings = base / "dataset.toml" if path.is_dir() and (base / "dataset.toml").is_file() else None
    problems: list[Problem] = []
    if benchmark:
        chosen: Benchmark[Any] | None = find_benchmark(benchmark)
    else:
        chosen = _benchmark_of(_settings(base, problems), problems) if settings else _best_reader(files, base)
    chosen = _settled(chosen, base, problems) if settings else chosen
    if chosen is None:
        raise DatasetInvalidError(problems)
    problems.clear()
    samples = load_samples(
        chosen, [file for file in files if file.name not in chosen.beside], base, problems,
        images=_images_by_stem(path), pages=lambda name: _pages_in(base, name) or None,
    )  # fmt: skip
    problems.extend(_of_emptiness(str(path), files, samples, problems))
    if problems:
        raise DatasetInvalidError(problems)
    digest, labels = _digests(chosen, base, [settings] if settings else [], files)
    return Dataset(path.stem, chosen, path.stem, "", tuple(samples), digest, labels)


def reader_of(
    path: Path, benchmark: str | None = None, named: Callable[[Record], Record] = lambda record: record
) -> Benchmark[Any]:
    """The benchmark of that name, or the one that reads most of a file's or folder's records.

    `named` gives records' columns other names before. Raises BenchmarkUnknownError.
    """
    if benchmark:
        return find_benchmark(benchmark)
    return _best_reader(record_files(path) if path.is_dir() else [path], path if path.is_dir() else path.parent, named)


def _best_reader(
    files: Sequence[Path], base: Path, named: Callable[[Record], Record] = lambda record: record
) -> Benchmark[Any]:
    """The benchmark that finds the fewest problems in files of records, of those that are made for such records.

    One that reads records of any kind goes behind them, unless they cannot read half of what there is.
    """

    def rank(benchmark: Benchmark[Any]) -> tuple[bool, bool, int]:
        problems: list[Problem] = []
        own = [file for file in files if file.name not in benchmark.beside]
        samples = load_samples(benchmark, own, base, problems, named=named)
        bad = {(problem.file, problem.line) for problem in problems}
        return len(samples) < max(1, len(bad)), benchmark.general, len(problems)

    return min(installed_benchmarks().values(), key=rank)


def _benchmark_of(settings: Mapping[str, str], problems: list[Problem]) -> Benchmark[Any] | None:
    try:
        return find_benchmark(settings["benchmark"]) if isinstance(settings.get("benchmark"), str) else None
    except BenchmarkUnknownError as error:
        problems.append(Problem("dataset.toml", None, None, str(error)))
        return None


def _settled(benchmark: Benchmark[Any] | None, folder: Path, problems: list[Problem]) -> Benchmark[Any] | None:
    try:
        if benchmark is None:
            return None
        return benchmark.settled(read_settings(settings_beside(benchmark, folder))).settled_in(folder)
    except ValueError as error:
        file, _, message = str(error).partition(": ")
        problems.append(Problem(file, None, None, message))
        return None


def read_settings(files: Iterable[Path]) -> dict[str, str]:
    """The texts of files beside `dataset.toml`, by name. Raises ValueError, beginning with the name, for no UTF-8."""
    texts = {}
    for path in files:
        try:
            texts[path.name] = path.read_text(encoding="utf-8-sig")
        except UnicodeDecodeError as error:
            raise ValueError(f"{path.name}: is not UTF-8 text: {error}") from error
    return texts


def _of_emptiness(
    place: str, files: Sequence[Path], samples: Sequence[Sample], problems: Sequence[Problem]
) -> Iterator[Problem]:
    if not files:
        yield Problem(place, None, None, "holds no file of records (.jsonl, .json, .csv, .tsv, .parquet)")
    elif not samples and not problems:
        yield Problem(place, None, None, "holds no record: each is one JSON object, in a list or one a line")


def record_files(folder: Path) -> list[Path]:
    """Files of records below a folder, sorted by path."""
    return sorted(path for path in folder.rglob("*") if path.suffix in RECORD_SUFFIXES and path.is_file())


def settings_files(folder: Path) -> list[Path]:
    """`dataset.toml` and whatever a benchmark may read beside it, in a folder such as a corpus, too; sorted by path."""
    texts = (path for suffix in _SETTINGS for path in folder.glob(f"*{suffix}"))
    return sorted([*texts, *folder.glob("*/*.jsonl")])


def settings_beside(benchmark: Benchmark[Any], folder: Path) -> list[Path]:
    """Those of the benchmark's own files that lie in a folder."""
    return [path for name in benchmark.beside if (path := folder / name).is_file()]


def placed_samples(folder: Path) -> Iterator[tuple[Benchmark[Any], str, int, Sample]]:
    """Yield the samples of a data set's folder with benchmark, file and line; what is no sample is passed over."""
    images, benchmark = _images_by_stem(folder), _settled(_benchmark_of(_settings(folder, []), []), folder, [])
    if benchmark is None:
        return
    for path in record_files(folder / "samples"):
        name = path.relative_to(folder).as_posix()
        for found in _samples_of(benchmark, path, name, _origin(path, images, pages=partial(_pages_in, folder))):
            if not isinstance(found, Problem):
                yield benchmark, name, *found


def load_samples(
    benchmark: Benchmark[Any],
    files: Iterable[Path],
    base: Path,
    problems: list[Problem],
    *,
    images: Mapping[str, str] | None = None,
    images_required: bool = False,
    keep: Callable[[bytes], str] = name_of_picture,
    pages: Callable[[str], tuple[str, ...] | None] = lambda name: None,
    named: Callable[[Record], Record] = lambda record: record,
    places: dict[str, tuple[str, int]] | None = None,
) -> list[Sample]:
    """Read the samples of all files; what is wrong is appended to `problems`, named relative to `base`.

    `keep` takes the pictures that lie in records; `pages` lists those of folders and document files; `named` gives a
    record's columns other names before it is read; `places` is filled with the file and line of each sample.
    """
    samples: list[Sample] = []
    places = {} if places is None else places
    for path in files:
        name = path.relative_to(base).as_posix()
        for found in _samples_of(benchmark, path, name, _origin(path, images or {}, keep, pages, named), named):
            if isinstance(found, Problem):
                problems.append(found)
                continue
            line, sample = found
            if sample.id in places:
                first = ":".join(map(str, places[sample.id]))
                problems.append(Problem(name, line, sample.id, f"the id is already used at {first}"))
                continue
            if images_required and not sample.images:
                problems.append(Problem(name, line, sample.id, "names no image, and images/ has none of that stem"))
            places[sample.id] = (name, line)
            samples.append(sample)
    findings = benchmark.compare(samples, lambda sample: ":".join(map(str, places[sample])))
    wrong = [finding for finding in findings if finding.is_error]
    problems.extend(Problem(*places[finding.sample], finding.sample, finding.text) for finding in wrong)
    bad = {finding.sample for finding in wrong}
    return [sample for sample in samples if sample.id not in bad] if bad else samples


def _origin(
    path: Path,
    images: Mapping[str, str],
    keep: Callable[[bytes], str] = name_of_picture,
    pages: Callable[[str], tuple[str, ...] | None] = lambda name: None,
    named: Callable[[Record], Record] = lambda record: record,
) -> Origin:
    def again() -> Iterator[Record]:
        return (named(record) for record in read_records(path, path.name) if isinstance(record, Record))

    return Origin(path.stem, images, keep, pages, again)


def _pages_in(base: Path, name: str) -> tuple[str, ...]:
    """The images of a folder below `base`, by the numbers in their names; none where there is no such folder."""
    found = (path for path in (base / name).glob("*") if path.suffix.lower() in PAGE_SUFFIXES)
    return tuple(path.relative_to(base).as_posix() for path in sorted(found, key=by_numbers))


def by_numbers(path: Path) -> tuple[list[int], str]:
    """The order of pages: by the numbers in their files' names, page 9 before page 10."""
    return [int(number) for number in re.findall(r"\d+", path.stem)], path.name


def _samples_of(
    benchmark: Benchmark[Any],
    path: Path,
    name: str,
    origin: Origin,
    named: Callable[[Record], Record] = lambda record: record,
) -> Iterator[tuple[int, Sample] | Problem]:
    for record in read_records(path, name):
        if isinstance(record, Problem):
            yield record
        else:
            yield from _samples_of_record(benchmark, named(record), name, origin)


def _samples_of_record(
    benchmark: Benchmark[Any], record: Record, name: str, origin: Origin
) -> Iterator[tuple[int, Sample] | Problem]:
    try:
        for fields in benchmark.read(record, origin):
            try:
                yield record.line, benchmark.sample_type.model_validate(fields)
            except ValidationError as error:
                yield from _problems_of(error, name, record.line, fields["id"])
    except ValueError as error:
        yield Problem(name, record.line, None, str(error))


def _problems_of(error: ValidationError, name: str, line: int, record: object) -> Iterator[Problem]:
    for detail in error.errors(include_url=False):
        place = ".".join(str(part) for part in detail["loc"])
        message = _PLAIN_WORDS.get(detail["type"], detail["msg"].removeprefix("Value error, "))
        message = _REMEDIES.get((place, detail["type"]), message)
        if detail["type"] not in _SAYS_ITS_INPUT:
            message += f", not {reprlib.repr(detail['input'])}"
        yield Problem(name, line, str(record), f"{place}: {message}" if place else message)


def _settings(folder: Path, problems: list[Problem]) -> dict[str, Any]:
    """What `dataset.toml` says, or so much of it as can be read."""
    try:
        settings = tomllib.loads((folder / "dataset.toml").read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        problems.append(Problem("dataset.toml", None, None, f"is missing in {folder.name}"))
        return {"name": folder.name}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        problems.append(Problem("dataset.toml", None, None, str(error)))
        return {"name": folder.name}
    problems.extend(Problem("dataset.toml", None, None, message) for message in _wrong_settings(settings, folder))
    return {"name": folder.name, **settings}


def _wrong_settings(settings: dict[str, object], folder: Path) -> Iterator[str]:
    for key in ("name", "benchmark", "title", "description"):
        if not isinstance(settings.get(key, ""), str):
            yield f"{key}: must be a text"
    if settings.get("name") != folder.resolve().name:
        yield f"name: '{settings.get('name')}' differs from the folder's name '{folder.resolve().name}'"
    if not settings.get("benchmark"):
        yield f"benchmark: is missing; known: {', '.join(installed_benchmarks())}"


def _images_by_stem(folder: Path) -> dict[str, str]:
    images = sorted((folder / "images").rglob("*"), reverse=True)
    return {path.stem: path.relative_to(folder).as_posix() for path in images if path.is_file()}


def _digests(
    benchmark: Benchmark[Any], folder: Path, settings: Sequence[Path], files: Sequence[Path]
) -> tuple[str, str]:
    """Name what is asked, and what people said of replies; without settings nothing beside the records counts."""
    beside = settings_beside(benchmark, folder) if settings else []
    labels = [path for path in beside if path.name in benchmark.labels]
    asked = [*settings, *(path for path in beside if path not in labels), *files]
    return _digest(asked, folder, benchmark.content), _digest(labels, folder) if labels else ""


def _digest(files: Iterable[Path], base: Path, content_beside: str = "") -> str:
    digest = hashlib.sha256(content_beside.encode())
    for path in files:
        content = path.read_bytes()
        digest.update(f"{path.relative_to(base).as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()
