"""Records name images elsewhere: they are imported, checked and pinned as what lies here is."""

import json
from pathlib import Path

import pytest

from gigavqa.benchmarks.questions.benchmark import CustomQuestions
from gigavqa.evaluation.datasets import load_dataset
from gigavqa.evaluation.errors import DatasetInvalidError
from gigavqa.evaluation.importing import import_dataset
from gigavqa.evaluation.inspection import inspect_dataset
from gigavqa.service.operations.image_headers import ImageHeaders, ImageInfo
from gigavqa.tiling.file_remarks import file_remarks
from gigavqa.tiling.headers import look_at_remote, read_header
from gigavqa.tiling.opening import pinned_digest
from gigavqa.tiling.roots import ImageRoot
from tests.ranges.conftest import ReadRemote
from tests.ranges.server import FileServer


def _import(folder: Path, *images: str) -> Path:
    """Import a question about each image."""
    rows = [{"id": f"q{n}", "image": image, "question": "What?", "answer": "x"} for n, image in enumerate(images)]
    (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    made = import_dataset(
        CustomQuestions(), folder / "questions.jsonl", None, folder / "data" / "far",
        check_image=read_header, remarks_on=file_remarks,
    )  # fmt: skip
    return made.folder


def test_a_record_s_address_stays_its_image(
    tmp_path: Path, pyramid: Path, server: FileServer, read_remote: ReadRemote
) -> None:
    """Nothing is copied into the data set, and views name the image by its address."""
    url = server.serve("pyramid.tif", pyramid.read_bytes())
    read_remote()
    dataset = load_dataset(_import(tmp_path, url))
    assert dataset.samples[0].images == (url,)
    assert dataset.image_of(url) == url
    assert not [*(tmp_path / "data" / "far").rglob("*.tif")]
    assert server.sent["/pyramid.tif"] < 0.1 * pyramid.stat().st_size


def test_an_import_names_each_address_that_cannot_be_read(
    tmp_path: Path, pyramid: Path, server: FileServer, read_remote: ReadRemote
) -> None:
    """One that is not listed, one that is not there, and one of another kind, by line."""
    text = server.serve("pictures/words.tif", b"no picture at all, but words")
    read_remote(f"{server.prefix}pictures/")
    missing, unlisted = f"{server.prefix}pictures/none.tif", f"{server.prefix}pyramid.tif"
    with pytest.raises(DatasetInvalidError) as refused:
        _import(tmp_path, unlisted, missing, text)
    told = [str(problem) for problem in refused.value.problems]
    assert len(told) == 3
    assert "GIGAVQA_REMOTE_IMAGES lists them" in told[0]
    assert f"{missing}: there is no such file (404)" in told[1]
    assert f"{text}: the first bytes are those of no image format" in told[2]


def test_a_check_tells_what_is_wrong_with_images_elsewhere_and_asks_for_each_once(
    tmp_path: Path, pyramid: Path, server: FileServer, read_remote: ReadRemote
) -> None:
    """Headers are read ahead, eight at a time, and remembered with their faults."""
    urls = [server.serve(f"{number}.tif", pyramid.read_bytes()) for number in range(4)]
    read_remote()
    folder = _import(tmp_path, *urls)
    del server.files["/2.tif"]
    server.requests.clear()
    read_remote()
    root = ImageRoot(folder)
    found = inspect_dataset(
        folder,
        lambda image, show: read_header(root.locate(image), show).size,
        look_ahead=lambda images: look_at_remote(root, images),
    )
    assert [problem.record for problem in found.errors] == ["q2"]
    assert "there is no such file (404)" in found.errors[0].message
    assert max(server.requests.values()) == 1


def test_a_survey_pins_what_it_looked_at(
    tmp_path: Path, pyramid: Path, server: FileServer, read_remote: ReadRemote
) -> None:
    """The job's requests carry the version; what is wrong is told by the address, and not by what is kept here."""
    url, text = server.serve("pyramid.tif", pyramid.read_bytes()), server.serve("words.tif", b"no picture, but words")
    read_remote()
    found = ImageHeaders(tmp_path, 2).survey([url, text], lambda name: "")
    info = found[url]
    assert isinstance(info, ImageInfo)
    assert info.pin == pinned_digest(ImageRoot(tmp_path).locate(url))
    assert info.num_bytes == pyramid.stat().st_size
    assert found[text] == f"{text}: the first bytes are those of no image format"
