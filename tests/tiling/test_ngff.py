"""OME-Zarr and OME-TIFF of several planes: each plane by its number, channels as bands, damage by name."""

import json
import shutil
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
import tifffile
import zarr
from numpy.typing import NDArray
from PIL import Image

from gigavqa.tiling import versions
from gigavqa.tiling.digest import content_digest
from gigavqa.tiling.errors import ImageUnreadableError, ImageUnsupportedError, PixelTypeError, TilingError
from gigavqa.tiling.file_facts import cached_identity
from gigavqa.tiling.geometry import Region
from gigavqa.tiling.headers import read_header
from gigavqa.tiling.roots import ImageRoot
from gigavqa.tiling.sources import open_source
from tests.tiling.pictures import Pixels, textured
from tests.tiling.slide_files.ngff import write_ngff

PICTURE = textured(300, 200)
HALF = np.asarray(Image.fromarray(PICTURE).reduce(2))
PLAIN = "bands=1 stretch=range:0:255"


def planes(picture: Pixels) -> NDArray[Any]:
    """C x Y x X."""
    return np.ascontiguousarray(np.moveaxis(picture, -1, 0))


def stack() -> NDArray[np.uint16]:
    """Two times, two channels, three focal planes: T x C x Z x Y x X, no two alike."""
    draw = np.random.default_rng(3)
    return draw.integers(0, 4000, (2, 2, 3, 90, 110), np.uint16)


def read(path: Path, show: str = "", level: int = 0, region: Region | None = None) -> Pixels:
    """Read a level of an image as it is shown, or a region of it."""
    tone = cached_identity(path, None, show).tone
    with open_source(path, tone=tone) as source:
        return source.read(level, region or Region(0, 0, *source.levels[level].size))


def write_ome_tiff(path: Path, images: list[NDArray[Any]], axes: str) -> Path:
    """Write OME-TIFF of images, with a level of half the size below each page; a pixel is 0.5 microns wide."""
    with tifffile.TiffWriter(path, ome=True) as writer:
        for image in images:
            told = {"axes": axes, "PhysicalSizeX": 500, "PhysicalSizeXUnit": "nm", "PhysicalSizeY": 0.25}
            options: dict[str, Any] = {"tile": (64, 64), "compression": "zlib", "photometric": "minisblack"}
            writer.write(image, subifds=1, metadata=told, **options)
            writer.write(image[..., ::2, ::2], subfiletype=1, **options)
    return path


@pytest.mark.parametrize(("version", "shard"), [("0.4", None), ("0.5", None), ("0.5", 128)])
def test_a_store_shows_what_was_written(tmp_path: Path, version: Literal["0.4", "0.5"], shard: int | None) -> None:
    """Of Zarr 2, 3 and shards: at full size, in each level, in any region; with its microns."""
    levels = [planes(PICTURE), planes(HALF)]
    path = write_ngff(tmp_path / "one.zarr", levels, "cyx", version=version, shard=shard, is_rgb=True)
    header = read_header(path)
    assert (header.size, header.format) == ((300, 200), "ome-zarr")
    assert header.size.microns_per_pixel == (0.5, 0.25)
    np.testing.assert_array_equal(read(path), PICTURE)
    np.testing.assert_array_equal(read(path, level=1), HALF)
    np.testing.assert_array_equal(read(path, region=Region(55, 60, 140, 77)), PICTURE[60:137, 55:195])
    assert ImageRoot(tmp_path).locate("one.zarr") == path


def test_channels_without_declared_colours_are_bands(tmp_path: Path) -> None:
    """Three of 8 bits, too: no file says by their number that they are red, green and blue."""
    path = write_ngff(tmp_path / "one.zarr", [planes(PICTURE)], "cyx")
    with pytest.raises(PixelTypeError, match="8 bits a sample, 3 bands"):
        read_header(path)
    np.testing.assert_array_equal(read(path, "bands=3,2,1"), PICTURE[..., ::-1])


