"""Brings records in any layout that a benchmark reads, and the images that they are about, into a data set's folder.

One JSONL file a group goes out, with ids and image names written down, so that nothing has to be derived from file
names any more.
"""

import json
import os
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any, TextIO

import tomli_w

from gigavqa.evaluation.benchmark import Benchmark
from gigavqa.evaluation.capabilities import (
    AnswerForms,
    ConfiguredDataset,
    DatasetFiles,
    ProgramFiles,
    RecordLayout,
    whole_record,
)
from gigavqa.evaluation.dataset_names import require_dataset_name
from gigavqa.evaluation.dataset_settings import read_settings, sidecar_names
from gigavqa.evaluation.errors import DatasetInvalidError, FileProblem, Problem
from gigavqa.evaluation.image_lookup import DocumentRendering, ImageLookup
from gigavqa.evaluation.import_columns import ImportColumns, check_columns, describe_missing_image
from gigavqa.evaluation.installed import find_benchmark, installed_benchmarks
from gigavqa.evaluation.packed_samples import PackedSamples, SamplePlaces
from gigavqa.evaluation.sample_files import list_files, load_samples, record_files
from gigavqa.evaluation.samples import Sample
from gigavqa.evaluation.truth_checks import (
    count_answer_kinds,
    find_letters_without_options,
    find_unread_truths,
    unreachable_truths,
)
from gigavqa.evaluation.unread_fields import report_unread_fields
from gigavqa.runtime.work_progress import counted
from gigavqa.tiling.remote.addresses import is_remote_name
from gigavqa.tiling.versions import files_of

_MOST_SHOWN = 20


@dataclass(frozen=True)
class ImportSummary:
    """The result of an import: how many samples and images came in, and which records were left out.

    `kinds` counts samples by the kind of answer that they ask for. `notes` say how files were read, and what of their
    records nothing reads; `warnings` what samples lack that some table needs. `first` are the first samples.
    """

    folder: Path
    samples: int
    images: int
    left_out: list[Problem] = field(default_factory=list)
    kinds: Mapping[str, int] = field(default_factory=dict)
    notes: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    first: Sequence[Sample] = ()


def import_dataset(
    benchmark: Benchmark[Any, Any],
    source: Path,
    images: Path | None,
    target: Path,
    *,
    check_image: Callable[[Path, str], object],
    remarks_on: Callable[[Path], Sequence[str]] = lambda path: (),
    look_ahead: Callable[[Iterable[str]], None] = lambda images: None,
    rendering: DocumentRendering | None = None,
    columns: Mapping[str, str] | None = None,
    decimal: str | None = None,
    settings: Mapping[str, Path] | None = None,
    described: ConfiguredDataset | None = None,
    copy: bool = False,
    leave_out_bad: bool = False,
    follows_links: bool = False,
    title: str = "",
    show: str = "",
) -> ImportSummary:
    """Make the data set `target` of the records at `source` (a file or a folder) and the images below `images`.

    Without `images`, all pictures must lie in the records. `remarks_on` says what people should know of an image;
    `look_ahead` hears of all that samples name before any is looked at.
    An image is hard-linked where the file system allows, else copied; one that lies in a record is written once,
    named by its digest. `check_image` raises TilingError for one that cannot be read, or shown so. `rendering`
    makes images of documents' pages, once; without it, documents are refused. `columns` says as which field of the
    benchmark a column is read, `decimal` what the decimal sign of its numbers is; `settings` are files that it
    reads beside `dataset.toml`, by their names there; `described` is what a configuration says of the records;
    `title` is what people read instead of the name; `show` declares how all images are shown. `follows_links` takes
    links out of the folder, which the caller must have made. Nothing is made unless everything is good, or bad
    records may be left out; what is wrong with a file as a whole is never left out. Raises DatasetInvalidError
    naming every bad record, DatasetNameInvalidError, FileExistsError where `target` exists.
    """
    require_dataset_name(target.name)
    if target.exists():
        raise FileExistsError(f"{target} exists already")
    problems: list[Problem] = []
    places = SamplePlaces()
    told = _ImportNotes()
    with _draft_folder(target) as draft:
        benchmark = _configure_benchmark(benchmark, settings or {}, described.settings if described else {}, draft)
        image_lookup = ImageLookup(
            images, draft, lambda path, own: check_image(path, own or show), rendering, follows_links=follows_links
        )
        renamed = ImportColumns(columns or {}, described.stem if described else None, decimal)
        placed = PackedSamples(
            _locate_samples(
                benchmark, source, image_lookup, renamed, look_ahead, problems=problems, places=places, told=told
            )
        )
        problems.sort(key=lambda problem: (problem.file, problem.line or 0))
        wrong = [*check_columns(benchmark, renamed, source.name)] if renamed.seen else []
        whole = [problem for problem in problems if isinstance(problem, FileProblem)]
        if wrong or whole:
            raise DatasetInvalidError(wrong or whole)
        if not placed or (problems and not leave_out_bad):
            raise DatasetInvalidError(problems or [Problem(str(source), None, None, "holds no record")], len(placed))
        used = dict.fromkeys(image for sample in placed for image in sample.images)
        remarks = [
            Problem(image, None, None, one)
            for image in counted(used, "images looked at")
            for one in remarks_on(image_lookup.path_of(image))
        ]
        own = _import_settings(benchmark, target.name, title, image_lookup)
        named = {key: text for key, text in (("title", title), ("show", show)) if text}
        tables = {**own, **(described.settings if described else {}), **named}
        _place_images(draft, used, image_lookup.path_of, copy=copy)
        _write(benchmark, draft, tables, placed)
        draft.chmod(0o755)
        draft.rename(target)
    known = (*RecordLayout.of(benchmark).fields, *benchmark.sample_type.model_fields)
    return ImportSummary(
        target,
        samples=len(placed),
        images=len(used),
        left_out=problems,
        kinds=count_answer_kinds(placed, AnswerForms.of(benchmark).answer_form),
        notes=[*told.notes, *remarks, *report_unread_fields(told.unread, known)],
        warnings=list(_collect_warnings(benchmark, placed, places)),
        first=placed[:_MOST_SHOWN],
    )


