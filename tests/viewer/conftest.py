"""One viewer over pictures of every kind, shared by the tests that change none of them."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import tifffile
from PIL import Image

from tests.tiling.pictures import save_pyramid, textured
from tests.tiling.test_damaged_files import save_svs
from tests.viewer.viewing import Viewing, viewing

SIZE = (1500, 1100)
"""Width and height of every small picture."""
SCENE = "set/images/scene.tif"
"""Of five bands of 16 bits, of which nothing is declared."""


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An installation whose data root has one picture in every kind of file."""
    folder = tmp_path_factory.mktemp("viewer")
    images = folder / "data" / "set" / "images"
    images.mkdir(parents=True)
    pixels = textured(*SIZE, seed=1)
    picture = Image.fromarray(pixels)
    for name in ("a.png", "a.webp", "a b@%2F.png"):
        picture.save(images / name, lossless=True)
    picture.save(images / "a.jpg", quality=95, subsampling=0)
    picture.save(images / "a.jp2", irreversible=False)
    picture.save(images / "strips.tif")
    save_pyramid(pixels, images / "a.tif")
    save_svs(images / "slide.svs")
    turned = Image.Exif()
    turned[0x0112] = 6
    picture.transpose(Image.Transpose.ROTATE_90).save(images / "turned.png", exif=turned)
    (images / "broken.jpg").write_bytes((images / "a.jpg").read_bytes()[:4000])
    (folder / "secret.png").write_bytes((images / "a.png").read_bytes())
    return folder


@pytest.fixture(scope="session")
def viewer(home: Path) -> Iterator[Viewing]:
    """The viewer over them."""
    with viewing(home) as running:
        yield running


@pytest.fixture(scope="session")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Viewing]:
    """A viewer over a scene of which nothing is declared, a radiograph of which a display is, and a slide."""
    home = tmp_path_factory.mktemp("scenes")
    images = home / "data" / "set" / "images"
    images.mkdir(parents=True)
    y, x = np.mgrid[:448, :512]
    bands = [((7 + band) * x + 5 * y + 900 * (x // 64 % 2)).astype(np.uint16) for band in range(5)]
    options = {"tile": (64, 64), "photometric": "minisblack", "planarconfig": "contig", "extrasamples": [0] * 4}
    tifffile.imwrite(images / "scene.tif", np.stack(bands, -1), **options)
    tifffile.imwrite(images / "chest.tif", bands[0], tile=(64, 64))
    save_svs(images / "slide.svs")
    (images.parent / "dataset.toml").write_text('[show]\n"images/chest*" = "stretch=minmax"\n', "utf-8")
    with viewing(home) as running:
        yield running
