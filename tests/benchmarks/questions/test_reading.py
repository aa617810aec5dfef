"""Files of questions, each made by its own library, become the same questions, and are asked of the right pictures."""

import base64
import hashlib
import json
import random
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from gigavqa.benchmarks.questions.samples import Question
from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.jobs import JobSpec
from gigavqa.contract.requests import InferenceRequest
from gigavqa.evaluation.datasets import Dataset, load_dataset
from gigavqa.evaluation.errors import DatasetInvalidError
from gigavqa.evaluation.expansion import expand
from gigavqa.tiling.geometry import Size
from tests.benchmarks.questions.files import COLOURS, FORMS, SIZE, ask_about, bring, draw_pictures, jpeg

MODEL = "demo-qwen3-vl"


def requests_of(dataset: Dataset, *cells: str) -> list[InferenceRequest]:
    """The requests of some cells, written PROTOCOL:CONDITION, over pictures of one size."""
    pairs = [dict(zip(("protocol", "condition"), cell.split(":"), strict=True)) for cell in cells]
    spec = JobSpec.model_validate({"dataset": dataset.name, "models": [MODEL], "cells": pairs})
    return [request for _, request in expand(dataset, spec, load_catalogue(), lambda name: Size(*SIZE))]


@pytest.mark.parametrize("name", FORMS)
def test_every_form_is_asked_of_its_own_picture(tmp_path: Path, name: str) -> None:
    """Through the real expansion: three questions, whose first picture has the bytes of the colour that is true."""
    FORMS[name](tmp_path / name)
    made = bring(tmp_path / name, draw_pictures(tmp_path / "pictures"), tmp_path / "data" / "made")
    dataset = load_dataset(made.folder)
    requests = {request.sample_id: request for request in requests_of(dataset, "direct:V2")}
    assert made.left_out == [] and len(requests) == made.samples >= len(COLOURS)
    for sample in dataset.samples:
        (view,) = requests[sample.id].views
        colour = sample.options[sample.truth]  # type: ignore[index]
        assert (tmp_path / "data" / view.image).read_bytes() == jpeg(colour)
        assert sample.groups["category"] == ("warm" if colour == "red" else "cold")
        assert f"{sample.truth}. {colour}" in requests[sample.id].turns[0].text


def test_a_picture_that_many_rows_hold_is_written_once(tmp_path: Path) -> None:
    """Four rows, three pictures, each named by its digest."""
    FORMS["vlmevalkit.tsv"](tmp_path / "some.tsv")
    made = bring(tmp_path / "some.tsv", tmp_path, tmp_path / "data" / "made")
    names = {path.name for path in (made.folder / "images").iterdir()}
    assert names == {f"{hashlib.sha256(jpeg(colour)).hexdigest()[:32]}.jpg" for colour in COLOURS}
    assert made.samples == 4


def test_a_row_may_refer_to_the_picture_of_a_later_row(tmp_path: Path) -> None:
    """The reference is looked up in the file, however the rows stand."""
    dataset = ask_about(
        tmp_path,
        {"index": 1, "image": "7", "question": "Which?", "answer": "yes"},
        {"index": 7, "image": "blue.jpg", "question": "Which?", "answer": "yes"},
    )
    assert [sample.images for sample in dataset.samples] == [("images/blue.jpg",)] * 2


def test_columns_of_any_name_are_mapped(tmp_path: Path) -> None:
    """A German table with semicolons, whose columns say nothing to anybody else."""
    (tmp_path / "fragen.csv").write_text("Foto;Frage;Antwort;Alter\nred.jpg;Was, bitte?;rot;neu\n", encoding="utf-8")
    columns = {"Foto": "image", "Frage": "question", "Antwort": "answer", "Alter": "group_age"}
    made = bring(
        tmp_path / "fragen.csv", draw_pictures(tmp_path / "pictures"), tmp_path / "data" / "made", columns=columns
    )
    (sample,) = load_dataset(made.folder).samples
    assert (sample.question, sample.truth, sample.images) == ("Was, bitte?", "rot", ("images/red.jpg",))
    assert sample.groups["age"] == "neu"


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"Fto": "image"}, "--map Fto=image: there is no column 'Fto'; did you mean 'Foto'?"),
        ({"image": "Foto"}, "--map image=Foto: there is no column 'image': is Foto=image meant?"),
        ({"Foto": "imagge"}, "--map Foto=imagge: there is no field 'imagge'; did you mean 'image'"),
        ({"Foto": "image", "Frage": "image"}, "column 'Frage' is called so, too"),
    ],
)
def test_a_wrong_map_is_told_with_its_remedy(tmp_path: Path, columns: dict[str, str], told: str) -> None:
    """And nothing is made."""
    (tmp_path / "some.csv").write_text("Foto,Frage\nred.jpg,Was?\n", encoding="utf-8")
    with pytest.raises(DatasetInvalidError) as caught:
        bring(tmp_path / "some.csv", draw_pictures(tmp_path / "p"), tmp_path / "data" / "made", columns=columns)
    assert told in str(caught.value)
    assert list((tmp_path / "data").iterdir()) == []


