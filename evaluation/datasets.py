"""Loads data sets: a folder with `dataset.toml`, `samples/` and `images/`; or just files of records, for scoring."""

import hashlib
import reprlib
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from benchmarks.ultravr.samples import Sample
from benchmarks.ultravr.shapes import Origin, sample_fields
from evaluation.errors import DatasetInvalidError, Problem
from evaluation.records import LINE_SUFFIXES, Record, read_records

BENCHMARKS = frozenset({"ultravr"})
_PLAIN_WORDS = {
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "tuple_type": "must be a list",
    "missing": "is missing",
}
"""What a record must hold, in the words of JSON instead of Python's."""

_REMEDIES = {("options", "dict_type"): "must be an object of letters and texts, or a list of texts"}
_SAYS_ITS_INPUT = frozenset({"missing", "value_error"})
_SUFFIXES = LINE_SUFFIXES | {".json"}


@dataclass(frozen=True)
class Dataset:
    """A named set of samples; `digest` identifies the records (not the images) by content."""

    name: str
    benchmark: str
    title: str
    description: str
    samples: tuple[Sample, ...]
    digest: str

    def image_of(self, image: str) -> str:
        """Name of one of its images relative to the data root, as views name it."""
        return f"{self.name}/{image}"


def load_dataset(folder: Path) -> Dataset:
    """Load and check a data set's folder. Raises DatasetInvalidError listing every problem by file and line.

    Names of images are checked for where they point, not for whether the files exist.
    """
    problems: list[Problem] = []
    settings = _settings(folder, problems)
    files = record_files(folder / "samples")
    samples = load_samples(files, folder, problems, images=_images_by_stem(folder), images_required=True)
    problems.extend(_of_emptiness("samples", files, samples, problems))
    if problems:
        raise DatasetInvalidError(problems)
    return Dataset(
        name=settings["name"],
        benchmark=settings["benchmark"],
        title=settings.get("title", settings["name"]),
        description=settings.get("description", ""),
        samples=tuple(samples),
        digest=_digest([folder / "dataset.toml", *files], folder),
    )


def load_loose(path: Path) -> Dataset:
    """Load records for scoring alone: a data set's folder, a folder of records, or one file; images are not needed.

    Raises DatasetInvalidError as `load_dataset` does.
    """
    if path.is_dir():
        base, files = path, record_files(path / "samples" if (path / "samples").is_dir() else path)
    else:
        base, files = path.parent, [path]
    problems: list[Problem] = []
    samples = load_samples(files, base, problems)
    problems.extend(_of_emptiness(str(path), files, samples, problems))
    if problems:
        raise DatasetInvalidError(problems)
    settings = [file for file in [base / "dataset.toml"] if path.is_dir() and file.is_file()]
    return Dataset(path.stem, "ultravr", path.stem, "", tuple(samples), _digest([*settings, *files], base))


def _of_emptiness(
    place: str, files: Sequence[Path], samples: Sequence[Sample], problems: Sequence[Problem]
) -> Iterator[Problem]:
    if not files:
        yield Problem(place, None, None, "holds no .json or .jsonl file of records")
    elif not samples and not problems:
        yield Problem(place, None, None, "holds no record: each is one JSON object, in a list or one a line")


def record_files(folder: Path) -> list[Path]:
    """Files of records below a folder, sorted by path."""
    return sorted(path for path in folder.rglob("*") if path.suffix in _SUFFIXES and path.is_file())


def placed_samples(folder: Path) -> Iterator[tuple[str, int, Sample]]:
    """Yield the samples of a data set's folder with their file and line; what is no sample is passed over."""
    images = _images_by_stem(folder)
    for path in record_files(folder / "samples"):
        name = path.relative_to(folder).as_posix()
        for found in _samples_of(path, name, Origin(path.stem, images)):
            if not isinstance(found, Problem):
                yield name, *found


def load_samples(
    files: Iterable[Path],
    base: Path,
    problems: list[Problem],
    *,
    images: Mapping[str, str] | None = None,
    images_required: bool = False,
) -> list[Sample]:
    """Read the samples of all files; what is wrong is appended to `problems`, named relative to `base`."""
    samples: list[Sample] = []
    first_seen: dict[str, str] = {}
    for path in files:
        name = path.relative_to(base).as_posix()
        for found in _samples_of(path, name, Origin(path.stem, images or {})):
            if isinstance(found, Problem):
                problems.append(found)
                continue
            line, sample = found
            place = f"{name}:{line}"
            if sample.id in first_seen:
                problems.append(Problem(name, line, sample.id, f"the id is already used at {first_seen[sample.id]}"))
            elif images_required and not sample.images:
                problems.append(Problem(name, line, sample.id, "names no image, and images/ has none of that stem"))
            first_seen.setdefault(sample.id, place)
            samples.append(sample)
    return samples


def _samples_of(path: Path, name: str, origin: Origin) -> Iterator[tuple[int, Sample] | Problem]:
    for record in read_records(path, name):
        if isinstance(record, Problem):
            yield record
        else:
            yield from _samples_of_record(record, name, origin)


def _samples_of_record(record: Record, name: str, origin: Origin) -> Iterator[tuple[int, Sample] | Problem]:
    try:
        for fields in sample_fields(record, origin):
            try:
                yield record.line, Sample.model_validate(fields)
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


def _settings(folder: Path, problems: list[Problem]) -> dict[str, str]:
    fallback = {"name": folder.name, "benchmark": "ultravr"}
    try:
        settings = tomllib.loads((folder / "dataset.toml").read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        problems.append(Problem("dataset.toml", None, None, f"is missing in {folder.name}"))
        return fallback
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        problems.append(Problem("dataset.toml", None, None, str(error)))
        return fallback
    problems.extend(Problem("dataset.toml", None, None, message) for message in _wrong_settings(settings, folder))
    return {**fallback, **settings}


def _wrong_settings(settings: dict[str, object], folder: Path) -> Iterator[str]:
    for key in ("name", "benchmark", "title", "description"):
        if not isinstance(settings.get(key, ""), str):
            yield f"{key}: must be a text"
    if settings.get("name") != folder.resolve().name:
        yield f"name: '{settings.get('name')}' differs from the folder's name '{folder.resolve().name}'"
    benchmark = settings.get("benchmark")
    if isinstance(benchmark, str | None) and benchmark not in BENCHMARKS:
        known = ", ".join(sorted(BENCHMARKS))
        wrong = f"'{benchmark}' is not known" if benchmark else "is missing"
        yield f"benchmark: {wrong}; known: {known}"


def _images_by_stem(folder: Path) -> dict[str, str]:
    images = sorted((folder / "images").rglob("*"), reverse=True)
    return {path.stem: path.relative_to(folder).as_posix() for path in images if path.is_file()}


def _digest(files: Iterable[Path], base: Path) -> str:
    digest = hashlib.sha256()
    for path in files:
        content = path.read_bytes()
        digest.update(f"{path.relative_to(base).as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()
