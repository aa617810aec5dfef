"""Ingest makes a lossless pyramid, once, whole or not at all."""

import multiprocessing
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
import tifffile
from PIL import Image

from gigavqa.tiling import ingest as ingest_module
from gigavqa.tiling.digest import content_digest
from gigavqa.tiling.errors import ImageUnreadableError
from gigavqa.tiling.file_facts import cached_read_plan
from gigavqa.tiling.ingest import PassCosts, ShownImage, has_levels, ingest, make_pyramid
from gigavqa.tiling.levels import plan_reading
from gigavqa.tiling.passes import plan_passes
from gigavqa.tiling.recipes import identify, plan_raster
from gigavqa.tiling.sources import open_source
from gigavqa.tiling.views import View
from tests.tiling.pictures import SMALL_BUDGET, as_pillow_sees, read_all, save_pyramid, textured

PICTURE = textured(2101, 1105)


@pytest.fixture(scope="module")
def encoded() -> bytes:
    """The picture as a PNG, which takes a quarter of a second."""
    file = BytesIO()
    Image.fromarray(PICTURE).save(file, "PNG", compress_level=1)
    return file.getvalue()


@pytest.fixture
def image(encoded: bytes, tmp_path: Path) -> Path:
    """A flat PNG."""
    path = tmp_path / "flat.png"
    path.write_bytes(encoded)
    return path


@pytest.mark.parametrize("name", ["a.png", "a.jpg", "a.tif", "a.webp"])
def test_every_pixel_is_kept(tmp_path: Path, name: str) -> None:
    """Level 0 is what the file decodes to, bit for bit."""
    path = tmp_path / name
    quality = 90 if path.suffix == ".jpg" else 0  # of WebP without loss, how long it takes
    Image.fromarray(PICTURE).save(path, lossless=True, quality=quality, method=0, compress_level=1)
    pyramid = ingest(path, tmp_path / "pyramids")
    np.testing.assert_array_equal(read_all(pyramid), read_all(path))


def test_levels_halve_by_averaging(image: Path, tmp_path: Path) -> None:
    """Until one is at most 1024 pixels long."""
    pyramid = ingest(image, tmp_path / "pyramids")
    with open_source(pyramid) as source:
        assert [level.size for level in source.levels] == [(2101, 1105), (1051, 553), (526, 277)]
        assert [level.downsample for level in source.levels] == [1, 2, 4]
    np.testing.assert_array_equal(read_all(pyramid, 1), np.asarray(Image.fromarray(PICTURE).reduce(2)))


def test_orientation_is_kept(tmp_path: Path) -> None:
    """The pyramid is turned as the picture is."""
    path = tmp_path / "turned.png"
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(PICTURE).save(path, exif=exif, compress_level=1)
    np.testing.assert_array_equal(read_all(ingest(path, tmp_path / "pyramids")), as_pillow_sees(path))


def test_microns_per_pixel_are_kept(tmp_path: Path) -> None:
    """In the resolution tags."""
    path = tmp_path / "slide.tif"
    tifffile.imwrite(path, PICTURE, photometric="rgb", resolution=(40000, 40000), resolutionunit="CENTIMETER")
    with open_source(ingest(path, tmp_path / "pyramids")) as source:
        assert source.microns_per_pixel == pytest.approx((0.25, 0.25))


def test_it_is_named_by_content_and_made_once(image: Path, tmp_path: Path) -> None:
    """A second call finds it; a changed image gets its own."""
    folder = tmp_path / "pyramids"
    pyramid = ingest(image, folder)
    assert pyramid.stem == content_digest(image)
    made = pyramid.stat()
    assert ingest(image, folder).stat() == made
    Image.fromarray(PICTURE[::-1]).save(image, compress_level=1)
    assert ingest(image, folder) != pyramid


def test_damage_anywhere_ends_the_ingest_and_leaves_nothing(image: Path, tmp_path: Path) -> None:
    """No half pyramid, which would serve what could be read."""
    data = bytearray(image.read_bytes())
    data[-5000:-4000] = bytes(1000)
    image.write_bytes(data)
    with pytest.raises(ImageUnreadableError):
        ingest(image, tmp_path / "pyramids")
    assert not [path for path in (tmp_path / "pyramids").iterdir() if path.suffix != ".lock"]


