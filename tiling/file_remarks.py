"""Remarks for people on an image's file that its header and its last bytes tell, without decoding a pixel."""

from collections.abc import Iterator
from pathlib import Path

from tifffile import TiffFile

from gigavqa.tiling.errors import translate_decoder_errors
from gigavqa.tiling.files import OpenFile
from gigavqa.tiling.formats import container_of
from gigavqa.tiling.opening import open_file
from gigavqa.tiling.tiff import is_read_by_openslide, shown_focal_plane, tiff_layout

_TAIL = 1 << 16
"""Bytes behind which the end of a file is looked for: some programs write their own behind it."""
_END_MARKERS = {"jpeg": b"\xff\xd9", "png": b"IEND", "jp2": b"\xff\xd9"}
_HEAD = 1 << 12
_WEBP_FLAGS, _WEBP_ANIMATED = 20, 0x02
"""Where the flags of a WebP's first chunk stand, and which of them tells of frames (the container's specification)."""


def file_remarks(path: Path) -> tuple[str, ...]:
    """Say that a file ends before its picture does, or holds more than the one that is shown.

    Sentences go on from the file's name. Raises as `gigavqa.tiling.headers.read_header` does.
    """
    with open_file(path) as file:
        return tuple(_remarks(file))


def _remarks(file: OpenFile) -> Iterator[str]:
    container = container_of(file)
    if container in ("slide", "zarr"):
        return
    if container == "tiff":
        with translate_decoder_errors(file.path), file.stream() as stream, TiffFile(stream) as tiff:
            is_slide = is_read_by_openslide(tiff)
            if file.is_remote and (is_slide or not file.has_ranges):
                yield _describe_fetching(file)
            if is_slide:
                shown, planes = shown_focal_plane(tiff)
                if planes > 1:
                    yield f"it has {planes} focal planes; number {shown}, the one that OpenSlide reads, is shown"
                return
            if tiff.is_ome:  # of which it is declared which image is shown
                return
            layout = tiff_layout(tiff, file.path, is_declared=True)
            others = layout.num_others
            if layout.has_table and layout.pixel_type.colours != "palette":
                yield "it has a table of colours that its header does not call for; `show` palette shows them"
            if layout.has_mask:
                yield "it has a mask of pixels without meaning, which is not applied; `show` nodata= is"
        if others:
            yield f"it holds {others} more image{'s' * (others > 1)}; its first one is shown"
        return
    if file.is_remote:
        yield _describe_fetching(file)
    size = file.size
    head = file.read_at(0, _HEAD)
    if _is_cut(container, head, file.read_at(max(0, size - _TAIL), _TAIL), size):
        yield "its end is missing, as where a file was not copied whole; `gigavqa dataset check --pixels` decodes it"
    if _is_animated(container, head):
        yield "it is an animation; its first frame is shown"


def _describe_fetching(file: OpenFile) -> str:
    return (
        f"it lies elsewhere and is not read in parts, so that all {file.size / 1e6:.1f} MB of it are fetched; a tiled "
        "TIFF pyramid on a server that gives ranges is read in parts"
    )


def _is_cut(container: str, head: bytes, tail: bytes, size: int) -> bool:
    if container == "webp":
        return size < 8 + int.from_bytes(head[4:8], "little")
    return _END_MARKERS[container] not in tail


def _is_animated(container: str, head: bytes) -> bool:
    if container == "png":
        return b"acTL" in head.partition(b"IDAT")[0]
    return container == "webp" and head[12:16] == b"VP8X" and bool(head[_WEBP_FLAGS] & _WEBP_ANIMATED)
