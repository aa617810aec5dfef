"""The box of a slide's tissue, by a rule that is stated."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gigavqa.tiling.errors import ImageUnsupportedError
from gigavqa.tiling.geometry import Region
from gigavqa.tiling.tissue import find_tissue
from tests.tiling.pictures import Pixels, save_pyramid
from tests.tiling.slide_files.mirax import write_mirax


def slide(width: int, height: int) -> Pixels:
    """White glass with a little noise, and grey dust in its corners."""
    draw = np.random.default_rng(1)
    glass = draw.integers(238, 243, (height, width, 3), np.uint8)
    glass[:40, :40] = 90
    return glass


def test_the_box_encloses_pink_and_leaves_glass_and_dust(tmp_path: Path) -> None:
    """To the next square of 8 pixels of the overview, outwards."""
    picture = slide(512, 512)
    picture[200:303, 120:260] = (200, 120, 180)
    picture[350:380, 300:400] = (150, 90, 160)
    picture[100:103, 400:403] = (255, 0, 0)  # a speck, smaller than half a square
    path = write_mirax(tmp_path / "one.mrxs", picture)
    assert find_tissue(path) == Region(112, 192, 296, 200)


def test_a_large_slide_is_looked_at_in_a_level_of_four_megapixels(tmp_path: Path) -> None:
    """The box is within two squares of that level of where the tissue lies, and holds all of it."""
    picture = slide(4096, 3072)
    picture[1000:2000, 1500:3500] = (200, 120, 180)
    path = save_pyramid(picture, tmp_path / "large.tif")
    x, y, width, height = find_tissue(path)
    assert 1500 - 32 <= x <= 1500 and 1000 - 32 <= y <= 1000
    assert 3500 <= x + width <= 3532 and 2000 <= y + height <= 2032


def test_a_turned_image_has_its_tissue_where_it_is_seen(tmp_path: Path) -> None:
    """In the frame of regions."""
    picture = slide(320, 160)
    picture[0:40, 240:320] = (200, 120, 180)
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(picture).save(tmp_path / "turned.png", exif=exif)
    assert find_tissue(tmp_path / "turned.png") == Region(112, 232, 48, 88)


def test_glass_alone_has_no_tissue(tmp_path: Path) -> None:
    """Which is said, rather than noise shown."""
    Image.fromarray(slide(300, 200)).save(tmp_path / "glass.png")
    with pytest.raises(ImageUnsupportedError, match=r"glass\.png: no tissue is found"):
        find_tissue(tmp_path / "glass.png")
