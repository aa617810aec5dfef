"""Read a JPEG 2000's boxes and codestream header, without a codec (ISO/IEC 15444-1, A and I)."""

import struct
from collections.abc import Iterator
from typing import IO, NamedTuple

from gigavqa.tiling.errors import ImageUnreadableError, ImageUnsupportedError
from gigavqa.tiling.files import OpenFile
from gigavqa.tiling.geometry import Size
from gigavqa.tiling.pixel_types import CHANNELS, ColourKind, PixelType

_CODESTREAM = b"\xff\x4f\xff\x51"
_SIZE_AT, _COUNT_AT = 8, 40  # in a codestream, which begins with SOC and SIZ
_MOST_COMPONENTS = 16_384
_CMYK, _SRGB, _GREY = 12, 16, 17  # enumerated colour spaces
_COD, _SOT, _SOD, _FIRST_MARKER = 0xFF52, 0xFF90, 0xFF93, 0xFF00
_TILE_PART_HEAD, _MOST_TILE_PARTS = 10, 2**18
_MOST_MARKERS, _MOST_LEVELS, _MOST_BLOCK = 1000, 32, 8
_OPACITY, _PREMULTIPLIED = 1, 2  # what a channel definition says of a channel
_SIGNED = 0x80
_HEAD_BYTES = 8
_MOST_BOXES, _MOST_BYTES = 1024, 2**18


class Jpeg2000Coding(NamedTuple):
    """How a codestream's pixels are coded, as its main header has it.

    `num_parts` are code blocks, or precincts, of one tile: what a decoder keeps books of.

    `is_plain` where any part of it can be decoded alone as it is shown: components of one depth and of every pixel, of
    grey or RGB, without a palette, from the grid's origin on.
    """

    size: Size
    components: int
    num_levels: int
    tile: Size
    num_tiles: int
    num_parts: int
    is_plain: bool
    most_bytes: int
    """Of the encoded tile that has most: a decoder holds it."""


class _Palette(NamedTuple):
    columns: int
    bits: int


def size_of(image: OpenFile) -> Size:
    """Return width and height as the codestream has them. Raises ImageUnreadableError, OSError and struct.error."""
    with image.stream() as file:
        end = file.seek(0, 2)
        file.seek(_codestream_start(image, file, _outer_boxes(file, end), end) + _SIZE_AT)
        right, bottom, left, top = struct.unpack(">4I", file.read(16))
    return Size(right - left, bottom - top)


