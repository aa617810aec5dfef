"""One look-up of names: a path first, then what the data root calls so."""

from pathlib import Path

import pytest

from gigavqa.cli.datasets import records_path
from gigavqa.cli.errors import ArgumentError
from gigavqa.cli.lookup import dataset_folder, image_path
from tests.cli.installation import Installation, sample, write_dataset


@pytest.fixture
def data(installation: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data root of an installation with the data set `tiny`, seen from an empty folder."""
    monkeypatch.setenv("GIGAVQA_HOME", str(installation.home))
    monkeypatch.delenv("GIGAVQA_DATA", raising=False)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return installation.home / "data"


def test_a_name_is_that_of_the_data_root(data: Path) -> None:
    """For data sets, for what is scored, and for images."""
    assert dataset_folder("tiny") == records_path("tiny") == data / "tiny"
    assert image_path("tiny/images/plaza.png") == data / "tiny" / "images" / "plaza.png"


def test_a_path_wins(data: Path) -> None:
    """A data set of the same name lies in the folder where the command is called."""
    write_dataset(Path("tiny"), [sample(0, "images/plaza.png")])
    assert dataset_folder("tiny") == records_path("tiny") == Path("tiny")
    assert image_path("tiny/images/plaza.png") == Path("tiny/images/plaza.png")


def test_an_empty_folder_of_the_name_hides_nothing(data: Path) -> None:
    """Such as one that was made for results."""
    Path("tiny").mkdir()
    assert dataset_folder("tiny") == records_path("tiny") == data / "tiny"


def test_records_are_scored_from_any_file(data: Path) -> None:
    """It is no data set, and needs to be none."""
    Path("mine.jsonl").write_text("{}")
    assert records_path("mine.jsonl") == Path("mine.jsonl")
    with pytest.raises(ArgumentError, match=r"there is no data set 'mine\.jsonl'"):
        dataset_folder("mine.jsonl")
