"""Whatever a server does, an image elsewhere is the one that was meant, or none with a sentence, in a stated time."""

import time
from pathlib import Path

import pytest

from gigavqa.tiling.errors import (
    ImageAddressError,
    ImageNotFoundError,
    ImageReplacedError,
    ImageUnavailableError,
    TilingError,
)
from gigavqa.tiling.opening import open_file
from gigavqa.tiling.roots import ImageRoot
from tests.ranges.conftest import ReadRemote
from tests.ranges.server import FileServer

CONTENT = bytes(range(256)) * 4096
PLACE = 500_000
SECONDS = 3.0


@pytest.fixture
def root(tmp_path: Path) -> ImageRoot:
    """A root of images here, of which there are none."""
    return ImageRoot(tmp_path)


def _read(root: ImageRoot, url: str, faults: list[str], server: FileServer) -> bytes:
    """Look at a version, and read from it while its server makes these faults."""
    path = root.locate(url)
    server.files[url.removeprefix(server.prefix[:-1])].faults += faults
    with open_file(path) as file:
        return file.read_at(PLACE, 1000)


@pytest.mark.parametrize("fault", ["busy", "cut", "short", "long", "other_range", "whole"])
def test_a_fault_that_passes_costs_another_attempt(
    root: ImageRoot, server: FileServer, read_remote: ReadRemote, fault: str
) -> None:
    """A 503, a body that is cut, shorter or longer than it is to be, another range, or all bytes: twice, then well."""
    url = server.serve("x.tif", CONTENT)
    read_remote()
    assert _read(root, url, [fault] * 2, server) == CONTENT[PLACE : PLACE + 1000]
    assert server.requests["/x.tif"] == 4


def test_three_503_are_lived_through_and_a_fourth_is_told(
    root: ImageRoot, server: FileServer, read_remote: ReadRemote
) -> None:
    """Four attempts are made, and no fifth."""
    read_remote()
    assert _read(root, server.serve("x.tif", CONTENT), ["busy"] * 3, server)
    url = server.serve("y.tif", CONTENT)
    with pytest.raises(ImageUnavailableError, match=r"y\.tif: .* in 4 attempts: it answers 503$"):
        _read(root, url, ["busy"] * 9, server)
    assert server.requests["/y.tif"] == 5


def test_what_a_server_did_not_give_is_not_asked_for_again_at_once(
    root: ImageRoot, server: FileServer, read_remote: ReadRemote
) -> None:
    """So that a hundred views of one image do not wait for a hundred times its bound."""
    url = server.serve("x.tif", CONTENT)
    read_remote()
    with pytest.raises(ImageUnavailableError):
        _read(root, url, ["refused"] * 9, server)
    asked = server.requests["/x.tif"]
    with pytest.raises(ImageUnavailableError), open_file(root.locate(url)) as file:
        file.read_at(PLACE, 1000)
    assert server.requests["/x.tif"] == asked


@pytest.mark.parametrize("fault", ["stall", "drip"])
def test_a_silent_or_dripping_server_is_left_within_the_stated_time(
    root: ImageRoot, server: FileServer, read_remote: ReadRemote, fault: str
) -> None:
    """The bound is of the whole read, so that a byte now and then does not move it."""
    url = server.serve("x.tif", CONTENT)
    read_remote(seconds=1.0)
    began = time.monotonic()
    with pytest.raises(ImageUnavailableError, match="for 1 s"):
        _read(root, url, [fault] * 9, server)
    assert time.monotonic() - began < SECONDS


@pytest.mark.parametrize("tag", ["etag", "weak", "modified"])
def test_a_file_that_changed_is_no_more_the_image(
    root: ImageRoot, server: FileServer, read_remote: ReadRemote, tag: str
) -> None:
    """Whether the server minds conditions (strong ETag), or only says which version it gives."""
    url = server.serve("x.tif", CONTENT, tag=tag, after=1, then=CONTENT[::-1])
    read_remote()
    with pytest.raises(ImageReplacedError, match=r"x\.tif: the image changed while it was in use"):
        _read(root, url, [], server)


def test_a_total_that_is_another_one_is_another_file(
    root: ImageRoot, server: FileServer, read_remote: ReadRemote
) -> None:
    """The tag is the same, and the length is not."""
    url = server.serve("x.tif", CONTENT)
    read_remote()
    with pytest.raises(ImageReplacedError):
        _read(root, url, ["other_total"], server)


def test_a_pinned_version_that_is_gone_is_told_at_the_look(
    root: ImageRoot, server: FileServer, read_remote: ReadRemote
) -> None:
    """A worker of another machine, which has nothing of the version that the job was checked with."""
    url = server.serve("x.tif", CONTENT)
    read_remote()
    with pytest.raises(ImageReplacedError, match="changed since the job was checked"):
        root.locate(url, "v" + "0" * 32)


