"""Pictures of other hosts, fetched from a server of this machine that the test allows."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from gigavqa.runtime.public_addresses import parse_url
from gigavqa.service.errors import ChatInvalidError
from gigavqa.service.openai.fetching import ImageFetcher, is_public
from gigavqa.service.openai.uploads import Uploads
from tests.service.openai.pictures import png

PICTURE = png(1, (64, 64))


class Handler(BaseHTTPRequestHandler):
    """Serves a picture, a redirect to it, and one that is too large."""

    def do_GET(self) -> None:
        """Answer one request."""
        body = {"/x.png": PICTURE, "/large.png": bytes(200_000)}.get(self.path, b"")
        self.send_response({"/moved.png": 302, "/gone.png": 404}.get(self.path, 200))
        self.send_header("Location", "/x.png")
        self.send_header("X-Asked", self.headers["Host"])
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def port() -> Iterator[int]:
    """Port of the server."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_port
    server.shutdown()
    thread.join()
    server.server_close()


def fetcher(folder: Path) -> ImageFetcher:
    """One to which addresses of this machine are anybody's."""
    return ImageFetcher(Uploads(folder), ["localhost", "127.0.0.1"], 100_000, is_allowed=lambda _: True)


def files_of(folder: Path) -> list[Path]:
    """All that is kept."""
    return [path for path in folder.rglob("*") if path.is_file()]


async def test_a_picture_of_a_listed_host_is_kept_as_one_that_was_sent(tmp_path: Path, port: int) -> None:
    """By its digest, whichever address it came from."""
    names = {
        await fetcher(tmp_path).fetch(parse_url(f"http://{host}:{port}/x.png")) for host in ("localhost", "127.0.0.1")
    }
    (kept,) = files_of(tmp_path)
    assert kept.read_bytes() == PICTURE
    assert names == {f"upload:{kept.relative_to(tmp_path).as_posix()}"}


@pytest.mark.parametrize(
    ("path", "told"), [("moved", "answers 302"), ("gone", "answers 404"), ("large", "100000 bytes")]
)
async def test_what_is_no_picture_at_its_address_is_refused(tmp_path: Path, port: int, path: str, told: str) -> None:
    """A redirect is not followed, since it may lead inside; nothing of what is too large is kept."""
    with pytest.raises(ChatInvalidError, match=told):
        await fetcher(tmp_path).fetch(parse_url(f"http://127.0.0.1:{port}/{path}.png"))
    assert files_of(tmp_path) == []


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True),
        ("2606:2800:220:1::1", True),
        ("127.0.0.1", False),
        ("10.0.0.1", False),
        ("192.168.1.1", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("0.0.0.0", False),
        ("224.0.0.1", False),
        ("::1", False),
        ("fe80::1%eth0", False),
        ("fd00::1", False),
        ("::ffff:127.0.0.1", False),
    ],
)
def test_addresses_inside_of_networks_are_told_from_others(address: str, public: bool) -> None:
    """Also where they are written as IPv6."""
    assert is_public(address) is public
