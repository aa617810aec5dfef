"""The size in a JPEG's header, and the same file with another one, of which scaled decoding cuts nothing off.

Blocks of eight pixels are encoded whole, and a decoder scales all of them; libvips then leaves out the last pixels, of
which the image fills only a part. With sides of whole blocks in its header there are no such pixels.
"""

import os
import threading
from pathlib import Path

import pyvips

BLOCK = 8
"""Pixels on the side of what is encoded as one."""

_FILL = 0xFF
_FRAMES = set(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_PLAIN_FRAMES = {0xC0, 0xC1, 0xC2}  # Huffman codes, sequential or progressive
_BITS, _HEIGHT, _WIDTH, _COUNT, _FIRST = 4, 5, 7, 9, 10  # bytes of a frame's segment; then three for each component
_SEGMENT_BYTES = 19  # of one with three components
_MOST = 65_500  # pixels on a side, for libjpeg
_CHUNK_BYTES = 2**18


def find_frame(path: Path) -> int | None:
    """Where in a JPEG its frame begins, if with sides of whole blocks its pixels are decoded as with its own.

    None for what is rare enough to be decoded in full: arithmetic codes, CMYK, chroma at no whole fraction, and the
    last sides that a decoder takes.
    """
    with path.open("rb") as file:
        at = 2
        while (segment := os.pread(file.fileno(), _SEGMENT_BYTES, at))[:1] == b"\xff" and len(segment) > _FIRST:
            if segment[1] in _FRAMES:
                return at if _is_plain(segment) else None
            at += 1 if segment[1] == _FILL else 2 + int.from_bytes(segment[2:4])
    return None


def whole_blocks(path: Path, frame: int) -> pyvips.Source:
    """The file with sides of whole blocks in its frame, to be read once from its begin.

    A thread passes it on in chunks, and ends when nobody reads it any more. Raises OSError.
    """
    file = os.open(path, os.O_RDONLY)
    reader, writer = os.pipe()
    source = pyvips.Source.new_from_descriptor(reader)  # which has a descriptor of its own
    os.close(reader)
    threading.Thread(target=_pass_on, args=(file, writer, frame), daemon=True).start()
    return source


def _is_plain(segment: bytes) -> bool:
    count = segment[_COUNT]
    factors = segment[_FIRST + 1 :: 3][:count]
    sides = [each >> 4 for each in factors], [each & 15 for each in factors]
    is_whole = all(min(side) > 0 and not any(max(side) % each for each in side) for side in sides if side)
    is_plain = segment[1] in _PLAIN_FRAMES and segment[_BITS] == 8 and count == len(factors) and count in {1, 3}
    return is_plain and is_whole and max(_padded(segment, _HEIGHT), _padded(segment, _WIDTH)) <= _MOST


def _padded(head: bytes | bytearray, at: int) -> int:
    """A side in whole blocks."""
    return -(-int.from_bytes(head[at : at + 2]) // BLOCK) * BLOCK


def _pass_on(file: int, writer: int, frame: int) -> None:
    try:
        head = bytearray(os.pread(file, frame + _COUNT, 0))
        for at in (frame + _HEIGHT, frame + _WIDTH):
            head[at : at + 2] = _padded(head, at).to_bytes(2)
        os.write(writer, head)
        at = len(head)
        while chunk := os.pread(file, _CHUNK_BYTES, at):
            at += os.write(writer, chunk)
    except BrokenPipeError:  # nobody reads any more
        pass
    finally:
        os.close(writer)
        os.close(file)
