"""Finds what an argument names: a model, an image, a data set; or says what is close to it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.catalogue.load import Catalogue, load_catalogue
from gigavqa.catalogue.resolve import resolve_model
from gigavqa.cli.errors import ArgumentError
from gigavqa.runtime.home import Home
from gigavqa.runtime.suggestions import did_you_mean
from gigavqa.tiling.errors import quote_text
from gigavqa.tiling.geometry import Size
from gigavqa.tiling.image_folders import folder_kind
from gigavqa.tiling.opening import locate_remote
from gigavqa.tiling.remote.addresses import is_remote_name


def catalogue() -> Catalogue:
    """Return the shipped catalogue with the operator's own entries."""
    return load_catalogue(Home.from_environment().catalogue)


def model_entry(name: str) -> CatalogueEntry:
    """Return the entry of a catalogue id, a local checkpoint folder or a Hugging Face id of a supported family.

    Raises what `resolve_model` raises.
    """
    return resolve_model(name, catalogue())


def image_path(name: str) -> Path:
    """Return an image on disk, a file or a folder, or what stands here for one elsewhere.

    The path itself, else the path below the data root. Raises ArgumentError when neither exists, TilingError for what
    cannot be found elsewhere.
    """
    if is_remote_name(name):
        return locate_remote(name)
    path = Path(name).expanduser()
    below_root = Home.from_environment().data / name
    for place in (path, below_root):
        if place.is_file() or folder_kind(place):
            return place
    folder = next((place.parent for place in (path, below_root) if place.parent.is_dir()), None)
    names = [other.name for other in folder.iterdir()] if folder else []
    raise ArgumentError(
        f"there is no image file '{name}', neither here nor in the data root {Home.from_environment().data}"
        f"{did_you_mean(path.name, names)}"
    )


def dataset_folder(name: str) -> Path:
    """A data set to ask, show or check: a folder that holds dataset.toml, else the one of this name in the data root.

    Records alone are none: what is asked needs images, and a name for the job to keep. Raises ArgumentError.
    """
    with possible_name(name):
        return _existing_dataset(name)


@contextmanager
def possible_name(name: str) -> Iterator[None]:
    """Raise ArgumentError where a name that is looked for in the block is longer than any file's."""
    try:
        yield
    except OSError as error:
        told = f"'{quote_text(name)}' names no data set: {error.strerror}"
        raise ArgumentError(f"{told}; `gigavqa dataset list` shows what there is") from error


def _existing_dataset(name: str) -> Path:
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


def picture_size(text: str, name: str) -> Size:
    """Width and height in pixels of `26753x15052`; raises ArgumentError with the argument's name."""
    width, _, height = text.lower().replace("×", "x").partition("x")
    if width.isdecimal() and height.isdecimal() and int(width) > 0 and int(height) > 0:
        return Size(int(width), int(height))
    raise ArgumentError(f"{name} '{text}' is not WIDTHxHEIGHT in pixels, such as 26753x15052")