def coding_of(image: OpenFile) -> Jpeg2000Coding:
    """Read the main header's sizes. Raises ImageUnreadableError, OSError and struct.error."""
    with image.stream() as file:
        end = file.seek(0, 2)
        boxes = _outer_boxes(file, end)
        header = _parts(file, *boxes[b"jp2h"]) if b"jp2h" in boxes else {}
        start = _codestream_start(image, file, boxes, end)
        file.seek(start + _SIZE_AT)
        right, bottom, left, top, *tile, tile_left, tile_top = struct.unpack(">8I", file.read(32))
        depths, steps = _depths(file, start), _steps(file, start)
        levels, block, precincts = _coding_style(image, file, start)
        bytes_of = _bytes_of_tiles(file, start, end)
    size, tile_size = Size(right - left, bottom - top), Size(*(min(side, 2**31) for side in tile))
    if min(*size, *tile_size) < 1:
        raise ImageUnreadableError(f"{image.path}: its tiles or its image have no pixels")
    across, down = (-(-side // each) for side, each in zip((right, bottom), tile_size, strict=True))
    covered = Size(*(min(pair) for pair in zip(size, tile_size, strict=True)))
    parts = max(_num_parts(covered, block), *(_num_parts(covered, each) for each in precincts or (block,)))
    plain = left == top == tile_left == tile_top == 0 and len(set(depths)) == 1 and set(steps) == {1}
    num_tiles = across * down
    if any(tile >= num_tiles for tile in bytes_of):
        raise ImageUnreadableError(f"{image.path}: holds tile {max(bytes_of)}, of a grid of {num_tiles}")
    is_plain = plain and b"pclr" not in header and _space(header) in {None, _SRGB, _GREY}
    most_bytes = max(bytes_of.values(), default=0)
    return Jpeg2000Coding(size, len(depths), levels, tile_size, num_tiles, parts * len(depths), is_plain, most_bytes)


def _num_parts(tile: Size, part: Size) -> int:
    return -(-tile.width // part.width) * -(-tile.height // part.height)


def _coding_style(image: OpenFile, file: IO[bytes], start: int) -> tuple[int, Size, list[Size]]:
    """Return levels below the full resolution, the size of code blocks, and of precincts where they are told."""
    at = start + 2
    for _ in range(_MOST_MARKERS):
        file.seek(at)
        marker, length = struct.unpack(">HH", file.read(4))
        if marker == _COD:
            told = file.read(length - 2)
            levels, wide, high = struct.unpack(">3B", told[5:8])
            if levels > _MOST_LEVELS or wide > _MOST_BLOCK or high > _MOST_BLOCK:
                break
            sizes = told[10 : 11 + levels] if told[0] & 1 else b""
            return levels, Size(4 << wide, 4 << high), [Size(1 << (one & 15), 1 << (one >> 4)) for one in sizes]
        if marker in {_SOT, _SOD} or marker < _FIRST_MARKER:
            break
        at += 2 + length
    raise ImageUnreadableError(f"{image.path}: its codestream does not say how it is coded")


def _bytes_of_tiles(file: IO[bytes], start: int, end: int) -> dict[int, int]:
    """Return how many bytes each tile has, by the heads of its parts, as far as these follow each other."""
    found: dict[int, int] = {}
    at = _first_tile_part(file, start)
    for _ in range(_MOST_TILE_PARTS):
        file.seek(at)
        head = file.read(_TILE_PART_HEAD)
        if len(head) < _TILE_PART_HEAD:
            break
        marker, _, tile, length = struct.unpack(">HHHI", head)
        if marker != _SOT:
            break
        length = min(length or end - at, end - at)
        found[tile] = found.get(tile, 0) + length
        at += max(length, _TILE_PART_HEAD)
    return found


def _first_tile_part(file: IO[bytes], start: int) -> int:
    at = start + 2
    for _ in range(_MOST_MARKERS):
        file.seek(at)
        marker, length = struct.unpack(">HH", file.read(4))
        if marker == _SOT:
            break
        at += 2 + length
    return at


def _steps(file: IO[bytes], start: int) -> bytes:
    """Two bytes a component: of how many pixels, across and down, it has one sample."""
    file.seek(start + _COUNT_AT)
    count = min(struct.unpack(">H", file.read(2))[0], _MOST_COMPONENTS)
    told = file.read(3 * count)
    return told[1::3] + told[2::3]


def pixel_type_of(image: OpenFile) -> PixelType:
    """Bits, bands, colours and alpha. Raises ImageUnreadableError, ImageUnsupportedError, OSError and struct.error."""
    with image.stream() as file:
        end = file.seek(0, 2)
        boxes = _outer_boxes(file, end)
        header = _parts(file, *boxes[b"jp2h"]) if b"jp2h" in boxes else {}
        start = _codestream_start(image, file, boxes, end)
        depths = _depths(file, start)
    alphas = _alphas(header)
    if _PREMULTIPLIED in alphas:
        raise ImageUnsupportedError(f"{image.path}: premultiplied alpha in JPEG 2000 is not served; convert it to PNG")
    palette = _palette(header)
    bands = palette.columns if palette else len(depths)
    bits = {palette.bits} if palette else {(depth & ~_SIGNED) + 1 for depth in depths}
    signed = any(depth & _SIGNED for depth in depths)
    colours = _colours(header, bands - len(alphas))
    return PixelType(
        bits.pop() if len(bits) == 1 else max(bits, key=lambda each: abs(each - 8)),
        colours,
        bands,
        has_alpha=bool(alphas),
        kind="signed" if signed else "unsigned",
    )


def _outer_boxes(file: IO[bytes], end: int) -> dict[bytes, tuple[int, int]]:
    return {} if _begins_codestream(file, 0) else dict(reversed(list(boxes_in(file, 0, end))))


def _codestream_start(image: OpenFile, file: IO[bytes], boxes: dict[bytes, tuple[int, int]], end: int) -> int:
    start, _ = boxes.get(b"jp2c", (0, end))
    if not _begins_codestream(file, start):
        raise ImageUnreadableError(f"{image.path}: holds no codestream of JPEG 2000")
    return start


def _colours(header: dict[bytes, bytes], bands: int) -> ColourKind:
    """Return what bands that are no alpha are meant as.

    A decoder takes the first colour specification that it knows.
    """
    space = _space(header)
    if space == _CMYK:
        return "cmyk"
    return "grey" if space == _GREY or bands < CHANNELS["rgb"] else "rgb"


def _space(header: dict[bytes, bytes]) -> int | None:
    """Return the enumerated colour space of the first colour specification, if it has one."""
    told = header.get(b"colr", b"")
    return struct.unpack(">I", told[3:7])[0] if told[:1] == b"\1" and len(told) >= 7 else None


def _alphas(header: dict[bytes, bytes]) -> list[int]:
    """Return which kinds of alpha the channel definitions name, once a channel."""
    told = header.get(b"cdef", b"")[2:]
    kinds = [struct.unpack(">HHH", told[at : at + 6])[1] for at in range(0, len(told) - 5, 6)]
    return [kind for kind in kinds if kind in {_OPACITY, _PREMULTIPLIED}]


def _palette(header: dict[bytes, bytes]) -> _Palette | None:
    told = header.get(b"pclr")
    if told is None:
        return None
    _, columns = struct.unpack(">HB", told[:3])
    return _Palette(columns, max((depth & ~_SIGNED) + 1 for depth in told[3 : 3 + columns]))


def _depths(file: IO[bytes], start: int) -> list[int]:
    """One byte a component: its bits less one, and the highest bit where it is signed."""
    file.seek(start + _COUNT_AT)
    count = min(struct.unpack(">H", file.read(2))[0], _MOST_COMPONENTS)
    told = file.read(3 * count)
    if not count or len(told) < 3 * count:
        raise struct.error("the components of the codestream break off")
    return list(told[::3])


def _begins_codestream(file: IO[bytes], at: int) -> bool:
    file.seek(at)
    return file.read(4) == _CODESTREAM


def _parts(file: IO[bytes], start: int, end: int) -> dict[bytes, bytes]:
    """Return the contents of the boxes in a box, of each type the first."""
    parts: dict[bytes, bytes] = {}
    for kind, (begin, after) in boxes_in(file, start, end):
        file.seek(begin)
        parts.setdefault(kind, file.read(min(after - begin, _MOST_BYTES)))
    return parts


def boxes_in(file: IO[bytes], at: int, end: int) -> Iterator[tuple[bytes, tuple[int, int]]]:
    """Yield types of boxes, and where their contents begin and end; a length of 0 goes to the end."""
    for _ in range(_MOST_BOXES):
        if at + _HEAD_BYTES > end:
            return
        file.seek(at)
        length, kind = struct.unpack(">I4s", file.read(_HEAD_BYTES))
        begin = at + _HEAD_BYTES
        if length == 1:
            length = struct.unpack(">Q", file.read(8))[0]
            begin += 8
        after = at + length if length else end
        if not begin <= after <= end:
            after = end
        yield kind, (begin, after)
        at = after
