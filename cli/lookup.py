"""Finds what an argument names: a model, an image, a data set's folder."""

from pathlib import Path
from typing import TYPE_CHECKING

from cli.errors import CommandError

if TYPE_CHECKING:
    from catalogue.entry import CatalogueEntry
    from catalogue.load import Catalogue


def catalogue() -> "Catalogue":
    """The shipped catalogue with the operator's own entries."""
    from catalogue.load import load_catalogue
    from jobs.home import Home

    return load_catalogue(Home.from_environment().catalogue)


def model_entry(name: str) -> "CatalogueEntry":
    """The entry of a catalogue id, a local checkpoint folder or a Hugging Face id of a supported family."""
    from catalogue.resolve import resolve_model

    return resolve_model(name, catalogue())


def image_path(name: str) -> Path:
    """A file on disk: the path itself, else the path below the data root. Raises CommandError when neither exists."""
    from jobs.home import Home

    path = Path(name).expanduser()
    if path.is_file():
        return path
    below_root = Home.from_environment().data / name
    if below_root.is_file():
        return below_root
    raise CommandError(f"there is no image file '{name}', neither here nor in the data root {below_root.parent}")


def records_path(name: str) -> Path:
    """What samples are read from for scoring: a file or folder of records, else a data set as `dataset_folder` does."""
    from evaluation.datasets import record_files

    path = Path(name).expanduser()
    if path.is_file() or (path.is_dir() and not (path / "dataset.toml").is_file() and record_files(path)):
        return path
    return dataset_folder(name)


def dataset_folder(name: str) -> Path:
    """A data set's folder: a path that holds dataset.toml, else the data set of this name in the data root."""
    from jobs.home import Home

    data = Home.from_environment().data
    for folder in (Path(name).expanduser(), data / name):
        if (folder / "dataset.toml").is_file():
            return folder
    raise CommandError(
        f"'{name}' is no data set: no dataset.toml in it, and none in {data / name}. "
        "`gigavqa dataset list` shows what there is; `gigavqa dataset demo` makes one."
    )
