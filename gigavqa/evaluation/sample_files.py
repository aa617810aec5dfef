"""Reads samples from files of records, and names what is wrong by file and line."""

import os
import re
import reprlib
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import ValidationError

from gigavqa.evaluation.benchmark import Benchmark
from gigavqa.evaluation.errors import ColumnError, FileProblem, Problem, RecordError
from gigavqa.evaluation.field_faults import FieldFault
from gigavqa.evaluation.packed_samples import PackedSamples, SamplePlaces
from gigavqa.evaluation.record_context import RecordContext, stored_image_name
from gigavqa.evaluation.records import RECORD_SUFFIXES, Record, encoding_note, read_records
from gigavqa.evaluation.samples import EXAMPLES, Sample
from gigavqa.runtime.validation import describe_rule
from gigavqa.runtime.work_progress import counted

_PLAIN_WORDS = {
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "tuple_type": "must be a list",
    "missing": "is missing",
}
"""What a record must hold, in the words of JSON instead of Python's."""

_REMEDIES = {("options", "dict_type"): "must be an object of letters and texts, or a list of texts"}
PAGE_SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".webp", ".tif", ".tiff", ".jp2"})
_NEEDS_A_VALUE = frozenset({"string_type", "dict_type", "tuple_type", "list_type"})
_SAYS_ITS_INPUT = frozenset({"missing", "value_error"})


def record_files(folder: Path) -> list[Path]:
    """Files of records below a folder, sorted by path."""
    return sorted(path for path in folder.rglob("*") if path.suffix.lower() in RECORD_SUFFIXES and path.is_file())


def load_samples(
    benchmark: Benchmark[Any, Any],
    files: Iterable[Path],
    base: Path,
    problems: list[Problem],
    *,
    images: Mapping[str, str] | None = None,
    images_required: bool = False,
    keep: Callable[[bytes], str] = stored_image_name,
    pages: Callable[[str], tuple[str, ...] | None] = lambda name: None,
    named: Callable[[Record], Record] = lambda record: record,
    places: SamplePlaces | None = None,
    unread: dict[str, Counter[str]] | None = None,
    notes: list[Problem] | None = None,
    check_images: Callable[[Sequence[str]], Sequence[str]] = lambda images: (),
    leave_out_bad: bool = True,
    most: int | None = None,
) -> PackedSamples[Any]:
    """Read the samples of all files; what is wrong is appended to `problems`, named relative to `base`.

    Without `leave_out_bad`, those stay of which the benchmark has an error to tell. `most` bounds the records of each
    file that are looked at.

    `keep` takes the pictures that lie in records; `pages` lists those of folders and document files; `named` gives a
    record's columns other names before it is read; `places` is filled with the file and line of each sample, `unread`
    with what of each file no reader took, `notes` with what people should know of how files were read. `check_images`
    tells what is wrong with the images of a record that is bad for other reasons.
    """
    samples = PackedSamples[Any]()
    places = SamplePlaces() if places is None else places
    notes = [] if notes is None else notes
    for path in files:
        name = path.relative_to(base).as_posix()
        note = partial(_note_problem, notes, name)
        note(encoding_note(path))
        context = _make_record_context(path, images or {}, keep, pages, named, most)
        origin = replace(context, note=note, check_images=check_images)
        read = read_samples(benchmark, path, name, origin, named=named, most=most)
        for found in counted(read, "questions read"):
            if isinstance(found, Problem):
                problems.append(found)
                continue
            line, sample = found
            if sample.id in places:
                told = f"the id is already used at {places.describe(sample.id)}"
                problems.append(Problem(name, line, sample.id, told))
                continue
            if images_required and not sample.images:
                problems.append(Problem(name, line, sample.id, "names no image, and images/ has none of that stem"))
            places.add(sample.id, name, line)
            samples.append(sample)
        if unread is not None:
            unread[name] = origin.unread
    findings = benchmark.check(samples, places.describe)
    wrong = [finding for finding in findings if finding.is_error]
    problems.extend(Problem(*places[finding.sample], finding.sample, finding.text) for finding in wrong)
    bad = {finding.sample for finding in wrong} if leave_out_bad else ()
    return PackedSamples(sample for sample in samples if sample.id not in bad) if bad else samples


def _note_problem(notes: list[Problem], name: str, text: str) -> None:
    if text:
        notes.append(Problem(name, None, None, text))


def read_samples(
    benchmark: Benchmark[Any, Any],
    path: Path,
    name: str,
    origin: RecordContext,
    *,
    named: Callable[[Record], Record] = lambda record: record,
    most: int | None = None,
) -> Iterator[tuple[int, Sample] | Problem]:
    """Yield each sample of a file with its line, or the problem in its place; nothing behind a bad column.

    `most` bounds the records that are looked at.
    """
    for record in islice(read_records(path, name), most):
        if isinstance(record, Problem):
            yield record
            continue
        try:
            yield from read_record(benchmark, named(record), name, origin)
        except ColumnError as error:
            yield FileProblem(name, None, None, str(error))
            return