@dataclass(frozen=True)
class _ImportNotes:
    """Notes on the files that were read: the fields that nobody reads, and what else there is to know."""

    unread: dict[str, Counter[str]] = field(default_factory=dict)
    notes: list[Problem] = field(default_factory=list)


@contextmanager
def _draft_folder(target: Path) -> Iterator[Path]:
    """A folder beside the target, which is gone afterwards unless it became the target."""
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        yield draft
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _configure_benchmark(
    benchmark: Benchmark[Any, Any], settings: Mapping[str, Path], tables: Mapping[str, Any], draft: Path
) -> Benchmark[Any, Any]:
    """Return the benchmark as the data set will ask it: with its own files, and `tables` of `dataset.toml`."""
    copies = [Path(shutil.copy2(path, draft / name)) for name, path in settings.items()]
    try:
        if tables:
            (draft / "dataset.toml").write_text(tomli_w.dumps(tables), encoding="utf-8")
        files = DatasetFiles.found_in(benchmark)
        return files.configured(read_settings(copies), draft if tables else None) if files else benchmark
    except ValueError as error:
        file, _, message = str(error).partition(": ")
        raise DatasetInvalidError([Problem(file, None, None, message)]) from error


def _import_settings(
    benchmark: Benchmark[Any, Any], name: str, title: str, image_lookup: ImageLookup
) -> dict[str, Any]:
    dpi = image_lookup.rendered_at
    return {"name": name, "benchmark": benchmark.name, "title": title or name, **({"pages_dpi": dpi} if dpi else {})}


def find_config(
    path: Path, name: str, benchmark: str | None = None
) -> tuple[Benchmark[Any, Any], ConfiguredDataset] | None:
    """Return what a configuration says of a data set, and whose it is; None where the file is one of records.

    `benchmark` names the only one to be asked. Raises DatasetInvalidError for a configuration that cannot be used.
    """
    readers = [find_benchmark(benchmark)] if benchmark else installed_benchmarks().values()
    for reader in readers:
        try:
            if described := ProgramFiles.of(reader).read_config(path, name):
                return reader, described
        except ValueError as error:
            file, _, message = str(error).partition(": ")
            raise DatasetInvalidError([Problem(file, None, None, message)]) from error
    return None


