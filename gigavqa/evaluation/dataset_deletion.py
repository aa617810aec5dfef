"""Deletes a data set of the data root."""

import shutil
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class DatasetFootprint:
    """The files that a data set's folder holds, and their bytes; pictures that are linked elsewhere stay there."""

    files: int
    bytes: int


def measure_dataset(folder: Path) -> DatasetFootprint:
    """Count what deleting a data set would remove."""
    sizes = [path.lstat().st_size for path in folder.rglob("*") if path.is_symlink() or path.is_file()]
    return DatasetFootprint(len(sizes), sum(sizes))


def delete_dataset(folder: Path) -> None:
    """Delete a data set's folder. What names it goes last, so that one that was half deleted can be deleted again."""
    for path in folder.iterdir():
        if path.name == "dataset.toml":
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    shutil.rmtree(folder)
