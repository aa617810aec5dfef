"""Folders in the data root that last as long as an import, locked by who uses them, so that dead ones are known."""

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX = ".import-"
"""What their names begin with; no data set is called so, and nothing serves what lies in a hidden folder."""
_FORGOTTEN_SECONDS = 86_400.0
"""After which a folder is dead on a file system without locks."""


@contextmanager
def import_folder(root: Path) -> Iterator[Path]:
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


def sweep_import_folders(root: Path) -> None:
    """Remove the folders of imports whose gateway was killed; blocks. One that cannot be removed is left."""
    if not any(root.glob(f"{PREFIX}*")):
        return
    with suppress(OSError):
        with _locked(root):
            dead = [folder for folder in root.glob(f"{PREFIX}*") if _is_dead(folder)]
        for folder in dead:
            shutil.rmtree(folder, ignore_errors=True)


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
