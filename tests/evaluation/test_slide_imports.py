"""Slides of several files come into a data set whole, be they named by a file or by their folder."""

import json
from pathlib import Path

import numpy as np
import pytest
import tifffile

from gigavqa.evaluation.errors import DatasetInvalidError
from gigavqa.evaluation.importing import import_dataset
from gigavqa.evaluation.installed import find_benchmark
from gigavqa.tiling.digest import content_digest
from gigavqa.tiling.file_remarks import file_remarks
from gigavqa.tiling.headers import read_header
from tests.tiling.pictures import textured
from tests.tiling.slide_files.dicom import write_dicom_slide
from tests.tiling.slide_files.mirax import write_mirax

PICTURE = textured(512, 512)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A folder of slides, and questions about them."""
    folder = tmp_path / "slides"
    write_mirax(folder / "one.mrxs", PICTURE)
    write_dicom_slide(folder / "series", PICTURE)
    names = ("one.mrxs", "series", "series/1.dcm")
    lines = [json.dumps({"image": name, "question": "Is there a tumour?", "answer": "yes"}) for name in names]
    (tmp_path / "questions.jsonl").write_text("\n".join(lines))
    return folder


@pytest.mark.parametrize("copy", [False, True])
def test_a_slide_is_imported_with_all_its_files(source: Path, tmp_path: Path, *, copy: bool) -> None:
    """Each is what it was, by its digest; nothing else is brought."""
    questions, target = source.parent / "questions.jsonl", tmp_path / "data" / "set"
    target.parent.mkdir()
    found = import_dataset(find_benchmark("questions"), questions, source, target, check_image=read_header, copy=copy)
    assert found.images == 3
    for name in ("one.mrxs", "series", "series/1.dcm"):
        assert content_digest(target / "images" / name) == content_digest(source / name)
    assert len([*(target / "images").rglob("*.*")]) == 7


def test_a_slide_whose_folder_is_missing_is_refused_by_its_name(source: Path, tmp_path: Path) -> None:
    """As a record whose image is none."""
    (source / "one" / "Index.dat").unlink()
    with pytest.raises(DatasetInvalidError, match=r"Index\.dat is missing"):
        import_dataset(
            find_benchmark("questions"), source.parent / "questions.jsonl", source, tmp_path / "set",
            check_image=read_header,
        )  # fmt: skip


def test_a_part_that_is_a_link_to_elsewhere_is_not_brought(source: Path, tmp_path: Path) -> None:
    """It would show to all what lies outside."""
    data = source / "one" / "Data0000.dat"
    data.rename(tmp_path / "elsewhere")
    data.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DatasetInvalidError, match="is a link that leads out"):
        import_dataset(
            find_benchmark("questions"), source.parent / "questions.jsonl", source, tmp_path / "set",
            check_image=read_header,
        )  # fmt: skip


def test_a_stack_is_imported_where_its_plane_is_declared(tmp_path: Path) -> None:
    """What is said of each image of an import asks for no part."""
    stack = tmp_path / "stack.ome.tif"
    tifffile.imwrite(stack, np.zeros((3, 64, 64), np.uint8), photometric="minisblack", metadata={"axes": "ZYX"})
    questions = tmp_path / "questions.jsonl"
    questions.write_text(json.dumps({"image": "stack.ome.tif", "question": "Is it dark?", "answer": "yes"}))

    def brought(show: str) -> int:
        def check(path: Path, own: str, show: str = show) -> object:
            return read_header(path, own or show)

        return import_dataset(
            find_benchmark("questions"), questions, tmp_path, tmp_path / "set", check_image=check,
            remarks_on=file_remarks, show=show,
        ).images  # fmt: skip

    with pytest.raises(DatasetInvalidError, match=r"holds 3 focal planes \(z\); say which is shown"):
        brought("")
    assert brought("z=2") == 1
