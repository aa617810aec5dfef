"""The data sets of the data root."""

import hashlib
import os
import tomllib
from itertools import islice
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from gigavqa.evaluation.dataset_names import LONGEST_DATASET_NAME, is_dataset_name, require_dataset_name
from gigavqa.evaluation.dataset_settings import list_settings_files
from gigavqa.evaluation.datasets import Dataset, load_dataset, load_head
from gigavqa.evaluation.errors import DatasetNameInvalidError
from gigavqa.evaluation.image_lookup import IMAGE_SUFFIXES
from gigavqa.evaluation.sample_files import record_files
from gigavqa.runtime.suggestions import did_you_mean
from gigavqa.service.errors import DatasetExistsError, DatasetNotFoundError, ImportInvalidError, ProblemFinding
from gigavqa.service.http.freshness import Stamp, StampedCache, file_stamp
from gigavqa.tiling.errors import quote_text

_KEPT_BYTES = 512 << 20
_INLINE_BYTES, _INLINE_SAMPLES = 1 << 20, 20_000
"""Records that are read, and samples that are gone through, while a client waits: a second's work."""
_KEPT_PICTURES = 1000
_MOST_LOOKED_AT = 100
SHOWN_PICTURES = 3
"""Pictures of a data set that stand for it."""


class DatasetSummary(BaseModel):
    """The summary of a data set."""

    model_config = ConfigDict(frozen=True)

    name: str = Field(examples=["demo"])
    benchmark: str = Field(examples=["questions"])
    title: str
    description: str = ""
    pictures: tuple[str, ...] = Field(default=(), description="some of its pictures, relative to its folder")


class Datasets:
    """Finds and loads data sets by name; the last ones stay loaded, in bounded memory, while their files stay."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._kept = StampedCache[Dataset](_KEPT_BYTES, lambda dataset: dataset.num_bytes)
        self._pictures = StampedCache[tuple[str, ...]](_KEPT_PICTURES)

    def locate(self, name: str) -> Path:
        """Return a data set's folder; raises DatasetNotFoundError, also for names that are no plain folder name."""
        if not is_dataset_name(name) or not (self._root / name / "dataset.toml").is_file():
            raise DatasetNotFoundError(f"the data root has no data set '{quote_text(name)}'{self._remedy(name)}")
        folder = self._root / name
        if folder.resolve().parent != self._root.resolve():
            raise DatasetNotFoundError(f"the data set '{name}' is a link out of the data root")
        return folder

    def vacant(self, name: str) -> Path:
        """Return where a new data set will lie; raises ImportInvalidError and DatasetExistsError."""
        try:
            require_dataset_name(name)
        except DatasetNameInvalidError as error:
            raise ImportInvalidError(str(error), [ProblemFinding(detail=str(error), pointer="#/name")]) from error
        if os.path.lexists(self._root / name):
            raise DatasetExistsError(f"the data root has '{name}' already: choose another name")
        return self._root / name

    def load(self, name: str) -> Dataset:
        """Load a data set whole; blocks. Raises DatasetNotFoundError and DatasetInvalidError."""
        folder = self.locate(name)
        return self._kept.get(name, _stamp(folder), lambda: load_dataset(folder))

    def head(self, name: str) -> Dataset:
        """Load what is said of a data set, without its samples. Raises DatasetNotFoundError, DatasetInvalidError."""
        return load_head(self.locate(name))

    def is_large(self, name: str) -> bool:
        """Return whether a job over a data set takes long to check; blocks. Raises DatasetNotFoundError."""
        folder = self.locate(name)
        if kept := self._kept.find(name, _stamp(folder)):
            return len(kept.samples) > _INLINE_SAMPLES
        return sum(path.stat().st_size for path in record_files(folder / "samples")) > _INLINE_BYTES

    def version(self, name: str) -> str:
        """Changes whenever a file of records does; blocks. Raises DatasetNotFoundError."""
        return hashlib.sha256(repr(_stamp(self.locate(name))).encode()).hexdigest()

    def summaries(self) -> list[DatasetSummary]:
        """Summaries of all data sets, by name; blocks. A dataset.toml that cannot be read is described as such."""
        if not self._root.is_dir():
            return []
        return [self._summary(self._root / name) for name in self._names()]

    def _summary(self, folder: Path) -> DatasetSummary:
        images = folder / "images"
        stamp = file_stamp(images) if images.is_dir() else None
        pictures = self._pictures.get(folder.name, stamp, lambda: _some_pictures(folder)) if stamp else ()
        return _summary(folder, pictures)

    def _names(self) -> list[str]:
        names = sorted(path.parent.name for path in self._root.glob("*/dataset.toml"))
        return [name for name in names if is_dataset_name(name)]

    def _remedy(self, name: str) -> str:
        if name == "demo":
            return "; `gigavqa dataset demo` makes it"
        close = did_you_mean(name[:LONGEST_DATASET_NAME], self._names())
        return close or "; `gigavqa dataset list` shows what it has"


def _stamp(folder: Path) -> Stamp:
    files = (*list_settings_files(folder), folder / "images", *record_files(folder / "samples"))
    return file_stamp(*(path for path in files if path.exists()))


def _summary(folder: Path, pictures: tuple[str, ...]) -> DatasetSummary:
    try:
        settings = tomllib.loads((folder / "dataset.toml").read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        settings = {"description": f"dataset.toml cannot be read: {error}"}
    return DatasetSummary(
        name=folder.name,
        benchmark=str(settings.get("benchmark", "unknown")),
        title=str(settings.get("title", folder.name)),
        description=str(settings.get("description", "")),
        pictures=pictures,
    )


def _some_pictures(folder: Path) -> tuple[str, ...]:
    """Return a few pictures of its folder; no record is read for them, and not all names."""
    found = (Path(place, name) for place, _, names in os.walk(folder / "images") for name in sorted(names))
    pictures = (path for path in islice(found, _MOST_LOOKED_AT) if path.suffix.lower() in IMAGE_SUFFIXES)
    return tuple(path.relative_to(folder).as_posix() for path in islice(pictures, SHOWN_PICTURES))
