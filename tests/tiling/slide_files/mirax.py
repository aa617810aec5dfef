"""Write a MIRAX slide: a small JPEG named `.mrxs`, and beside it a folder with its index and its tiles."""

import io
import struct
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

_VERSION, _IDENTITY = b"01.02", b"0123456789ABCDEF0123456789ABCDEF"
_LEVEL = """[LEVEL_{number}]
IMAGE_CONCAT_FACTOR = {exponent}
OVERLAP_X = 0
OVERLAP_Y = 0
MICROMETER_PER_PIXEL_X = {mpp}
MICROMETER_PER_PIXEL_Y = {mpp_y}
IMAGE_FILL_COLOR_BGR = {fill}
DIGITIZER_WIDTH = {side}
DIGITIZER_HEIGHT = {side}
IMAGE_FORMAT = PNG
"""
_GENERAL = """[GENERAL]
SLIDE_ID = {identity}
IMAGENUMBER_X = {columns}
IMAGENUMBER_Y = {rows}
OBJECTIVE_MAGNIFICATION = 20
[HIERARCHICAL]
HIER_COUNT = 1
HIER_0_NAME = Slide zoom level
HIER_0_COUNT = {levels}
NONHIER_COUNT = 1
NONHIER_0_NAME = Scan data layer
NONHIER_0_COUNT = 1
NONHIER_0_VAL_0 = ScanDataLayer_SlideThumbnail
NONHIER_0_VAL_0_SECTION = MACRO
INDEXFILE = Index.dat
[MACRO]
THUMBNAIL_IMAGE_TYPE = JPEG
[DATAFILE]
FILE_COUNT = 1
FILE_0 = Data0000.dat
"""


def write_mirax(
    path: Path, picture: NDArray[np.uint8], *, missing: frozenset[tuple[int, int]] = frozenset(), side: int = 64
) -> Path:
    """Write a picture whose sides are multiples of four tiles' sides, in three levels of PNG tiles.

    Tiles (column, row) of level 0 that are `missing` were not scanned: the fill colour is (240, 238, 236).
    """
    rows, columns = picture.shape[0] // side, picture.shape[1] // side
    picture = picture.copy()
    for column, row in missing:
        picture[row * side : (row + 1) * side, column * side : (column + 1) * side] = (240, 238, 236)
    folder = path.with_suffix("")
    folder.mkdir(parents=True)
    Image.fromarray(picture[::8, ::8]).save(path, "JPEG")
    sections = [f"HIER_0_VAL_{n}_SECTION = LEVEL_{n}" for n in range(3)]
    general = _GENERAL.format(identity=_IDENTITY.decode(), columns=columns, rows=rows, levels=3)
    general = general.replace("[MACRO]", "\n".join([*sections, "[MACRO]"]))
    levels = "".join(
        _LEVEL.format(number=n, exponent=int(n > 0), mpp=0.25, mpp_y=0.26, fill=0xECEEF0, side=side) for n in range(3)
    )
    (folder / "Slidedat.ini").write_text(general + levels)
    data = io.BytesIO()
    macro = _append(data, Image.fromarray(picture).reduce(4), "JPEG")
    pages = []
    for number in range(3):
        step = 2**number
        shown = np.asarray(Image.fromarray(picture).reduce(step))
        page = []
        for row, column in product(range(0, rows, step), range(0, columns, step)):
            if not {(column + x, row + y) for x in range(step) for y in range(step)} <= missing:
                y, x = row // step * side, column // step * side
                tile = Image.fromarray(np.ascontiguousarray(shown[y : y + side, x : x + side]))
                page.append((row * columns + column, *_append(data, tile, "PNG"), 0))
        pages.append(page)
    (folder / "Data0000.dat").write_bytes(data.getvalue())
    (folder / "Index.dat").write_bytes(_index(pages, macro))
    return path


def _append(data: io.BytesIO, tile: Image.Image, form: str) -> tuple[int, int]:
    """Return where an encoded picture begins, and how long it is."""
    start = data.tell()
    tile.save(data, form, **({"quality": 95, "subsampling": 0} if form == "JPEG" else {}))
    return start, data.tell() - start


def _index(pages: list[list[tuple[int, int, int, int]]], macro: tuple[int, int]) -> bytes:
    """Levels' pointers to a page of (image, offset, length, file) each, and a pointer to what is no level."""
    at = len(_VERSION) + len(_IDENTITY) + 8
    tables = at + 4 * len(pages)
    body, pointers = b"", []
    for page in pages:
        start = tables + len(body)
        pointers.append(start)
        body += struct.pack("<4i", 0, start + 8, len(page), 0)
        body += b"".join(struct.pack("<4i", *entry) for entry in page)
    other = tables + len(body)
    body += struct.pack("<iii", other + 4, 0, other + 12)
    body += struct.pack("<4i", 1, 0, 0, 0) + struct.pack("<3i", *macro, 0)
    roots = struct.pack("<ii", at, other)
    return _VERSION + _IDENTITY + roots + struct.pack(f"<{len(pointers)}i", *pointers) + body
