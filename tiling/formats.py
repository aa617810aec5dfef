"""Recognize a file's format by its first bytes; names lie, so an extension decides only where bytes cannot."""

from typing import Literal

from gigavqa.tiling.errors import ImageUnreadableError, ImageUnsupportedError
from gigavqa.tiling.files import OpenFile

Container = Literal["jpeg", "png", "webp", "jp2", "tiff"]

_TIFF = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")
_JPEG_2000 = (b"\0\0\0\x0cjP  ", b"\xff\x4f\xff\x51")
_NOT_SERVED = {b"GIF8": "GIF", b"BM": "BMP", b"8BPS": "Photoshop", b"\0\0\0\x0cJXL ": "JPEG XL", b"\xff\x0a": "JPEG XL"}

OPENSLIDE_ONLY = frozenset({".mrxs", ".vms", ".vmu", ".dcm", ".zvi", ".czi"})
"""Extensions of slides that no other library reads. A `.mrxs` begins like the JPEG that it also is."""


def container_of(file: OpenFile) -> Container:
    """Recognise the container of an image file from its first bytes.

    Raises ImageUnreadableError (empty, or no image) and ImageUnsupportedError.
    """
    path, head = file.path, _first_bytes(file)
    if not head:
        raise ImageUnreadableError(f"{path}: the file is empty")
    if path.suffix.lower() in OPENSLIDE_ONLY:
        raise ImageUnsupportedError(
            f"{path}: only OpenSlide reads this slide; `gigavqa ingest` converts it to a tiled pyramid, which is served"
        )
    if container := _recognise(head):
        return container
    for magic, name in _NOT_SERVED.items():
        if head.startswith(magic):
            raise ImageUnsupportedError(f"{path}: {name} files are not served")
    if head[4:8] == b"ftyp":
        raise ImageUnsupportedError(f"{path}: HEIF and AVIF files are not served")
    raise ImageUnreadableError(f"{path}: the first bytes are those of no image format")


def _first_bytes(file: OpenFile) -> bytes:
    try:
        return file.read_at(0, 16)
    except OSError as error:
        raise ImageUnreadableError(f"{file.path}: {error.strerror}") from error


def _recognise(head: bytes) -> Container | None:
    if head.startswith(b"\xff\xd8\xff"):
        return "jpeg"
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "png"
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return "webp"
    if head.startswith(_TIFF):
        return "tiff"
    return "jp2" if head.startswith(_JPEG_2000) else None
