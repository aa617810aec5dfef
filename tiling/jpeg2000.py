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
_CMYK, _GREY = 12, 17  # enumerated colour spaces
_OPACITY, _PREMULTIPLIED = 1, 2  # what a channel definition says of a channel
_SIGNED = 0x80
_HEAD_BYTES = 8
_MOST_BOXES, _MOST_BYTES = 1024, 2**18


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
    told = header.get(b"colr", b"")
    space = struct.unpack(">I", told[3:7])[0] if told[:1] == b"\1" and len(told) >= 7 else None
    if space == _CMYK:
        return "cmyk"
    return "grey" if space == _GREY or bands < CHANNELS["rgb"] else "rgb"


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
