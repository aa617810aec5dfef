"""Files with a few wrong bytes are shown right, refused by a typed error, or shown as wrong as Pillow shows them."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import tifffile
from PIL import Image

from gigavqa.tiling.errors import TilingError
from gigavqa.tiling.headers import read_header
from gigavqa.tiling.limits import _MAX_PIXELS
from tests.tiling.pictures import Pixels, as_pillow_sees, read_all, save_pyramid, textured

MUTATIONS = 400
PICTURE = textured(96, 72)
picture = Image.fromarray(PICTURE)


def save_turned(path: Path) -> None:
    """A JPEG that says that it lies on its side."""
    exif = Image.Exif()
    exif[0x0112] = 6
    picture.save(path, exif=exif)


def save_tiled(path: Path) -> None:
    """A TIFF whose tiles have no checksums."""
    tifffile.imwrite(path, PICTURE, photometric="rgb", tile=(32, 32), compression="lzw")


WRITERS: dict[str, Callable[[Path], object]] = {
    "baseline.jpg": lambda path: picture.save(path, quality=90),
    "progressive.jpg": lambda path: picture.save(path, quality=90, progressive=True),
    "turned.jpg": save_turned,
    "picture.png": picture.save,
    "palette.png": lambda path: picture.quantize().save(path),
    "picture.jp2": picture.save,
    "picture.webp": lambda path: picture.save(path, lossless=True),
    "strips.tif": picture.save,
    "palette.tif": lambda path: picture.quantize().save(path),
    "pyramid.tif": lambda path: save_pyramid(PICTURE, path),
    "tiles.tif": save_tiled,
}


def mutated(data: bytes, draw: np.random.Generator) -> bytes:
    """Cut off, or with one to four other bytes anywhere or in the header, from which some are missing besides."""
    kind = draw.integers(4)
    if kind == 0:
        return data[: draw.integers(1, len(data))]
    changed = bytearray(data)
    places = draw.integers(0, len(data) if kind == 1 else min(len(data), 400), draw.integers(1, 5))
    for place in places:
        changed[place] = draw.integers(256)
    if kind == 3:
        del changed[places[0] : places[0] + int(draw.integers(1, 9))]
    return bytes(changed)


def alike(one: Pixels, other: Pixels) -> bool:
    """Whether two pictures differ in no sample by more than decoders of one file do."""
    return one.shape == other.shape and int(np.abs(one.astype(int) - other).max()) <= 3


def pillow_is_right(path: Path, whole: Pixels) -> bool:
    """Whether Pillow reads a file as it was before it was changed; it may raise anything."""
    try:
        return alike(as_pillow_sees(path), whole)
    except Exception:  # noqa: BLE001 - what Pillow raises of such files is a list without end
        return False


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", WRITERS)
def test_mutations_are_right_typed_or_as_wrong_as_elsewhere(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four hundred of each format; no error escapes that is no TilingError, or that does not name the file."""
    for layout in _MAX_PIXELS:  # a changed header may promise gigapixels, which would take their time
        monkeypatch.setenv(f"GIGAVQA_MAX_PIXELS_{layout.upper()}", "1e6")
    draw = np.random.default_rng(3)
    path = tmp_path / name
    WRITERS[name](path)
    good, whole = path.read_bytes(), read_all(path)
    for _ in range(MUTATIONS):
        path.write_bytes(mutated(good, draw))
        try:
            read_header(path)
            pixels = read_all(path)
        except TilingError as error:
            assert str(path) in str(error)
        else:
            assert alike(pixels, whole) or not pillow_is_right(path, whole)