@pytest.mark.parametrize("name", ["stack.zarr", "stack.ome.tif"])
def test_a_plane_is_shown_by_its_numbers(tmp_path: Path, name: str) -> None:
    """Of time, channel and focus; undeclared it is refused with what there is."""
    image = stack()
    path = tmp_path / name
    if name.endswith("zarr"):
        write_ngff(path, [image, image[..., ::2, ::2]], "tczyx")
    else:
        write_ome_tiff(path, [image], "TCZYX")
    show = "stretch=range:0:4000"
    for t, c, z in [(0, 0, 0), (1, 0, 2), (0, 1, 1), (1, 1, 2)]:
        expected = np.floor(image[t, c, z] / 4000 * 255 + 0.5).astype(np.uint8)
        found = read(path, f"bands={c + 1} {show} z={z + 1} t={t + 1}")
        np.testing.assert_array_equal(found, np.repeat(expected[..., None], 3, axis=2))
        small = read(path, f"bands={c + 1} {show} z={z + 1} t={t + 1}", level=1)
        np.testing.assert_array_equal(small[..., 0], expected[::2, ::2])
    with pytest.raises(ImageUnsupportedError, match=r"holds 3 focal planes \(z\) and 2 times \(t\); .*`show` z=1 t=1"):
        read_header(path)
    with pytest.raises(ImageUnsupportedError, match=r"asks for z=4, and it has 3 focal planes"):
        read_header(path, f"bands=1 {show} z=4 t=1")
    with pytest.raises(PixelTypeError, match="has 2 bands, and `show` asks for band 3"):
        read_header(path, f"bands=3 {show} z=1 t=1")


@pytest.mark.parametrize("name", ["two.zarr", "two.ome.tif"])
def test_a_scene_is_shown_by_its_number(tmp_path: Path, name: str) -> None:
    """Two images in one file."""
    image = planes(PICTURE)[0]
    path = tmp_path / name
    if name.endswith("zarr"):
        write_ngff(path, [image], "yx", num_images=2)
    else:
        write_ome_tiff(path, [image, 255 - image], "YX")
    with pytest.raises(ImageUnsupportedError, match=r"holds 2 scenes; say which is shown: `show` scene=1"):
        read_header(path)
    np.testing.assert_array_equal(read(path, "scene=1")[..., 0], image)
    np.testing.assert_array_equal(read(path, "scene=2")[..., 1], 255 - image)
    assert read_header(path, "scene=2").size.microns_per_pixel == (0.5, 0.25)
    with pytest.raises(ImageUnsupportedError, match="asks for scene=3, and it has 2 scenes"):
        read_header(path, "scene=3")


def test_scenes_may_lie_in_folders_of_their_numbers(tmp_path: Path) -> None:
    """As bioformats2raw writes them, of whatever size each; the folder of one is an image, too."""
    path = tmp_path / "scenes.zarr"
    zarr.open_group(path, mode="w", zarr_format=2).attrs["bioformats2raw.layout"] = 3
    for number, image in enumerate((PICTURE, HALF)):
        write_ngff(path / str(number), [planes(image)], "cyx", version="0.4", is_rgb=True)
    for show, image in (("scene=1", PICTURE), ("scene=2", HALF)):
        np.testing.assert_array_equal(read(path, show), image)
    np.testing.assert_array_equal(read(path / "1"), HALF)
    with pytest.raises(ImageUnsupportedError, match="holds 2 scenes; say which is shown"):
        read_header(path)
    with pytest.raises(ImageUnsupportedError, match="asks for scene=3, and it has 2 scenes"):
        read_header(path, "scene=3")


