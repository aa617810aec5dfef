"""The data set of a build, in the data root in place of what the same build put there before."""

import json
import shutil
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from gigavqa.construction.build_folder import BuildFolder
from gigavqa.construction.errors import BuildError
from gigavqa.evaluation.dataset_names import require_dataset_name
from gigavqa.evaluation.dataset_settings import REVIEWS
from gigavqa.evaluation.datasets import load_dataset
from gigavqa.evaluation.importing import ImportSummary, import_dataset
from gigavqa.evaluation.installed import find_benchmark
from gigavqa.evaluation.review_export import ReviewCounts, apply_reviews
from gigavqa.evaluation.review_files import read_reviews
from gigavqa.tiling.file_remarks import file_remarks
from gigavqa.tiling.headers import read_header

BUILD_KEY = "build"
"""In a data set's `dataset.toml`: which build made it."""


def publish(
    build: BuildFolder, records: Path, images: Path, data: Path, *, benchmark: str, title: str, name: str = ""
) -> ImportSummary:
    """Make the data set of a build's records, or put it in the place of the one that this build made before.

    `name` is that of the data set, if it is not the build's. People's reviews stay with it. Raises BuildError where a
    data set of another origin has the name, and whatever an import raises; the data set that was there stays then.
    """
    name = name or build.name
    target = require_own(data, name, build.name)
    with _room(data, name) as room:
        made = import_dataset(
            find_benchmark(benchmark), records, images, room / name,
            check_image=read_header, remarks_on=file_remarks, title=title,
        )  # fmt: skip
        _mark(made.folder, build.name)
        if target.exists():
            if (target / REVIEWS).is_dir():
                shutil.copytree(target / REVIEWS, made.folder / REVIEWS)
            target.rename(room / "replaced")
        made.folder.rename(target)
    return replace(made, folder=target)


@contextmanager
def _room(data: Path, name: str) -> Iterator[Path]:
    """A hidden folder in the data root; what killed processes left of the same build is deleted first."""
    data.mkdir(parents=True, exist_ok=True)
    prefix = f".build-{name}-"
    for leftover in data.glob(f"{prefix}*"):
        shutil.rmtree(leftover, ignore_errors=True)
    room = Path(tempfile.mkdtemp(prefix=prefix, dir=data))
    try:
        yield room
    finally:
        shutil.rmtree(room, ignore_errors=True)


def require_own(data: Path, name: str, build: str = "") -> Path:
    """Return where a data set of a build is, or will be. Raises BuildError where something else made one there."""
    require_dataset_name(name)
    target = data / name
    if target.exists() and not is_of_build(target, build or name):
        raise BuildError(f"{target} was made otherwise: give another name, or delete that data set")
    return target


def reviewed_records(dataset: Path, records: Iterable[Mapping[str, Any]]) -> tuple[list[dict[str, Any]], ReviewCounts]:
    """Return the records that stay after people's reviews of the data set, mended as they say.

    Raises ReviewsOpenError where reviewers differ.
    """
    return apply_reviews(records, read_reviews(dataset, load_dataset(dataset)))


def dataset_mark(folder: Path) -> list[list[str | int]]:
    """Return what tells a data set from one that was changed since, as JSON: its files but for reviews; empty if none.

    A picture that is linked is told by its link.
    """
    paths = (path for path in folder.rglob("*") if path.is_symlink() or path.is_file())
    own = ((path.relative_to(folder), path.lstat()) for path in paths)
    return sorted(
        [place.as_posix(), status.st_size, status.st_mtime_ns] for place, status in own if place.parts[0] != REVIEWS
    )


def is_of_build(folder: Path, name: str) -> bool:
    """Return whether a data set was made by the build of this name."""
    try:
        return bool(tomllib.loads((folder / "dataset.toml").read_text(encoding="utf-8")).get(BUILD_KEY) == name)
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError):
        return False


def _mark(folder: Path, name: str) -> None:
    path = folder / "dataset.toml"
    path.write_text(f"{BUILD_KEY} = {json.dumps(name)}\n{path.read_text(encoding='utf-8')}", encoding="utf-8")
