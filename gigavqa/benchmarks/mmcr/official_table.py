"""Reads the official table: a row a question and rotation, pictures in base64 or by the row that they are shared with.

Rows of one question have the indices base + rotation x 1,000,000. The base becomes the sample; rotated rows are checked
against it, and their orders of options are kept, so that they are asked as they are.
"""

import ast
import base64
import binascii
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import takewhile
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from gigavqa.benchmarks.mmcr.samples import NO_SUBJECT
from gigavqa.benchmarks.mmcr.taxonomy import LETTERS, read_question_type
from gigavqa.evaluation.benchmark import RecordContext
from gigavqa.evaluation.errors import RecordError
from gigavqa.evaluation.field_faults import FieldFault, read_field
from gigavqa.evaluation.records import Record

_ROTATION = 1_000_000
_LONGEST_REFERENCE = 64
"""A value of `image` of at most so many characters is the index of the row that holds the pictures."""
_COLUMNS = ("index", "question", "A", "B", "answer", "category")
_LABELS = ("category", "hint")
TABLE_COLUMNS = frozenset({*_COLUMNS, *LETTERS, "image", "image_path", "hint", "subject"})
SUBJECT = "l2-category"
_KEY = "official rows"


class _OfficialRow(NamedTuple):
    """The values of a row that other rows need."""

    question: str
    options: dict[str, str]
    answer: str
    reference: str
    has_pictures: bool
    labels: tuple[str, ...]
    line: int

    def differs(self, other: "_OfficialRow") -> str:
        """In which of its columns another row says something else; empty for one that says the same."""
        names = [name for name in ("question", "options", "answer") if getattr(self, name) != getattr(other, name)]
        labels = zip(_LABELS, self.labels, other.labels, strict=True)
        return " and ".join([*names, *(name for name, one, two in labels if one != two)])


class _OfficialTable:
    """All rows of a file, without their pictures, and the documents that were named so far."""

    def __init__(self, origin: RecordContext) -> None:
        self.rows: dict[int, _OfficialRow] = {}
        self.documents: dict[tuple[str, ...], str] = {}
        self.pictures: dict[int, tuple[str, ...]] = {}
        columns: dict[str, None] = {}
        for record in origin.again():
            if isinstance(record.value, dict):
                columns |= dict.fromkeys(record.value)
                if str(record.value.get("index", "")).strip().isdecimal():
                    self.rows.setdefault(int(record.value["index"]), _row(record))
        self.columns = list(columns)
        self.missing = [name for name in _COLUMNS if name not in columns]
        if not {"image", "image_path"} & columns.keys():
            self.missing.append("image")

    def answer_of(self, base: int) -> str:
        """Return the right letter of a base row, as most of its rows have it; its own where as many say so."""
        first = self.rows[base]
        rows = (self.rows.get(base + rotation * _ROTATION) for rotation in range(len(first.options)))
        said = Counter(text for row in rows if row and (text := row.options.get(row.answer)))
        own = first.options.get(first.answer, "")
        text = max(said, key=lambda one: (said[one], one == own), default=own)
        return (
            first.answer
            if text == own
            else next((letter for letter, other in first.options.items() if other == text), first.answer)
        )


def is_official(record: Record) -> bool:
    """Return whether a record is a row of such a table: options in columns of their own."""
    value = record.value
    return isinstance(value, dict) and "options" not in value and (not record.typed or {"index", "A"} <= value.keys())


def official_fields(record: Record, origin: RecordContext) -> Iterator[dict[str, Any]]:
    """Yield the fields of the sample that a base row is, a fault in place of each that cannot be read.

    A rotated row is checked, and yields nothing. Raises ValueError for a row that no question can be known by,
    RecordError for all that is wrong with a rotated one.
    """
    if _KEY not in origin.seen:
        origin.seen[_KEY] = _OfficialTable(origin)
    table: _OfficialTable = origin.seen[_KEY]
    if table.missing:
        if record.index:
            return  # told once
        lacks = ", ".join(f"'{name}'" for name in table.missing)
        there = ", ".join(table.columns)
        raise ValueError(
            f"has no column {lacks}, or nothing in it; there are {there}; `--map COLUMN={table.missing[0]}` names one"
        )
    index, row = _index(record.value), _row(record)
    base, rotation = index % _ROTATION, index // _ROTATION
    if (first := table.rows[index]).line != record.line:
        if differs := first.differs(row):
            raise ValueError(f"index {index} stands at line {first.line} already, with another {differs}")
        origin.unread["rows that repeat another"] += 1
    elif not rotation:
        yield _fields(record.value, index, table, origin)
    elif faults := [*_reference_faults(row, table), *_rotation_faults(table, base, rotation, row)]:
        raise RecordError(faults)


