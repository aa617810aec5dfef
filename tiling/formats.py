"""Recognize a file's format by its first bytes; names lie, so an extension decides only where bytes cannot."""

from typing import Literal

from gigavqa.tiling.errors import ImageUnreadableError, ImageUnsupportedError
from gigavqa.tiling.files import OpenFile
from gigavqa.tiling.image_folders import DICOM_SUFFIX

Container = Literal["jpeg", "png", "webp", "jp2", "tiff", "slide", "zarr"]
"""A `slide` is what OpenSlide alone reads."""

_TIFF = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")
_JPEG_2000 = (b"\0\0\0\x0cjP  ", b"\xff\x4f\xff\x51")
_NOT_SERVED = {b"GIF8": "GIF", b"BM": "BMP", b"8BPS": "Photoshop", b"\0\0\0\x0cJXL ": "JPEG XL", b"\xff\x0a": "JPEG XL"}

_SLIDE_NAMES = frozenset({".mrxs", ".vms", ".vmu"})  # which begin like a JPEG, and like any text
_SLIDES = (b"ZISRAWFILE", b"SQLite format 3\0")
_DICOM_AT, _DICOM = 128, b"DICM"
_COMPOUND = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def container_of(file: OpenFile) -> Container:
    """Recognise the container of an image file from its first bytes.

    Raises ImageUnreadableError (empty, or no image) and ImageUnsupportedError.
    """
    path, head = file.path, _first_bytes(file)
    if not head:
        raise ImageUnreadableError(f"{path}: the file is empty")
    if file.folder_kind == "zarr":
        return "zarr"
    if path.suffix.lower() in _SLIDE_NAMES or head.startswith(_SLIDES):
        return "slide"
    if head[_DICOM_AT:].startswith(_DICOM):
        return _slide_of_dicom(file)
    if container := _recognise(head):
        return container
    for magic, name in _NOT_SERVED.items():
        if head.startswith(magic):
            raise ImageUnsupportedError(f"{path}: {name} files are not served")
    if head.startswith(_COMPOUND):
        raise ImageUnsupportedError(f"{path}: ZVI files are not served; save it as CZI or OME-TIFF")
    if head[4:8] == b"ftyp":
        raise ImageUnsupportedError(f"{path}: HEIF and AVIF files are not served")
    raise ImageUnreadableError(f"{path}: the first bytes are those of no image format")


def _first_bytes(file: OpenFile) -> bytes:
    try:
        return file.read_at(0, _DICOM_AT + len(_DICOM))
    except OSError as error:
        raise ImageUnreadableError(f"{file.path}: {error.strerror}") from error


def _slide_of_dicom(file: OpenFile) -> Container:
    """A series is found by the folder of a file, and OpenSlide goes by its ending."""
    if file.folder_kind is None and file.path.suffix.lower() != DICOM_SUFFIX:
        raise ImageUnsupportedError(
            f"{file.path}: is a DICOM file; name it {file.path.name}{DICOM_SUFFIX}, or its folder"
        )
    return "slide"


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
