"""DOTA 1.0, 1.5 and 2.0: a text file of oriented boxes for each image."""

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path, PurePosixPath

from gigavqa.construction.annotations import AnnotatedImage, Flag, Omissions
from gigavqa.construction.errors import AnnotationFileError, MarkError
from gigavqa.construction.readers.collection import MarkCollection
from gigavqa.construction.readers.marks import Mark, text_number
from gigavqa.construction.readers.reader import ImageIndex, ReaderOptions
from gigavqa.construction.readers.text_folders import label_files, lines_of, stem_of

_HEADINGS = ("imagesource:", "gsd:")
_OBJECT = re.compile(r"(?:\S+\s+){8}\S.*")
_LOOKED_AT = 20
_DIFFICULTIES = ("0", "1", "2")


class DotaReader:
    """Reads a folder of `labelTxt` files; an image is found by the stem of its file."""

    name = "dota"
    title = "DOTA"

    def recognises(self, source: Path) -> bool:
        """Return whether a folder has text files whose first object is eight numbers and a word."""
        if not source.is_dir():
            return False
        return any(_begins_as_dota(source / name) for name in islice(label_files(source), _LOOKED_AT))

    def read(
        self, source: Path, images: ImageIndex, omissions: Omissions, options: ReaderOptions
    ) -> Iterator[AnnotatedImage]:
        """Yield images by name; a file that cannot be read is left out alone."""
        collection = MarkCollection(images, omissions)
        for name in label_files(source):
            if (number := collection.enter(PurePosixPath(stem_of(name)).name, name, "its name")) is None:
                continue
            try:
                for line, text in lines_of(source / name):
                    _add_line(collection, number, name, line, text)
            except AnnotationFileError as error:
                collection.leave_out("file", name, "whole", str(error))
                collection.discard(number)
        return collection.annotated()


def _begins_as_dota(path: Path) -> bool:
    try:
        for _, text in islice(lines_of(path), _LOOKED_AT):
            if not text.lower().startswith(_HEADINGS):
                return _is_object(text)
    except AnnotationFileError:
        pass
    return False


def _is_object(text: str) -> bool:
    fields = text.split()
    if not _OBJECT.fullmatch(text) or len(fields) > 10:
        return False
    try:
        [float(field) for field in fields[:8]]
    except ValueError:
        return False
    return not fields[8].replace(".", "").isdecimal()


def _add_line(collection: MarkCollection, number: int, name: str, line: int, text: str) -> None:
    if text.lower().startswith(_HEADINGS):
        return
    record = f"line {line}"
    try:
        mark = _mark(text.split(), line, record)
    except MarkError as error:
        collection.leave_out(error.reason, name, record, str(error), image=number)
    else:
        collection.add(number, mark, name)


def _mark(fields: list[str], line: int, record: str) -> Mark:
    if len(fields) not in (9, 10):
        told = f"has {len(fields)} fields; give x and y of four corners, category, and difficult as 0 or 1"
        raise MarkError("malformed", told)
    quad = tuple(text_number(field, "corners") for field in fields[:8])
    if len(fields) == 10 and fields[9] not in _DIFFICULTIES:
        raise MarkError("malformed", f"difficult: is '{fields[9][:40]}'; give 0 or 1")
    flags: tuple[Flag, ...] = ("difficult",) if fields[9:] and fields[9] != "0" else ()
    return Mark(line, record, fields[8], quad=quad, flags=flags)