def question_of(tmp_path: Path, **fields: Any) -> Question:
    """One record about the red picture, as it is read."""
    (sample,) = ask_about(tmp_path, {"image": "red.jpg", "question": "What?", **fields}).samples
    assert isinstance(sample, Question)
    return sample


CHOICES = ["red", "2", "blue"]


@pytest.mark.parametrize(
    ("answer", "letter"),
    [
        ({"answer": 1}, "B"),
        ({"answer": "B"}, "B"),
        ({"answer": "b"}, "B"),
        ({"answer": "2"}, "B"),
        ({"answer": "Blue"}, "C"),
        ({"answer": "C. blue"}, "C"),
        ({"answers": ["red"]}, "A"),
        ({"answer_index": "2"}, "C"),
        ({"answer_from_1": 1}, "A"),
        ({"answer_text": "2"}, "B"),
        ({}, ""),
    ],
)
def test_a_choices_truth_is_a_letter_an_index_or_a_text(tmp_path: Path, answer: dict[str, Any], letter: str) -> None:
    """A number counts from 0, unless its column says from 1; what has no answer awaits one."""
    assert question_of(tmp_path, choices=CHOICES, **answer).truth == letter


@pytest.mark.parametrize(
    ("fields", "kind", "truth"),
    [
        ({"answer": True}, "yes_no", "yes"),
        ({"answer": "No"}, "yes_no", "no"),
        ({"answer": 0, "type": "boolean"}, "yes_no", "no"),
        ({"answer": 12.5}, "number", "12.5"),
        ({"answer": "1,200"}, "number", "1200"),
        ({"answer": "12 km", "question_type": "number"}, "number", "12"),
        ({"answer": "a cat"}, "text", "a cat"),
        ({"answers": ["cat", "kitten", "cat"]}, "text", "cat | kitten"),
        ({"answers": [{"answer": "cat"}, {"answer": "tom"}]}, "text", "cat | tom"),
        ({"answer": "x" * 81}, "open", "x" * 81),
        ({}, "open", ""),
    ],
)
def test_the_type_follows_from_the_answer_where_no_column_says_it(
    tmp_path: Path, fields: dict[str, Any], kind: str, truth: str
) -> None:
    """An open question is asked, and no rule scores it."""
    question = question_of(tmp_path, **fields)
    assert (question.kind, question.truth, question.scored) == (kind, truth, kind != "open")


@pytest.mark.parametrize(
    ("evidence", "region"),
    [
        ({"boxes": [[10, 20, 30, 60]]}, "10,20,20,40"),
        ({"bbox": [0.25, 0.5, 0.5, 1.0]}, "pct:25,50,25,50"),
        ({"regions": "10,20,30,40"}, "10,20,30,40"),
        ({"region": "pct:10,20,30,40"}, "pct:10,20,30,40"),
        ({"evidence": [{"image": "red.jpg", "box": [1, 2, 3, 4]}]}, "1,2,2,2"),
        ({"evidence": {"image": 0, "x": 1, "y": 2, "width": 3, "height": 4}}, "1,2,3,4"),
    ],
)
def test_boxes_and_regions_are_evidence(tmp_path: Path, evidence: dict[str, Any], region: str) -> None:
    """In pixels or shares of the picture; V3 shows just these pixels."""
    question = question_of(tmp_path, answer="yes", **evidence)
    assert [one.region for one in question.evidence] == [region]


def test_nothing_of_a_record_is_lost(tmp_path: Path) -> None:
    """What no field takes stays with the sample, and a record that is written reads as the same sample."""
    dataset = ask_about(
        tmp_path,
        {"image": ["red.jpg", "blue.jpg"], "question": "<image 1> or <image 2>?", "answer": "12", "tolerance": "5%",
         "hint": "look", "category": "x", "difficulty": "hard", "author": {"name": "me"}, "boxes": [[1, 1, 9, 9]]},
    )  # fmt: skip
    (sample,) = dataset.samples
    assert sample.extra == {"author": {"name": "me"}} and sample.question == "(image 1) or (image 2) ?"
    again = ask_about(tmp_path / "again", json.loads(json.dumps(dataset.benchmark.record(sample))))
    assert again.samples == (sample,)


def test_pictures_in_rows_are_not_held_together(tmp_path: Path) -> None:
    """Of twenty megabytes of pictures no more than a few lie in memory while they are imported."""
    pictures = [jpeg("red") + random.Random(at).randbytes(_PICTURE_BYTES) for at in range(40)]
    rows = (f"{at}\t{base64.b64encode(one).decode()}\tWhich?\tyes\n" for at, one in enumerate(pictures))
    (tmp_path / "big.tsv").write_text("index\timage\tquestion\tanswer\n" + "".join(rows))
    del pictures
    tracemalloc.start()
    try:
        made = bring(tmp_path / "big.tsv", tmp_path, tmp_path / "data" / "made")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert made.samples == made.images == 40
    assert peak < 24 * _PICTURE_BYTES


_PICTURE_BYTES = 500_000
