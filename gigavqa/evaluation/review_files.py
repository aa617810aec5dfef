"""Files of reviews: `reviews/REVIEWER.jsonl` in a data set's folder, one verdict a line, appended to and never changed.

A line is on the disk before anybody is told that it is taken. What a crash leaves behind the last line's end was never
told of, and goes with the next line.
"""

import fcntl
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import IO

from pydantic import ValidationError

from gigavqa.evaluation.dataset_settings import REVIEWS
from gigavqa.evaluation.datasets import Dataset
from gigavqa.evaluation.errors import DatasetInvalidError, Problem, ReviewRefusedError
from gigavqa.evaluation.reviews import ReviewEntry, Reviews, SampleReview, sample_digest, standing_reviews
from gigavqa.runtime.durable_files import sync
from gigavqa.runtime.plurals import count_noun
from gigavqa.runtime.validation import describe_faults


class ReviewLog:
    """The file of one reviewer, kept as far as it was read: what is new in it is read on. Thread-safe."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._forget()

    def _forget(self) -> None:
        self._lines: list[SampleReview] = []
        self._by_id: dict[str, SampleReview] = {}
        self._end, self._inode = 0, 0

    def lines(self) -> Sequence[SampleReview]:
        """Return all lines in their order; none where there is no file. Raises DatasetInvalidError naming the line."""
        with self._lock:
            try:
                with self._path.open("rb") as file:
                    self._read_on(file)
            except FileNotFoundError:
                self._forget()
            return tuple(self._lines)

    def knows(self, entry: str) -> bool:
        """Return whether an entry of this id is written."""
        self.lines()
        return entry in self._by_id

    def append(self, entry: ReviewEntry) -> SampleReview:
        """Write an entry, and return its line once it is on the disk; one that is there already is not written again.

        Raises ReviewRefusedError where its id is another entry's, or it undoes what does not count, and OSError.
        """
        with self._lock, self._writing() as file:
            self._read_on(file)
            if known := self._by_id.get(entry.id):
                if ReviewEntry.model_validate(known.model_dump(exclude={"at"})) != entry:
                    raise ReviewRefusedError(f"id: '{entry.id}' is that of another entry")
                return known
            if entry.undoes is not None:
                self._require_standing(entry)
            line = SampleReview(**entry.model_dump(), at=datetime.now(UTC))
            file.truncate(self._end)
            file.seek(self._end)
            file.write(line.model_dump_json(exclude_defaults=True).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
            self._read_on(file)
            return line

    def _require_standing(self, entry: ReviewEntry) -> None:
        standing = standing_reviews(self._lines).get(entry.sample)
        if standing is None or standing.id != entry.undoes:
            raise ReviewRefusedError(f"undoes: '{entry.undoes}' is not the verdict that counts on '{entry.sample}'")

    @contextmanager
    def _writing(self) -> Iterator[IO[bytes]]:
        """The file, which no other process writes meanwhile."""
        self._path.parent.mkdir(exist_ok=True)
        is_new = not self._path.exists()
        with os.fdopen(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644), "r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if is_new:
                _sync_folders(self._path.parent)
            yield file

    def _read_on(self, file: IO[bytes]) -> None:
        """Read the lines that have come since, and all again of a file that another one has taken the place of."""
        status = os.fstat(file.fileno())
        if status.st_ino != self._inode or status.st_size < self._end:
            self._forget()
            self._inode = status.st_ino
        file.seek(self._end)
        for text in file:
            if not text.endswith(b"\n"):
                return
            self._take(text)
            self._end += len(text)

    def _take(self, text: bytes) -> None:
        try:
            line = SampleReview.model_validate_json(text)
        except ValidationError as error:
            place = f"{REVIEWS}/{self._path.name}"
            problem = Problem(place, len(self._lines) + 1, None, f"is no verdict: {describe_faults(error)}")
            raise DatasetInvalidError([problem]) from error
        self._lines.append(line)
        self._by_id[line.id] = line


def _sync_folders(folder: Path) -> None:
    for one in (folder, folder.parent):
        sync(one)


def review_files(folder: Path) -> Mapping[str, Path]:
    """Return the files of a data set's reviewers, by their names."""
    return {path.stem: path for path in sorted((folder / REVIEWS).glob("*.jsonl"))}


def describe_reviews(folder: Path) -> str:
    """Say how many lines of how many reviewers lie in a data set's folder; empty where there are none."""
    numbers = [sum(1 for _ in path.open("rb")) for path in review_files(folder).values()]
    return f"{count_noun(sum(numbers), 'review')} of {count_noun(len(numbers), 'reviewer')}" if sum(numbers) else ""


def read_reviews(folder: Path, dataset: Dataset) -> Reviews:
    """Read what everybody found of a data set as it is now. Raises DatasetInvalidError naming a line that is none."""
    lines = {name: ReviewLog(path).lines() for name, path in review_files(folder).items()}
    return Reviews.of(lines, digests_in(dataset))


def digests_in(dataset: Dataset) -> Callable[[str], str | None]:
    """Return what names a sample of a data set as it is now, by its id; None for one that it does not have."""

    @cache
    def digest_of(sample: str) -> str | None:
        position = dataset.positions.get(sample)
        return None if position is None else sample_digest(dataset.benchmark, dataset.samples[position])

    return digest_of
