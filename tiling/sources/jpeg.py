"""A JPEG with another size in its header, of which scaled decoding cuts nothing off.

Blocks of eight pixels are encoded whole, and a decoder scales all of them; libvips then leaves out the last pixels, of
which the image fills only a part. With sides of whole blocks in its header there are no such pixels.
"""

import os
import threading

import pyvips

from gigavqa.tiling.files import OpenFile
from gigavqa.tiling.jpeg import HEIGHT, WIDTH, JpegFrame, find_frame

BLOCK_SIDE = 8
"""Pixels on the side of what is encoded as one."""

_PLAIN_FRAMES = {0xC0, 0xC1, 0xC2}  # Huffman codes, sequential or progressive
_AFTER_SIDES = 9  # bytes of a frame's segment
_MOST = 65_500  # pixels on a side, for libjpeg
_CHUNK_BYTES = 2**18


def find_plain_frame(file: OpenFile) -> JpegFrame | None:
    """Return where in a JPEG its frame begins, if with sides of whole blocks its pixels are decoded as with its own.

    None for what is rare enough to be decoded in full: arithmetic codes, CMYK, chroma at no whole fraction, and the
    last sides that a decoder takes.
    """
    frame = find_frame(file)
    return frame if frame and _is_plain(frame) else None


def pad_to_blocks(file: OpenFile, frame: JpegFrame) -> pyvips.Source:
    """Return the file with sides of whole blocks in its frame, to be read once from its begin.

    A thread passes it on in chunks, and ends when nobody reads it any more. Raises OSError.
    """
    descriptor = os.dup(file.descriptor)
    reader, writer = os.pipe()
    source = pyvips.Source.new_from_descriptor(reader)  # which has a descriptor of its own
    os.close(reader)
    threading.Thread(target=_copy_padded, args=(descriptor, writer, frame), daemon=True).start()
    return source


def _is_plain(frame: JpegFrame) -> bool:
    is_whole = all(min(side) > 0 and not any(max(side) % each for each in side) for side in frame.sampling if side)
    is_known = frame.num_components == len(frame.sampling[0]) and frame.num_components in {1, 3}
    is_plain = frame.marker in _PLAIN_FRAMES and frame.bits == 8 and is_known
    return is_plain and is_whole and max(_padded_side(frame, HEIGHT), _padded_side(frame, WIDTH)) <= _MOST


def _padded_side(frame: JpegFrame, at: int) -> int:
    """Return a side in whole blocks."""
    return -(-frame.side(at) // BLOCK_SIDE) * BLOCK_SIDE


def _copy_padded(file: int, writer: int, frame: JpegFrame) -> None:
    try:
        head = bytearray(os.pread(file, frame.at + _AFTER_SIDES, 0))
        for at in (HEIGHT, WIDTH):
            head[frame.at + at : frame.at + at + 2] = _padded_side(frame, at).to_bytes(2)
        os.write(writer, head)
        at = len(head)
        while chunk := os.pread(file, _CHUNK_BYTES, at):
            at += os.write(writer, chunk)
    except BrokenPipeError:  # nobody reads any more
        pass
    finally:
        os.close(writer)
        os.close(file)
