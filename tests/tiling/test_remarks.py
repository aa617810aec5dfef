"""A file that ends too early, or holds more than one picture, is told of without decoding it."""

from pathlib import Path

import numpy as np
import pytest
import rasterio
from PIL import Image

from gigavqa.tiling.file_remarks import file_remarks

_ENDINGS = ("jpg", "png", "webp", "tif")


def _picture(path: Path, frames: int = 1) -> Path:
    """A picture of noise, whose end is far behind its beginning."""
    first, *others = [Image.effect_noise((200, 150), 10.0 + at) for at in range(frames)]
    more = {"save_all": True, "append_images": others} if others else {}
    first.convert("RGB").save(path, **more)
    return path


@pytest.mark.parametrize("ending", _ENDINGS)
def test_nothing_is_said_of_a_whole_picture(tmp_path: Path, ending: str) -> None:
    """Bytes that a program wrote behind its end do no harm."""
    path = _picture(tmp_path / f"one.{ending}")
    assert file_remarks(path) == ()
    path.write_bytes(path.read_bytes() + b"of a camera")
    assert file_remarks(path) == ()


@pytest.mark.parametrize("ending", ["jpg", "png", "webp"])
@pytest.mark.parametrize("share", [0.5, 0.9, 0.999])
def test_a_missing_end_is_told(tmp_path: Path, ending: str, share: float) -> None:
    """Wherever the file was cut."""
    path = _picture(tmp_path / f"one.{ending}")
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share) - 4])
    assert "its end is missing" in file_remarks(path)[0]


@pytest.mark.parametrize(("ending", "told"), [("webp", "animation"), ("png", "animation"), ("tif", "2 more images")])
def test_pictures_that_are_not_shown_are_told(tmp_path: Path, ending: str, told: str) -> None:
    """The first one is."""
    (remark,) = file_remarks(_picture(tmp_path / f"three.{ending}", frames=3))
    assert told in remark
    assert "first" in remark


def test_a_mask_in_a_page_of_its_own_is_told(tmp_path: Path) -> None:
    """It is not applied, and a writer meant it to be."""
    path = tmp_path / "a.tif"
    shape = {"width": 64, "height": 48, "count": 1, "dtype": "uint8"}
    with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True), rasterio.open(path, "w", driver="GTiff", **shape) as file:
        file.write(np.zeros((1, 48, 64), np.uint8))
        file.write_mask(np.arange(48 * 64).reshape(48, 64) > 99)
    assert any("a mask of pixels without meaning" in remark for remark in file_remarks(path))
