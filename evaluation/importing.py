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
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any

import tomli_w

from catalogue.names import did_you_mean
from evaluation.answer_forms import kinds_of, letters_without_options, out_of_reach, truths_unread
from evaluation.benchmark import Benchmark, Described, find_benchmark, installed_benchmarks, name_of_picture
from evaluation.datasets import read_settings
from evaluation.errors import DatasetInvalidError, FileProblem, Problem
from evaluation.records import RECORD_SUFFIXES, Record
from evaluation.sample_files import PAGE_SUFFIXES, by_numbers, load_samples, record_files
from evaluation.samples import Sample
from evaluation.unread import unread_fields
from tiling.errors import TilingError

_LONGEST_NAME = 1000
_LONGEST_NAME, _SHOWN = 1024, 60
_ENDINGS = (*sorted(PAGE_SUFFIXES), ".svs", ".ndpi", ".mrxs")
_MOST_FIELDS = 24
"""Fields that an error lists; a benchmark names the usual ones first."""


@dataclass(frozen=True)
class Rendering:
    """How document files become images: `render` writes the pages of one into a folder, at `dpi` dots per inch."""

    render: Callable[[Path, Path, int], Sequence[Path]]
    dpi: int


@dataclass(frozen=True)
class Imported:
    """What became of an import: how many samples and images came in, and which records were left out.

    `kinds` counts samples by the kind of answer that they ask for. `notes` say how files were read, and what of their
    records nothing reads; `warnings` what samples lack that some table needs.
    """

    folder: Path
    samples: int
    images: int
    left_out: list[Problem] = field(default_factory=list)
    kinds: Mapping[str, int] = field(default_factory=dict)
    notes: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)


def import_dataset(
    benchmark: Benchmark[Any],
    source: Path,
    images: Path | None,
    target: Path,
    *,
    check_image: Callable[[Path], object],
    remarks_on: Callable[[Path], Sequence[str]] = lambda path: (),
    rendering: Rendering | None = None,
    columns: Mapping[str, str] | None = None,
    decimal: str | None = None,
    settings: Mapping[str, Path] | None = None,
    described: Described | None = None,
    copy: bool = False,
    leave_out_bad: bool = False,
    follows_links: bool = False,
) -> Imported:
    """Make the data set `target` of the records at `source` (a file or a folder) and the images below `images`.

    Without `images`, all pictures must lie in the records. `remarks_on` says what people should know of an image.
    An image is hard-linked where the file system allows, else copied; one that lies in a record is written once, named
    by its digest. `check_image` raises TilingError for one that cannot be read. `rendering` makes images of documents'
    pages, once; without it, documents are refused. `columns` says as which field of the benchmark a column is read,
    `decimal` what the decimal sign of its numbers is; `settings` are files that it reads beside `dataset.toml`, by
    their names there; `described` is what a configuration says of the records. `follows_links` takes links out of the
    folder, which the caller must have made. Nothing is made unless everything is good, or bad records may be left out;
    what is wrong with a file as a whole is never left out. Raises DatasetInvalidError naming every bad record,
    FileExistsError where `target` exists.
    """
    if target.exists():
        raise FileExistsError(f"{target} exists already")
    problems: list[Problem] = []
    places: dict[str, tuple[str, int]] = {}
    told = _Told()
    with _draft_of(target) as draft:
        benchmark = _settle(benchmark, settings or {}, described.settings if described else {}, draft)
        gallery = _Gallery(images, draft, check_image, rendering, follows_links=follows_links)
        renamed = Columns(columns or {}, described.stem if described else None, decimal)
        placed = list(_placed(benchmark, source, gallery, renamed, problems=problems, places=places, told=told))
        problems.sort(key=lambda problem: (problem.file, problem.line or 0))
        wrong = [*_wrong_columns(benchmark, renamed, source.name)] if renamed.seen else []
        whole = [problem for problem in problems if isinstance(problem, FileProblem)]
        if wrong or whole:
            raise DatasetInvalidError(wrong or whole)
        if not placed or (problems and not leave_out_bad):
            raise DatasetInvalidError(problems or [Problem(str(source), None, None, "holds no record")], len(placed))
        used = {image: gallery.found[image] for sample in placed for image in sample.images}
        remarks = [Problem(image, None, None, one) for image, path in used.items() for one in remarks_on(path)]
        tables = {**_settings_of(benchmark, target.name, gallery), **(described.settings if described else {})}
        _write(benchmark, draft, tables, placed, used, copy=copy)
        draft.chmod(0o755)
        draft.rename(target)
    known = (*benchmark.fields, *benchmark.sample_type.model_fields)
    return Imported(
        target,
        samples=len(placed),
        images=len(used),
        left_out=problems,
        kinds=kinds_of(placed, benchmark.answer_form),
        notes=[*told.notes, *remarks, *unread_fields(told.unread, known)],
        warnings=list(_warnings(benchmark, placed, places)),
    )


