"""Write slides as Hamamatsu's scanners do: a key file beside its pictures, and the TIFF of its own dialect."""

import io
import struct
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

_VMS = """[Virtual Microscope Specimen]
NoLayers=1
NoJpegColumns=2
NoJpegRows=1
ImageFile={stem}.jpg
ImageFile(1,0)={stem}_1_0.jpg
MapFile={stem}_map2.jpg
MacroImage={stem}_macro.jpg
OptimisationFile={stem}.opt
SourceLens=20
PhysicalWidth={width}
PhysicalHeight={height}
"""
_VMU = """[Uncompressed Virtual Microscope Specimen]
NoLayers=1
ImageFile={stem}.ngr
MapFile={stem}_map.ngr
MacroImage={stem}_macro.jpg
PixelOrder=RGB
BitsPerPixel=36
SourceLens=40
PhysicalWidth={width}
PhysicalHeight={height}
"""


def write_vms(path: Path, picture: NDArray[np.uint8]) -> Path:
    """Write a picture in two columns of JPEG with restart markers, a map at an eighth, and a macro image.

    A pixel is 0.5 microns wide and high.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    height, width = picture.shape[:2]
    path.write_text(_VMS.format(stem=path.stem, width=width * 500, height=height * 500))
    half = width // 2
    for end, part in (("", picture[:, :half]), ("_1_0", picture[:, half:])):
        _save_jpeg(part, path.with_name(f"{path.stem}{end}.jpg"), restart_marker_blocks=4)
    _save_jpeg(
        np.asarray(Image.fromarray(picture).reduce(8)), path.with_name(f"{path.stem}_map2.jpg"), restart_marker_blocks=4
    )
    _save_jpeg(np.asarray(Image.fromarray(picture).reduce(16)), path.with_name(f"{path.stem}_macro.jpg"))
    path.with_name(f"{path.stem}.opt").write_bytes(b"")
    return path


def write_vmu(path: Path, picture: NDArray[np.uint8]) -> Path:
    """Write a picture as uncompressed samples of 12 bits, with a map at a quarter; a pixel is 0.25 microns wide."""
    path.parent.mkdir(parents=True, exist_ok=True)
    height, width = picture.shape[:2]
    path.write_text(_VMU.format(stem=path.stem, width=width * 250, height=height * 250))
    _write_ngr(path.with_name(f"{path.stem}.ngr"), picture, width // 2)
    small = np.asarray(Image.fromarray(picture).reduce(4))
    _write_ngr(path.with_name(f"{path.stem}_map.ngr"), small, small.shape[1])
    _save_jpeg(np.asarray(Image.fromarray(picture).reduce(16)), path.with_name(f"{path.stem}_macro.jpg"))
    return path


def _save_jpeg(picture: NDArray[np.uint8], path: Path, **options: int) -> None:
    Image.fromarray(np.ascontiguousarray(picture)).save(path, "JPEG", quality=95, subsampling=0, **options)


def _write_ngr(path: Path, picture: NDArray[np.uint8], column: int) -> None:
    height, width = picture.shape[:2]
    head = b"GN\0\0" + struct.pack("<6i", width, height, column, 0, 0, 28)
    samples = picture.astype("<u2") << 4
    parts = [samples[:, left : left + column].tobytes() for left in range(0, width, column)]
    path.write_bytes(head + b"".join(parts))


_ASCII, _SHORT, _LONG, _RATIONAL, _SIGNED, _FLOAT = 2, 3, 4, 5, 9, 11
_MARKS, _LENS, _FOCUS = 65420, 65421, 65424


def write_ndpi(path: Path, picture: NDArray[np.uint8], *, num_planes: int = 1) -> Path:
    """Write three levels and a macro image, each one JPEG in one strip; a pixel is 0.25 microns wide, 20-fold.

    Of several focal planes those after the first are inverted, and have one level.
    """
    scales = ((1, 20.0), (4, 5.0), (16, 1.25), (8, -1.0))
    images = [(_encode(picture, scale), scale, lens, 0) for scale, lens in scales]
    images += [(_encode(255 - picture, 1), 1, 20.0, 1000 * plane) for plane in range(1, num_planes)]
    out = bytearray(b"II*\0" + bytes(8))
    link = 4
    for (data, width, height), scale, lens, focus in images:
        strip = len(out)
        out += data
        out += bytes(len(out) % 2)
        tags: list[tuple[int, int, bytes]] = [
            (256, _LONG, struct.pack("<I", width)),
            (257, _LONG, struct.pack("<I", height)),
            (258, _SHORT, struct.pack("<3H", 8, 8, 8)),
            (259, _SHORT, struct.pack("<H", 7)),
            (262, _SHORT, struct.pack("<H", 6)),
            (271, _ASCII, b"Hamamatsu\0"),
            (273, _LONG, struct.pack("<I", strip)),
            (277, _SHORT, struct.pack("<H", 3)),
            (278, _LONG, struct.pack("<I", height)),
            (279, _LONG, struct.pack("<I", len(data))),
            (282, _RATIONAL, struct.pack("<2I", 40000 // scale, 1)),
            (283, _RATIONAL, struct.pack("<2I", 40000 // scale, 1)),
            (296, _SHORT, struct.pack("<H", 3)),
            (_MARKS, _LONG, struct.pack("<I", 1)),
            (_LENS, _FLOAT, struct.pack("<f", lens)),
            (_FOCUS, _SIGNED, struct.pack("<i", focus)),
        ]
        out[link : link + 8] = _append_directory(out, tags).to_bytes(8, "little")
        link = len(out) - 8 - 4 * len(tags)
    path.write_bytes(out)
    return path


def _append_directory(out: bytearray, tags: list[tuple[int, int, bytes]]) -> int:
    """Append a directory as Hamamatsu has it: a link of 8 bytes, then the upper half of each value."""
    sizes = {_ASCII: 1, _SHORT: 2, _LONG: 4, _RATIONAL: 8, _SIGNED: 4, _FLOAT: 4}
    entries = b""
    for tag, kind, value in tags:
        count = len(value) // sizes[kind]
        held = value if len(value) <= 4 else len(out).to_bytes(4, "little")
        out += value + bytes(len(value) % 2) if len(value) > 4 else b""
        entries += struct.pack("<HHI", tag, kind, count) + held.ljust(4, b"\0")
    start = len(out)
    out += struct.pack("<H", len(tags)) + entries + bytes(8) + bytes(4 * len(tags))
    return start


def _encode(picture: NDArray[np.uint8], scale: int) -> tuple[bytes, int, int]:
    image = Image.fromarray(picture).reduce(scale)
    with io.BytesIO() as data:
        image.save(data, "JPEG", quality=95, subsampling=0, restart_marker_blocks=4)
        return data.getvalue(), *image.size
