"""Rasters on the disk are what was rendered, or are not used; they leave for space, and workers share them."""

import multiprocessing
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gigavqa.tiling.renderer import Renderer, ViewRequest
from gigavqa.tiling.rendering import Raster
from gigavqa.tiling.roots import ImageRoot
from gigavqa.tiling.store import RasterStore
from gigavqa.tiling.views import View
from tests.tiling.pictures import SMALL_BUDGET, textured

ONE = 512 * 480 * 3 + 128
"""Bytes of the file of one raster."""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data root with a large flat image, a small one, and one of four megapixels."""
    folder = tmp_path_factory.mktemp("data")
    pixels = np.tile(textured(500, 500), (9, 8, 1))
    Image.fromarray(pixels).save(folder / "large.png", compress_level=1)
    Image.fromarray(pixels[:900, :900]).save(folder / "small.png")
    Image.fromarray(pixels[:2100, :2000]).save(folder / "middling.png", compress_level=1)
    return folder


@pytest.fixture
def store(tmp_path: Path) -> RasterStore:
    """With room for three rasters."""
    return RasterStore(tmp_path / "rasters", 3 * ONE)


def worker(data: Path, store: RasterStore) -> Renderer:
    """The library of another worker, or of a worker that was started again."""
    return Renderer(ImageRoot(data), store._folder.parent / "pyramids", 2**28, store)


def crop(index: int, image: str = "large.png") -> View:
    """One of many views of an image, whose raster is 512 x 480."""
    return View(image=image, region=f"{index},0,512,480")


def kept(library: Renderer, view: View) -> Raster:
    """A raster that the library has rendered and put on the disk."""
    raster = library.render(view, SMALL_BUDGET)
    library.keep(raster)
    return raster


@pytest.mark.parametrize("view", [crop(7), View(image="large.png", sizing="longest:512")], ids=["crop", "thumbnail"])
def test_another_worker_finds_the_raster_with_its_provenance(data: Path, store: RasterStore, view: View) -> None:
    """The same pixels, level, downsample, region and tokens as when it was rendered; no pass, no rendering."""
    made = kept(worker(data, store), view)
    another = worker(data, store)
    found = another.render(view, SMALL_BUDGET)
    np.testing.assert_array_equal(found.pixels, made.pixels)
    assert [getattr(found, name) for name in Raster.__annotations__ if name != "pixels"] == [
        getattr(made, name) for name in Raster.__annotations__ if name != "pixels"
    ]
    stats = another.stats()
    assert (stats.found, stats.renders, stats.passes) == (1, 0, 0)


def test_what_another_worker_kept_since_it_was_planned_is_not_rendered(data: Path, store: RasterStore) -> None:
    """Two workers that come to a picture at once look again before they make what costs more than to read."""
    one, another = worker(data, store), worker(data, store)
    (awaited,), (work,) = another.plan([ViewRequest(crop(7))], SMALL_BUDGET)
    made = kept(one, crop(7))
    work(lambda: True)
    assert np.array_equal(awaited.result().pixels, made.pixels)
    assert (another.stats().renders, another.stats().found) == (0, 1)


def test_found_pixels_are_read_only(data: Path, store: RasterStore) -> None:
    """They are mapped from a file that others read, too."""
    kept(worker(data, store), crop(0))
    with pytest.raises(ValueError, match="read-only"):
        worker(data, store).render(crop(0), SMALL_BUDGET).pixels[0, 0] = 0


def test_of_small_images_large_rasters_are_not_kept(data: Path, store: RasterStore, tmp_path: Path) -> None:
    """To render one takes no longer than to look for it."""
    kept(worker(data, store), crop(0, "small.png"))
    assert not (tmp_path / "rasters").exists()


def test_of_small_images_small_rasters_are_kept(data: Path, store: RasterStore) -> None:
    """Where a raster is a small part of what must be decoded for it, it is found whatever the image's size."""
    view = crop(0, "middling.png")
    kept(worker(data, store), view)
    another = worker(data, store)
    another.render(view, SMALL_BUDGET)
    assert (another.stats().renders, another.stats().found) == (0, 1)