@dataclass(frozen=True)
class _Told:
    """What is to be told of the files that were read: what of them nobody reads, and what else there is to know."""

    unread: dict[str, Counter[str]] = field(default_factory=dict)
    notes: list[Problem] = field(default_factory=list)


@contextmanager
def _draft_of(target: Path) -> Iterator[Path]:
    """A folder beside the target, which is gone afterwards unless it became the target."""
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        yield draft
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _settle(
    benchmark: Benchmark[Any], settings: Mapping[str, Path], tables: Mapping[str, Any], draft: Path
) -> Benchmark[Any]:
    """The benchmark as the data set will ask it: with its own files, and `tables` of `dataset.toml`."""
    copies = [Path(shutil.copy2(path, draft / name)) for name, path in settings.items()]
    try:
        settled = benchmark.settled(read_settings(copies))
        if not tables:
            return settled
        (draft / "dataset.toml").write_text(tomli_w.dumps(tables), encoding="utf-8")
        return settled.settled_in(draft)
    except ValueError as error:
        file, _, message = str(error).partition(": ")
        raise DatasetInvalidError([Problem(file, None, None, message)]) from error


def _settings_of(benchmark: Benchmark[Any], name: str, gallery: "_Gallery") -> dict[str, Any]:
    dpi = gallery.rendered_at
    return {"name": name, "benchmark": benchmark.name, "title": name, **({"pages_dpi": dpi} if dpi else {})}


def describe(path: Path, name: str, benchmark: str | None = None) -> tuple[Benchmark[Any], Described] | None:
    """What a configuration says of a data set, and whose it is; None where the file is one of records.

    `benchmark` names the only one to be asked. Raises DatasetInvalidError for a configuration that cannot be used.
    """
    readers = [find_benchmark(benchmark)] if benchmark else installed_benchmarks().values()
    for reader in readers:
        try:
            if described := reader.described(path, name):
                return reader, described
        except ValueError as error:
            file, _, message = str(error).partition(": ")
            raise DatasetInvalidError([Problem(file, None, None, message)]) from error
    return None


class Columns:
    """Gives the columns of records the names that were asked for, and notes which there were.

    With a `stem`, records without an id have one of it and their number. `decimal` is the decimal sign of numbers that
    are texts, where somebody said so.
    """

    def __init__(self, names: Mapping[str, str], stem: str | None = None, decimal: str | None = None) -> None:
        self.names = names
        self._stem = stem
        self._decimal = decimal
        self._called = {called: name for name, called in names.items()}
        self.seen: dict[str, bool] = {}
        """The columns that there are, and whether one names a picture."""

    def __call__(self, record: Record) -> Record:
        """The record with its columns renamed; a column that already has such a name gives way."""
        if self._decimal:
            record = replace(record, decimal=self._decimal, decimal_told=True)
        value = record.value
        if self._stem and isinstance(value, dict):
            value = {"id": f"{self._stem}-{record.index}", **value}
            record = replace(record, value=value)
        if not isinstance(value, dict):
            return record
        for name in record.header or value:
            self.seen[name] = self.seen.get(name, False) or _names_a_picture(value.get(name))
        if not self.names:
            return record
        renamed = {self.names[name]: inner for name, inner in value.items() if name in self.names}
        kept = {name: inner for name, inner in value.items() if name not in self.names and name not in renamed}
        return replace(record, value={**kept, **renamed}, called=self._called)


def _names_a_picture(value: Any) -> bool:
    return isinstance(value, str) and len(value) < _LONGEST_NAME and value.lower().endswith(_ENDINGS)


