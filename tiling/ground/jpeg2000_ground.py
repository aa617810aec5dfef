"""Where a JPEG 2000 lies on the ground: by a box of GeoTIFF's tags (GeoJP2), or of GML (OGC 05-047r3, GMLJP2).

Both are read as the tags of a GeoTIFF, so that one place understands them. Sentinel-2's own files have GML.
"""

import io
import struct
from collections.abc import Iterator
from typing import IO
from xml.etree import ElementTree

from tifffile import TiffFile, TiffPage

from gigavqa.tiling.errors import DECODER_ERRORS, GeoreferenceError
from gigavqa.tiling.files import OpenFile
from gigavqa.tiling.ground.georeference import georeference_of
from gigavqa.tiling.ground.geotags import NO_GEOTAGS, GeoTags, geotags_of
from gigavqa.tiling.jpeg2000 import boxes_in

_GEOTIFF_UUID = bytes.fromhex("b14bf8bd083d4b43a5ae8cd7d5a6ce03")
_MOST_BYTES = 2**20
_MOST_DEPTH = 4
_SYSTEM_HEADS = ("urn:ogc:def:crs:EPSG:", "EPSG:", "http://www.opengis.net/def/crs/EPSG/0/")
_SAME = 1e-6  # of a pixel


def ground_of(file: OpenFile) -> GeoTags:
    """Return what a JPEG 2000's boxes say of where it lies; two boxes must agree."""
    with file.stream() as stream:
        found = list(_all_tags(stream, 0, stream.seek(0, 2), 0))
    if not found:
        return NO_GEOTAGS
    first, *others = found
    if not all(_agree(first, other) for other in others):
        return GeoTags(fault="its boxes of GML and of GeoTIFF say different places")
    return first


def _all_tags(stream: IO[bytes], start: int, end: int, depth: int) -> Iterator[GeoTags]:
    for kind, (begin, after) in boxes_in(stream, start, end):
        if kind == b"asoc" and depth < _MOST_DEPTH:
            yield from _all_tags(stream, begin, after, depth + 1)
        elif kind == b"uuid" and after - begin <= _MOST_BYTES:
            told = _read(stream, begin, after)
            if told[:16] == _GEOTIFF_UUID:
                yield _tags_of_geotiff(told[16:])
        elif kind == b"xml " and depth and after - begin <= _MOST_BYTES:
            yield from _tags_of_gml(_read(stream, begin, after).strip(b"\0"))


def _read(stream: IO[bytes], begin: int, after: int) -> bytes:
    stream.seek(begin)
    return stream.read(after - begin)


def _tags_of_geotiff(data: bytes) -> GeoTags:
    try:
        with TiffFile(io.BytesIO(data)) as tiff:
            page = tiff.pages[0]
            return geotags_of(page) if isinstance(page, TiffPage) else NO_GEOTAGS
    except DECODER_ERRORS:
        return GeoTags(fault="its box of GeoTIFF's tags is broken")


def _tags_of_gml(data: bytes) -> Iterator[GeoTags]:
    """Yield the grid of a coverage, if the text is GML that has one."""
    if b"RectifiedGrid" not in data:
        return
    try:
        yield _tags_of_grid(data)
    except (ElementTree.ParseError, ValueError, LookupError, struct.error) as error:
        yield GeoTags(fault=f"its box of GML is not understood: {' '.join(str(error).split())}")


def _tags_of_grid(data: bytes) -> GeoTags:
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise ValueError("it declares entities")
    grids = [one for one in ElementTree.fromstring(data).iter() if _local(one) == "RectifiedGrid"]
    if len(grids) != 1:
        raise ValueError(f"it has {len(grids)} grids")
    parts = {name: [one for one in grids[0].iter() if _local(one) == name] for name in ("Point", "pos", "offsetVector")}
    (point,), (position,) = parts["Point"], parts["pos"]
    across, down = (_pair(one) for one in parts["offsetVector"])
    x, y = _pair(position)
    code = _system_code(point.get("srsName") or grids[0].get("srsName") or "")
    matrix = (across[0], down[0], 0.0, x, across[1], down[1], 0.0, y, *[0.0] * 7, 1.0)
    # A position is that of the first pixel's centre, as a GeoTIFF's where pixels are points.
    return GeoTags(transformation=matrix, keys=(1, 1, 0, 3, 1024, 0, 1, 1, 1025, 0, 1, 2, 3072, 0, 1, code))


def _local(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _pair(element: ElementTree.Element) -> tuple[float, float]:
    first, second = map(float, (element.text or "").replace(",", " ").split())
    return first, second


def _system_code(name: str) -> int:
    for head in _SYSTEM_HEADS:
        if name.startswith(head) and (code := name.removeprefix(head).rpartition(":")[2].strip("/")).isdecimal():
            return int(code)
    raise ValueError(f"its system '{name[:80]}' is none of EPSG's")


def _agree(one: GeoTags, other: GeoTags) -> bool:
    try:
        first, second = georeference_of(one), georeference_of(other)
    except GeoreferenceError:
        return False
    side = max(map(abs, first.matrix[:2] + first.matrix[3:5]))
    near = all(abs(a - b) <= _SAME * side for a, b in zip(first.matrix, second.matrix, strict=True))
    return near and first.keys.code == second.keys.code
