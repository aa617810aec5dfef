"""Tables (CSV, TSV): one box a row, columns by their names."""

import csv
import gzip
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from gigavqa.construction.annotations import AnnotatedImage, Omissions
from gigavqa.construction.errors import AnnotationFileError, MarkError
from gigavqa.construction.readers.collection import EVERY, MarkCollection
from gigavqa.construction.readers.documents import look_at, require_no_folder
from gigavqa.construction.readers.marks import Mark, attributes_of, text_number
from gigavqa.construction.readers.reader import ImageIndex, ImageOnDisk, ReaderOptions
from gigavqa.evaluation.errors import Problem
from gigavqa.evaluation.records import Record, read_records
from gigavqa.runtime.work_progress import counted

_IMAGE = ("image", "filename", "file_name", "file", "image_path", "image_name", "path")
_CATEGORY = ("category", "label", "class", "class_name", "category_name")
_CORNERS = (("x1", "y1", "x2", "y2"), ("xmin", "ymin", "xmax", "ymax"), ("left", "top", "right", "bottom"))
_SIZES = (("x", "y", "width", "height"), ("x", "y", "w", "h"), ("left", "top", "width", "height"))
Corners = tuple[float, float, float, float]


class _Columns(NamedTuple):
    """Which columns of a table hold what, by their names in the file; `is_size`: the last two are width and height."""

    image: str
    category: str
    box: tuple[str, str, str, str]
    is_size: bool


class CsvReader:
    """Reads a table with a header; corners or sizes, in pixels or in parts of the sides."""

    name = "csv"
    title = "CSV"

    def recognises(self, source: Path) -> bool:
        """Return whether the first line names columns of an image and a box."""
        text = look_at(source)
        header = text.splitlines()[0].decode("utf-8", "replace") if text.strip() else ""
        separator = max(",;\t", key=header.count)
        names = [name.strip().strip('"') for name in header.split(separator)]
        return _first(_IMAGE, names) is not None and bool(_box_columns(names))

    def read(
        self, source: Path, images: ImageIndex, omissions: Omissions, options: ReaderOptions
    ) -> Iterator[AnnotatedImage]:
        """Yield images by name. Raises AnnotationFileError where columns, or their unit, are unsure."""
        collection = MarkCollection(images, omissions, merges=True)
        with _plain(source) as path:
            unit = options.unit or _unit_of(path, source.name, options)
            for position, found in enumerate(counted(_records(path, source.name), "rows read"), start=1):
                if isinstance(found, Problem):
                    collection.leave_out("malformed", source.name, f"line {found.line}", found.message, image=EVERY)
                    continue
                columns = _columns(found, source.name, options)
                number = collection.enter(found.value.get(columns.image, ""), source.name, found.place)
                if number is None:
                    continue
                try:
                    box = _scaled(_box(found, columns), collection.image(number), unit)
                    collection.add(number, _mark(found, position, columns, box), source.name)
                except MarkError as error:
                    collection.leave_out(error.reason, source.name, found.place, str(error), image=number)
        return collection.annotated()


@contextmanager
def _plain(source: Path) -> Iterator[Path]:
    """Give a table as a file whose ending says what it is, decompressed where it is gzip."""
    require_no_folder(source)
    is_gzip = source.suffix.lower() == ".gz"
    ending = Path(source.stem).suffix if is_gzip else source.suffix
    if not is_gzip and ending.lower() in (".csv", ".tsv"):
        yield source
        return
    with TemporaryDirectory() as folder:
        path = Path(folder) / ("table.tsv" if ending.lower() == ".tsv" else "table.csv")
        try:
            with (gzip.open if is_gzip else Path.open)(source, "rb") as packed, path.open("wb") as plain:
                shutil.copyfileobj(packed, plain)
        except (OSError, EOFError) as error:
            raise AnnotationFileError(f"{source.name}: cannot be read: {error}; give a whole file") from error
        yield path


def _records(path: Path, name: str) -> Iterator[Record | Problem]:
    try:
        yield from read_records(path, name)
    except csv.Error as error:
        raise AnnotationFileError(f"{name}: line 1: {error}; close the quotes of its header") from error


def _first(names: tuple[str, ...], header: list[str]) -> str | None:
    """Return the column that has one of these names, whatever its case; None of none or several."""
    found = [column for column in header if column.lower() in names]
    return found[0] if len(found) == 1 else None


def _box_columns(header: list[str]) -> list[tuple[tuple[str, str, str, str], bool]]:
    lowered = {column.lower(): column for column in header}
    return [
        ((lowered[a], lowered[b], lowered[c], lowered[d]), is_size)
        for forms, is_size in ((_CORNERS, False), (_SIZES, True))
        for a, b, c, d in forms
        if {a, b, c, d} <= lowered.keys()
    ]


def _columns(record: Record, name: str, options: ReaderOptions) -> _Columns:
    """Return what a table's columns hold. Raises AnnotationFileError where it is unsure."""
    header = list(record.header)
    image, boxes = _first(_IMAGE, header), _box_columns(header)
    category = options.category if options.category in header else _first(_CATEGORY, header)
    if image is None:
        raise AnnotationFileError(f"{name}: no column, or several, name the image; call one 'image'")
    if options.category and options.category not in header:
        raise AnnotationFileError(f"{name}: has no column '{options.category}'; --category names one of its columns")
    if category is None:
        raise AnnotationFileError(f"{name}: no column, or several, hold the category; name it with --category")
    if len(boxes) != 1:
        told = "several sets of columns hold a box" if boxes else "no columns hold a box"
        raise AnnotationFileError(f"{name}: {told}; give x1, y1, x2, y2 or x, y, width, height")
    return _Columns(image, category, *boxes[0])


def _unit_of(path: Path, name: str, options: ReaderOptions) -> str:
    """Return `pixels` where each row has a number above 1; what may be parts of a side is asked for."""
    seen = False
    for record in _records(path, name):
        if isinstance(record, Problem):
            continue
        columns = _columns(record, name, options)
        try:
            _, _, *ends = _box(record, columns)
        except MarkError:
            continue
        seen = True
        if not max(ends) > 1:
            raise AnnotationFileError(
                f"{name}: {record.place}: {', '.join(columns.box)}: may be parts of the image's sides, or pixels; "
                "say which with --unit parts or --unit pixels"
            )
    return "pixels" if seen else "parts"


def _box(record: Record, columns: _Columns) -> Corners:
    texts = [record.value.get(column) for column in columns.box]
    if None in texts:
        raise MarkError("malformed", f"{columns.box[texts.index(None)]}: is empty; give a number")
    a, b, c, d = (text_number(_decimal(text, record), column) for text, column in zip(texts, columns.box, strict=True))
    return (a, b, a + c, b + d) if columns.is_size else (a, b, c, d)


def _decimal(text: str, record: Record) -> str:
    return text.replace(",", ".") if record.decimal == "," else text


def _mark(record: Record, position: int, columns: _Columns, box: Corners) -> Mark:
    row: Mapping[str, str] = record.value
    used = {columns.image, columns.category, *columns.box}
    attributes, flags = attributes_of({name: value for name, value in row.items() if name not in used})
    return Mark(position, record.place, row.get(columns.category, ""), box, attributes=attributes, flags=flags)


def _scaled(box: Corners, image: ImageOnDisk, unit: str) -> Corners:
    width, height = (image.width, image.height) if unit == "parts" else (1, 1)
    return box[0] * width, box[1] * height, box[2] * width, box[3] * height
