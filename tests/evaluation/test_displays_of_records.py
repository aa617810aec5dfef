"""A record may say itself how its images are shown: before its data set's pattern, and after a job's option."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tifffile

from gigavqa.evaluation.datasets import load_dataset
from gigavqa.evaluation.errors import DatasetInvalidError
from gigavqa.evaluation.importing import import_dataset
from gigavqa.evaluation.inspection import inspect_dataset
from gigavqa.evaluation.reader_choice import find_reader
from gigavqa.evaluation.samples import Sample
from gigavqa.tiling.headers import read_header
from tests.benchmarks.ultravr.good_records import GOOD
from tests.evaluation.folders import write_dataset
from tests.evaluation.test_declared_displays import declared, requests, shows

BRAIN, BONE = "window=40:80", "window=400:1800"
SHOWN_BRAIN, SHOWN_BONE = "stretch=range:0:80", "stretch=range:-500:1300"


def records() -> list[dict[str, Any]]:
    """All good records, of which the first declares a display."""
    first, *others = GOOD.values()
    return [{**first, "show": BRAIN}, *others]


def test_the_most_particular_declaration_counts(tmp_path: Path) -> None:
    """The record, then the pattern, then nothing; a job's option replaces all of them."""
    folder = declared(tmp_path, 'show = "stretch=minmax"')
    plain = load_dataset(write_dataset(tmp_path / "plain" / "tiny", *records()))
    assert shows(requests(plain)) == {SHOWN_BRAIN, ""}
    write_dataset(tmp_path / "own" / "tiny", *records())
    own = tmp_path / "own" / "tiny"
    (own / "dataset.toml").write_text((folder / "dataset.toml").read_text("utf-8"), "utf-8")
    dataset = load_dataset(own)
    assert shows(requests(dataset)) == {SHOWN_BRAIN, "stretch=minmax"}
    first, *_ = dataset.samples
    assert shows(requests(dataset, samples=[first.id])) == {SHOWN_BRAIN}
    assert shows(requests(dataset, options={"show": "gamma=2"})) == {"gamma=2"}


def test_two_records_may_show_one_image_in_two_ways(tmp_path: Path) -> None:
    """Whoever asks for its size alone is told the first; all of them are known, to be checked."""
    first = next(iter(GOOD.values()))
    bone = {**first, "id": "again", "show": BONE}
    dataset = load_dataset(write_dataset(tmp_path / "tiny", {**first, "show": BRAIN}, bone))
    image = dataset.image_of(dataset.samples[0].images[0])
    assert dataset.show_of(image) == SHOWN_BRAIN
    assert dataset.show_of(image, "", dataset.samples[1]) == SHOWN_BONE
    assert dataset.further_displays() == {SHOWN_BONE: [image]}


def test_a_record_that_leaves_an_image_to_the_data_set_is_checked_so(tmp_path: Path) -> None:
    """Although another one declares how it is shown."""
    first = next(iter(GOOD.values()))
    dataset = load_dataset(write_dataset(tmp_path / "tiny", {**first, "id": "plain"}, {**first, "show": BRAIN}))
    image = dataset.image_of(dataset.samples[0].images[0])
    assert (dataset.show_of(image), dataset.show_of(image, "", dataset.samples[0])) == (SHOWN_BRAIN, "")
    assert dataset.further_displays() == {"": [image]}


@pytest.mark.parametrize(
    ("show", "told"),
    [
        ("windw=40:80", "did you mean 'window'"),
        (7, "is neither a display nor a list"),
        ([BRAIN, BONE], "has 2 displays for 1 image"),
    ],
)
def test_what_is_no_display_of_a_record_is_told_by_line(tmp_path: Path, show: Any, told: str) -> None:
    """Before anything is asked."""
    first, *others = GOOD.values()
    with pytest.raises(DatasetInvalidError) as refused:
        load_dataset(write_dataset(tmp_path / "tiny", {**first, "show": show}, *others))
    (problem,) = refused.value.problems
    assert told in problem.message and (problem.line or 0) >= 1


def test_images_of_one_record_may_be_shown_apart() -> None:
    """Each in its own way; one image in one way."""
    fields = {"id": "a", "question": "?", "images": ["ct.tif", "mr.tif"]}
    sample = Sample.model_validate({**fields, "show": [BRAIN, ""]})
    assert [sample.show_of(image) for image in sample.images] == [SHOWN_BRAIN, ""]
    assert Sample.model_validate({**fields, "show": ["", ""]}).show is None
    with pytest.raises(ValueError, match=r"'ct\.tif' is shown in two ways; ask about it in two records"):
        Sample.model_validate({**fields, "images": ["ct.tif", "ct.tif"], "show": [BRAIN, BONE]})


@pytest.mark.parametrize("benchmark", ["questions", None])
def test_an_import_takes_images_that_a_record_shows(tmp_path: Path, benchmark: str | None) -> None:
    """Its column `show` is checked with the file, written with the record, and read again; it is no unread column."""
    (tmp_path / "pictures").mkdir()
    tifffile.imwrite(tmp_path / "pictures" / "head.tif", np.zeros((48, 64), np.int16))
    row = {"id": "q1", "image": "head.tif", "question": "Is there a bleed?", "answer": "no", "show": BRAIN}
    rows = tmp_path / "rows.jsonl"

    def made(name: str, **changes: str) -> Any:
        rows.write_text(json.dumps({**row, **changes}) + "\n", "utf-8")
        reader = find_reader(rows, benchmark)
        return import_dataset(reader, rows, tmp_path / "pictures", tmp_path / name, check_image=read_header)

    for wrong, told in (("", "has 16 bits a sample"), ("bands=2 stretch=minmax", "asks for band 2")):
        with pytest.raises(DatasetInvalidError, match=told):
            made("none", show=wrong)
    summary = made("heads")
    assert not [note for note in summary.notes if "show" in str(note)]
    (sample,) = load_dataset(tmp_path / "heads").samples
    assert sample.show == (SHOWN_BRAIN,) and "show" not in sample.extra
    root = tmp_path / "heads"
    found = inspect_dataset(root, lambda image, show: read_header(root / image, show).size)
    assert found.errors == []
