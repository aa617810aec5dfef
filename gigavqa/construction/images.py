"""The images of a folder, by the names that annotation files give them."""

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from gigavqa.construction.annotations import Omission
from gigavqa.construction.readers.reader import ImageOnDisk
from gigavqa.evaluation.image_lookup import IMAGE_SUFFIXES, ImageLookup
from gigavqa.tiling.headers import StoredHeader, read_stored_header
from gigavqa.tiling.image_folders import folder_kind
from gigavqa.tiling.remote.addresses import is_remote_name
from gigavqa.tiling.versions import version_of

_MISSING, _UNSURE = "there is no image", " may be "
"""How an import's sentences about names begin, and what they say of several files."""


class FolderImages:
    """The images below a folder, and those elsewhere that names lead to, found by the rules of an import.

    Reads the header of an image when an annotation names it, once.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lookup = ImageLookup(folder, folder, self._read_header)
        self._headers: dict[Path, StoredHeader] = {}
        self._found: dict[tuple[str, bool], ImageOnDisk | Omission] = {}

    def find(self, written: str, *, by_beginning: bool = False) -> ImageOnDisk | Omission:
        """Return the image that a file names, or why none is used.

        Reasons are `image-missing`, `image-unsure` for several, `image-unreadable`.
        """
        key = written, by_beginning
        if key not in self._found:
            self._found[key] = self._look_for(written, by_beginning=by_beginning)
        return self._found[key]

    def names(self) -> Iterator[str]:
        """Yield the names of all images below the folder, sorted."""
        return iter(sorted(_image_names(self.folder, self.folder)))

    def version_of(self, name: str) -> list[str | int]:
        """Return what tells an image's files from others: its name, and size and time of change of each, as JSON."""
        stamps = version_of(self.folder / name)
        return [name, *(fact for stamp in stamps for fact in (stamp.size, stamp.modified_ns))]

    def _look_for(self, written: str, *, by_beginning: bool) -> ImageOnDisk | Omission:
        if not written.strip() or "\0" in written:
            return Omission("image-missing", "its name of an image is empty, or none that a file can have")
        for name in self._names_meant(written, by_beginning=by_beginning):
            found, wrong = self._lookup.find(name)
            if not wrong:
                return self._image_at(found)
            if not wrong.startswith(_MISSING):
                return Omission("image-unsure" if _UNSURE in wrong else "image-unreadable", wrong)
        return Omission("image-missing", self._lookup.find(written)[1] or "")

    def _names_meant(self, written: str, *, by_beginning: bool) -> Iterator[str]:
        """Yield a name as it is written, as Windows writes paths, and the file of which it is the stem."""
        yield written
        if is_remote_name(written):
            return
        name = written.replace("\\", "/")
        yield name
        whole = PurePosixPath(name).name
        stem = self._lookup.by_stem.get(whole, "")
        if stem and (by_beginning or PurePosixPath(stem).stem == whole):
            yield stem

    def _image_at(self, found: str) -> ImageOnDisk:
        path = self._lookup.path_of(found)
        header, name = self._headers[path], found
        if not is_remote_name(found):
            name = Path(os.path.normpath(path)).relative_to(os.path.normpath(self.folder)).as_posix()
        oriented = header.oriented.size
        return ImageOnDisk(name, oriented.width, oriented.height, header.orientation, header.geotags)

    def _read_header(self, path: Path, show: str) -> None:
        """Keep an image's header. Whether its pixels are shown as they are is nothing to annotations."""
        self._headers[path] = read_stored_header(path, is_declared=True)


def _image_names(folder: Path, base: Path) -> Iterator[str]:
    """Yield the images of a folder: files, and folders that are one image."""
    if folder != base and folder_kind(folder):
        yield folder.relative_to(base).as_posix()
        return
    with os.scandir(folder) as entries:
        found = list(entries)
    for entry in found:
        if entry.is_dir(follow_symlinks=False):
            yield from _image_names(Path(entry.path), base)
        elif entry.name.lower().endswith(IMAGE_SUFFIXES) and entry.is_file():
            yield Path(entry.path).relative_to(base).as_posix()