@pytest.mark.parametrize("damage", ["torn", "pixel", "footer", "longer", "empty"])
def test_a_file_that_is_not_what_was_written_is_never_used(
    data: Path, store: RasterStore, tmp_path: Path, damage: str
) -> None:
    """It is deleted, and the raster rendered again."""
    made = kept(worker(data, store), crop(0))
    (path,) = (tmp_path / "rasters").iterdir()
    content = bytearray(path.read_bytes())
    if damage == "pixel":
        content[1000] ^= 1
    elif damage == "footer":
        content[-100:] = b"x" * 100
    path.write_bytes({"torn": content[:-1], "longer": content + b"x", "empty": b""}.get(damage, content))
    another = worker(data, store)
    np.testing.assert_array_equal(another.render(crop(0), SMALL_BUDGET).pixels, made.pixels)
    assert (another.stats().found, another.stats().renders) == (0, 1)
    assert not path.exists()


def test_an_edited_image_finds_nothing_and_a_touched_one_finds_all(
    data: Path, store: RasterStore, tmp_path: Path
) -> None:
    """A raster is named by its image's content, and not by its time."""
    edited = shutil.copytree(data, tmp_path / "edited")
    kept(worker(edited, store), crop(0))
    os.utime(edited / "large.png")
    touched = worker(edited, store)
    touched.render(crop(0), SMALL_BUDGET)
    assert touched.stats().found == 1
    with (edited / "large.png").open("ab") as file:
        file.write(b"x")
    another = worker(edited, store)
    another.render(crop(0), SMALL_BUDGET)
    assert another.stats().found == 0


def test_rasters_of_releases_with_other_keys_leave_with_the_first_that_is_kept(
    data: Path, store: RasterStore, tmp_path: Path
) -> None:
    """They are never found: their keys did not name a content for sure."""
    (tmp_path / "rasters").mkdir()
    (tmp_path / "rasters" / f"{'0' * 32}.raster").write_bytes(b"old")
    raster = kept(worker(data, store), crop(0))
    assert [path.name for path in (tmp_path / "rasters").iterdir()] == [f"{raster.key}.raster"]


def test_the_least_recently_used_leaves_for_space(data: Path, store: RasterStore, tmp_path: Path) -> None:
    """The one that was found last stays, though it was written first."""
    library = worker(data, store)
    rasters = [kept(library, crop(index)) for index in range(3)]
    for age, raster in enumerate(rasters):
        os.utime(tmp_path / "rasters" / f"{raster.key}.raster", (1000 + age, 1000 + age))
    worker(data, store).render(crop(0), SMALL_BUDGET)
    rasters.append(kept(library, crop(3)))
    there = {path.stem for path in (tmp_path / "rasters").iterdir()}
    assert there == {rasters[index].key for index in (0, 2, 3)}


def test_a_raster_larger_than_the_store_is_not_kept(data: Path, tmp_path: Path) -> None:
    """It pushes nothing out."""
    store = RasterStore(tmp_path / "rasters", ONE - 1)
    assert not store.put(worker(data, store).render(crop(0), SMALL_BUDGET))


def test_a_disk_that_is_nearly_full_is_left_alone(
    data: Path, store: RasterStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server's append-only file may lie on it."""
    monkeypatch.setattr("gigavqa.tiling.store._LEAST_FREE_BYTES", 2**62)
    assert not store.put(worker(data, store).render(crop(0), SMALL_BUDGET))


def _keep_all(arguments: tuple[Path, RasterStore]) -> None:
    library = worker(*arguments)
    for index in range(6):
        kept(library, crop(index))


def test_processes_that_write_at_once_do_each_other_no_harm(data: Path, store: RasterStore, tmp_path: Path) -> None:
    """No file is torn, none is left half, and the bound holds but for what was written at the same moment."""
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        pool.map(_keep_all, [(data, store)] * 2, chunksize=1)
    files = list((tmp_path / "rasters").iterdir())
    assert {path.suffix for path in files} == {".raster"}
    assert {path.stat().st_size for path in files} == {ONE}
    assert len(files) <= 4
