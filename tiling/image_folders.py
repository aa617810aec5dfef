"""Images that are folders: DICOM series of one slide, and OME-Zarr stores. Needs no decoder."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

FolderKind = Literal["dicom", "zarr"]

DICOM_SUFFIX = ".dcm"
ZARR_METADATA = ("zarr.json", ".zattrs", ".zgroup", ".zarray")
"""Files of which a Zarr store or a group in one has at least one, of version 3 and 2."""
_MOST_LOOKED_AT = 4096


def folder_kind(path: Path) -> FolderKind | None:
    """Return what image a folder is; None for one that is none, and for files."""
    if not path.is_dir():
        return None
    if any((path / name).is_file() for name in ZARR_METADATA):
        return "zarr"
    return "dicom" if first_dicom_file(path) else None


def main_file(path: Path) -> Path:
    """Return the file that is opened for an image: itself, or the one that tells what its folder holds."""
    kind = folder_kind(path)
    if kind == "zarr":
        return next(path / name for name in ZARR_METADATA if (path / name).is_file())
    return (first_dicom_file(path) or path) if kind else path


def first_dicom_file(folder: Path) -> Path | None:
    """Return the first `.dcm` by name that is not hidden; None where none is among a folder's first 4,096 entries."""
    with os.scandir(folder) as entries:
        names = sorted(
            entry.name for entry, _ in zip(entries, range(_MOST_LOOKED_AT), strict=False)
            if entry.name.lower().endswith(DICOM_SUFFIX) and not entry.name.startswith(".") and entry.is_file()
        )  # fmt: skip
    return folder / names[0] if names else None


def walk_files(folder: Path) -> Iterator[os.DirEntry[str]]:
    """Yield all files below a folder, links not followed, in the order of their names."""
    with os.scandir(folder) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        if entry.is_dir(follow_symlinks=False):
            yield from walk_files(Path(entry.path))
        elif entry.is_file():
            yield entry