def _index(value: Mapping[str, Any]) -> int:
    text = str(value.get("index", "")).strip()
    if not text.isdecimal():
        raise ValueError(f"index: '{text}' is no whole number")
    return int(text)


def _row(record: Record) -> _OfficialRow:
    value = record.value
    image = value.get("image")
    reference = image.strip() if isinstance(image, str) and _is_reference(image) else ""
    options = {letter: str(value[letter]) for letter in LETTERS if letter in value}
    has_pictures = bool(image or value.get("image_path")) and not reference
    labels = tuple(str(value.get(name, "")) for name in _LABELS)
    question, answer = str(value.get("question", "")), str(value.get("answer", ""))
    return _OfficialRow(question, options, answer, reference, has_pictures, labels, record.line)


def _is_reference(image: str) -> bool:
    return len(image) <= _LONGEST_REFERENCE and not image.lstrip().startswith("[")


def _reference_faults(row: _OfficialRow, table: _OfficialTable) -> Iterator[str]:
    if row.reference:
        other = table.rows.get(int(row.reference)) if row.reference.isdecimal() else None
        if other is None or not other.has_pictures:
            yield f"image refers to row {row.reference}, which holds no picture"


def _rotation_faults(table: _OfficialTable, base: int, rotation: int, row: _OfficialRow) -> Iterator[str]:
    """Yield why a rotated row is none of its base; which answer is right only where the options are the base's."""
    first = table.rows.get(base)
    if first is None:
        yield f"index {base + rotation * _ROTATION} has no base row {base}"
        return
    name = f"rotation {rotation} of question {base}"
    if rotation >= len(first.options):
        yield f"{name}: of {len(first.options)} options there are rotations up to {len(first.options) - 1}"
    if row.question != first.question:
        yield f"{name} has another question than its base"
    if sorted(row.options.values()) != sorted(first.options.values()):
        yield f"{name} has other options than its base"
    elif first.answer in first.options or not first.answer:  # of any other its own row tells
        right = list(row.options)[_order_of(row, first).index(table.answer_of(base))] if first.answer else ""
        if row.answer != right:
            yield f"rotation {rotation} holds the right answer under {right} by its options, but says {row.answer}"


def _order_of(row: _OfficialRow, first: _OfficialRow) -> str:
    """Return the letters of a question's options in the order in which a row of the same options shows them."""
    left = dict(first.options)
    order = ""
    for text in row.options.values():
        letter = next(letter for letter, other in left.items() if other == text)
        order += letter
        del left[letter]
    return order


def _fields(value: Mapping[str, Any], index: int, table: _OfficialTable, origin: RecordContext) -> dict[str, Any]:
    row = table.rows[index]
    shown = read_field(lambda: _shown(value, index, table, origin))
    return {
        "id": f"{origin.stem}-{index}",
        "subject": str(value.get("subject") or value.get(SUBJECT) or NO_SUBJECT),
        "type": read_field(lambda: read_question_type(str(value.get("category", "")))),
        **(dict.fromkeys(("document", "images"), shown) if isinstance(shown, FieldFault) else shown),
        "question": row.question,
        "options": row.options,
        "answer": read_field(lambda: _base_answer(row, table.answer_of(index))),
        "hint": str(value.get("hint", "")),
        "rotations": _own_orders(table, index, len(row.options)),
    }


def _shown(value: Mapping[str, Any], index: int, table: _OfficialTable, origin: RecordContext) -> dict[str, Any]:
    """Return pages and document of a base row, and what else stands in it. Raises ValueError."""
    if faults := [*_reference_faults(table.rows[index], table)]:
        raise ValueError(faults[0])
    pages, names = _read_pages(value, index, table, origin), _page_names(value)
    read = TABLE_COLUMNS if value.get("subject") else TABLE_COLUMNS | {SUBJECT}
    left = {name: inner for name, inner in value.items() if name not in read}
    extra = left if names in ([], [*pages]) else {**left, "image_path": names}
    return {"document": _document_name(pages, names, table), "images": pages, "extra": extra}


