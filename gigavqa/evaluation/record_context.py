"""The context of a record: what it can inherit from its file, and what a benchmark may leave of it."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gigavqa.evaluation.records import Record


def stored_image_name(content: bytes) -> str:
    """Name, in a data set, of a picture that a record holds: its digest, whatever record holds it."""
    return f"images/{hashlib.sha256(content).hexdigest()[:32]}.{_image_suffix(content)}"


def _image_suffix(content: bytes) -> str:
    return next((suffix for suffix, magic in _IMAGE_SIGNATURES.items() if content.startswith(magic)), "bin")


_IMAGE_SIGNATURES: Mapping[str, bytes | tuple[bytes, ...]] = {
    "jpg": b"\xff\xd8\xff",
    "png": b"\x89PNG",
    "webp": b"RIFF",
    "tif": (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"),
    "gif": b"GIF8",
    "bmp": b"BM",
    "jp2": b"\0\0\0\x0cjP",
}


@dataclass(frozen=True)
class RecordContext:
    """The values that a record can inherit from its place: the file's stem, and the images at hand by stem.

    `keep` takes a picture that lies in the record itself, and gives the name that it has in the data set. `pages` gives
    the names of the images of a folder, or of the pages of a document file, in order; None where nothing is known of
    it, as where records alone are read. `again` reads the file's records once more, for one that refers to another;
    `seen` is for the benchmark to remember of them. `unread` counts by name in how many records something stands that
    nobody reads, which an import tells: the core counts each sample's `extra`, the benchmark what it keeps nowhere.
    `note` takes what else people should know of how the file is read. `check_images` tells what is wrong with images of
    a record that is bad already: nobody looks at them later.
    """

    stem: str
    images: Mapping[str, str] = field(default_factory=dict)
    keep: Callable[[bytes], str] = stored_image_name
    pages: Callable[[str], tuple[str, ...] | None] = lambda name: None
    again: Callable[[], Iterator[Record]] = lambda: iter(())
    seen: dict[str, Any] = field(default_factory=dict)
    unread: Counter[str] = field(default_factory=Counter)
    note: Callable[[str], None] = lambda text: None
    check_images: Callable[[Sequence[str]], Sequence[str]] = lambda images: ()
