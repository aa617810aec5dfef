"""OpenJPEG's own interface (openjp2, version 2): the pixels of an area at a resolution level, and no others.

Its wheels are Pillow's, which brings the library; else it is the system's. Neither Pillow nor imagecodecs offers areas
of what they decode (docs/decisions/0021-earth.md).
"""

import ctypes
import os
from contextlib import ExitStack
from ctypes import POINTER, c_char_p, c_int, c_int32, c_uint16, c_uint32, c_void_p
from ctypes.util import find_library
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import PIL
from numpy.typing import NDArray

from gigavqa.tiling.decode_threads import usable_cores
from gigavqa.tiling.errors import ImageUnreadableError, ImageUnsupportedError
from gigavqa.tiling.files import OpenFile
from gigavqa.tiling.geometry import Region

_MOST_THREADS = 8
_CODESTREAM, _JP2 = 0, 2
_CODESTREAM_HEAD = b"\xff\x4f\xff\x51"
_PARAMETER_BYTES = 32_768  # the structure has 8,252; it is filled by the library, and read by nobody here
_Message = ctypes.CFUNCTYPE(None, c_char_p, c_void_p)


class _Component(ctypes.Structure):
    _fields_ = [
        *((name, c_uint32) for name in ("dx", "dy", "w", "h", "x0", "y0", "prec", "bpp", "sgnd", "resno", "factor")),
        ("data", POINTER(c_int32)),
        ("alpha", c_uint16),
    ]


class _Image(ctypes.Structure):
    _fields_ = [
        *((name, c_uint32) for name in ("x0", "y0", "x1", "y1", "numcomps")),
        ("color_space", c_int),
        ("comps", POINTER(_Component)),
        ("icc_profile_buf", c_void_p),
        ("icc_profile_len", c_uint32),
    ]


_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "opj_stream_create_default_file_stream": (c_void_p, [c_char_p, c_int]),
    "opj_stream_destroy": (None, [c_void_p]),
    "opj_create_decompress": (c_void_p, [c_int]),
    "opj_destroy_codec": (None, [c_void_p]),
    "opj_set_error_handler": (c_int, [c_void_p, _Message, c_void_p]),
    "opj_set_warning_handler": (c_int, [c_void_p, _Message, c_void_p]),
    "opj_set_default_decoder_parameters": (None, [c_void_p]),
    "opj_setup_decoder": (c_int, [c_void_p, c_void_p]),
    "opj_codec_set_threads": (c_int, [c_void_p, c_int]),
    "opj_read_header": (c_int, [c_void_p, c_void_p, POINTER(POINTER(_Image))]),
    "opj_set_decoded_resolution_factor": (c_int, [c_void_p, c_uint32]),
    "opj_set_decode_area": (c_int, [c_void_p, POINTER(_Image), c_int32, c_int32, c_int32, c_int32]),
    "opj_decode": (c_int, [c_void_p, c_void_p, POINTER(_Image)]),
    "opj_image_destroy": (None, [POINTER(_Image)]),
}


@cache
def _library() -> ctypes.CDLL:
    """Load Pillow's library, or the system's. Raises ImageUnsupportedError."""
    pillow = Path(PIL.__file__).parent
    folders = (pillow.with_name("pillow.libs"), pillow / ".dylibs")
    bundled = [str(path) for folder in folders for path in folder.glob("*openjp2*")]
    name = bundled[0] if bundled else find_library("openjp2")
    if name is None:
        raise ImageUnsupportedError("JPEG 2000 needs OpenJPEG, which Pillow's wheels have, or Debian's libopenjp2-7")
    library = ctypes.CDLL(name)
    for each, (result, arguments) in _FUNCTIONS.items():
        function = getattr(library, each)
        function.restype, function.argtypes = result, arguments
    return library


def decode_area(file: OpenFile, reduction: int, area: Region, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Decode an area (level-0 pixels) at 1 / 2**`reduction` of its size: rows x columns x components of `dtype`.

    Raises ImageUnreadableError for what is truncated or damaged, as far as its coding shows that.
    """
    library, told = _library(), list[str]()

    def keep(message: bytes, _: object) -> None:
        told.append(message.decode("utf-8", "replace").strip())

    heard = _Message(keep)

    def require(done: object) -> Any:
        if not done:
            raise ImageUnreadableError(f"{file.path}: {'; '.join(told[:3]) or 'OpenJPEG cannot read it'}")
        return done

    with ExitStack() as held:
        stream = require(library.opj_stream_create_default_file_stream(os.fsencode(file), 1))
        held.callback(library.opj_stream_destroy, stream)
        is_bare = os.pread(file.descriptor, 4, 0) == _CODESTREAM_HEAD
        codec = require(library.opj_create_decompress(_CODESTREAM if is_bare else _JP2))
        held.callback(library.opj_destroy_codec, codec)
        library.opj_set_error_handler(codec, heard, None)
        library.opj_set_warning_handler(codec, heard, None)
        parameters = ctypes.create_string_buffer(_PARAMETER_BYTES)
        library.opj_set_default_decoder_parameters(parameters)
        require(library.opj_setup_decoder(codec, parameters))
        library.opj_codec_set_threads(codec, min(_MOST_THREADS, usable_cores()))
        image = POINTER(_Image)()
        require(library.opj_read_header(stream, codec, ctypes.byref(image)))
        held.callback(library.opj_image_destroy, image)
        if reduction:
            require(library.opj_set_decoded_resolution_factor(codec, reduction))
        x, y, width, height = area
        require(library.opj_set_decode_area(codec, image, x, y, x + width, y + height))
        require(library.opj_decode(codec, stream, image))
        if told:
            require(None)
        return _samples(file, image.contents, dtype)


def _samples(file: OpenFile, image: _Image, dtype: np.dtype[Any]) -> NDArray[Any]:
    components = [image.comps[number] for number in range(image.numcomps)]
    first = components[0]
    if not all(each.data and (each.w, each.h) == (first.w, first.h) for each in components):
        raise ImageUnreadableError(f"{file.path}: is decoded to other samples than its header says")
    samples = np.empty((first.h, first.w, len(components)), dtype)
    for number, each in enumerate(components):
        samples[..., number] = np.ctypeslib.as_array(each.data, (each.h, each.w))
    return samples
