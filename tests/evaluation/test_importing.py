"""Records in the paper's layouts become a data set's folder, with their images, or nothing at all."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from gigavqa.evaluation.datasets import load_dataset
from gigavqa.evaluation.errors import DatasetInvalidError, Problem
from gigavqa.evaluation.importing import ImportSummary, import_dataset
from gigavqa.evaluation.inspection import inspect_dataset
from gigavqa.evaluation.reader_choice import find_reader
from gigavqa.tiling.geometry import Size
from gigavqa.tiling.headers import read_header
from tests.benchmarks.ultravr.good_records import GOOD, good_record

DERIVED = ("id", "domain", "image")
"""Keys that the paper's own records do not have."""


@pytest.fixture
def images(tmp_path: Path) -> Path:
    """A folder with one small picture for each kind of record, named as their makers name them."""
    folder = tmp_path / "pictures"
    (folder / "slides").mkdir(parents=True)
    for name in ("plaza.png", "port.png", "pushpins.png", "slides/TCGA-AQ-A54N-01Z-00-DX1.ABC.png"):
        Image.new("RGB", (60, 60)).save(folder / name)
    return folder


def bring(tmp_path: Path, images: Path, files: dict[str, Any], **settings: Any) -> ImportSummary:
    """Write files of records, and import them."""
    source = tmp_path / "json"
    source.mkdir()
    for name, content in files.items():
        (source / name).write_text(json.dumps(content), encoding="utf-8")
    return import_dataset(
        find_reader(source), source, images, tmp_path / "data" / "real", check_image=read_header, **settings
    )


def without(record: dict[str, Any], *keys: str) -> dict[str, Any]:
    """A record as the paper writes it, without what the service's own records add."""
    return {key: value for key, value in record.items() if key not in keys}


def per_slide() -> dict[str, Any]:
    """A per-slide WSI file: its categories hold what flat records hold."""
    flat = without(good_record("wsi-comparison"), *DERIVED, "slide", "category", "evidence")
    awaiting = {**flat, "answer": ""}
    return {"slide": "TCGA-AQ-A54N", "categories": {"comparison": flat, "relational_inference": awaiting}}


def test_all_layouts_of_the_paper_come_in(tmp_path: Path, images: Path) -> None:
    """A per-slide file, a flat CCTV record named like its picture, an RS list that names it, an AD coordinate."""
    made = bring(
        tmp_path,
        images,
        {
            "slide.json": per_slide(),
            "plaza.json": without(good_record("cctv-comparison"), *DERIVED),
            "rs.json": [good_record("rs-logic") | {"image": "port.png"}],
            "pushpins.json": without(good_record("ad-coordinate"), "id", "domain", "image"),
        },
    )
    samples = {sample.domain + sample.category: sample for sample in load_dataset(made.folder).samples}

    assert (made.samples, made.images, made.left_out) == (5, 4, [])
    assert samples["wsicomparison"].images == ("images/slides/TCGA-AQ-A54N-01Z-00-DX1.ABC.png",)
    assert samples["wsirelational_inference"].answer == ""
    assert samples["cctvcomparison"].images == ("images/plaza.png",)
    assert samples["rslogical_verification"].images == ("images/port.png",)
    assert (samples["adlogical_anomaly"].answer, samples["adlogical_anomaly"].options) == ("(3, 7)", None)


def test_nothing_of_a_record_is_lost(tmp_path: Path, images: Path) -> None:
    """What was loaded from the paper's file loads the same from the data set, unknown keys included."""
    record = good_record("cctv-comparison") | {"image": "plaza.png", "annotator": "K."}
    made = bring(tmp_path, images, {"a.json": [record]})
    (sample,) = load_dataset(made.folder).samples

    assert sample.extra == {"annotator": "K."}
    assert [step.ground_truth for step in sample.steps] == [
        step["ground_truth"] for step in record["reasoning_supervision"]["steps"]
    ]
    assert sample.evidence is not None
    assert inspect_dataset(made.folder, lambda image, show: Size(60, 60)).errors == []


