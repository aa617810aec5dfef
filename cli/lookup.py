"""Finds what an argument names: a model, an image, a data set, a sample; or says what is close to it."""

from pathlib import Path

from catalogue.entry import CatalogueEntry
from catalogue.errors import CatalogueError
from catalogue.load import Catalogue, load_catalogue
from catalogue.names import did_you_mean
from catalogue.resolve import resolve_model
from cli.errors import ArgumentError
from evaluation.datasets import Dataset, load_dataset, record_files
from evaluation.errors import DatasetInvalidError
from evaluation.samples import Sample
from jobs.home import Home
from tiling.geometry import Size


def catalogue() -> Catalogue:
    """The shipped catalogue with the operator's own entries."""
    return load_catalogue(Home.from_environment().catalogue)


def model_entry(name: str, known: Catalogue | None = None) -> CatalogueEntry:
    """The entry of a catalogue id, a local checkpoint folder or a Hugging Face id of a supported family.

    Raises ArgumentError for what `resolve_model` refuses.
    """
    try:
        return resolve_model(name, catalogue() if known is None else known)
    except CatalogueError as error:
        raise ArgumentError(str(error)) from error


def image_path(name: str) -> Path:
    """A file on disk: the path itself, else the path below the data root. Raises ArgumentError when neither exists."""
    path = Path(name).expanduser()
    if path.is_file():
        return path
    below_root = Home.from_environment().data / name
    if below_root.is_file():
        return below_root
    folder = next((place.parent for place in (path, below_root) if place.parent.is_dir()), None)
    names = [other.name for other in folder.iterdir()] if folder else []
    raise ArgumentError(
        f"there is no image file '{name}', neither here nor in the data root {Home.from_environment().data}"
        f"{did_you_mean(path.name, names)}"
    )


def records_path(name: str) -> Path:
    """What samples are read from for scoring: a file or folder of records, else a data set as `dataset_folder` does."""
    path = Path(name).expanduser()
    if path.is_file() or (path.is_dir() and not (path / "dataset.toml").is_file() and record_files(path)):
        return path
    return dataset_folder(name)


def dataset_folder(name: str) -> Path:
    """A data set's folder: a path that holds dataset.toml, else the data set of this name in the data root."""
    path, data = Path(name).expanduser(), Home.from_environment().data
    for folder in (path, data / name):
        if (folder / "dataset.toml").is_file():
            return folder
    # A bare name means the data root: that a folder of this name lies here by chance is no hint.
    meant = (data / name,) if path.name == name else (path, data / name)
    if found := next((folder for folder in meant if folder.is_dir()), None):
        raise ArgumentError(
            f"{found / 'dataset.toml'} is missing, so that this is no data set; `gigavqa dataset import` makes one of "
            "records and images"
        )
    raise ArgumentError(
        f"there is no data set '{name}', neither here nor in the data root {data}"
        f"{did_you_mean(name, dataset_names()) or '.'} `gigavqa dataset list` shows what there is; "
        "`gigavqa dataset demo` makes one"
    )


def dataset_names() -> list[str]:
    """Names of the data sets of the data root, sorted."""
    return sorted(path.parent.name for path in Home.from_environment().data.glob("*/dataset.toml"))


def load_checked(folder: Path) -> Dataset:
    """The data set of a folder; raises ArgumentError with the first of its problems."""
    try:
        return load_dataset(folder)
    except DatasetInvalidError as error:
        first, *others = error.problems
        more = f" (and {len(others)} more)" if others else ""
        raise ArgumentError(
            f"{folder}: {first}{more}; `gigavqa dataset check {folder.name}` names every problem"
        ) from error


def sample_in(dataset: Dataset, sample_id: str) -> Sample:
    """The sample of a data set that has this id; raises ArgumentError."""
    found = next((sample for sample in dataset.samples if sample.id == sample_id), None)
    if found is None:
        close = did_you_mean(sample_id, (sample.id for sample in dataset.samples))
        raise ArgumentError(
            f"data set '{dataset.name}' has no sample '{sample_id}'{close or '.'} "
            f"`gigavqa dataset show {dataset.name}` lists them"
        )
    return found


def picture_size(text: str) -> Size:
    """Width and height in pixels of `26753x15052`; raises ArgumentError."""
    width, _, height = text.lower().replace("×", "x").partition("x")
    if width.isdecimal() and height.isdecimal() and int(width) > 0 and int(height) > 0:
        return Size(int(width), int(height))
    raise ArgumentError(f"'{text}' is not WIDTHxHEIGHT in pixels, such as 26753x15052")