def _base_answer(row: _OfficialRow, right: str) -> str:
    """Return the letter of a base row. Raises ValueError where most of its rotations have another option's text."""
    if row.answer in row.options and row.answer != right:
        raise ValueError(
            f"says that {row.answer} is right, '{row.options[row.answer]}'; most of its rotations say "
            f"'{row.options[right]}', which is {right} here"
        )
    return row.answer


def _own_orders(table: _OfficialTable, base: int, count: int) -> tuple[str, ...]:
    """Return the orders of the question's own rotated rows.

    Empty where there is none, or a wrong one, named at its line.
    """
    rows = ((rotation, table.rows.get(base + rotation * _ROTATION)) for rotation in range(1, count))
    found = [
        _order_of(row, table.rows[base]) if row and not any(_rotation_faults(table, base, rotation, row)) else ""
        for rotation, row in rows
    ]
    return ("", *found) if any(found) else ()


def _read_pages(value: Mapping[str, Any], index: int, table: _OfficialTable, origin: RecordContext) -> tuple[str, ...]:
    """Return the pages of a row, as the data set names them; pictures in it are kept. Raises ValueError."""
    names, image = _page_names(value), value.get("image")
    if index not in table.pictures:
        if isinstance(image, str) and image and not _is_reference(image):
            table.pictures[index] = _store_images(image, names, origin)
        elif image:
            table.pictures[index] = _shared_pages(int(str(image)), table, origin)
        elif names:
            table.pictures[index] = tuple(names)
        else:
            raise ValueError("image: is empty, and image_path names no page")
    return table.pictures[index]


def _store_images(image: str, names: list[str], origin: RecordContext) -> tuple[str, ...]:
    texts = _parse_list(image, "image")
    if names and len(names) != len(texts):
        raise ValueError(f"{len(texts)} pictures, {len(names)} names")
    pages = []
    for number, text in enumerate(texts, start=1):
        try:
            content = base64.b64decode("".join(text.split()), validate=True)
        except binascii.Error as error:
            raise ValueError(f"picture {number} is not base64") from error
        pages.append(origin.keep(content))
    return tuple(pages)


def _shared_pages(index: int, table: _OfficialTable, origin: RecordContext) -> tuple[str, ...]:
    if index not in table.pictures:
        other = next(record.value for record in origin.again() if str(record.value.get("index")) == str(index))
        _read_pages(other, index, table, origin)
    return table.pictures[index]


def _parse_list(text: str, column: str) -> list[str]:
    """Return the texts of a bracketed list, which is read as a literal and never evaluated; of any other text, that."""
    if not text.lstrip().startswith("["):
        return [text]
    for read in (json.loads, ast.literal_eval):
        try:
            found = read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        if isinstance(found, list) and found and all(isinstance(one, str) for one in found):
            return found
    raise ValueError(f"{column}: is a list that cannot be read, or not of texts")


def _page_names(value: Mapping[str, Any]) -> list[str]:
    names = _parse_list(str(value["image_path"]), "image_path") if value.get("image_path") else []
    for name in names:
        path = PurePosixPath(name.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts or not path.parts or ":" in path.parts[0] or path.parts[0] == "~":
            raise ValueError(f"image_path '{name}' does not lie in the data set's folder")
    return names


def _document_name(pages: tuple[str, ...], names: list[str], table: _OfficialTable) -> str:
    """Name the document of these pages: by what their file names share, else by number."""
    if pages not in table.documents:
        name, number = _common_name(names), len(table.documents) + 1
        taken = not name or name in table.documents.values()
        table.documents[pages] = f"{name or 'document'}-{number}" if taken else name
    return table.documents[pages]


def _common_name(names: list[str]) -> str:
    """Return what the names of a document's pages begin with: "tides" of tides/001.jpg and of tides_page_1.jpg."""
    stems = [re.sub(r"\.\w+$", "", name) for name in names]
    parts = "".join(both[0] for both in takewhile(lambda both: len(set(both)) == 1, zip(*stems, strict=False))).split(
        "/"
    )
    bare = (re.sub(r"[\s_.-]*(?:page|p)?[\s_.-]*\d*$", "", part) for part in reversed(parts))
    return next(filter(None, bare), "")
