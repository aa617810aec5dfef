"""Bodies of chats are read piece by piece, whatever the pieces are."""

import base64
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gigavqa.service.errors import BodyTooLargeError, ChatInvalidError
from gigavqa.service.openai.chat_bodies import DataUrlExtractor
from gigavqa.service.openai.uploads import Uploads
from tests.service.openai.pictures import png


def read(folder: Path, text: bytes, cuts: list[int], max_bytes: int = 1 << 20) -> tuple[Any, list[bytes]]:
    """Read a body that comes cut so; the JSON, and the pictures in place of what stands for them."""
    uploads = Uploads(folder)
    reader = DataUrlExtractor(uploads, max_bytes)
    edges = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    for start, end in pairwise(edges):
        reader.feed(text[start:end])
    told = reader.close().decode()
    kept = []
    for stands_for, name in reader.pictures.items():
        told = told.replace(stands_for, f"picture {len(kept)}")
        kept.append((folder / name.removeprefix("upload:")).read_bytes())
    reader.drop()
    return json.loads(told), kept


@given(st.lists(st.integers(0, 10_000), max_size=40), st.text(max_size=50))
def test_pictures_are_taken_out_wherever_a_body_is_cut(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[int], text: str
) -> None:
    """All else is as it was, escapes and lookalikes too; slashes of base64 may be escaped."""
    picture = png(1, (16, 16))
    url = "data:image/png;base64," + base64.b64encode(picture).decode()
    said = {"a": text, "b": ['"data:', "\\", "data:", "data:,x", text], "url": url, "c": {"url": "data:;base64,"}}
    body = json.dumps(said)
    told, kept = read(tmp_path_factory.getbasetemp() / "uploads", body.replace("/", "\\/").encode(), cuts)
    assert kept == [picture, b""]
    assert told == {**said, "url": "picture 0", "c": {"url": "picture 1"}}


@pytest.mark.parametrize("base64_text", ["A", "AAA", "AA=A", "AA AA", "A\\nAA", "AAA*"])
def test_what_is_no_base64_is_refused(tmp_path: Path, base64_text: str) -> None:
    """And nothing of it is kept."""
    with pytest.raises(ChatInvalidError, match="is not base64"):
        read(tmp_path, f'{{"url": "data:image/png;base64,{base64_text}"}}'.encode(), [])
    assert not list((tmp_path / "sha256").glob("*/*"))


def test_only_pictures_may_be_large(tmp_path: Path) -> None:
    """What is left in memory is bounded."""
    with pytest.raises(BodyTooLargeError, match="without its pictures"):
        read(tmp_path, json.dumps({"text": "x" * 2000}).encode(), [], max_bytes=1000)
    picture = base64.b64encode(b"x" * 9000).decode()
    _, kept = read(tmp_path, json.dumps({"url": f"data:image/png;base64,{picture}"}).encode(), [], max_bytes=1000)
    assert kept == [b"x" * 9000]


def test_uploads_are_pruned_by_age_and_bytes(tmp_path: Path) -> None:
    """Those that were used last stay; a picture that comes again is used again."""
    uploads = Uploads(tmp_path)
    names = []
    for number in range(4):
        arriving = uploads.arriving()
        arriving.write(bytes([number]) * 1000)
        names.append(uploads.keep(arriving))
    paths = [tmp_path / name.removeprefix("upload:") for name in names]
    again = uploads.arriving()
    again.write(bytes([0]) * 1000)
    assert uploads.keep(again) == names[0]
    assert uploads.prune(2500, 3600) == 2
    assert [path.exists() for path in paths] == [True, False, False, True]
    assert uploads.prune(2500, 0) == 2


def test_strings_without_pictures_cost_no_step_each(tmp_path: Path) -> None:
    """A body of a million of them is looked at once a piece."""

    class Counting(DataUrlExtractor):
        looks = 0

        def _find(self) -> bool:
            self.looks += 1
            return super()._find()

    reader = Counting(Uploads(tmp_path), 1 << 26)
    body = json.dumps(["", "a", 'b"c', "data:", '"data:', "\\"] * 100_000).encode()
    pieces = [body[start : start + 65_536] for start in range(0, len(body), 65_536)]
    for piece in pieces:
        reader.feed(piece)
    assert reader.close() == body
    assert reader.looks == len(pieces)