def test_images_are_linked_unless_copies_are_asked_for(tmp_path: Path, images: Path) -> None:
    """A link is the same file; a copy is not."""
    record = [good_record("cctv-comparison") | {"image": "plaza.png"}]
    linked = bring(tmp_path, images, {"a.json": record})
    source, target = tmp_path / "json" / "a.json", tmp_path / "data" / "copy"
    copied = import_dataset(find_reader(source), source, images, target, check_image=read_header, copy=True)

    assert (linked.folder / "images/plaza.png").samefile(images / "plaza.png")
    assert not (copied.folder / "images/plaza.png").samefile(images / "plaza.png")


def test_a_link_out_of_the_folder_of_images_is_refused(tmp_path: Path, images: Path) -> None:
    """To a file or through a folder, by whatever name; one that stays inside is an image like others."""
    (tmp_path / "elsewhere").mkdir()
    shutil.copy(images / "plaza.png", tmp_path / "elsewhere/secret.png")
    (images / "out.png").symlink_to(tmp_path / "elsewhere/secret.png")
    (images / "up").symlink_to(tmp_path / "elsewhere")
    (images / "in.png").symlink_to(images / "plaza.png")
    for name in ("out.png", "images/out.png", "up/secret.png"):
        with pytest.raises(DatasetInvalidError, match=r"leads out of .*cp -rL"):
            (folder := tmp_path / name.replace("/", "-")).mkdir()
            bring(folder, images, {"a.json": [good_record("cctv-comparison") | {"image": name}]})
    assert bring(tmp_path, images, {"a.json": [good_record("cctv-comparison") | {"image": "in.png"}]}).images == 1


def test_bad_ones_are_named_and_nothing_is_made(tmp_path: Path, images: Path) -> None:
    """A missing picture, one that is no picture, and an answer that is no option."""
    (images / "broken.png").write_bytes(b"no picture")
    records = [
        good_record("cctv-comparison") | {"id": "gone", "image": "nowhere.png"},
        good_record("cctv-comparison") | {"id": "broken", "image": "broken.png"},
        good_record("cctv-comparison") | {"id": "wrong", "image": "plaza.png", "answer": "E"},
        good_record("cctv-comparison") | {"id": "good", "image": "plaza.png"},
    ]

    with pytest.raises(DatasetInvalidError) as refused:
        bring(tmp_path, images, {"a.json": records})

    assert {problem.record for problem in refused.value.problems} == {"gone", "broken", "wrong"}
    assert list((tmp_path / "data").glob("*")) == [] if (tmp_path / "data").exists() else True


def test_bad_ones_may_be_left_out(tmp_path: Path, images: Path) -> None:
    """The good ones come in, and the others are named."""
    records = [
        good_record("cctv-comparison") | {"id": "gone", "image": "nowhere.png"},
        good_record("cctv-comparison") | {"id": "good", "image": "plaza.png"},
    ]
    made = bring(tmp_path, images, {"a.json": records}, leave_out_bad=True)

    assert [sample.id for sample in load_dataset(made.folder).samples] == ["good"]
    assert [problem.record for problem in made.left_out] == ["gone"]


def test_a_slide_with_two_images_is_not_guessed(tmp_path: Path, images: Path) -> None:
    """Two files begin with the slide's name: the record must say which."""
    Image.new("RGB", (60, 60)).save(images / "slides" / "TCGA-AQ-A54N-01Z-00-DX2.DEF.png")

    with pytest.raises(DatasetInvalidError, match="no single image has its name"):
        bring(tmp_path, images, {"slide.json": per_slide()})


def test_the_good_records_are_all_importable(tmp_path: Path, images: Path) -> None:
    """Every kind of record of the paper, on one picture each."""
    records = [record | {"image": "plaza.png"} for record in GOOD.values()]

    assert bring(tmp_path, images, {"a.json": records}).samples == len(GOOD)


def test_what_a_record_calls_itself_is_told_in_part() -> None:
    """An id of ten thousand letters makes no line of ten thousand."""
    told = str(Problem("a.jsonl", 3, "x" * 10_000, "id: is too long"))
    assert told.startswith("a.jsonl:3: xxx") and told.endswith("...: id: is too long") and len(told) < 300
