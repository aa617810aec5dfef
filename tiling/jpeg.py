"""Read a JPEG's frame header, without a codec."""

from collections.abc import Iterator
from typing import NamedTuple

from gigavqa.tiling.files import OpenFile
from gigavqa.tiling.geometry import Size
from gigavqa.tiling.pixel_types import ColourKind, PixelType

HEIGHT, WIDTH = 5, 7
"""Bytes of a frame's segment at which its sides stand."""

_BITS, _COUNT, _FIRST = 4, 9, 10  # bytes of the segment; then three for each component
_FRAMES = set(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_SEGMENT_BYTES = _FIRST + 3 * 4
_FILL, _APP1 = 0xFF, 0xE1
_EXIF = b"Exif\0\0"
_COLOURS: dict[int, ColourKind] = {1: "grey", 3: "rgb", 4: "cmyk"}


class JpegFrame(NamedTuple):
    """A frame's segment: its offset in the file, and its first bytes."""

    at: int
    segment: bytes

    @property
    def marker(self) -> int:
        """The kind of encoding: 0xC0 for a baseline frame."""
        return self.segment[1]

    @property
    def bits(self) -> int:
        """Bits of a sample."""
        return self.segment[_BITS]

    @property
    def sampling(self) -> tuple[list[int], list[int]]:
        """The horizontal and vertical sampling factors of all components; fewer where the file breaks off."""
        factors = self.segment[_FIRST + 1 :: 3][: self.segment[_COUNT]]
        return [each >> 4 for each in factors], [each & 15 for each in factors]

    @property
    def num_components(self) -> int:
        """Bands of a pixel."""
        return self.segment[_COUNT]

    def side(self, at: int) -> int:
        """Return the side in pixels that stands at HEIGHT or WIDTH."""
        return int.from_bytes(self.segment[at : at + 2])


def size_of(file: OpenFile) -> Size:
    """Return width and height as the frame's header has them. Raises ValueError without one, and OSError."""
    frame = find_frame(file)
    if frame is None:
        raise ValueError("holds no frame of a JPEG")
    return Size(frame.side(WIDTH), frame.side(HEIGHT))


def find_exif(file: OpenFile) -> bytes:
    """Return the EXIF data before the first frame, nothing where there is none. Raises OSError."""
    for at, segment in _segments(file):
        if segment[1] == _APP1 and segment[4:].startswith(_EXIF):
            return file.read_at(at + 4, int.from_bytes(segment[2:4]) - 2)
    return b""


def find_frame(file: OpenFile) -> JpegFrame | None:
    """Return the first frame's header; None where the bytes before it are not segment after segment. Raises OSError."""
    return next((JpegFrame(at, segment) for at, segment in _segments(file) if segment[1] in _FRAMES), None)


def _segments(file: OpenFile) -> Iterator[tuple[int, bytes]]:
    """Offsets and first bytes of the segments up to the first frame's."""
    at = 2
    while (segment := file.read_at(at, _SEGMENT_BYTES))[:1] == b"\xff" and len(segment) > _FIRST:
        if segment[1] != _FILL:
            yield at, segment
        if segment[1] in _FRAMES:
            return
        at += 1 if segment[1] == _FILL else 2 + int.from_bytes(segment[2:4])


def pixel_type_of(file: OpenFile) -> PixelType | None:
    """Return what the frame says of its pixels; None where there is no frame to be found. Raises OSError."""
    frame = find_frame(file)
    return frame and PixelType(frame.bits, _COLOURS.get(frame.num_components, "grey"), frame.num_components)
