"""One key, one set of pixels: images that differ are never answered from one another's rasters."""

import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gigavqa.tiling.digest import digested_bytes
from gigavqa.tiling.renderer import Renderer
from gigavqa.tiling.rendering import Raster
from gigavqa.tiling.roots import DIGESTS_FOLDER, UPLOAD_PREFIX, ImageRoot
from gigavqa.tiling.views import View
from tests.tiling.pictures import SMALL_BUDGET

TIME = 10**18
SHA256 = "ab" * 32


@pytest.fixture
def root(tmp_path: Path) -> ImageRoot:
    """A data root, and uploads beside it."""
    for name in ("data", "uploads"):
        (tmp_path / name).mkdir()
    return ImageRoot(tmp_path / "data", tmp_path / "uploads")


@pytest.fixture
def library(root: ImageRoot, tmp_path: Path) -> Renderer:
    """A library of both."""
    return Renderer(root, tmp_path / "pyramids", cache_bytes=2**28)


def paint(path: Path, grey: int) -> Path:
    """An uncompressed image of 3 MB whose middle rows alone are of this grey: size and time are always the same."""
    pixels = np.full((1000, 1000, 3), 200, np.uint8)
    pixels[510:520] = grey
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path, "tiff")
    os.utime(path, ns=(TIME, TIME))
    return path


def shown(library: Renderer, image: str) -> tuple[Raster, int]:
    """The raster of an image's changing rows, and the grey that it shows."""
    raster = library.render(View(image=image, region="0,505,1000,20"), SMALL_BUDGET)
    return raster, int(np.median(raster.pixels[raster.pixels.shape[0] // 2]))


def test_twins_of_equal_size_and_time_have_rasters_of_their_own(root: ImageRoot, library: Renderer) -> None:
    """Though they differ in few bytes in their middle."""
    rasters = []
    for grey in (10, 20, 30, 40):
        paint(root.folder / f"{grey}.tif", grey)
        raster, found = shown(library, f"{grey}.tif")
        assert abs(found - grey) <= 5
        rasters.append(raster)
    assert len({raster.key for raster in rasters}) == len({raster.digest for raster in rasters}) == 4


@pytest.mark.parametrize("way", ["by renaming", "in place"])
def test_an_image_that_another_replaces_is_seen_anew(root: ImageRoot, library: Renderer, way: str) -> None:
    """With equal size and time, at once."""
    path = paint(root.folder / "a.tif", 10)
    shown(library, "a.tif")
    if way == "in place":
        paint(path, 90)
    else:
        paint(root.folder / "new", 90).replace(path)
    assert abs(shown(library, "a.tif")[1] - 90) <= 5


@pytest.mark.parametrize("name", [f"sha256/{SHA256[:2]}/{SHA256}", "files/file-1"])
def test_of_an_upload_nothing_is_read_for_its_digest(
    root: ImageRoot, library: Renderer, tmp_path: Path, name: str
) -> None:
    """The SHA-256 that it arrived with is its digest, however often its times change."""
    path = paint(tmp_path / "uploads" / name, 10)
    (tmp_path / "uploads" / DIGESTS_FOLDER).mkdir()
    (tmp_path / "uploads" / DIGESTS_FOLDER / "file-1").write_text(SHA256)
    before = digested_bytes()
    raster, _ = shown(library, f"{UPLOAD_PREFIX}{name}")
    os.utime(path)
    shown(library, f"{UPLOAD_PREFIX}{name}")
    assert raster.digest == SHA256
    assert digested_bytes() == before
    assert library.stats().renders == 1


@pytest.mark.parametrize("stated", ["", "x" * 64, "\x00" * 64, SHA256[:63], f"{SHA256}\n"])
def test_a_torn_statement_of_a_digest_is_none(root: ImageRoot, library: Renderer, tmp_path: Path, stated: str) -> None:
    """The file is read then."""
    paint(tmp_path / "uploads" / "files" / "file-1", 10)
    (tmp_path / "uploads" / DIGESTS_FOLDER).mkdir()
    (tmp_path / "uploads" / DIGESTS_FOLDER / "file-1").write_text(stated)
    assert root.stated_digest(f"{UPLOAD_PREFIX}files/file-1") is None
    assert len(shown(library, f"{UPLOAD_PREFIX}files/file-1")[0].digest) == 64


def test_a_name_below_the_data_root_states_no_digest(root: ImageRoot, tmp_path: Path) -> None:
    """Whoever fills it may name a file as he likes."""
    name = f"sha256/{SHA256[:2]}/{SHA256}"
    assert root.stated_digest(name) is None
    assert root.stated_digest(f"{UPLOAD_PREFIX}files/../{DIGESTS_FOLDER}/x") is None
    assert ImageRoot(tmp_path / "data").stated_digest(f"{UPLOAD_PREFIX}{name}") is None