def test_a_changed_file_is_looked_at_anew_by_whoever_has_no_pin(
    root: ImageRoot, server: FileServer, read_remote: ReadRemote
) -> None:
    """The viewer shows what there is now."""
    url = server.serve("x.tif", CONTENT, after=1, then=CONTENT[::-1])
    read_remote()
    with pytest.raises(ImageReplacedError):
        _read(root, url, [], server)
    with open_file(root.locate(url)) as file:
        assert file.read_at(PLACE, 1000) == CONTENT[::-1][PLACE : PLACE + 1000]


def test_a_file_that_vanished_is_not_found(root: ImageRoot, server: FileServer, read_remote: ReadRemote) -> None:
    """Of what was read before, all is here still."""
    url = server.serve("x.tif", CONTENT, after=2)
    read_remote()
    assert _read(root, url, [], server)
    with open_file(root.locate(url)) as file:
        assert file.read_at(PLACE, 1000) == CONTENT[PLACE : PLACE + 1000]
        with pytest.raises(ImageNotFoundError, match=r"no such file \(404\)"):
            file.read_at(900_000, 1000)


@pytest.mark.parametrize(
    ("how", "error", "told"),
    [
        ({"faults": ["inside"]}, ImageAddressError, "it leads elsewhere, and image 'http://169.254.169.254/"),
        ({"faults": ["elsewhere"]}, ImageAddressError, "is below no listed address; GIGAVQA_REMOTE_IMAGES"),
        ({"faults": ["circle"]}, ImageUnavailableError, "redirects more than 5 times"),
        ({"faults": ["refused"]}, ImageUnavailableError, r"refuses it \(403\)"),
        ({"tag": "none"}, ImageUnavailableError, "neither ETag nor Last-Modified"),
    ],
)
def test_what_will_not_be_right_is_refused_at_once(  # noqa: PLR0917 - two fixtures and a case
    root: ImageRoot,
    server: FileServer,
    read_remote: ReadRemote,
    how: dict[str, object],
    error: type[TilingError],
    told: str,
) -> None:
    """Redirects into a network or to what is not listed, circles, refusals, and versions that have no name."""
    url = server.serve("x.tif", CONTENT, **how)
    read_remote()
    with pytest.raises(error, match=told):
        root.locate(url)


def test_a_redirect_to_what_is_listed_is_followed(root: ImageRoot, server: FileServer, read_remote: ReadRemote) -> None:
    """The image keeps the address that it is named by, and of a signature there nothing is kept."""
    server.serve("moved/there.tif", CONTENT)
    url = server.serve("x.tif", b"", faults=["moved"] * 9)
    images = read_remote()
    assert _read(root, url, [], server) == CONTENT[PLACE : PLACE + 1000]
    assert server.requests["/moved/there.tif?X-Signature=secret"] == 2
    assert not any(b"secret" in path.read_bytes() for path in images.folder.glob("*/*"))


def test_a_server_that_is_away_is_told_within_its_attempts(
    root: ImageRoot, server: FileServer, read_remote: ReadRemote
) -> None:
    """Nobody listens at port 9 of this machine."""
    read_remote("http://127.0.0.1:9/")
    with pytest.raises(ImageUnavailableError, match=r"127\.0\.0\.1:9/x\.tif: .*Connect"):
        root.locate("http://127.0.0.1:9/x.tif")


ODD_LOCATIONS = [
    "http:\\\\127.0.0.1\\x.tif", "http://[::1/x.tif", "http://127.0.0.1:99999/x.tif", "http://127.0.0.1:0/x.tif",
    "http://", "//", "?", "http://127.0.0.1:x/y.tif", "ftp://127.0.0.1/x.tif", "http://%00/x.tif", "http://a b/x.tif",
    "javascript:x",
]  # fmt: skip
ODD = [
    *((302, {"Location": location}) for location in ODD_LOCATIONS),
    *(
        (206, {"Content-Range": said})
        for said in (f"bytes 0-9/{'9' * 6000}", "bytes */5", "bytes ٣-٤/٥", "bytes 5-1/3")
    ),
    *((200, {"Content-Length": said, "Content-Range": ""}) for said in ("9" * 6000, "-1", "1e3")),
    *((503, {"Retry-After": said}) for said in ("²", "Fri, 31 Dec 9999 23:59:59 GMT")),
    *((status, {}) for status in (100, 204, 304, 300, 416, 599)),
]


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: f"{odd[0]} {str(odd[1])[:40]}")
def test_whatever_a_server_answers_is_a_fault_of_that_image(
    root: ImageRoot, server: FileServer, read_remote: ReadRemote, odd: tuple[int, dict[str, str]]
) -> None:
    """And never one of whoever reads it, which would end a check of a thousand others."""
    url = server.serve("x.tif", CONTENT, faults=["odd"] * 9, odd=odd)
    read_remote()
    with pytest.raises(TilingError, match=r"x\.tif: "):
        root.locate(url)