def test_a_store_of_more_files_than_can_be_looked_at_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With what helps."""
    path = write_ngff(tmp_path / "one.zarr", [planes(PICTURE)], "cyx", is_rgb=True)
    monkeypatch.setattr(versions, "_MOST_STORED_FILES", 10)
    with pytest.raises(ImageUnsupportedError, match=r"has more than 10 files, .*write it in shards"):
        read_header(path)


def test_a_changed_chunk_is_another_content(tmp_path: Path) -> None:
    """As is one that goes; a copy has the same, where all bytes are digested."""
    path = write_ngff(tmp_path / "one.zarr", [planes(PICTURE)], "cyx", is_rgb=True)
    before = content_digest(path)
    assert content_digest(shutil.copytree(path, tmp_path / "again" / "one.zarr")) == before
    chunk = path / "0_0" / "c" / "0" / "1" / "1"
    data = chunk.read_bytes()
    chunk.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    changed = content_digest(path)
    assert changed != before
    chunk.unlink()
    assert content_digest(path) not in (before, changed)


def test_what_is_no_image_of_ngff_is_refused(tmp_path: Path) -> None:
    """A store without one, a plate, other axes, chunks beyond memory, and a path that leads out."""
    path = write_ngff(tmp_path / "one.zarr", [planes(PICTURE)], "cyx", is_rgb=True)
    settings = path / "zarr.json"
    told = json.loads(settings.read_text())
    ome = told["attributes"]["ome"]

    def refused(match: str, **changed: object) -> None:
        settings.write_text(json.dumps({**told, "attributes": {"ome": {**ome, **changed}}}))
        with pytest.raises((ImageUnsupportedError, ImageUnreadableError), match=match):
            read_header(path)

    refused("without an image of OME-NGFF", multiscales=[])
    refused("is a plate or well of many images", multiscales=[], plate={})
    image = ome["multiscales"][0]
    refused(r"axes \['x', 'y', 'c'\] are not", multiscales=[{**image, "axes": ["x", "y", "c"]}])
    refused("leads out of the store", multiscales=[{**image, "datasets": [{"path": "../other"}]}])
    refused("its array 9 is missing", multiscales=[{**image, "datasets": [{"path": "9"}]}])
    wrong = {"path": "0_0", "coordinateTransformations": [{"type": "scale", "scale": [1, 0.5]}]}
    refused("a scale has 2 numbers, and there are 3 axes", multiscales=[{**image, "datasets": [wrong]}])
    settings.write_text(json.dumps(told))
    array = path / "0_0" / "zarr.json"
    other = json.loads(array.read_text())
    other["chunk_grid"]["configuration"]["chunk_shape"] = [3, 100_000, 100_000]
    array.write_text(json.dumps(other))
    with pytest.raises(ImageUnsupportedError, match="are too large to read a part of the image"):
        read_header(path)


def test_levels_from_the_smallest_to_the_largest_are_refused(tmp_path: Path) -> None:
    """The first one is taken for the image."""
    path = write_ngff(tmp_path / "one.zarr", [PICTURE[::2, ::2, 0], PICTURE[..., 0]], "yx")
    with pytest.raises(ImageUnreadableError, match="not listed from the largest to the smallest"):
        read_header(path)


@pytest.mark.parametrize("told", [None, [], [{"type": "identity"}], [{"type": "translation", "translation": [1, 1]}]])
def test_a_level_without_a_scale_has_no_microns(tmp_path: Path, told: object) -> None:
    """Its axes have a unit, of which it does not say how many."""
    path = write_ngff(tmp_path / "one.zarr", [PICTURE[..., 0]], "yx")
    settings = path / "zarr.json"
    stored = json.loads(settings.read_text())
    (level,) = stored["attributes"]["ome"]["multiscales"][0]["datasets"]
    level.pop("coordinateTransformations")
    level.update({"coordinateTransformations": told} if told is not None else {})
    settings.write_text(json.dumps(stored))
    assert read_header(path).size.microns_per_pixel is None


@pytest.mark.slow
@pytest.mark.parametrize("version", ["0.4", "0.5"])
def test_damaged_stores_are_refused_by_name_or_shown(tmp_path: Path, version: Literal["0.4", "0.5"]) -> None:
    """Thirty damages of metadata and chunks; none ends this process."""
    path = write_ngff(tmp_path / "one.zarr", [planes(PICTURE), planes(HALF)], "cyx", version=version, is_rgb=True)
    draw = np.random.default_rng(7)
    files = sorted(each for each in path.rglob("*") if each.is_file())
    metadata = [each for each in files if each.name.startswith((".", "zarr"))]
    for number in range(30):
        copy = shutil.copytree(path, tmp_path / str(number) / "one.zarr")
        chosen = metadata if number % 2 else files
        damaged = copy / chosen[draw.integers(len(chosen))].relative_to(path)
        data = bytearray(damaged.read_bytes())
        for place in draw.integers(0, len(data), 3):
            data[place] = draw.integers(256)
        damaged.write_bytes(data[: draw.integers(1, len(data))] if number % 3 == 0 else data)
        try:
            assert read(copy).shape[2] == 3
        except TilingError as error:
            assert str(copy) in str(error)
