"""Errors of pictures. Every class's docstring states the fact; messages name the file."""

import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

DECODER_ERRORS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    EOFError,
    LookupError,
    OSError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
    struct.error,
    zlib.error,
)
"""What Pillow, tifffile, imagecodecs and OpenSlide raise for files that hold what they should not."""


_MAX_QUOTED_CHARACTERS = 200


def quote_text(text: str) -> str:
    """Return so much of what somebody wrote as an error repeats, what is not printable as an escape."""
    cut = text if len(text) <= _MAX_QUOTED_CHARACTERS else f"{text[:_MAX_QUOTED_CHARACTERS]}..."
    return cut if cut.isprintable() else "".join(each if each.isprintable() else ascii(each)[1:-1] for each in cut)


class TilingError(Exception):
    """A view could not be turned into correct pixels."""


class ImageNotFoundError(TilingError):
    """The image file does not exist under its root."""


class PathEscapesError(TilingError):
    """The image's name is absolute, or leads out of its root."""


class ImageUnreadableError(TilingError):
    """The file is not an image that can be decoded: empty, truncated, corrupt, or of another kind."""


class ImageChangedError(TilingError):
    """The file was replaced or written to while it was being read: what it shows now is another picture."""


class ImageReplacedError(TilingError):
    """The file elsewhere is no longer the one that was looked at first, which a job is asked about to its end."""


class ImageUnavailableError(TilingError):
    """The server that holds the file does not give it: silent, failing, or refusing."""


class ImageAddressError(TilingError):
    """The image's address is none that files are read from here."""


class ImageUnsupportedError(TilingError):
    """The file is an image, of a format, layout or pixel type that is not served."""


class PixelTypeError(ImageUnsupportedError):
    """The image's pixels are not of a kind that is shown as it is: too many bits or bands, signed, floating point."""


class ImageTooLargeError(TilingError):
    """The image exceeds the pixel limit of its format."""


class RegionError(TilingError):
    """The region is malformed, empty, or reaches outside the image."""


class GeoreferenceError(RegionError):
    """What the file says of where it lies is broken, unsure, or of a kind that is not served."""


class BudgetError(TilingError):
    """The model family's preprocessing refuses an image of this size or aspect ratio."""


@contextmanager
def translate_decoder_errors(path: Path) -> Iterator[None]:
    """Turn what a decoder raises into ImageUnreadableError, and a lack of memory into ImageTooLargeError."""
    try:
        yield
    except DECODER_ERRORS as error:
        raise ImageUnreadableError(f"{path}: {' '.join(str(error).split()) or type(error).__name__}") from error
    except MemoryError as error:
        raise ImageTooLargeError(f"{path}: decoding it needs more memory than there is") from error
