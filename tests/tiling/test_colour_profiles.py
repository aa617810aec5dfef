"""ICC profiles: ignored as models' preprocessing does, applied where that is declared, said in any case."""

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import tifffile
from PIL import Image, ImageCms

from gigavqa.tiling.displays.display import parse_display
from gigavqa.tiling.errors import PixelTypeError
from gigavqa.tiling.file_facts import cached_identity
from gigavqa.tiling.geometry import Region
from gigavqa.tiling.headers import read_header
from gigavqa.tiling.image_facts import describe_facts, image_facts
from gigavqa.tiling.sources import open_source
from tests.tiling.pictures import Pixels, textured
from tests.tiling.slide_files.dicom import write_dicom_slide

PICTURE = textured(300, 200)
picture = Image.fromarray(PICTURE)


def exchanged_profile() -> bytes:
    """SRGB whose red and blue are exchanged: the tags of their primaries have each other's names."""
    data = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    return data.replace(b"rXYZ", b"----").replace(b"bXYZ", b"rXYZ").replace(b"----", b"bXYZ")


PROFILE = exchanged_profile()


def by_pillow() -> Pixels:
    """The whole picture as Pillow converts it."""
    source = ImageCms.ImageCmsProfile(io.BytesIO(PROFILE))
    intent = ImageCms.Intent(ImageCms.getDefaultIntent(source))
    made = ImageCms.profileToProfile(picture, source, ImageCms.createProfile("sRGB"), renderingIntent=intent)
    return np.asarray(made)


def save_tiff(path: Path) -> None:
    """A tiled TIFF."""
    tifffile.imwrite(path, PICTURE, photometric="rgb", tile=(64, 64), compression="zlib", iccprofile=PROFILE)


WRITERS: dict[str, Callable[[Path], object]] = {
    "picture.png": lambda path: picture.save(path, icc_profile=PROFILE),
    "picture.webp": lambda path: picture.save(path, lossless=True, icc_profile=PROFILE),
    "picture.tif": save_tiff,
    "0.dcm": lambda path: write_dicom_slide(path.parent, PICTURE, num_levels=1, profile=PROFILE),
}


def read(path: Path, show: str) -> Pixels:
    """All of an image as it is shown."""
    tone = cached_identity(path, None, show).tone
    with open_source(path, tone=tone) as source:
        return source.read(0, Region(0, 0, *source.size))


@pytest.mark.parametrize("name", WRITERS)
def test_a_profile_is_applied_where_it_is_declared(tmp_path: Path, name: str) -> None:
    """As Pillow does it; else colours are as stored, which is said."""
    path = tmp_path / name
    WRITERS[name](path)
    np.testing.assert_array_equal(read(path, ""), PICTURE)
    np.testing.assert_array_equal(read(path, "icc"), by_pillow())
    assert np.abs(by_pillow().astype(int) - PICTURE[..., ::-1]).mean() < 2
    assert read_header(path, "icc").size == (300, 200)
    assert any("ICC profile, which is not applied" in line for line in describe_facts(image_facts(path)))
    assert " icc=" in str(cached_identity(path, None, "icc").tone)


def test_an_image_without_a_profile_of_rgb_is_refused(tmp_path: Path) -> None:
    """By its header; as is one whose profile is none."""
    picture.save(tmp_path / "plain.png")
    with pytest.raises(PixelTypeError, match="has no ICC profile of RGB that `show` icc could apply"):
        read_header(tmp_path / "plain.png", "icc")
    picture.convert("L").save(tmp_path / "grey.png", icc_profile=PROFILE)
    with pytest.raises(PixelTypeError, match="has no ICC profile of RGB"):
        read_header(tmp_path / "grey.png", "icc")
    tifffile.imwrite(tmp_path / "broken.tif", PICTURE, photometric="rgb", iccprofile=PROFILE[:200])
    with pytest.raises(PixelTypeError, match="its ICC profile cannot be applied"):
        read(tmp_path / "broken.tif", "icc")


def test_a_profile_goes_with_colours_as_stored() -> None:
    """And with a part of the file."""
    assert str(parse_display("scene=2 icc")) == "icc scene=2"
    for other in ("bands=3,2,1", "stretch=minmax", "gamma=2", "palette"):
        with pytest.raises(ValueError, match=r"show: (icc takes colours as stored|a palette)"):
            parse_display(f"icc {other}" if other != "palette" else "palette icc")
