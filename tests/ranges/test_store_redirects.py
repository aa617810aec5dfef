"""Stores of whatever kind are asked by signed addresses: no redirect takes them elsewhere, and nothing keeps them."""

import logging
from pathlib import Path

import pytest

from gigavqa.runtime.logs import configure_logging
from gigavqa.tiling.errors import ImageAddressError, ImageUnavailableError
from gigavqa.tiling.opening import locate_remote, open_file
from tests.ranges.conftest import ReadRemote
from tests.ranges.server import FileServer, file_server
from tests.ranges.stores import SCHEMES, lead_to_store

pytest.importorskip("obstore", reason="the extra `remote` is not installed")

SIGNATURES = {"s3": "X-Amz-Signature=", "gs": "X-Goog-Signature=", "az": "sig="}
REMEDIES = {"s3": "AWS_ENDPOINT_URL", "gs": "gcs_base_url", "az": "AZURE_STORAGE_ENDPOINT"}


@pytest.fixture(params=SCHEMES)
def scheme(request: pytest.FixtureRequest, tmp_path: Path, server: FileServer, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each scheme, whose addresses lead to the server."""
    lead_to_store(request.param, server.prefix[:-1], tmp_path, monkeypatch)
    return str(request.param)


@pytest.fixture
def amazon(tmp_path: Path, server: FileServer, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An environment in which `s3://` leads to the server."""
    lead_to_store("s3", server.prefix[:-1], tmp_path, monkeypatch)
    return monkeypatch


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """What the product's processes log."""
    configure_logging("text", "test")
    caplog.set_level(logging.INFO)
    return caplog


def test_an_object_is_read_by_a_signed_address(
    scheme: str, pyramid: Path, server: FileServer, read_remote: ReadRemote
) -> None:
    """By ranges of one version; the signature is in the request's address, and one serves several requests."""
    content = pyramid.read_bytes()
    server.serve("pictures/a%20b.tif", content)
    read_remote(f"{scheme}://pictures/", private=())
    with open_file(locate_remote(f"{scheme}://pictures/a%20b.tif")) as file:
        assert file.read_at(2_000_000, 1000) == content[2_000_000:2_001_000]
    (asked,) = server.requests
    assert SIGNATURES[scheme] in asked
    assert server.sent[asked] < 0.1 * len(content)


@pytest.mark.parametrize(
    "leads_by", [(301, "127.0.0.1"), (302, "localhost"), (307, "127.0.0.1"), (307, "localhost"), (308, "127.0.0.1")]
)
def test_no_redirect_of_a_store_is_followed(
    scheme: str,
    leads_by: tuple[int, str],
    server: FileServer,
    read_remote: ReadRemote,
    logged: pytest.LogCaptureFixture,
) -> None:
    """Nothing arrives where it leads to; the sentence says so, what to set, and no secret."""
    status, host = leads_by
    with file_server() as other:
        leads = f"http://ada:secret@{host}:{other.port}/x.tif?X-Amz-Signature=secret"
        server.serve("pictures/x.tif", b"x", faults=["odd"] * 9, odd=(status, {"Location": leads}))
        images = read_remote(f"{scheme}://pictures/", other.prefix, f"http://localhost:{other.port}/")
        with pytest.raises(ImageAddressError, match=f"redirects to .*{host}.*not followed") as told:
            locate_remote(f"{scheme}://pictures/x.tif")
        assert not other.requests
    assert REMEDIES[scheme] in str(told.value)
    assert server.requests.total() == 1
    kept = "".join(path.read_text() for path in images.folder.rglob("*") if path.is_file())
    for text in (str(told.value), logged.text, kept):
        assert "secret" not in text
        assert "ignature=" not in text
        assert "sig=" not in text


def test_a_redirect_that_does_not_say_where_is_told_with_the_setting_of_the_region(
    amazon: pytest.MonkeyPatch, server: FileServer, read_remote: ReadRemote
) -> None:
    """As of a bucket that is in another region."""
    server.serve("pictures/x.tif", b"x", faults=["odd"], odd=(301, {}))
    read_remote("s3://pictures/")
    with pytest.raises(ImageAddressError, match="AWS_REGION"):
        locate_remote("s3://pictures/x.tif")


def test_a_store_that_refuses_a_signature_is_told_without_it(
    amazon: pytest.MonkeyPatch, server: FileServer, read_remote: ReadRemote
) -> None:
    """By the address, the status and where credentials come from."""
    server.serve("pictures/x.tif", b"x", faults=["refused"])
    read_remote("s3://pictures/")
    with pytest.raises(ImageUnavailableError, match=r"s3://pictures/x\.tif: .*403.*environment or a profile") as told:
        locate_remote("s3://pictures/x.tif")
    assert "X-Amz" not in str(told.value)


def test_a_public_bucket_is_asked_without_a_signature(
    amazon: pytest.MonkeyPatch, server: FileServer, read_remote: ReadRemote
) -> None:
    """And without any credentials."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        amazon.delenv(name)
    amazon.setenv("AWS_SKIP_SIGNATURE", "true")
    server.serve("pictures/x.tif", b"x" * 100)
    read_remote("s3://pictures/")
    assert locate_remote("s3://pictures/x.tif").is_file()
    assert [*server.requests] == ["/pictures/x.tif"]
