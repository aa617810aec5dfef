"""A file that holds a part of an OME image alone is refused, whatever its metadata tell of the rest."""

from pathlib import Path

import numpy as np
import pytest
import tifffile

from gigavqa.tiling.errors import ImageUnreadableError, ImageUnsupportedError
from gigavqa.tiling.headers import read_header

HEAD = '<?xml version="1.0"?><OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06"'
PIXELS = (
    '<Pixels ID="P:0" DimensionOrder="XYZCT" Type="uint8" SizeX="64" SizeY="48" SizeZ="1" SizeC="{channels}" SizeT="1">'
)


def plane(at: int, name: str) -> str:
    told = f'<UUID FileName="{name}.ome.tif">urn:uuid:{name}</UUID>'
    return f'<TiffData IFD="0" FirstC="{at}" PlaneCount="1">{told}</TiffData>'


def image(channels: int, planes: str, own: str = ' UUID="urn:uuid:f0"') -> str:
    return f'{HEAD}{own}><Image ID="I:0">{PIXELS.format(channels=channels)}{planes}</Pixels></Image></OME>'


def write(path: Path, metadata: str) -> Path:
    pixels = np.zeros((48, 64), np.uint8)
    tifffile.imwrite(path, pixels, description=metadata, photometric="minisblack", metadata=None)
    return path


@pytest.mark.parametrize(
    ("metadata", "error", "told"),
    [
        (image(3, plane(0, "f0") + plane(1, "f1") + plane(2, "f2")), ImageUnsupportedError, "of several files"),
        (image(3, plane(0, "f0") + plane(1, "f1") + plane(2, "f2"), own=""), ImageUnsupportedError, "of several files"),
        (image(1, plane(0, "f1")), ImageUnsupportedError, "of several files"),
        (f'{HEAD}><BinaryOnly MetadataFile="a.companion.ome" UUID="u"/></OME>', ImageUnsupportedError, "a part"),
        (f"{HEAD}><Image></OME>", ImageUnreadableError, "its OME metadata are no XML"),
    ],
    ids=["of three", "without its own name", "of another", "a companion", "broken"],
)  # fmt: skip
def test_a_part_of_an_image_is_refused(tmp_path: Path, metadata: str, error: type[Exception], told: str) -> None:
    """Its planes would be taken for those that lie in other files."""
    with pytest.raises(error, match=told):
        read_header(write(tmp_path / "f0.ome.tif", metadata))


@pytest.mark.parametrize("own", [' UUID="urn:uuid:f0"', ""])
def test_a_file_that_names_itself_is_shown(tmp_path: Path, own: str) -> None:
    """As writers of whole files do."""
    assert read_header(write(tmp_path / "renamed.ome.tif", image(1, plane(0, "f0"), own))).size == (64, 48)
