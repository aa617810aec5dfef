"""Write a CZI slide: segments of tiles, their directory, and metadata as XML."""

import struct
from itertools import product
from pathlib import Path

import numpy as np
import zstandard
from numpy.typing import NDArray
from PIL import Image

_SIDE = 128
_BGR24, _PLAIN, _ZSTD = 3, 0, 5
_XML = """<?xml version="1.0"?><ImageDocument><Metadata><Information>
<Instrument><Objectives><Objective Id="Objective:1"><NominalMagnification>20</NominalMagnification></Objective>
</Objectives></Instrument><Image><SizeX>{x}</SizeX><SizeY>{y}</SizeY><SizeS>{s}</SizeS>
<ObjectiveSettings><ObjectiveRef Id="Objective:1"/></ObjectiveSettings></Image></Information>
<Scaling><Items><Distance Id="X"><Value>2.5e-07</Value></Distance><Distance Id="Y"><Value>2.5e-07</Value></Distance>
</Items></Scaling></Metadata></ImageDocument>"""


def write_czi(path: Path, scenes: list[NDArray[np.uint8]], *, gap: int = 64, axis: str = "") -> Path:
    """Write scenes of one size side by side, `gap` pixels apart, in two levels; a pixel is 0.25 microns.

    The second level of each is compressed. `axis` adds a dimension to every tile, of one.
    """
    out = bytearray(_segment(b"ZISRAWFILE", bytes(512)))
    entries = []
    height, width = scenes[0].shape[:2]
    for number, scene in enumerate(scenes):
        left = number * (width + gap)
        for factor in (1, 2):
            level = np.asarray(Image.fromarray(scene).reduce(factor))
            for top, at in product(range(0, level.shape[0], _SIDE), range(0, level.shape[1], _SIDE)):
                tile = np.ascontiguousarray(level[top : top + _SIDE, at : at + _SIDE, ::-1])
                place = (left + at * factor, top * factor, factor, number)
                entry = _entry(tile, place, len(out), len(entries), axis)
                data = tile.tobytes() if factor == 1 else zstandard.compress(tile.tobytes())
                head = struct.pack("<iiq", 0, 0, len(data)) + entry
                out += _segment(b"ZISRAWSUBBLOCK", head.ljust(256, b"\0") + data)
                entries.append(entry)
    directory = len(out)
    out += _segment(b"ZISRAWDIRECTORY", struct.pack("<i", len(entries)) + bytes(124) + b"".join(entries))
    metadata = len(out)
    across = len(scenes) * (width + gap) - gap
    xml = _XML.format(x=across, y=height, s=len(scenes)).encode()
    out += _segment(b"ZISRAWMETADATA", struct.pack("<ii", len(xml), 0) + bytes(248) + xml)
    attachments = len(out)
    out += _segment(b"ZISRAWATTDIR", bytes(256))
    out[32 : 32 + 80] = struct.pack("<4i32xiqqiq", 1, 0, 0, 0, 0, directory, metadata, 0, attachments)
    path.write_bytes(out)
    return path


def _segment(name: bytes, content: bytes) -> bytes:
    return struct.pack("<16sqq", name, len(content), len(content)) + content


def _entry(tile: NDArray[np.uint8], place: tuple[int, int, int, int], file_at: int, order: int, axis: str) -> bytes:
    x, y, factor, scene = place
    height, width = tile.shape[:2]
    sides = [("X", x, width * factor, width), ("Y", y, height * factor, height), ("S", scene, 1, 1)]
    sides += [("M", order, 1, 1)] if factor == 1 else []
    sides += [(axis, 0, 1, 1)] if axis else []
    head = struct.pack(
        "<2siqiiB5xi", b"DV", _BGR24, file_at, 0, _PLAIN if factor == 1 else _ZSTD, 2 * (factor > 1), len(sides)
    )
    return head + b"".join(
        struct.pack("<4siifi", name.encode(), start, size, 0.0, stored) for name, start, size, stored in sides
    )
