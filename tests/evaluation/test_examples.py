"""Records of the split `examples` are read and checked with the others, and never asked."""

import json
from pathlib import Path
from typing import Any

import pytest

from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.jobs import JobSpec
from gigavqa.evaluation.capabilities import RecordLayout, whole_record
from gigavqa.evaluation.datasets import load_dataset, load_for_scoring, read_dataset
from gigavqa.evaluation.errors import SampleUnknownError
from gigavqa.evaluation.expansion import expand
from gigavqa.evaluation.inspection import inspect_dataset
from gigavqa.tiling.errors import ImageNotFoundError
from gigavqa.tiling.geometry import Size
from tests.evaluation.responses import MODEL

ASKED = {"id": "asked", "image": "a.png", "question": "Is it?", "answer": "yes"}
SET_APART = {**ASKED, "id": "told", "image": "b.png", "split": "examples"}


def folder_of(place: Path, *records: dict[str, Any]) -> Path:
    """A data set's folder of these questions."""
    folder = place / "tiny"
    (folder / "samples").mkdir(parents=True)
    (folder / "dataset.toml").write_text('name = "tiny"\nbenchmark = "questions"\n')
    (folder / "samples" / "a.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return folder


def test_examples_are_no_samples_of_a_data_set(tmp_path: Path) -> None:
    """However it is loaded; any other split is a group as before."""
    folder = folder_of(tmp_path, ASKED, SET_APART, {**ASKED, "id": "train", "split": "train"})
    for dataset in (load_dataset(folder), load_for_scoring(folder / "samples" / "a.jsonl", "questions")):
        assert [sample.id for sample in dataset.samples] == ["asked", "train"]
        assert [sample.id for sample in dataset.examples] == ["told"]
        assert dataset.samples[1].groups["split"] == "train"


def test_a_job_asks_no_example(tmp_path: Path) -> None:
    """Not with all samples, and not by name."""
    dataset = load_dataset(folder_of(tmp_path, ASKED, SET_APART))
    job = JobSpec(dataset="tiny", models=(MODEL,), plan="direct")
    (only,) = expand(dataset, job, load_catalogue(), lambda _: Size(30, 20))
    assert only[1].sample_id == "asked"
    named = job.model_copy(update={"samples": ("asked", "told")})
    with pytest.raises(SampleUnknownError, match="sets told apart as examples, which are never asked"):
        expand(dataset, named, load_catalogue(), lambda _: Size(30, 20))


def test_an_example_is_written_as_one(tmp_path: Path) -> None:
    """So that an import keeps it."""
    dataset = load_dataset(folder_of(tmp_path, ASKED, SET_APART))
    layout = RecordLayout.of(dataset.benchmark)
    records = [whole_record(layout, sample) for sample in (*dataset.samples, *dataset.examples)]
    again = load_dataset(folder_of(tmp_path / "again", *records))
    assert (again.samples, again.examples) == (dataset.samples, dataset.examples)


def test_examples_are_checked_as_others_are(tmp_path: Path) -> None:
    """Their ids are unique, their pictures are there, and their truths can be reached."""
    folder = folder_of(tmp_path, ASKED, {**SET_APART, "image": "lost.png"})

    def size_of(image: str, show: str) -> Size:
        del show
        if image == "lost.png":
            raise ImageNotFoundError("lost.png is not there")
        return Size(30, 20)

    (error,) = inspect_dataset(folder, size_of).errors
    assert (error.record, error.message) == ("told", "lost.png is not there")


def test_examples_alone_are_no_data_set(tmp_path: Path) -> None:
    """Nothing would be asked."""
    (problem,) = read_dataset(folder_of(tmp_path, SET_APART)).problems
    assert "holds examples alone" in problem.message
