"""What cannot be read in parts is fetched once, within a bound, and said so."""

import io
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gigavqa.ranges.sources import RangeSources
from gigavqa.tiling.errors import ImageReplacedError, ImageTooLargeError
from gigavqa.tiling.file_remarks import file_remarks
from gigavqa.tiling.headers import read_header
from gigavqa.tiling.opening import locate_remote, open_file
from gigavqa.tiling.remote import blocks
from gigavqa.tiling.roots import ImageRoot
from tests.ranges.conftest import ReadRemote
from tests.ranges.server import FileServer
from tests.ranges.views import render


@pytest.fixture(scope="module")
def picture() -> bytes:
    """A PNG of noise, of 0.9 MB."""
    rng = np.random.default_rng(5)
    file = io.BytesIO()
    Image.fromarray(rng.integers(0, 255, (600, 500, 3), np.uint8)).save(file, "png")
    return file.getvalue()


def test_a_png_is_fetched_once_for_all_its_views(
    tmp_path: Path, picture: bytes, server: FileServer, read_remote: ReadRemote
) -> None:
    """And shows what it shows here."""
    url = server.serve("plaza.png", picture)
    (tmp_path / "plaza.png").write_bytes(picture)
    read_remote()
    there = [render(tmp_path, url, region=region).pixels for region in ("full", "10,20,300,200", "0,0,100,100")]
    here = [render(tmp_path, "plaza.png", region=region).pixels for region in ("full", "10,20,300,200", "0,0,100,100")]
    assert all(map(np.array_equal, there, here))
    assert server.sent["/plaza.png"] <= len(picture) + 64 * 1024


def test_a_header_is_read_without_the_rest(
    tmp_path: Path, picture: bytes, server: FileServer, read_remote: ReadRemote
) -> None:
    """Of which the gateway needs no more."""
    url = server.serve("plaza.png", picture)
    read_remote()
    assert read_header(ImageRoot(tmp_path).locate(url)).size == (500, 600)
    assert server.sent["/plaza.png"] < 0.5 * len(picture)


def test_people_are_told_what_is_fetched_whole(
    tmp_path: Path, picture: bytes, pyramid: Path, server: FileServer, read_remote: ReadRemote
) -> None:
    """A PNG, and a pyramid on a server without ranges; but not a pyramid with them."""
    flat, tiled = server.serve("plaza.png", picture), server.serve("pyramid.tif", pyramid.read_bytes())
    without = server.serve("without.tif", pyramid.read_bytes(), has_ranges=False)
    read_remote()
    told = [file_remarks(ImageRoot(tmp_path).locate(url)) for url in (flat, without, tiled)]
    assert [len(each) for each in told] == [1, 1, 0]
    assert told[0][0].startswith("it lies elsewhere and is not read in parts, so that all 0.9 MB of it are fetched")


def test_a_file_above_the_bound_is_refused_with_its_setting(
    tmp_path: Path, picture: bytes, server: FileServer, read_remote: ReadRemote
) -> None:
    """Before any of it is fetched but the header."""
    url = server.serve("plaza.png", picture)
    read_remote(most_whole=500_000)
    with pytest.raises(ImageTooLargeError, match=r"can only be read whole.*GIGAVQA_REMOTE_FILE_BYTES"):
        render(tmp_path, url)
    assert server.sent["/plaza.png"] < 0.5 * len(picture)


def test_a_pyramid_on_a_server_without_ranges_is_fetched_whole(
    pyramid: Path, server: FileServer, read_remote: ReadRemote
) -> None:
    """By one request more than the look, which leaves the rest unread."""
    url = server.serve("pyramid.tif", pyramid.read_bytes(), has_ranges=False)
    read_remote()
    there = render(pyramid.parent, url)
    assert np.array_equal(there.pixels, render(pyramid.parent, pyramid.name).pixels)
    assert server.requests["/pyramid.tif"] == 2


def test_a_file_that_changes_while_it_is_fetched_whole_is_no_image(
    tmp_path: Path, picture: bytes, server: FileServer, read_remote: ReadRemote
) -> None:
    """Nothing of it is kept under the first one's name."""
    url = server.serve("plaza.png", picture, after=1, then=picture[:-20] + bytes(20))
    images = read_remote()
    with pytest.raises(ImageReplacedError):
        render(tmp_path, url)
    assert not [*images.folder.glob("*/whole*")]


@pytest.mark.parametrize("tag", ["etag", "weak", "modified"])
def test_a_file_that_changed_before_it_is_fetched_whole_gives_no_byte(server: FileServer, tag: str) -> None:
    """Of the same size, whether its server minds conditions, or only says which version it gives."""
    url = server.serve("x.png", bytes(range(256)), tag=tag, after=1, then=bytes(reversed(range(256))))
    reader = RangeSources((server.prefix,), ("127.0.0.1",), 20.0)
    with pytest.raises(ImageReplacedError):
        next(reader.read_whole(reader.look(url, 64).version))


def test_files_that_leave_for_space_while_others_come_are_read_all_the_same(
    tmp_path: Path, picture: bytes, server: FileServer, read_remote: ReadRemote
) -> None:
    """Six at once where two have room."""
    urls = [server.serve(f"{number}.png", picture, has_ranges=False) for number in range(24)]
    read_remote(capacity=2 * len(picture))
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda url: render(tmp_path, url).pixels.shape, urls))
    assert len(found) == len(urls)


@pytest.mark.parametrize("garble", [lambda held: held[:400_000] + b"x" + held[400_001:], lambda held: bytes(len(held))])
def test_what_a_disk_garbled_of_a_whole_file_is_fetched_again(
    tmp_path: Path, picture: bytes, server: FileServer, read_remote: ReadRemote, garble: Callable[[bytes], bytes]
) -> None:
    """By the next process, which shows what the server has."""
    url = server.serve("plaza.png", picture)
    images = read_remote()
    first = render(tmp_path, url)
    (kept,) = images.folder.glob("*/whole")
    kept.write_bytes(garble(picture))
    read_remote()
    again = render(tmp_path, url)
    np.testing.assert_array_equal(again.pixels, first.pixels)
    assert kept.read_bytes() == picture


def test_records_of_versions_are_within_the_bound_of_the_disk(
    tmp_path: Path, server: FileServer, read_remote: ReadRemote, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of images of which nothing is left but which version they were; whoever names one again gets it."""
    monkeypatch.setattr(blocks, "_USED_SECONDS", 0.0)
    urls = [server.serve(f"{number}.png", b"x" * 5000) for number in range(200)]
    images = read_remote(capacity=256 * 1024)
    for url in urls:
        locate_remote(url)
    kept = [path for path in images.folder.rglob("*") if path.is_file()]
    assert sum(path.stat().st_blocks * 512 for path in kept) <= 256 * 1024 * 17 / 16
    with open_file(locate_remote(urls[0])) as file:
        assert file.read_at(0, 10) == b"x" * 10
    assert server.requests["/0.png"] == 2


def test_a_version_that_is_in_use_keeps_its_record(server: FileServer, read_remote: ReadRemote) -> None:
    """However little room there is: what was located can be opened."""
    urls = [server.serve(f"{number}.png", b"x" * 5000) for number in range(20)]
    read_remote(capacity=32 * 1024)
    paths = [locate_remote(url) for url in urls]
    for path in paths:
        with open_file(path) as file:
            assert file.read_at(0, 10) == b"x" * 10
