"""Images are read from listed addresses alone, from none inside of a network by itself, and no secret is kept."""

from pathlib import Path

import pytest

from gigavqa.evaluation.samples import Sample
from gigavqa.ranges.allow_list import AllowList
from gigavqa.runtime.errors import SettingsInvalidError
from gigavqa.runtime.home import Home
from gigavqa.tiling.errors import ImageAddressError
from gigavqa.tiling.remote.addresses import check_remote_name, without_secrets
from gigavqa.tiling.roots import ImageRoot
from tests.ranges.conftest import ReadRemote
from tests.ranges.server import FileServer


@pytest.mark.parametrize(
    "url",
    [
        "https://tiles.example.org/a/x.tif",
        "https://TILES.example.org:443/a/b/x.tif",
        "s3://bucket/folder/x.tif",
    ],
)
def test_what_lies_below_a_listed_address_is_read(url: str) -> None:
    """Hosts are the same in capitals, and with their scheme's port."""
    AllowList(["https://tiles.example.org/a", "s3://bucket/folder/"]).require(url)


@pytest.mark.parametrize(
    "url",
    [
        "http://tiles.example.org/a/x.tif",
        "https://tiles.example.org.evil.example/a/x.tif",
        "https://tiles.example.org:444/a/x.tif",
        "https://tiles.example.org/ab/x.tif",
        "https://other.example.org/a/x.tif",
        "s3://bucket/folderx/x.tif",
        "gs://bucket/folder/x.tif",
    ],
)
def test_what_only_begins_alike_is_not_read(url: str) -> None:
    """Schemes, hosts and ports are the same, and folders end where they end."""
    with pytest.raises(ImageAddressError, match="GIGAVQA_REMOTE_IMAGES lists them") as refused:
        AllowList(["https://tiles.example.org/a", "s3://bucket/folder/", "http://10.1.2.3/plans/"]).require(url)
    assert "10.1.2.3" not in str(refused.value)


@pytest.mark.parametrize(
    "url",
    [
        "https://ada:secret@tiles.example.org/x.tif",
        "https://tiles.example.org/x.tif?X-Amz-Signature=secret",
        "https://tiles.example.org/x.tif?sig=secret#part",
    ],
)
def test_an_address_that_may_hold_a_secret_is_refused_without_repeating_it(url: str) -> None:
    """Passwords, and queries, which is where signatures are."""
    with pytest.raises(ImageAddressError, match="credentials by environment") as refused:
        check_remote_name(url)
    assert "secret" not in str(refused.value)
    assert "secret" not in without_secrets(url)
    with pytest.raises(ValueError, match="credentials by environment"):
        Sample(id="a", images=(url,), question="What?")


@pytest.mark.parametrize(
    "url", ["https://h/a/../b.tif", "https://h/a/%2e%2e/b.tif", "https://h//b.tif", "https://h/", "https:///b.tif",
            "https://h/a b.tif", "https://h/ä.tif", f"https://h/{'a' * 1024}"]
)  # fmt: skip
def test_an_address_that_may_lead_elsewhere_than_it_says_is_refused(url: str) -> None:
    """Dots, empty parts, and what is no address."""
    with pytest.raises(ImageAddressError):
        check_remote_name(url)


def test_a_listed_host_with_a_private_address_is_read_if_it_is_listed_as_such(
    tmp_path: Path, server: FileServer, read_remote: ReadRemote
) -> None:
    """127.0.0.1 by number or by a name that resolves to it; the sentence names the setting."""
    url, root = server.serve("x.tif", b"x" * 100), ImageRoot(tmp_path)
    named = url.replace("127.0.0.1", "localhost")
    read_remote(server.prefix, server.prefix.replace("127.0.0.1", "localhost"), private=())
    for refused in (url, named):
        with pytest.raises(ImageAddressError, match="GIGAVQA_REMOTE_PRIVATE_HOSTS"):
            root.locate(refused)
    assert not server.requests
    read_remote()
    assert root.locate(url).is_file()


def test_no_image_elsewhere_is_read_unless_the_operator_lists_its_place(tmp_path: Path) -> None:
    """By default none is."""
    home = Home.from_environment({"GIGAVQA_HOME": str(tmp_path)})
    assert home.remote_images == ()
    with pytest.raises(ImageAddressError, match="GIGAVQA_REMOTE_IMAGES lists them"):
        AllowList(home.remote_images).require("https://tiles.example.org/x.tif")


@pytest.mark.parametrize(
    "listed",
    [
        "https://a:secret@h/", "https://h:99999/", "https://[::1/x", "https://h:abc/", "https://h:0/", "*", "https://*.h/",
        "https://h/*", "https://h/a/../b/", "https://h//a", "https://h/%2e%2e/", "https://h/a?sig=secret",
        "ftp://h/", "h/a",
    ],
)  # fmt: skip
def test_what_no_address_can_begin_with_ends_the_process_with_its_setting(tmp_path: Path, listed: str) -> None:
    """As any wrong setting does, and no password is told."""
    with pytest.raises(SettingsInvalidError, match="GIGAVQA_REMOTE_IMAGES") as refused:
        Home.from_environment({"GIGAVQA_HOME": str(tmp_path), "GIGAVQA_REMOTE_IMAGES": listed})
    assert "a:secret" not in str(refused.value)


@pytest.mark.parametrize("scheme", ["s3", "gs", "az"])
@pytest.mark.parametrize("bucket", ["LAB", "lab.", "Lab", "lab:443"])
def test_a_bucket_of_another_spelling_is_another_bucket(scheme: str, bucket: str) -> None:
    """Stores take names as they are written, where hosts have none of these differences."""
    listed = AllowList([f"{scheme}://lab/scans/", "https://lab/"])
    listed.require(f"{scheme}://lab/scans/x.tif")
    listed.require("https://LAB.:443/x.tif")
    with pytest.raises(ImageAddressError):
        listed.require(f"{scheme}://{bucket}/scans/x.tif")