def _locate_samples(
    benchmark: Benchmark[Any, Any],
    source: Path,
    image_lookup: ImageLookup,
    columns: ImportColumns,
    look_ahead: Callable[[Iterable[str]], None],
    *,
    problems: list[Problem],
    places: SamplePlaces,
    told: "_ImportNotes",
) -> Iterator[Sample]:
    """Yield the samples whose images were found, as the data set names those; fill in what is to be told of all."""
    base = source if source.is_dir() else source.parent
    files = record_files(source) if source.is_dir() else [source]
    files = [file for file in files if file.name not in sidecar_names(benchmark)]
    found = load_samples(
        benchmark, files, base, problems,
        images=image_lookup.by_stem, keep=image_lookup.keep, pages=image_lookup.pages, named=columns, places=places,
        unread=told.unread, notes=told.notes, check_images=image_lookup.check,
    )  # fmt: skip
    problems.extend(_check_truths(benchmark, found, places))
    look_ahead(image for sample in found for image in sample.images)
    for sample in counted(found.drain(), "questions whose images are found"):
        wrong = image_lookup.check(sample.images, sample.show or ())
        if not sample.images:
            wrong = [f"images: {describe_missing_image(benchmark, columns)}"]
        problems.extend(Problem(*places[sample.id], sample.id, message) for message in wrong)
        if not wrong:
            yield sample.model_copy(update={"images": tuple(image_lookup.find(image)[0] for image in sample.images)})


def _collect_warnings(
    benchmark: Benchmark[Any, Any], samples: Sequence[Sample], places: SamplePlaces
) -> Iterator[Problem]:
    """Yield what a check of the data set will say of records, with the lines that these had in their source."""
    for finding in benchmark.check(samples, places.describe):
        yield Problem(*places[finding.sample], finding.sample, finding.text)
    if found := find_unread_truths(samples, AnswerForms.of(benchmark).answer_form):
        yield FileProblem(*places[found[0].id], None, found[1])


def _check_truths(benchmark: Benchmark[Any, Any], samples: Sequence[Sample], places: SamplePlaces) -> Iterator[Problem]:
    """Yield what is wrong with truths that the prompts cannot lead to: of all samples of a file, and of each sample."""
    form_of = AnswerForms.of(benchmark).answer_form
    for sample in samples:
        for message in unreachable_truths(sample, form_of(sample)):
            yield Problem(*places[sample.id], sample.id, message)
    for file, members in groupby(samples, lambda sample: places[sample.id][0]):
        if found := find_letters_without_options(members, form_of):
            yield FileProblem(file, places[found[0].id][1], None, f"{found[1]}{_remedy_for_letters(benchmark)}")


def _remedy_for_letters(benchmark: Benchmark[Any, Any]) -> str:
    if "options" not in RecordLayout.of(benchmark).fields:
        return ""
    return (
        "; `--map COLUMN=options` says which column holds them; where the letters themselves are to be answered, say "
        "`--map COLUMN=answer_text` of the answers' column"
    )


def _place_images(draft: Path, images: Collection[str], path_of: Callable[[str], Path], *, copy: bool) -> None:
    """Bring the images into the draft, and remove pictures of records that were left out."""
    brought: set[Path] = set()
    for image in counted([one for one in images if not is_remote_name(one)], "images brought in"):
        path, place = path_of(image), draft / image
        within = path if path.is_dir() else path.parent
        for file in files_of(path):  # a slide may have several
            kept = (place if path.is_dir() else place.parent) / file.relative_to(within)
            if kept not in brought:
                _place_file(file, kept, copy=copy)
                brought.add(kept)
    for name in list_files(draft / "images") if images else ():
        if draft / "images" / name not in brought:
            (draft / "images" / name).unlink()


def _write(benchmark: Benchmark[Any, Any], draft: Path, settings: Mapping[str, Any], samples: Iterable[Sample]) -> None:
    """Write the samples, in one file for every group that the benchmark knows, else all in one, in their order."""
    (draft / "samples").mkdir()
    layout, grouping = RecordLayout.of(benchmark), benchmark.grouping
    with ExitStack() as stack:
        files: dict[str, TextIO] = {}
        for sample in counted(samples, "questions written"):
            name = _file_name(grouping.place(sample)[0] if grouping.known else "samples")
            if name not in files:
                path = draft / "samples" / f"{name}.jsonl"
                files[name] = stack.enter_context(path.open("w", encoding="utf-8"))
            files[name].write(json.dumps(whole_record(layout, sample), ensure_ascii=False) + "\n")
    (draft / "dataset.toml").write_text(tomli_w.dumps(settings), encoding="utf-8")


def _file_name(group: str) -> str:
    return re.sub(r"[^\w.-]+", "-", group).strip("-.") or "samples"


def _place_file(path: Path, place: Path, *, copy: bool) -> None:
    if path == place:
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    if not copy:
        try:
            os.link(path.resolve(), place)
            return
        except OSError:
            pass  # another file system, or one without links
    shutil.copy2(path, place)
