"""An image's file, held open: whatever is read of it is of what was opened, and of one version of that.

A name may stand for one file when pixels are planned, for another while they are read, and for the first again when
somebody looks whether it is still there. So the file is opened once, everybody who decodes it reads through that
descriptor, and its version is told by it (docs/decisions/0007-image-files.md).
"""

import errno
import os
import stat
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple, Self

from gigavqa.tiling.errors import ImageChangedError, ImageNotFoundError, ImageUnreadableError, TilingError
from gigavqa.tiling.image_folders import folder_kind, main_file
from gigavqa.tiling.versions import (
    FileVersion,
    files_of,
    is_unambiguous,
    may_have_companions,
    mounts,
    seconds_until_settled,
    stamp_of,
    version_of,
)

_DESCRIPTORS = "/proc/self/fd" if Path("/proc/self/fd").is_dir() else None
_CLOSED = -1


def write_whole(place: Path, text: str) -> None:
    """Write a file whole or not at all, in a folder that is there. Raises OSError."""
    with tempfile.NamedTemporaryFile("w", dir=place.parent, suffix=".partial", delete=False) as partial:
        partial.write(text)
    Path(partial.name).replace(place)


class Closeable(ABC):
    """Something that is closed at the end of the `with` that it stands in."""

    @abstractmethod
    def close(self) -> None:
        """Release the file, be it for the second time."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class FilePart(NamedTuple):
    """One of the files that hold an image: its name beside the first, how it is opened, and its length in bytes."""

    name: str
    file: "OpenFile | Path"
    size: int


class OpenFile(Closeable, os.PathLike[str]):
    """The file of an image, or a slide's named one, open for reading. Thread-safe but for `close`.

    As a path it is the descriptor's own, by which libraries open the same file once more, whatever became of its name.
    Slides of several files are read by their names, in the folder that `path` led to, and so is all where descriptors
    have no paths. Of an image that is a folder, the file is open that tells what it holds; as a path it is that file of
    a DICOM series, and the folder of a Zarr store. Raises ImageNotFoundError and ImageUnreadableError.
    """

    is_remote = False
    """Whether it lies elsewhere, so that a read of what is not here takes a request."""
    has_ranges: bool = True
    """Whether parts of it can be read without the rest."""
    stated_digest: str | None = None
    """The name of its content, where that is known without reading it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.folder_kind = folder_kind(path)
        self._place = path.parent.resolve() / path.name if may_have_companions(path) or not _DESCRIPTORS else None
        main = main_file(self._place) if self._place else path
        self._by_name = self._place if self.folder_kind == "zarr" else main if self._place else None
        self._mounts = mounts()
        self._descriptor = _open(main if self.folder_kind else path)
        try:
            self.version: FileVersion = self._look()
        except BaseException:
            self.close()
            raise

    def __fspath__(self) -> str:
        if self.descriptor == _CLOSED:
            raise ValueError(f"{self.path}: the file is closed")
        return str(self._by_name or f"{_DESCRIPTORS}/{self.descriptor}")

    @property
    def descriptor(self) -> int:
        """Its number to the operating system; -1 once it is closed."""
        return self._descriptor

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return os.fstat(self.descriptor).st_size

    def read_at(self, offset: int, count: int) -> bytes:
        """Read bytes from an offset on, fewer at the end of the file. Raises OSError."""
        return os.pread(self.descriptor, count, offset)

    def expect(self, spans: Iterable[tuple[int, int]]) -> None:
        """Say which bytes will be read soon, as first ones and those behind the last: of a file elsewhere they come."""

    def stream(self) -> IO[bytes]:
        """Open the same file once more, with a position of its own, under its own name."""
        return open(self.path, "rb", opener=lambda _, flags: os.open(self, flags))

    def renamed(self, told: str) -> str:
        """Return what a library told of the file, by the name that people know."""
        return told.replace(os.fspath(self), str(self.path))

    @property
    def key(self) -> tuple[Path, FileVersion, int]:
        """The name of this version for as long as this process runs."""
        return self.path, self.version, 0 if is_unambiguous(self.version) else self._mounts

    @property
    def parts(self) -> tuple[FilePart, ...]:
        """This file, and those beside it that belong to its image."""
        if self._place is None:
            return (FilePart(self.path.name, self, self.version[0].size),)
        found = ((each, each.stat().st_size) for each in files_of(self._place))
        return tuple(FilePart(each.relative_to(self._place.parent).as_posix(), each, size) for each, size in found)

    @property
    def num_bytes(self) -> int:
        """Length of all files of the image."""
        return sum(stamp.size for stamp in self.version)

    @property
    def is_unchanged(self) -> bool:
        """Whether the file is what it was when it was opened, or settled."""
        try:
            return self._look() == self.version
        except OSError:
            return False

    @contextmanager
    def unchanging(self) -> Iterator[None]:
        """Let ImageChangedError be raised where the file does not stay the same, whatever else goes wrong by that."""
        try:
            yield
        except (TilingError, OSError) as error:
            if not self.is_unchanged:
                raise image_changed_error(self.path) from error
            raise
        self.require_unchanged()

    def require_unchanged(self) -> None:
        """Raise ImageChangedError where the file is not what it was."""
        if not self.is_unchanged:
            raise image_changed_error(self.path)

    def settle(self) -> None:
        """Wait until every further change will show, and begin from there."""
        if pause := seconds_until_settled(self.version):
            time.sleep(pause)
            self.version = self._look()

    def close(self) -> None:
        """Release the file, be it for the second time."""
        descriptor, self._descriptor = self._descriptor, _CLOSED
        if descriptor != _CLOSED:
            os.close(descriptor)

    def _look(self) -> FileVersion:
        if self._place:
            return version_of(self._place)
        return (stamp_of(os.fstat(self.descriptor), self.path.name),)


def image_changed_error(path: Path) -> ImageChangedError:
    """Return what is said of a file that did not stay the same."""
    return ImageChangedError(f"{path}: the image was replaced while it was being read")


def _open(path: Path) -> int:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a pipe would let whoever opens it wait
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise ImageNotFoundError(f"{path}: no such file") from error
    except OSError as error:
        raise ImageUnreadableError(f"{path}: {error.strerror}") from error
    return descriptor
