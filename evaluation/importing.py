"""Brings records in any layout that a benchmark reads, and the images that they are about, into a data set's folder.

One JSONL file a group goes out, with ids and image names written down, so that nothing has to be derived from file
names any more.
"""

import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tomli_w

from evaluation.benchmark import Benchmark
from evaluation.datasets import load_samples, record_files
from evaluation.errors import DatasetInvalidError, Problem
from evaluation.samples import Sample
from tiling.errors import TilingError


@dataclass(frozen=True)
class Imported:
    """What became of an import: how many samples and images came in, and which records were left out."""

    folder: Path
    samples: int
    images: int
    left_out: list[Problem] = field(default_factory=list)


def import_dataset(
    benchmark: Benchmark[Any],
    source: Path,
    images: Path,
    target: Path,
    *,
    check_image: Callable[[Path], object],
    copy: bool = False,
    leave_out_bad: bool = False,
) -> Imported:
    """Make the data set `target` of the records at `source` (a file or a folder) and the images below `images`.

    An image is hard-linked where the file system allows, else copied; `check_image` raises TilingError for one that
    cannot be read. Nothing is made unless everything is good, or bad records may be left out. Raises
    DatasetInvalidError naming every bad record, FileExistsError where `target` exists.
    """
    if target.exists():
        raise FileExistsError(f"{target} exists already")
    problems: list[Problem] = []
    files = record_files(source) if source.is_dir() else [source]
    found = load_samples(
        benchmark, files, source if source.is_dir() else source.parent, problems, images=_ByStem(images)
    )
    gallery = _Gallery(images, check_image)
    placed = [placed for sample in found if (placed := _place(sample, gallery, problems))]
    if not placed or (problems and not leave_out_bad):
        raise DatasetInvalidError(problems or [Problem(str(source), None, None, "holds no record")])
    used = {image: gallery.found[image] for sample in placed for image in sample.images}
    _write(benchmark, target, placed, used, copy=copy)
    return Imported(target, len(placed), len(used), problems)


class _ByStem(Mapping[str, str]):
    """Images by stem; a slide's name also finds the one file whose name it begins, as TCGA's files are called."""

    def __init__(self, folder: Path) -> None:
        paths = sorted((path for path in folder.rglob("*") if path.is_file()), reverse=True)
        self._paths = {path.stem: path.relative_to(folder).as_posix() for path in paths}

    def __getitem__(self, stem: str) -> str:
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
    """The images at hand: finds them by the names that records use, and looks at each once."""

    def __init__(self, folder: Path, check_image: Callable[[Path], object]) -> None:
        self._folder = folder
        self._check = check_image
        self._verdicts: dict[Path, str | None] = {}
        self.found: dict[str, Path] = {}

    def find(self, name: str) -> tuple[str, str | None]:
        """Return an image's name in the data set, and what is wrong with it."""
        short = name.removeprefix("images/")
        for candidate in (short, name):
            path = self._folder / candidate
            if path.is_file():
                self.found[f"images/{candidate}"] = path
                return f"images/{candidate}", self._verdict(path)
        return name, f"there is no image '{name}' in {self._folder}"

    def _verdict(self, path: Path) -> str | None:
        if path not in self._verdicts:
            try:
                self._check(path)
                self._verdicts[path] = None
            except TilingError as error:
                self._verdicts[path] = str(error)
        return self._verdicts[path]


def _place(sample: Sample, gallery: _Gallery, problems: list[Problem]) -> Sample | None:
    if not sample.images:
        problems.append(Problem("images", None, sample.id, "names no image, and no single image has its name"))
        return None
    found = [gallery.find(image) for image in sample.images]
    wrong = [Problem("images", None, sample.id, message) for _, message in found if message]
    problems.extend(wrong)
    return None if wrong else sample.model_copy(update={"images": tuple(name for name, _ in found)})


def _write(
    benchmark: Benchmark[Any], target: Path, samples: Sequence[Sample], images: Mapping[str, Path], *, copy: bool
) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        for name, path in images.items():
            _bring(path, draft / name, copy=copy)
        (draft / "samples").mkdir()
        by_group: dict[str, list[Sample]] = {group: [] for group in benchmark.grouping.known}
        for sample in samples:
            by_group.setdefault(benchmark.grouping.place(sample)[0], []).append(sample)
        for group, found in by_group.items():
            lines = "".join(json.dumps(benchmark.record(sample), ensure_ascii=False) + "\n" for sample in found)
            if lines:
                (draft / "samples" / f"{_file_name(group)}.jsonl").write_text(lines, encoding="utf-8")
        settings = {"name": target.name, "benchmark": benchmark.name, "title": target.name}
        (draft / "dataset.toml").write_text(tomli_w.dumps(settings), encoding="utf-8")
        draft.chmod(0o755)
        draft.rename(target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _file_name(group: str) -> str:
    return re.sub(r"[^\w.-]+", "-", group).strip("-.") or "samples"


def _bring(path: Path, place: Path, *, copy: bool) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    if not copy:
        try:
            os.link(path.resolve(), place)
            return
        except OSError:
            pass  # another file system, or one without links
    shutil.copy2(path, place)