def read_record(
    benchmark: Benchmark[Any, Any], record: Record, name: str, origin: RecordContext
) -> Iterator[tuple[int, Sample] | Problem]:
    """Yield each sample of a record with its line, and all that is wrong with it. Raises ColumnError."""
    unread: set[str] = set()
    try:
        is_example = isinstance(record.value, Mapping) and record.value.get("split") == EXAMPLES
        for fields in map(partial(_with_own, is_example=is_example), benchmark.read(record, origin)):
            if not any(isinstance(value, FieldFault) for value in fields.values()):
                unread.update(fields.get("extra", ()))  # a fault may leave the columns behind it untaken
            yield from _validated(benchmark, fields, record, name, origin)
    except ColumnError:
        raise
    except ValueError as error:
        place = record.place if record.crowded else None
        faults = error.faults if isinstance(error, RecordError) else (str(error),)
        yield from (Problem(name, record.line, place, text) for text in faults)
    origin.unread.update(dict.fromkeys(unread, 0 if record.alone else 1))  # of one that holds others nobody counts


def _with_own(fields: Mapping[str, Any], *, is_example: bool) -> Mapping[str, Any]:
    """Return a sample's fields with those that readers of benchmarks leave to the core: how its images are shown, and
    whether it is set apart as an example. Any other `split` stays what the record says.
    """
    extra = fields.get("extra") or {}
    own = {"show"} & set(extra) | ({"split"} if is_example else set())
    if not own:
        return fields
    rest = {name: value for name, value in extra.items() if name not in own}
    shown = {"show": extra["show"]} if extra.get("show") else {}
    return {**fields, **({"extra": rest} if extra else {}), **shown, **({"split": EXAMPLES} if is_example else {})}


def _validated(
    benchmark: Benchmark[Any, Any], fields: Mapping[str, Any], record: Record, name: str, origin: RecordContext
) -> Iterator[tuple[int, Sample] | Problem]:
    """Yield the sample of these fields with its line, or all that is wrong with any of them."""
    faulty = {field: fault for field, fault in fields.items() if isinstance(fault, FieldFault)}
    read = {field: value for field, value in fields.items() if field not in faulty}
    place = str(read["id"]) if "id" in read else record.place if record.crowded else None
    yield from (Problem(name, record.line, place, text) for text in dict.fromkeys(one.text for one in faulty.values()))
    try:
        sample = benchmark.sample_type.model_validate(read)
    except ValidationError as error:
        yield from _validation_problems(error, name, record.line, place, faulty)
    else:
        if not faulty:
            yield record.line, sample
            return
    yield from (Problem(name, record.line, place, text) for text in origin.check_images(read.get("images", ())))


def _validation_problems(
    error: ValidationError, name: str, line: int, record: str | None, known: Container[object]
) -> Iterator[Problem]:
    """Yield what is wrong with fields whose faults are not `known` already."""
    for detail in error.errors(include_url=False):
        if detail["loc"] and detail["loc"][0] in known:
            continue
        place = ".".join(str(part) for part in detail["loc"])
        message = _PLAIN_WORDS.get(detail["type"], describe_rule(detail))
        message = _REMEDIES.get((place, detail["type"]), message)
        if detail["type"] in _NEEDS_A_VALUE and detail["input"] is None:
            message = _PLAIN_WORDS["missing"]
        elif detail["type"] not in _SAYS_ITS_INPUT:
            message += f", not {reprlib.repr(detail['input'])}"
        yield Problem(name, line, record, f"{place}: {message}" if place else message)


def _make_record_context(  # noqa: PLR0917 - what a context is made of
    path: Path,
    images: Mapping[str, str],
    keep: Callable[[bytes], str],
    pages: Callable[[str], tuple[str, ...] | None],
    named: Callable[[Record], Record],
    most: int | None,
) -> RecordContext:
    """Return where records of a file come from, as a benchmark reads them."""

    def again() -> Iterator[Record]:
        records = islice(read_records(path, path.name), most)
        return (named(record) for record in records if isinstance(record, Record))

    return RecordContext(path.stem, images, keep, pages, again)


def images_by_stem(folder: Path) -> dict[str, str]:
    """Return what lies in `images/` of a data set's folder, relative to it, by names without endings."""
    images: dict[str, str] = {}
    for name in list_files(folder / "images"):
        images.setdefault(PurePosixPath(name).stem, f"images/{name}")
    return images


def list_files(folder: Path) -> list[str]:
    """Return the names of all files below a folder, relative to it, in the order of their parts."""
    return sorted(_walk_files(os.fspath(folder)), key=lambda name: name.replace("/", "\0"))


def _walk_files(folder: str, place: str = "") -> Iterator[str]:
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _walk_files(entry.path, f"{place}{entry.name}/")
            elif Path(entry.path).is_file() if entry.is_symlink() else entry.is_file():
                yield f"{place}{entry.name}"


def list_pages(base: Path, name: str) -> tuple[str, ...]:
    """Return the images of a folder below `base`, by the numbers in their names; none where there is no such folder."""
    found = (path for path in (base / name).glob("*") if path.suffix.lower() in PAGE_SUFFIXES)
    return tuple(path.relative_to(base).as_posix() for path in sorted(found, key=order_pages))


def order_pages(path: Path) -> tuple[list[int], str]:
    """Return the order of pages: by the numbers in their files' names, page 9 before page 10."""
    return [int(number) for number in re.findall(r"\d+", path.stem)], path.name
