"""A backup's folder: files with their checksums and a manifest, whole under its name or not there."""

import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path, PurePosixPath

from pydantic import Field, ValidationError

from gigavqa.backup.errors import BackupInvalidError
from gigavqa.contract.base import Contract
from gigavqa.runtime.durable_files import sync
from gigavqa.runtime.plurals import list_some
from gigavqa.runtime.validation import describe_faults

MANIFEST, CHECKSUMS, STATE = "manifest.json", "SHA256SUMS", "state.rdb"
FORMAT = 1
_PIECE = 1 << 20


class Manifest(Contract):
    """The manifest of a backup. It is written last, and holds the checksum of the list of checksums."""

    format: int = FORMAT
    release: str = Field(description="of gigavqa, which made it")
    made_at: datetime = Field(description="the moment that it shows the installation at")
    database: int = Field(default=0, description="number of the database in the server's state")
    jobs: int = Field(description="jobs, chats and batches among them")
    responses: int
    files: int
    bytes: int
    checksums: str = Field(description="SHA-256 of SHA256SUMS")
    damaged: tuple[str, ...] = Field(default=(), description="what could not be read when it was made, and why")
    gone: tuple[str, ...] = Field(default=(), description="ids of files that were deleted while it was made")


class ArchiveWriter:
    """Takes the files of a backup."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bytes = 0
        self._checksums: dict[str, str] = {}

    @property
    def files(self) -> int:
        """The number of files."""
        return len(self._checksums)

    def put(self, name: str, content: bytes) -> None:
        """Add a file of these bytes. Raises OSError."""
        path = self._path(name)
        path.write_bytes(content)
        self._add(name, path, hashlib.sha256(content).hexdigest(), len(content))

    def copy(self, name: str, source: Path) -> None:
        """Add a copy of a file, with its times. Raises OSError, FileNotFoundError where there is none (any more)."""
        path, digest = self._path(name), hashlib.sha256()
        try:
            with source.open("rb") as taken, path.open("wb") as out:
                while piece := taken.read(_PIECE):
                    digest.update(piece)
                    out.write(piece)
            shutil.copystat(source, path)
        except FileNotFoundError:
            path.unlink(missing_ok=True)
            raise
        self._add(name, path, digest.hexdigest(), path.stat().st_size)

    def take(self, name: str) -> None:
        """Add a file that is in the folder already."""
        path = self._path(name)
        self._add(name, path, digest_of(path), path.stat().st_size)

    def close(self, **told: object) -> Manifest:
        """Write the checksums and the manifest."""
        lines = "".join(f"{digest}  {name}\n" for name, digest in sorted(self._checksums.items())).encode()
        _write_durably(self.folder / CHECKSUMS, lines)
        counted = {"files": self.files, "bytes": self.bytes, "checksums": hashlib.sha256(lines).hexdigest()}
        manifest = Manifest.model_validate({**told, **counted})
        _write_durably(self.folder / MANIFEST, manifest.model_dump_json(indent=2).encode() + b"\n")
        return manifest

    def _path(self, name: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def _add(self, name: str, path: Path, digest: str, size: int) -> None:
        sync(path)
        self._checksums[name] = digest
        self.bytes += size


class Archive:
    """A backup that is there, as its manifest tells it. Raises BackupInvalidError."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            self.manifest = Manifest.model_validate_json((folder / MANIFEST).read_bytes())
            lines = (folder / CHECKSUMS).read_bytes()
        except (FileNotFoundError, NotADirectoryError) as error:
            raise BackupInvalidError(
                f"{folder} is no backup, or not a whole one: it has no {error.filename}"
            ) from error
        except ValidationError as error:
            raise BackupInvalidError(f"{folder / MANIFEST} cannot be read: {describe_faults(error)}") from error
        if self.manifest.format != FORMAT:
            raise BackupInvalidError(f"{folder} is of format {self.manifest.format}; this release reads {FORMAT}")
        if hashlib.sha256(lines).hexdigest() != self.manifest.checksums:
            raise BackupInvalidError(f"{folder / CHECKSUMS} is not what the manifest says; the backup is damaged")
        pairs = (line.split("  ", 1) for line in lines.decode().splitlines())
        self.checksums = {name: digest for digest, name in pairs}

    def verify(self) -> None:
        """Read every file. Raises BackupInvalidError, which names those that are gone or changed."""
        wrong = [name for name, digest in self.checksums.items() if not _has_digest(self.path(name), digest)]
        if wrong:
            named = list_some(wrong, 3)
            raise BackupInvalidError(f"{self.folder}: not what was backed up: {named}; nothing was restored")

    def under(self, folder: str) -> Iterator[tuple[str, str]]:
        """Names of the files below a folder of the backup, relative to it, with their checksums."""
        for name, digest in self.checksums.items():
            if name.startswith(f"{folder}/"):
                yield name.removeprefix(f"{folder}/"), digest

    def path(self, name: str) -> Path:
        """Return where a file of the backup lies. Raises BackupInvalidError for one that would lie elsewhere."""
        pure = PurePosixPath(name)
        if pure.is_absolute() or ".." in pure.parts:
            raise BackupInvalidError(f"{self.folder / CHECKSUMS} names {name}, which leads out of the backup")
        return self.folder / pure


@contextmanager
def new_archive(folder: Path) -> Iterator[ArchiveWriter]:
    """Fill a backup's folder, which appears under its name when the block ends well, and else not at all.

    Raises FileExistsError where something is there already.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileExistsError(f"{folder} is there already; name a new folder")
    folder.parent.mkdir(parents=True, exist_ok=True)
    unfinished = folder.with_name(f".{folder.name}.{os.getpid()}.unfinished")
    unfinished.mkdir(mode=0o700)
    try:
        yield ArchiveWriter(unfinished)
        for inside in (path for path in unfinished.rglob("*") if path.is_dir()):
            sync(inside)
        sync(unfinished)
        unfinished.replace(folder)
        sync(folder.parent)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def digest_of(path: Path) -> str:
    """SHA-256 of a file's bytes. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _has_digest(path: Path, digest: str) -> bool:
    try:
        return digest_of(path) == digest
    except OSError:
        return False


def _write_durably(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    sync(path)
