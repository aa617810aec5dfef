"""The data set of a build: its samples and images in the data root, in place of what the same build put there before."""

import json
import shutil
import tempfile
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from gigavqa.construction.build_folder import BuildFolder
from gigavqa.construction.errors import BuildError
from gigavqa.evaluation.importing import ImportSummary, import_dataset
from gigavqa.evaluation.installed import find_benchmark

SAMPLES = "samples.jsonl"
BUILD_KEY = "build"
"""In a data set's `dataset.toml`: which build made it."""
_REVIEWS = "reviews"


def publish(
    build: BuildFolder,
    records: Path,
    benchmark: str,
    images: Path,
    data: Path,
    *,
    title: str,
    check_image: Callable[[Path, str], object],
    remarks_on: Callable[[Path], Sequence[str]],
) -> ImportSummary:
    """Make the data set of a build's records, or put it in the place of the one that this build made before.

    People's reviews stay with it. Raises BuildError where a data set of another origin has the name, and whatever an
    import raises; the data set that was there stays then.
    """
    target = data / build.name
    if target.exists() and not is_of_build(target, build.name):
        raise BuildError(f"{target} is there and was made otherwise: give the build another name, or delete that data set")
    data.mkdir(parents=True, exist_ok=True)
    prefix = f".build-{build.name}-"
    for leftover in data.glob(f"{prefix}*"):  # of a killed process: nobody else builds this one
        shutil.rmtree(leftover, ignore_errors=True)
    room = Path(tempfile.mkdtemp(prefix=prefix, dir=data))
    try:
        made = import_dataset(
            find_benchmark(benchmark), records, images, room / build.name,
            check_image=check_image, remarks_on=remarks_on, title=title,
        )  # fmt: skip
        _mark(made.folder, build.name)
        if target.exists():
            if (target / _REVIEWS).is_dir():
                shutil.copytree(target / _REVIEWS, made.folder / _REVIEWS)
            target.rename(room / "replaced")
        made.folder.rename(target)
    finally:
        shutil.rmtree(room, ignore_errors=True)
    return made


def is_of_build(folder: Path, name: str) -> bool:
    """Return whether a data set was made by the build of this name."""
    try:
        return bool(tomllib.loads((folder / "dataset.toml").read_text(encoding="utf-8")).get(BUILD_KEY) == name)
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError):
        return False


def _mark(folder: Path, name: str) -> None:
    path = folder / "dataset.toml"
    path.write_text(f"{BUILD_KEY} = {json.dumps(name)}\n{path.read_text(encoding='utf-8')}", encoding="utf-8")
