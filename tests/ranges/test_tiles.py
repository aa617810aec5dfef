"""Of an image elsewhere so much is fetched as a view needs, once, and the view is the same as of the file here."""

import threading
from pathlib import Path

import numpy as np
import pytest

from gigavqa.tiling.headers import read_header
from gigavqa.tiling.opening import open_file
from gigavqa.tiling.remote.images import GAP_BYTES, RUN_BYTES, merge_spans
from gigavqa.tiling.roots import ImageRoot
from tests.ranges.conftest import SIDE, ReadRemote
from tests.ranges.server import FileServer
from tests.ranges.views import render, tiles_read


def test_a_header_takes_one_request_of_64_kib(pyramid: Path, server: FileServer, read_remote: ReadRemote) -> None:
    """What stands before the first tiles comes with the look at the version."""
    url = server.serve("a/pyramid.tif", pyramid.read_bytes())
    read_remote()
    root = ImageRoot(pyramid.parent)
    first = read_header(root.locate(url)).size
    assert (first.width, first.height) == (SIDE, SIDE)
    assert server.sent["/a/pyramid.tif"] <= 64 * 1024 + 4 * 16 * 1024  # and the tags of the smaller levels


@pytest.mark.parametrize(
    ("region", "sizing"), [("full", "longest:256"), ("300,700,512,400", "native"), ("full", "native")]
)
def test_a_view_fetches_at_most_a_third_more_than_its_tiles(
    pyramid: Path, server: FileServer, read_remote: ReadRemote, region: str, sizing: str
) -> None:
    """V1, V3 and V2, each of an image that nobody looked at before; its header and the check of its levels count."""
    url = server.serve("pyramid.tif", pyramid.read_bytes())
    read_remote()
    with tiles_read() as tiles:
        there = render(pyramid.parent, url, region=region, sizing=sizing)
    assert server.sent["/pyramid.tif"] <= 1.3 * sum(tiles.values()) + 2 * 64 * 1024
    here = render(pyramid.parent, pyramid.name, region=region, sizing=sizing)
    assert np.array_equal(there.pixels, here.pixels)
    assert there.level == here.level


def test_what_is_here_is_not_fetched_again_by_another_process_s_reader(
    pyramid: Path, server: FileServer, read_remote: ReadRemote
) -> None:
    """The second one looks at the version, and reads the rest from the disk."""
    url = server.serve("pyramid.tif", pyramid.read_bytes())
    read_remote()
    first = render(pyramid.parent, url)
    sent, asked = server.sent["/pyramid.tif"], server.requests["/pyramid.tif"]
    read_remote()
    again = render(pyramid.parent, url)
    assert np.array_equal(first.pixels, again.pixels)
    assert server.sent["/pyramid.tif"] <= sent + 64 * 1024
    assert server.requests["/pyramid.tif"] == asked + 1


def test_a_pinned_version_that_is_here_takes_no_request(
    pyramid: Path, server: FileServer, read_remote: ReadRemote
) -> None:
    """Its name says all: a worker asks nobody which version a job means."""
    url = server.serve("pyramid.tif", pyramid.read_bytes())
    read_remote()
    pin = render(pyramid.parent, url).digest
    asked = server.requests["/pyramid.tif"]
    read_remote()
    assert render(pyramid.parent, url, pin=pin).digest == pin
    assert server.requests["/pyramid.tif"] == asked


def test_readers_of_the_same_bytes_share_one_request(
    pyramid: Path, server: FileServer, read_remote: ReadRemote
) -> None:
    """Eight threads, one range, one request beside the look."""
    url = server.serve("pyramid.tif", pyramid.read_bytes())
    read_remote()
    path = ImageRoot(pyramid.parent).locate(url)
    start, found = threading.Barrier(8), list[bytes]()

    def read() -> None:
        with open_file(path) as file:
            start.wait()
            found.append(file.read_at(1_000_000, 50_000))

    threads = [threading.Thread(target=read) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert set(found) == {pyramid.read_bytes()[1_000_000:1_050_000]}
    assert server.requests["/pyramid.tif"] == 2


def test_what_is_kept_stays_within_its_bound(pyramid: Path, server: FileServer, read_remote: ReadRemote) -> None:
    """Three images where two have room: what was not used longest has gone, and is fetched again when it is needed."""
    content, root = pyramid.read_bytes(), ImageRoot(pyramid.parent)
    urls = [server.serve(f"{number}.tif", content) for number in range(3)]
    images = read_remote(capacity=2 * len(content))
    for url in [*urls, urls[0]]:
        with open_file(root.locate(url)) as file:
            assert file.read_at(0, file.size) == content
        kept = sum(path.stat().st_blocks * 512 for path in images.folder.glob("*/*.blocks"))
        assert kept <= 2 * len(content) * 17 / 16
    assert server.sent["/0.tif"] > 1.9 * len(content)


def test_what_a_disk_garbled_is_fetched_again(pyramid: Path, server: FileServer, read_remote: ReadRemote) -> None:
    """Each page has a checksum: one byte of the wrong value is no byte of the image."""
    url = server.serve("pyramid.tif", pyramid.read_bytes())
    images = read_remote()
    with open_file(ImageRoot(pyramid.parent).locate(url)) as file:
        right = file.read_at(300_000, 4096)
        for path in images.folder.glob("*/*.blocks"):
            with path.open("r+b") as kept:
                kept.seek(4096 + 300_000)
                kept.write(bytes(255 - byte for byte in right[:1]))
        assert file.read_at(300_000, 4096) == right
    assert server.requests["/pyramid.tif"] == 3


def test_neighbours_are_one_request_and_gaps_above_16_kib_are_not_read() -> None:
    """And none is above 4 MiB."""
    near = [(0, 4096), (4096 + GAP_BYTES, 40_000)]
    assert merge_spans(near) == [(0, 40_000)]
    assert merge_spans([(0, 4096), (4097 + GAP_BYTES, 40_000)]) == [(0, 4096), (4097 + GAP_BYTES, 40_000)]
    assert merge_spans([(0, RUN_BYTES + 1)]) == [(0, RUN_BYTES), (RUN_BYTES, RUN_BYTES + 1)]
