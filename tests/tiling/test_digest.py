"""The content digest of an image: no two contents share one, and none is made twice."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gigavqa.tiling import digest as digests
from gigavqa.tiling import files, versions
from gigavqa.tiling.digest import DIGEST_PATTERN, content_digest, digested_bytes, matches_digest, renew_digest
from gigavqa.tiling.errors import ImageChangedError
from gigavqa.tiling.versions import FileStamp, is_settled, version_of
from tests.waiting import wait_until

MIB = 2**20
TIME = 10**18
many = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Two MiB with a fixed modification time."""
    path = tmp_path / "image.bin"
    path.write_bytes(bytes(range(256)) * (2 * MIB // 256))
    os.utime(path, ns=(TIME, TIME))
    return path


@pytest.fixture
def great(file: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same file, where so much is not read whole any more."""
    monkeypatch.setattr(digests, "WHOLE_BYTES", MIB)
    return file


@pytest.fixture(params=["small", "great"])
def image(request: pytest.FixtureRequest, file: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Either of them."""
    monkeypatch.setattr(digests, "WHOLE_BYTES", MIB if request.param == "great" else 4 * MIB)
    return file


@pytest.fixture(params=[256 * 1024, 8 * MIB], ids=["pieces", "one piece"])
def _pieces(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(digests, "_PIECE_BYTES", request.param)


def change(path: Path, offset: int) -> None:
    """Change one byte in place, and put the time back."""
    with path.open("r+b") as stream:
        stream.seek(offset)
        byte = stream.read(1)[0]
        stream.seek(offset)
        stream.write(bytes([byte ^ 1]))
    os.utime(path, ns=(TIME, TIME))


def settle(path: Path) -> None:
    """Wait until a further change would show."""
    wait_until(lambda: is_settled(version_of(path)), what="the file system's clock")


def forget() -> None:
    """Be another process."""
    digests._DIGEST_CACHE._known.clear()


def test_the_digest_is_stable(file: Path) -> None:
    """The same in every process and release: caches and pyramids are named by it."""
    assert content_digest(file) == "26aa5fa24030b1ca80acd6527922ffc6015e2e25a5024217fcd5e4c86d62ba6a"
    with file.open("ab") as stream:
        stream.truncate(20 * MIB)
    assert content_digest(file) == "b083c0903e71cd7967acbd7be49da2527aa54f41044f7b014a23f3ca4004f8ad"


@many
@given(offset=st.integers(0, 2 * MIB - 1))
@pytest.mark.usefixtures("_pieces")
def test_a_change_of_any_byte_in_place_changes_the_digest(image: Path, offset: int) -> None:
    """With equal size and time, be it at once after the last change."""
    before = content_digest(image)
    change(image, offset)
    assert content_digest(image) != before


@many
@given(offset=st.integers(0, 2 * MIB - 1))
def test_a_file_that_takes_anothers_place_has_another_digest(image: Path, offset: int) -> None:
    """By renaming, with equal size and time."""
    before = content_digest(image)
    new = Path(shutil.copy2(image, image.with_suffix(".new")))
    change(new, offset)
    new.replace(image)
    assert content_digest(image) != before


@pytest.mark.parametrize("offset", [0, MIB, 2 * MIB - 1])
def test_a_change_through_a_hard_link_changes_the_digest(image: Path, offset: int) -> None:
    """Both names are the same file, before and after."""
    link = image.with_name("link.bin")
    link.hardlink_to(image)
    before = content_digest(image)
    change(link, offset)
    assert content_digest(image) != before


def test_swapped_pieces_have_another_digest(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their order counts."""
    monkeypatch.setattr(digests, "_PIECE_BYTES", MIB)
    file.write_bytes(b"a" * MIB + b"b" * MIB)
    before = content_digest(file)
    file.write_bytes(b"b" * MIB + b"a" * MIB)
    assert content_digest(file) != before


def test_copies_touched_and_renamed_files_have_the_same_digest(file: Path, tmp_path: Path) -> None:
    """It is of the bytes alone, so that machines with copies of their own agree."""
    before = content_digest(file)
    copy = Path(shutil.copy(file, tmp_path / "copy.tif"))
    os.utime(file)
    assert content_digest(copy) == content_digest(file) == before


def test_of_large_files_a_copy_has_another_digest_and_the_file_keeps_its_own(great: Path, tmp_path: Path) -> None:
    """Work is redone for a copy; a digest of a version says that it is one."""
    before = content_digest(great)
    forget()
    assert content_digest(great) == before
    assert before.startswith("v")
    assert content_digest(Path(shutil.copy2(great, tmp_path / "copy.bin"))) != before


def test_a_second_look_reads_nothing(image: Path) -> None:
    """Neither a whole file nor samples, while it stays as it is."""
    settle(image)
    content_digest(image)
    before = digested_bytes()
    content_digest(image)
    assert digested_bytes() == before


def test_the_first_look_reads_each_byte_once(file: Path) -> None:
    """Of a file that is digested whole."""
    before = digested_bytes()
    content_digest(file)
    assert digested_bytes() - before == 2 * MIB


def test_another_process_reads_nothing(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Digests lie in the home; of a file that changed there is none."""
    monkeypatch.setattr(digests._DIGEST_CACHE, "folder", tmp_path / "digests")
    settle(file)
    made, before = content_digest(file), digested_bytes()
    forget()
    assert content_digest(file) == made
    assert digested_bytes() == before
    change(file, MIB)
    forget()
    assert content_digest(file) != made


@pytest.mark.parametrize("torn", [b"", b"\0" * 64, b"\xff", b"0" * 63])
def test_a_torn_file_of_a_digest_is_made_anew(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, torn: bytes
) -> None:
    """As a power cut may leave it."""
    monkeypatch.setattr(digests._DIGEST_CACHE, "folder", tmp_path / "digests")
    settle(file)
    made = content_digest(file)
    (kept,) = (tmp_path / "digests").rglob("*.digest")
    kept.write_bytes(torn)
    forget()
    assert content_digest(file) == made
    assert kept.read_text() == made


def test_a_folder_that_takes_nothing_costs_only_time(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A digest is made all the same."""
    (tmp_path / "digests").write_text("no folder")
    monkeypatch.setattr(digests._DIGEST_CACHE, "folder", tmp_path / "digests")
    settle(file)
    assert len(content_digest(file)) == 64


def test_a_file_that_changes_while_it_is_read_has_no_digest(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was read of two versions names neither."""
    settle(file)
    piece = digests._DIGEST_CACHE._piece

    def slowly(which: tuple[Path, int]) -> bytes:
        change(file, MIB)
        return piece(which)

    monkeypatch.setattr(digests._DIGEST_CACHE, "_piece", slowly)
    with pytest.raises(ImageChangedError, match=r"image\.bin"):
        content_digest(file)


@pytest.fixture(params=["mrxs", "vms", "dcm"])
def slide(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Path]:
    """A slide of several files, and one that lies beside what names it."""
    path = tmp_path / "slides" / f"one.{request.param}"
    beside = path.parent / {"mrxs": "one/Data0000.dat", "vms": "one_map.jpg", "dcm": "two.dcm"}[request.param]
    beside.parent.mkdir(parents=True)
    path.write_text("[Virtual Microscope Specimen]\nMapFile=one_map.jpg\n")
    beside.write_bytes(bytes(1000))
    return path, beside


@many
@given(offset=st.integers(0, 999))
def test_a_slide_of_several_files_has_the_digest_of_all(slide: tuple[Path, Path], offset: int) -> None:
    """A change of one byte beside the named file is another content."""
    path, beside = slide
    before = content_digest(path)
    change(beside, offset)
    assert content_digest(path) != before


def test_a_further_file_of_a_slide_changes_its_digest(slide: tuple[Path, Path]) -> None:
    """As does one that goes."""
    path, beside = slide
    before = content_digest(path)
    beside.unlink()
    assert content_digest(path) != before


def test_an_empty_file_has_a_digest(tmp_path: Path) -> None:
    """Whether it is an image is another question."""
    path = tmp_path / "empty.bin"
    path.touch()
    assert len(content_digest(path)) == 64


def test_what_an_earlier_release_recorded_is_known_again(tmp_path: Path) -> None:
    """It read 16 samples, and knew the time."""
    path = tmp_path / "image.bin"
    path.write_bytes(bytes(range(256)) * (8 * MIB // 256))
    os.utime(path, ns=(TIME, TIME))
    assert matches_digest(path, "48b061984cdc6be497c18374e0ded8dc")
    os.utime(path)
    assert not matches_digest(path, "48b061984cdc6be497c18374e0ded8dc")
    assert matches_digest(path, content_digest(path))


def test_every_form_of_a_digest_is_one(great: Path) -> None:
    """Addresses and names of pyramids are recognised by the pattern."""
    small = content_digest(Path(__file__))
    for digest in (content_digest(great), small, "0" * 32):
        assert re.fullmatch(DIGEST_PATTERN, digest)


@pytest.fixture
def image_of_files(file: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file as in a squashfs: it has no time of change, and its inode is what it is in any other one."""

    def stamped(stat: os.stat_result, name: str) -> FileStamp:
        seconds = stat.st_mtime_ns // 10**9 * 10**9
        return FileStamp(name, 1, 1, stat.st_size, seconds, seconds)

    for module in (versions, files):
        monkeypatch.setattr(module, "stamp_of", stamped)
    return file


def test_of_an_image_of_files_a_digest_is_known_until_something_is_mounted(
    image_of_files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be another image then, of files with the same numbers and times; the next process knows nothing of it."""
    monkeypatch.setattr(digests._DIGEST_CACHE, "folder", tmp_path / "digests")
    before = content_digest(image_of_files)
    read = digested_bytes()
    assert content_digest(image_of_files) == before
    assert digested_bytes() == read
    change(image_of_files, MIB)
    versions._mount_table(os.getpid())._count += 1
    assert content_digest(image_of_files) != before
    assert not list((tmp_path / "digests").rglob("*.digest"))


@pytest.mark.skipif(not Path("/proc/self/mountinfo").exists(), reason="no table of mounts: another system than Linux")
def test_what_is_mounted_is_told_to_each_process_once() -> None:
    """In a namespace of its own, so that nobody else sees it; where none may be made there is nothing to be seen."""
    script = (
        "import os, subprocess; from gigavqa.tiling.versions import mounts;"
        "before = mounts(); assert mounts() == before;"
        "child = os.fork() or os._exit(mounts() and 0);"
        "subprocess.run(['mount', '-t', 'tmpfs', 'none', '/mnt'], check=True); after = mounts();"
        "assert after != before and mounts() == after"
    )
    made = subprocess.run(["unshare", "-rm", "true"], check=False, capture_output=True)
    if made.returncode:
        pytest.skip("no namespace of mounts may be made here")
    subprocess.run(["unshare", "-rm", sys.executable, "-c", script], check=True)


def test_a_write_that_no_time_tells_is_found_by_reading_anew(file: Path) -> None:
    """Through a mapping, to a page that was dirty already; a kernel that wrote it out between told of it itself."""
    mapped = np.memmap(file, np.uint8, "r+")
    mapped[MIB] ^= 1
    settle(file)
    before = content_digest(file)
    mapped[MIB] ^= 1
    renew_digest(file)
    assert content_digest(file) != before
    assert content_digest(file) == content_digest(Path(shutil.copy(file, file.with_suffix(".copy"))))
    assert not renew_digest(file)
