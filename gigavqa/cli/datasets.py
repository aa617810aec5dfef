"""Reads the data set that an argument names, and finds a sample in it, or says what is close to it."""

from itertools import chain
from pathlib import Path

from gigavqa.cli.errors import ArgumentError
from gigavqa.cli.lookup import dataset_folder, possible_name
from gigavqa.evaluation.datasets import Dataset, load_dataset
from gigavqa.evaluation.errors import DatasetInvalidError
from gigavqa.evaluation.sample_files import record_files
from gigavqa.evaluation.samples import Sample
from gigavqa.runtime.suggestions import did_you_mean


def records_path(name: str) -> Path:
    """Return the path of what to score against: a file of records, a folder of such files, else a data set as
    `dataset_folder` finds it.

    Records are enough here: scoring looks at their truths, and at no image. Raises ArgumentError.
    """
    path = Path(name).expanduser()
    with possible_name(name):
        if path.is_file() or (path.is_dir() and not (path / "dataset.toml").is_file() and record_files(path)):
            return path
    return dataset_folder(name)


def load_checked(folder: Path) -> Dataset:
    """Return the data set of a folder; raises ArgumentError with the first of its problems."""
    try:
        return load_dataset(folder)
    except DatasetInvalidError as error:
        told = f"{folder}: {error.summary}; `gigavqa dataset check {folder.name}` names every problem"
        raise ArgumentError(told) from error


def sample_in(dataset: Dataset, sample_id: str) -> Sample:
    """Return the sample of a data set that has this id, an example or not; raises ArgumentError."""
    found = next((sample for sample in chain(dataset.samples, dataset.examples) if sample.id == sample_id), None)
    if found is None:
        close = did_you_mean(sample_id, (sample.id for sample in dataset.samples))
        raise ArgumentError(
            f"data set '{dataset.name}' has no sample '{sample_id}'{close or '.'} "
            f"`gigavqa dataset show {dataset.name}` lists them"
        )
    return found
