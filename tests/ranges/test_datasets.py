"""Records name images elsewhere: they are imported, checked and pinned as what lies here is."""

import io
import json
import threading
from collections import Counter
from collections.abc import Awaitable
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from PIL import Image

from gigavqa.benchmarks.questions.benchmark import CustomQuestions
from gigavqa.evaluation.datasets import load_dataset
from gigavqa.evaluation.errors import DatasetInvalidError
from gigavqa.evaluation.importing import import_dataset
from gigavqa.evaluation.inspection import inspect_dataset
from gigavqa.ranges import attempts as attempts_module
from gigavqa.ranges.http_ranges import HttpRanges
from gigavqa.ranges.outages import FAILURES, Outages
from gigavqa.service.operations.image_headers import ImageHeaders, ImageInfo
from gigavqa.tiling.errors import ImageUnavailableError
from gigavqa.tiling.file_remarks import file_remarks
from gigavqa.tiling.headers import look_at_remote, read_header
from gigavqa.tiling.opening import locate_remote, pinned_digest
from gigavqa.tiling.remote.reader import RemoteHead
from gigavqa.tiling.roots import ImageRoot
from tests.ranges.conftest import ReadRemote
from tests.ranges.server import FileServer, file_server


def _import(folder: Path, *images: str) -> Path:
    """Import a question about each image."""
    rows = [{"id": f"q{n}", "image": image, "question": "What?", "answer": "x"} for n, image in enumerate(images)]
    (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    made = import_dataset(
        CustomQuestions(), folder / "questions.jsonl", None, folder / "data" / "far",
        check_image=read_header, remarks_on=file_remarks, look_ahead=look_at_remote,
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
        look_ahead=look_at_remote,
    )
    assert [problem.record for problem in found.errors] == ["q2"]
    assert "there is no such file (404)" in found.errors[0].message
    assert max(server.requests.values()) == 1


@pytest.fixture(scope="module")
def picture() -> bytes:
    """A PNG of which the look reads all."""
    file = io.BytesIO()
    Image.new("RGB", (60, 50)).save(file, "png")
    return file.getvalue()


def test_an_import_looks_at_several_images_at_once_and_asks_for_each_once(
    tmp_path: Path, picture: bytes, server: FileServer, read_remote: ReadRemote
) -> None:
    """Three answers wait for each other: one look at a time would never get the first."""
    urls = [server.serve(f"{number}.png", picture, faults=["together"]) for number in range(3)]
    server.together = threading.Barrier(3, timeout=20)
    read_remote()
    assert len(load_dataset(_import(tmp_path, *urls)).samples) == 3
    assert max(server.requests.values()) == 1


def test_a_host_that_is_down_is_not_waited_for_by_each_of_its_images(
    tmp_path: Path, picture: bytes, server: FileServer, read_remote: ReadRemote, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All are told alike, the last by nobody's asking; the images of a live host between them are asked for once."""
    with file_server() as gone:
        dead = gone.prefix
    asked = Counter[str]()
    look = HttpRanges.look

    def look_counted(self: HttpRanges, url: str, num_bytes: int) -> Awaitable[RemoteHead]:
        asked[urlsplit(url).netloc] += 1
        return look(self, url, num_bytes)

    monkeypatch.setattr(HttpRanges, "look", look_counted)
    live = [server.serve(f"{number}.png", picture) for number in range(5)]
    names = [f"{dead}{number}.tif" for number in range(200)]
    read_remote(dead, server.prefix)
    with pytest.raises(DatasetInvalidError) as refused:
        _import(tmp_path, *(url for pair in zip(names, live * 40, strict=True) for url in pair))
    told = [str(problem) for problem in refused.value.problems]
    assert len(told) == 200
    assert all("ConnectError" in one for one in told)
    assert "is not asked for others now" in told[-1]
    under_way, attempts = 8, len(attempts_module.PAUSES) + 1
    assert asked[urlsplit(dead).netloc] <= (FAILURES - 1 + under_way) * attempts
    assert max(server.requests.values()) == 1


def test_what_answers_at_all_is_not_down(server: FileServer, read_remote: ReadRemote) -> None:
    """Files that a server refuses, lacks or is too busy for say nothing of the next one."""
    read_remote()
    for number, fault in enumerate(["refused", "busy", "refused", "busy"]):
        url = server.serve(f"{number}.tif", b"x", faults=[fault] * 4)
        with pytest.raises(ImageUnavailableError, match=r"403|503"):
            locate_remote(url)
    assert locate_remote(server.serve("well.tif", b"x" * 100)).is_file()


def test_a_host_that_was_down_is_asked_again_after_a_while() -> None:
    """By processes that live on; and a count of failures begins anew with whatever it answers."""
    url, clock = "https://tiles.example.org/x.tif", [0.0]
    outages = Outages(10.0, lambda: clock[0])
    for told in ("gone", "gone", "", "gone", "gone"):
        outages.note(url, told)
    outages.require_up(url)
    outages.note(url, "gone")
    outages.require_up("https://other.example.org/x.tif")
    with pytest.raises(ImageUnavailableError, match=f"{url}: its server does not give it: gone; .* 3 files in a row"):
        outages.require_up(url)
    clock[0] = 11.0
    outages.require_up(url)


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
