"""Folders and files that are for nobody but the user who runs the service."""

import os
import stat
import tempfile
from pathlib import Path
from typing import IO

from gigavqa.runtime.errors import FolderNotPrivateError, FolderUnwritableError

_LEAST_BYTES = 1 << 20


def private_folder(folder: Path) -> Path:
    """Make a folder that only this user can look into; one of this user's that is there is closed to others."""
    folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder.mkdir(exist_ok=True, mode=0o700)
    _close(folder, folder.stat())
    return folder


def own_private_folder(folder: Path) -> Path:
    """As `private_folder`, where anybody can make folders: raises FolderNotPrivateError when somebody else did."""
    folder.mkdir(exist_ok=True, mode=0o700)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise FolderNotPrivateError(f"{folder} belongs to somebody else, or is a link; remove it, or set TMPDIR")
    _close(folder, found)
    return folder


def require_writable(folder: Path) -> None:
    """Make the folder of an installation, and write to it; nothing of that stays in it.

    Raises FolderUnwritableError, which names it and what helps.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(_LEAST_BYTES))
            file.flush()
            os.fsync(file.fileno())  # disks over a network say so late that they are full
    except OSError as error:
        raise FolderUnwritableError(
            f"{folder} cannot be written to ({error.strerror or error}): make room there and let this user write, or "
            "set GIGAVQA_HOME to a folder elsewhere"
        ) from error


def open_log(path: Path, *, anew: bool = False) -> IO[bytes]:
    """Open a log that only this user can read, to append or to begin it anew; one that is there is closed to others."""
    log = os.open(path, os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if anew else os.O_APPEND), 0o600)
    if os.fstat(log).st_uid == os.getuid():
        os.fchmod(log, 0o600)
    return os.fdopen(log, "wb")


def _close(folder: Path, found: os.stat_result) -> None:
    if found.st_uid == os.getuid() and stat.S_IMODE(found.st_mode) & 0o077:
        folder.chmod(0o700)