def _wrong_columns(benchmark: Benchmark[Any], columns: Columns, source: str) -> Iterator[Problem]:
    for name, called in columns.names.items():
        told = f"--map {name}={called}"
        if name not in columns.seen:
            turned = f": is {called}={name} meant?" if called in columns.seen else did_you_mean(name, columns.seen)
            there = ", ".join(columns.seen) or "none"
            yield Problem(source, None, None, f"{told}: there is no column '{name}'{turned or ';'} there are {there}")
        if benchmark.fields and not any(fnmatchcase(called, field) for field in benchmark.fields):
            close = did_you_mean(called, benchmark.fields)
            known = ", ".join(benchmark.fields[:_MOST_FIELDS])
            yield Problem(source, None, None, f"{told}: there is no field '{called}'{close or ';'} there are {known}")
        if others := [other for other, field in columns.names.items() if field == called and other != name]:
            yield Problem(source, None, None, f"{told}: column '{others[0]}' is called so, too; name one of them")


def _placed(
    benchmark: Benchmark[Any],
    source: Path,
    gallery: "_Gallery",
    columns: Columns,
    *,
    problems: list[Problem],
    places: dict[str, tuple[str, int]],
    told: "_Told",
) -> Iterator[Sample]:
    """Yield the samples whose images were found, as the data set names those; fill in what is to be told of all."""
    base = source if source.is_dir() else source.parent
    files = record_files(source) if source.is_dir() else [source]
    files = [file for file in files if file.name not in benchmark.beside]
    found = load_samples(
        benchmark, files, base, problems,
        images=gallery.by_stem, keep=gallery.keep, pages=gallery.pages, named=columns, places=places,
        unread=told.unread, notes=told.notes,
    )  # fmt: skip
    problems.extend(_unreachable(benchmark, found, places))
    for sample in found:
        placed = [gallery.find(image) for image in sample.images]
        wrong = [message for _, message in placed if message]
        if not sample.images:
            wrong = [_without_image(benchmark, columns)]
        numbered = [gallery.by_number(message, sample.images) for message in wrong]
        problems.extend(Problem(*places[sample.id], sample.id, f"images: {message}") for message in numbered)
        if not wrong:
            yield sample.model_copy(update={"images": tuple(name for name, _ in placed)})


def _warnings(
    benchmark: Benchmark[Any], samples: Sequence[Sample], places: Mapping[str, tuple[str, int]]
) -> Iterator[Problem]:
    """What a check of the data set will say of records, with the lines that these had in their source."""
    for finding in benchmark.compare(samples, lambda sample: ":".join(map(str, places[sample]))):
        yield Problem(*places[finding.sample], finding.sample, finding.text)
    for sample in samples:
        yield from (Problem(*places[sample.id], sample.id, told) for told in benchmark.checklist(sample))
    if found := truths_unread(samples, benchmark.answer_form):
        yield FileProblem(*places[found[0].id], None, found[1])


def _unreachable(
    benchmark: Benchmark[Any], samples: Sequence[Sample], places: Mapping[str, tuple[str, int]]
) -> Iterator[Problem]:
    """What is wrong with truths that the prompts cannot lead to: of all samples of a file, and of each sample."""
    by_file: dict[str, list[Sample]] = {}
    for sample in samples:
        by_file.setdefault(places[sample.id][0], []).append(sample)
        for message in out_of_reach(sample, benchmark.answer_form(sample)):
            yield Problem(*places[sample.id], sample.id, message)
    for file, members in by_file.items():
        if found := letters_without_options(members, benchmark.answer_form):
            yield FileProblem(file, places[found[0].id][1], None, f"{found[1]}{_remedy_for_letters(benchmark)}")


def _remedy_for_letters(benchmark: Benchmark[Any]) -> str:
    if "options" not in benchmark.fields:
        return ""
    return (
        "; `--map COLUMN=options` says which column holds them; where the letters themselves are to be answered, say "
        "`--map COLUMN=answer_text` of the answers' column"
    )


def _without_image(benchmark: Benchmark[Any], columns: Columns) -> str:
    if not benchmark.general:
        return "names no image, and no single image has its name"
    likely = next((name for name, is_picture in columns.seen.items() if is_picture), "COLUMN")
    there = ", ".join(columns.seen)
    return (
        f"is missing, and no single image has the id's name or the file's; the columns are {there}; "
        f"`--map {likely}=image` says which one names it"
    )