@pytest.mark.parametrize("index", range(3))
def test_damage_to_a_pyramid_raises(image: Path, tmp_path: Path, index: int) -> None:
    """Each tile carries a checksum, so that a single wrong byte of the disk shows."""
    pyramid = ingest(image, tmp_path / "pyramids")
    with tifffile.TiffFile(pyramid) as file:
        offset, count = file.pages[index].dataoffsets[0], file.pages[index].databytecounts[0]
    data = bytearray(pyramid.read_bytes())
    data[offset + count // 2] ^= 0x04
    pyramid.write_bytes(data)
    with pytest.raises(ImageUnreadableError):
        read_all(pyramid, index)


def test_what_a_killed_ingest_left_does_no_harm(image: Path, tmp_path: Path) -> None:
    """The partial file is begun anew."""
    folder = tmp_path / "pyramids"
    folder.mkdir()
    (folder / f"{content_digest(image)}.partial").write_bytes(b"half a pyramid")
    np.testing.assert_array_equal(read_all(ingest(image, folder)), PICTURE)


def _ingest_and_count(arguments: tuple[Path, Path]) -> int:
    """Ingest in another process; how many pyramids it wrote itself."""
    image, folder = arguments
    written = []
    write = ingest_module.write_pyramid

    def counted(source: object, path: Path, progress: object) -> None:
        written.append(path)
        write(source, path, progress)  # type: ignore[arg-type]

    ingest_module.write_pyramid = counted
    ingest(image, folder)
    return len(written)


def test_two_processes_at_once_make_one_pyramid(image: Path, tmp_path: Path) -> None:
    """One writes, the other waits for it."""
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        written = pool.map(_ingest_and_count, [(image, tmp_path / "pyramids")] * 2, chunksize=1)
    assert sum(written) == 1


class TestPaying:
    """When a pyramid is worth making: when passes over its image have cost as much."""

    @pytest.fixture(scope="class")
    @classmethod
    def folder(cls, tmp_path_factory: pytest.TempPathFactory) -> Path:
        """Large plain pictures, which are quick to write."""
        folder = tmp_path_factory.mktemp("paying")
        plain = np.full((4200, 4000, 3), 120, np.uint8)
        for name in ("large.png", "large.jpg"):
            Image.fromarray(plain).save(folder / name, compress_level=1)
        save_pyramid(plain, folder / "pyramid.tif")
        Image.fromarray(plain[:1000]).save(folder / "small.png")
        return folder

    @pytest.mark.parametrize(
        ("name", "region", "num_passes"),
        [
            ("large.png", "0,3600,600,600", 3),
            ("large.png", "0,0,600,700", 16),
            ("large.jpg", "0,3600,600,600", 3),
            ("large.jpg", "full", 4),  # scaled levels are decoded anew
            ("pyramid.tif", "full", None),
            ("small.png", "full", None),
        ],
    )
    def test_it_pays_from_some_passes_on(self, folder: Path, name: str, region: str, num_passes: int | None) -> None:
        """By what each decodes: to the last row or the first ones, in full or scaled; not with levels, or if small."""
        path, ledger = folder / name, PassCosts()
        with open_source(path) as source:
            reading = plan_reading(source)
        recipe = plan_raster(identify(path), View(image="x", region=region), SMALL_BUDGET, 1)
        (made,) = plan_passes(path, None, reading, None, [recipe])
        share = made.run(lambda painted: None)
        for number in range(1, 30):
            ledger.add(ShownImage(path), reading, made, share)
            if ledger.due():
                assert number == num_passes
                return
        assert num_passes is None


def test_progress_counts_the_pixels_of_all_levels(image: Path, tmp_path: Path) -> None:
    """From the first row of tiles to the last of the smallest level."""
    told: list[tuple[int, int]] = []
    make_pyramid(image, tmp_path / "pyramids", lambda written, total: told.append((written, total)))
    total = 2101 * 1105 + 1051 * 553 + 526 * 277
    assert told[0] == (2101 * 512, total)
    assert told[-1] == (total, total)
    assert [written for written, _ in told] == sorted({written for written, _ in told})


@pytest.mark.parametrize(("name", "is_one"), [("flat.png", False), ("flat.jpg", False), ("levels.tif", True)])
def test_a_pyramid_is_told_from_a_flat_image(tmp_path: Path, name: str, *, is_one: bool) -> None:
    """A JPEG's decoder scales, and has no levels to read from."""
    path = tmp_path / name
    if is_one:
        save_pyramid(PICTURE, path)
    else:
        Image.fromarray(PICTURE).save(path, compress_level=1)
    assert has_levels(cached_read_plan(path)) is is_one
