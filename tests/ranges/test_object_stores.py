"""Images in a bucket of a server that speaks S3: the same rules as by HTTP, with credentials of the environment."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import numpy as np
import pytest

from gigavqa.ranges.object_stores import ObjectStores
from gigavqa.tiling.errors import (
    ImageAddressError,
    ImageNotFoundError,
    ImageReplacedError,
    ImageUnavailableError,
    ImageUnreadableError,
)
from gigavqa.tiling.opening import open_file
from gigavqa.tiling.roots import ImageRoot
from tests.ranges.conftest import ReadRemote
from tests.ranges.views import render, tiles_read
from tests.store.s3_server import s3_server

obstore: Any = pytest.importorskip("obstore", reason="the extra `remote` is not installed")

BUCKET = "pictures"


class Bucket:
    """A bucket of a server that takes new ones of anybody."""

    def __init__(self, address: str) -> None:
        self._url = f"{address}/{BUCKET}"
        httpx.put(self._url).raise_for_status()

    def put(self, key: str, content: bytes) -> str:
        """Write an object; returns its address."""
        options = {"allow_http": True}
        obstore.put(obstore.store.S3Store(BUCKET, client_options=options), key, content)
        return f"s3://{BUCKET}/{quote(key)}"

    def keep_versions(self) -> None:
        """Keep what is replaced from now on."""
        told = "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>"
        httpx.put(f"{self._url}?versioning", content=told).raise_for_status()


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A server of buckets for all tests of this module."""
    with s3_server() as url:
        yield url


@pytest.fixture
def bucket(address: str, monkeypatch: pytest.MonkeyPatch) -> Bucket:
    """An empty bucket, and an environment that leads to it."""
    httpx.post(f"{address}/moto-api/reset").raise_for_status()
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, value in {
        "AWS_ENDPOINT_URL": address,
        "AWS_ACCESS_KEY_ID": "ada",
        "AWS_SECRET_ACCESS_KEY": "secret-of-ada",
        "AWS_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    return Bucket(address)


def test_a_view_of_an_object_fetches_at_most_a_third_more_than_its_tiles(
    pyramid: Path, bucket: Bucket, read_remote: ReadRemote
) -> None:
    """And is what it is of the file here; the key has a blank, which an address writes as %20."""
    url = bucket.put("a b/pyramid.tif", pyramid.read_bytes())
    images = read_remote(f"s3://{BUCKET}/a%20b/")
    with tiles_read() as tiles:
        there = render(pyramid.parent, url, region="300,700,512,400")
    assert images.stats().fetched_bytes <= 1.3 * sum(tiles.values()) + 2 * 64 * 1024
    here = render(pyramid.parent, pyramid.name, region="300,700,512,400")
    assert np.array_equal(there.pixels, here.pixels)


def test_an_object_that_was_replaced_is_no_more_the_image(
    pyramid: Path, bucket: Bucket, read_remote: ReadRemote
) -> None:
    """Each request has the ETag that was seen first."""
    url = bucket.put("x.tif", pyramid.read_bytes())
    read_remote(f"s3://{BUCKET}/")
    with open_file(ImageRoot(pyramid.parent).locate(url)) as file:
        bucket.put("x.tif", b"another picture")
        with pytest.raises(ImageReplacedError, match=f"s3://{BUCKET}/x.tif: the image changed"):
            file.read_at(2_000_000, 1000)


def test_an_object_with_versions_is_read_while_it_is_the_newest(
    pyramid: Path, bucket: Bucket, read_remote: ReadRemote
) -> None:
    """Signed addresses name no version: its ETag does, and it is told when another one is written."""
    bucket.keep_versions()
    url = bucket.put("x.tif", pyramid.read_bytes())
    read_remote(f"s3://{BUCKET}/")
    with open_file(ImageRoot(pyramid.parent).locate(url)) as file:
        assert file.read_at(2_000_000, 1000) == pyramid.read_bytes()[2_000_000:2_001_000]
        bucket.put("x.tif", b"another picture")
        with pytest.raises(ImageReplacedError):
            file.read_at(3_000_000, 1000)


def test_what_is_not_there_is_told_by_its_address(tmp_path: Path, bucket: Bucket, read_remote: ReadRemote) -> None:
    """No object, an empty one, and a bucket that nobody listed."""
    bucket.put("empty.tif", b"")
    root = ImageRoot(tmp_path)
    read_remote(f"s3://{BUCKET}/")
    with pytest.raises(ImageNotFoundError, match=f"s3://{BUCKET}/none.tif: there is no such file"):
        root.locate(f"s3://{BUCKET}/none.tif")
    with pytest.raises((ImageUnreadableError, ImageUnavailableError), match=r"empty\.tif"):
        root.locate(f"s3://{BUCKET}/empty.tif")
    with pytest.raises(ImageAddressError, match="below no listed address"):
        root.locate("s3://other/x.tif")


def test_no_credential_is_kept(
    pyramid: Path, bucket: Bucket, read_remote: ReadRemote, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither beside what is fetched, nor in what is said of a store that is away."""
    url = bucket.put("x.tif", pyramid.read_bytes())
    images = read_remote(f"s3://{BUCKET}/")
    ImageRoot(pyramid.parent).locate(url)
    kept = [path for path in images.folder.glob("*/*") if path.suffix != ".blocks"]
    assert kept
    assert not any("ada" in path.read_text() for path in kept)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    read_remote(f"s3://{BUCKET}/", seconds=5.0)
    with pytest.raises(ImageUnavailableError, match="in 4 attempts") as told:
        ImageRoot(pyramid.parent).locate(f"s3://{BUCKET}/y.tif")
    assert "secret" not in str(told.value)


def test_a_profile_s_credentials_are_read(
    tmp_path: Path, bucket: Bucket, read_remote: ReadRemote, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no key is in the environment; a profile without any is told."""
    pytest.importorskip("botocore", reason="profiles need the extra `s3`")
    url = bucket.put("x.tif", b"x" * 100)
    (tmp_path / "credentials").write_text("[lab]\naws_access_key_id = eve\naws_secret_access_key = secret-of-eve\n")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_PROFILE", "lab")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    read_remote(f"s3://{BUCKET}/")
    with open_file(ImageRoot(tmp_path).locate(url)) as file:
        assert file.size == 100


def test_without_the_extra_a_sentence_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """And what to type."""
    monkeypatch.setitem(__import__("sys").modules, "obstore.store", None)
    with pytest.raises(ImageAddressError, match=r"need the extra `remote`: .*pip install '.\[remote\]'"):
        asyncio.run(ObjectStores().begin("s3://pictures/x.tif"))