class _ByStem(Mapping[str, str]):
    """Images by stem; a slide's name also finds the one file whose name it begins, as TCGA's files are called."""

    def __init__(self, folder: Path) -> None:
        files = (path for path in folder.rglob("*") if path.is_file() and path.suffix not in RECORD_SUFFIXES)
        paths = sorted(files, reverse=True)
        self._paths = {path.stem: path.relative_to(folder).as_posix() for path in paths}
        self._pictures: dict[str, list[str]] = {}
        for path in reversed(paths):
            if path.suffix.lower() in _ENDINGS:
                self._pictures.setdefault(path.stem, []).append(path.relative_to(folder).as_posix())

    def all(self, name: str) -> list[str]:
        """The pictures of a file's name in whatever folders; of a name without an ending, of whatever ending."""
        file = PurePosixPath(name)
        alike = self._pictures.get(file.stem, [])
        return [one for one in alike if PurePosixPath(one).name == file.name or not file.suffix]

    def __getitem__(self, stem: str) -> str:
        if len(self._pictures.get(stem, ())) > 1:
            raise KeyError(stem)
        if stem in self._paths:
            return self._paths[stem]
        longer = [name for name in self._paths if name.startswith((f"{stem}-", f"{stem}.", f"{stem}_"))]
        if len(longer) != 1:
            raise KeyError(stem)
        return self._paths[longer[0]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)


class _Gallery:
    """The images at hand, in a folder and in the records: finds them by the names that records use, looks at each once.

    What lies in records is written into the `draft` of the data set as it is read.
    """

    def __init__(
        self,
        folder: Path | None,
        draft: Path,
        check_image: Callable[[Path], object],
        rendering: Rendering | None = None,
        *,
        follows_links: bool = False,
    ) -> None:
        self._is_told = folder is not None
        self._folder = folder = folder or draft
        self._draft = draft
        self._check = check_image
        self._rendering = rendering
        self._follows_links = follows_links
        self._documents: dict[Path, tuple[str, ...]] = {}
        self._verdicts: dict[Path, str | None] = {}
        self.by_stem = _ByStem(folder)
        self.found: dict[str, Path] = {}

    def keep(self, content: bytes) -> str:
        """Write a picture that lies in a record, once; returns its name in the data set."""
        name = name_of_picture(content)
        path = self._draft / name
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)
        return name

    @property
    def rendered_at(self) -> int:
        """Dots per inch of the pages that were rendered; 0 where none was."""
        return self._rendering.dpi if self._rendering and self._documents else 0

    def pages(self, name: str) -> tuple[str, ...]:
        """Names in the data set of the images of a folder, or of the pages of a document file, rendered once.

        Raises ValueError for a document that cannot be rendered, and for links that lead out of the folder.
        """
        if len(name) > _LONGEST_NAME:
            raise ValueError(f"a name has {len(name)} characters, and {_LONGEST_NAME} at most")
        for short in _endings(name):
            path = self._folder / short
            if _is_folder(path):
                found = sorted((one for one in path.iterdir() if one.suffix.lower() in PAGE_SUFFIXES), key=by_numbers)
                if outside := next(filter(self._leads_out, found), None):
                    raise ValueError(self._outside(outside.relative_to(self._folder).as_posix()))
                return tuple(f"images/{one.relative_to(self._folder).as_posix()}" for one in found)
            if _is_file(path):
                if path not in self._documents:
                    self._documents[path] = self._rendered(path, PurePosixPath(short).with_suffix(""))
                return self._documents[path]
        return ()

    def _rendered(self, document: Path, place: PurePosixPath) -> tuple[str, ...]:
        if self._rendering is None:
            raise ValueError(f"{document.name} is a document, whose pages nothing here renders")
        try:
            pages = self._rendering.render(document, self._draft / "images" / place, self._rendering.dpi)
        except TilingError as error:
            raise ValueError(str(error)) from error
        return tuple(page.relative_to(self._draft).as_posix() for page in pages)

    def find(self, name: str) -> tuple[str, str | None]:
        """Return an image's name in the data set, and what is wrong with it.

        It is looked for below the folder by the whole name, and then by ever less of its beginning.
        """
        if len(name) > _LONGEST_NAME:
            told = f"the image's name has {len(name)} characters, and may have {_LONGEST_NAME}"
            return f"{name[:_SHOWN]}...", told
        if (message := self._ambiguous(name)) or not (place := self._place_of(name)):
            return name, message or self._missing(name)
        candidate, path = place
        if self._leads_out(path):
            return name, self._outside(name)
        self.found[f"images/{candidate}"] = path
        return f"images/{candidate}", self._verdict(path)

    def _place_of(self, name: str) -> tuple[str, Path] | None:
        """Where an image lies, by its name below the folder; that of a record in the draft."""
        places = [(other, self._folder / other) for other in _endings(name)]
        for candidate, path in [(name.removeprefix("images/"), self._draft / name), *places]:
            if _is_file(path):
                return candidate, path
        alone = self.by_stem.get(PurePosixPath(name).stem, "")
        known = PurePosixPath(name).name in (PurePosixPath(alone).name, PurePosixPath(alone).stem)
        return (alone, self._folder / alone) if alone and known else None

    def _ambiguous(self, name: str) -> str:
        """Say which pictures a name may mean that is in another folder there; nothing where one is meant."""
        place, alike = self._place_of(name), self.by_stem.all(name)
        by_path = place[0] if place and place[0] in _endings(name) else ""
        if len(alike) < 2 or "/" in by_path or (by_path and "/" not in name.removeprefix("images/")):
            return ""
        more = f" and {len(alike) - 2} more" if len(alike) > 2 else ""
        return f"image '{name}' may be {alike[0]} or {alike[1]}{more}: write its folder, or give `--images` that folder"

    def _missing(self, name: str) -> str:
        if not self._is_told:
            return f"image '{name}' is a file: name the folder of the images, --images FOLDER"
        return f"there is no image '{name}' in {self._folder}"

    def _outside(self, name: str) -> str:
        return f"image '{name}' is a link that leads out of {self._folder}; `cp -rL` copies what links name"

    def _leads_out(self, path: Path) -> bool:
        """Whether a file lies elsewhere: it would be brought into a data root, where all may see it."""
        if self._follows_links:
            return False
        where = path.resolve()
        return not any(where.is_relative_to(folder.resolve()) for folder in (self._folder, self._draft))

    def by_number(self, message: str, images: Sequence[str]) -> str:
        """What is wrong with an image, which has no other name than its number where it lies in the record itself."""
        for number, image in enumerate(images, start=1):
            message = message.replace(str(self._draft / image), f"picture {number} of the record")
        return message

    def _verdict(self, path: Path) -> str | None:
        if path not in self._verdicts:
            try:
                self._check(path)
                self._verdicts[path] = None
            except TilingError as error:
                self._verdicts[path] = str(error)
        return self._verdicts[path]


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # no file can have such a name
        return False


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False


