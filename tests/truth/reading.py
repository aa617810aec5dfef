"""Reads a file as `gigavqa dataset import --benchmark questions` does, over three small pictures."""

import itertools
from pathlib import Path

import pytest

from gigavqa.benchmarks.questions.samples import Question
from gigavqa.evaluation.datasets import load_dataset
from gigavqa.evaluation.errors import DatasetInvalidError
from gigavqa.evaluation.importing import ImportSummary
from tests.benchmarks.questions.files import bring

FILES = Path(__file__).parent / "files"
PICTURES = FILES / "pictures"
_counted = itertools.count()


def imported(source: Path, folder: Path, **settings: object) -> tuple[ImportSummary, list[Question]]:
    """Import a file, and load what became of it."""
    made = bring(source, PICTURES, folder / f"data-{next(_counted)}" / "made", **settings)
    return made, [one for one in load_dataset(made.folder).samples if isinstance(one, Question)]


def read(name: str, folder: Path, **settings: object) -> list[Question]:
    """The questions of one of the files here."""
    return imported(FILES / name, folder, **settings)[1]


def written(folder: Path, name: str, text: str, encoding: str = "utf-8") -> Path:
    """A file of this text."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(text.encode(encoding))
    return folder / name


def refusal(source: Path, folder: Path, **settings: object) -> str:
    """What is said of a file that is refused; nothing of it is made."""
    with pytest.raises(DatasetInvalidError) as caught:
        imported(source, folder, **settings)
    return str(caught.value)
