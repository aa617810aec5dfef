"""Which pyramids are of use: those of which the data root has the picture."""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from filelock import FileLock
from PIL import Image

from gigavqa.tiling.digest import content_digest
from gigavqa.tiling.housekeeping import delete_pyramid, list_pyramids
from gigavqa.tiling.ingest import ingest
from tests.tiling.pictures import textured
from tests.tiling.slide_files.ngff import write_ngff


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data root with two pictures of one size, and a text beside them."""
    images = tmp_path / "data" / "set" / "images"
    images.mkdir(parents=True)
    for seed, name in enumerate(("a.png", "b.png")):
        Image.fromarray(textured(300, 200, seed)).save(images / name)
    (images / "notes.txt").write_text("no picture")
    return tmp_path / "data"


@pytest.fixture
def pyramids(data: Path, tmp_path: Path) -> Path:
    """The pyramids of both."""
    for image in (data / "set" / "images").glob("*.png"):
        ingest(image, tmp_path / "pyramids")
    return tmp_path / "pyramids"


def pictures(pyramids: Path, data: Path) -> list[tuple[str, ...]]:
    """The pictures of each pyramid."""
    return sorted(kept.pictures for kept in list_pyramids(pyramids, data))


def test_each_pyramid_has_its_picture(pyramids: Path, data: Path) -> None:
    """By content: a copy is the same picture, under another name."""
    shutil.copy(data / "set" / "images" / "a.png", data / "set" / "images" / "c.png")
    assert pictures(pyramids, data) == [("set/images/a.png", "set/images/c.png"), ("set/images/b.png",)]


def test_a_pyramid_of_a_store_has_its_folder(pyramids: Path, data: Path) -> None:
    """What lies in a store is no picture of its own."""
    picture = np.moveaxis(textured(320, 240), -1, 0)
    store = write_ngff(data / "set" / "images" / "c.zarr", [picture], "cyx", is_rgb=True)
    ingest(store, pyramids)
    assert ("set/images/c.zarr",) in pictures(pyramids, data)


def test_a_picture_that_is_gone_or_changed_leaves_its_pyramid_alone(pyramids: Path, data: Path) -> None:
    """One was deleted, the other touched, which changes nothing, and then painted anew."""
    (data / "set" / "images" / "a.png").unlink()
    os.utime(data / "set" / "images" / "b.png")
    assert pictures(pyramids, data) == [(), ("set/images/b.png",)]
    Image.fromarray(textured(300, 200, 2)).save(data / "set" / "images" / "b.png")
    assert pictures(pyramids, data) == [(), ()]


def test_a_pyramid_of_an_earlier_release_has_no_picture(pyramids: Path, data: Path) -> None:
    """It was named by samples, so that nobody reads it any more, and it may go."""
    (made,) = [kept.path for kept in list_pyramids(pyramids, data) if kept.pictures == ("set/images/a.png",)]
    made.rename(pyramids / f"{'0' * 32}.tif")
    assert pictures(pyramids, data) == [(), ("set/images/b.png",)]


def test_a_pyramid_that_a_data_set_links_to_is_of_use(pyramids: Path, data: Path) -> None:
    """It stands there in its picture's place."""
    digest = content_digest(data / "set" / "images" / "a.png")
    (data / "set" / "images" / "a.png").unlink()
    (data / "set" / "images" / "linked.tif").symlink_to(pyramids / f"{digest}.tif")
    assert pictures(pyramids, data) == [("set/images/b.png",), ("set/images/linked.tif",)]


def test_only_what_ingest_made_is_counted(pyramids: Path, data: Path) -> None:
    """A file of somebody's own in the folder is nobody's to delete."""
    (pyramids / "mine.tif").write_bytes(b"mine")
    (pyramids / f"{'0' * 32}.partial").write_bytes(b"half a pyramid")
    found = list_pyramids(pyramids, data)
    assert [(kept.path.name, kept.num_bytes) for kept in found if kept.is_partial] == [(f"{'0' * 32}.partial", 14)]
    assert len(found) == 3


def test_what_is_being_made_is_not_deleted(pyramids: Path, data: Path) -> None:
    """Its maker holds a lock; afterwards it goes."""
    partial = pyramids / f"{'0' * 32}.partial"
    partial.write_bytes(b"half a pyramid")
    (kept,) = [kept for kept in list_pyramids(pyramids, data) if kept.is_partial]
    with FileLock(partial.with_suffix(".lock")):
        assert not delete_pyramid(kept)
        assert partial.exists()
    assert delete_pyramid(kept)
    assert not partial.exists()


def test_no_pyramid_needs_no_data_root(tmp_path: Path) -> None:
    """Nothing was ingested yet."""
    assert list_pyramids(tmp_path / "pyramids", tmp_path / "data") == []