def _endings(name: str) -> list[str]:
    """Where a file or folder of this name may lie: the whole name, and then ever less of its beginning."""
    parts = PurePosixPath(name).parts
    return [
        *dict.fromkeys([name.removeprefix("images/"), name, *("/".join(parts[at:]) for at in range(1, len(parts)))])
    ]


def _write(
    benchmark: Benchmark[Any],
    draft: Path,
    settings: Mapping[str, Any],
    samples: Sequence[Sample],
    images: Mapping[str, Path],
    *,
    copy: bool,
) -> None:
    for image, path in images.items():
        _bring(path, draft / image, copy=copy)
    for stray in set((draft / "images").rglob("*")) - {draft / image for image in images} if images else ():
        if stray.is_file():
            stray.unlink()  # the picture of a record that was left out
    (draft / "samples").mkdir()
    for file, lines in _by_file(benchmark, samples).items():
        (draft / "samples" / f"{file}.jsonl").write_text("".join(lines), encoding="utf-8")
    (draft / "dataset.toml").write_text(tomli_w.dumps(settings), encoding="utf-8")


def _by_file(benchmark: Benchmark[Any], samples: Sequence[Sample]) -> dict[str, list[str]]:
    """The lines of each file: one for every group that the benchmark knows, else all in one, in their order."""
    files: dict[str, list[str]] = {}
    for sample in samples:
        known = benchmark.grouping.known
        group = benchmark.grouping.place(sample)[0] if known else "samples"
        line = json.dumps(benchmark.record(sample), ensure_ascii=False) + "\n"
        files.setdefault(_file_name(group), []).append(line)
    return files


def _file_name(group: str) -> str:
    return re.sub(r"[^\w.-]+", "-", group).strip("-.") or "samples"


def _bring(path: Path, place: Path, *, copy: bool) -> None:
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
