"""Hidden folders in the data root, for what is made or deleted there; locked, so that those of the dead are known."""

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gigavqa.service.errors import DataRootUnwritableError

PREFIX = ".work-"
"""What their names begin with; no data set is called so, and nothing serves what lies in a hidden folder."""
_FORGOTTEN_SECONDS = 86_400.0
"""After which a folder is dead on a file system without locks."""


@contextmanager
def hidden_folder(root: Path) -> Iterator[Path]:
    """A new folder in the data root, so that pictures need not be copied into the data set. Raises OSError."""
    with _locked(root):
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=root))
        lock = os.open(folder, os.O_RDONLY)
        with suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def sweep_hidden_folders(root: Path) -> None:
    """Remove the folders of gateways that were killed; blocks. One that cannot be removed is left."""
    if not any(root.glob(f"{PREFIX}*")):
        return
    with suppress(OSError):
        with _locked(root):
            dead = [folder for folder in root.glob(f"{PREFIX}*") if _is_dead(folder)]
        for folder in dead:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def writing(command: str) -> Iterator[None]:
    """Name the command that does a block's work elsewhere where the data root cannot be written here.

    Raises DataRootUnwritableError.
    """
    try:
        yield
    except OSError as error:
        raise DataRootUnwritableError(
            f"the gateway cannot write into its data root ({error.strerror}); `{command}` does it on a machine that can"
        ) from error


@contextmanager
def _locked(root: Path) -> Iterator[None]:
    """Hold the data root while folders are made or removed: a new one has no lock of its own for a moment."""
    held = os.open(root, os.O_RDONLY)
    try:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(held, fcntl.LOCK_EX)
        yield
    finally:
        os.close(held)


def _is_dead(folder: Path) -> bool:
    try:
        held = os.open(folder, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return folder.stat().st_mtime < time.time() - _FORGOTTEN_SECONDS
    else:
        return True
    finally:
        os.close(held)
