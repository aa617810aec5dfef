"""Turns records into the fields of questions: the paper's shape as JSON, leniently, and the official table's rows."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from gigavqa.benchmarks.mmcr.official_table import SUBJECT, TABLE_COLUMNS, is_official, official_fields
from gigavqa.benchmarks.mmcr.samples import NO_SUBJECT, MMCRSample
from gigavqa.benchmarks.mmcr.taxonomy import LETTERS, read_question_type
from gigavqa.evaluation.benchmark import RecordContext
from gigavqa.evaluation.field_faults import read_field
from gigavqa.evaluation.records import Record, id_of

DocumentPages = Mapping[str, Mapping[str, Any]]
"""What `documents.json` says of documents: their pages and subject, once for all their questions."""
_LETTERED = re.compile(r"\(?([A-Z])[.):]\s*(\S.*)", re.DOTALL)
_FIELDS_READ = frozenset(
    {"id", "document", "subject", "type", "category", "pages", "images", "question", "options", "answer", "hint",
     "evidence", "rotations"}
)  # fmt: skip
FIELDS = tuple(sorted(_FIELDS_READ | TABLE_COLUMNS | {SUBJECT}))
"""What is read of records of either shape; all else is kept with their questions."""


def question_fields(record: Record, origin: RecordContext, documents: DocumentPages) -> Iterator[dict[str, Any]]:
    """Yield the fields of the question in a record, if it is one; raises ValueError naming the field that is wrong."""
    if not isinstance(record.value, dict):
        raise ValueError(f"a record must be a JSON object, or a row, not {type(record.value).__name__}")
    if is_official(record):
        yield from official_fields(record, origin)
    else:
        yield _fields(record, origin, documents)


def _fields(record: Record, origin: RecordContext, documents: DocumentPages) -> dict[str, Any]:
    value = {name: inner for name, inner in record.value.items() if inner is not None}
    document = documents.get(str(value.get("document", "")), {})
    options = read_options(value.get("options"))
    pages = value.get("pages", value.get("images", document.get("pages")))
    fields = {
        "id": id_of(str(value.get("id", f"{origin.stem}-{record.index + 1}"))),
        "document": value.get("document", ""),
        "subject": value.get("subject") or document.get("subject") or NO_SUBJECT,
        "type": read_field(lambda: _type(value)),
        "images": read_field(lambda: read_pages(pages, origin)),
        "question": value.get("question", ""),
        "options": options,
        "answer": read_field(lambda: read_answer(value.get("answer", ""), options)),
        "hint": value.get("hint", ""),
        "evidence": value.get("evidence", {}),
        "rotations": value.get("rotations", ()),
    }
    return {**fields, "extra": {name: inner for name, inner in value.items() if name not in _FIELDS_READ}}


def _type(value: Mapping[str, Any]) -> str:
    if "type" not in value and "category" not in value:
        raise ValueError("type: is missing")
    return read_question_type(str(value.get("type", value.get("category"))))


def read_options(value: Any) -> Any:
    """Return the options by their letters, also of a list, whose texts may begin with them."""
    if not isinstance(value, list) or len(value) > len(LETTERS) or not all(isinstance(one, str) for one in value):
        return value
    found = [_LETTERED.fullmatch(text) for text in value]
    bare = [match[2] for match, letter in zip(found, LETTERS, strict=False) if match and match[1] == letter]
    return dict(zip(LETTERS, bare if len(bare) == len(value) else value, strict=False))


def read_answer(value: Any, options: Any) -> str:
    """Return the letter of an answer like "B" or "B.

    Yellow."; raises ValueError where the text is not that option's.
    """
    text = str(value).strip()
    written = _LETTERED.fullmatch(text)
    if written and isinstance(options, dict) and written[1] in options:
        letter, said = written[1], str(options[written[1]])
        if _comparable_text(said) != _comparable_text(written[2]):
            raise ValueError(f"answer '{text}' does not fit option {letter}, '{said}'")
        return letter
    return text.rstrip(".)") if len(text) <= len("A.") else text


def _comparable_text(text: str) -> str:
    return " ".join(text.lower().split()).rstrip(".")


def read_pages(value: Any, origin: RecordContext) -> tuple[str, ...]:
    """The pages as the data set names them: of a list, of a folder, or of a document file, which an import renders.

    Raises ValueError naming the page or folder that is not there.
    """
    if value is None:
        raise ValueError("pages: is missing; a list of images, a folder of them, or a PDF")
    if isinstance(value, str) and not _is_image(value):
        pages = origin.pages(_require_inside(value, "pages"))
        if pages == () and value.lower().endswith(".pdf"):
            told = "which `gigavqa dataset import` renders from the folder of the images (--images)"
            raise ValueError(f"pages: there is no document '{value}', {told}")
        if pages == ():
            raise ValueError(f"pages: the folder {value} holds no image")
        return pages or ()
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError("pages: must be a list of images' names, a folder, or a PDF")
    if not names:
        raise ValueError("pages is empty")
    for name in names:
        _require_page(_require_inside(name, "pages"), origin)
    return tuple(names)


def _is_image(name: str) -> bool:
    return bool(re.search(r"\.(?:jpe?g|png|webp|tiff?|jp2)$", name, re.IGNORECASE))


def _require_inside(name: str, field: str) -> str:
    parts = name.replace("\\", "/").split("/")
    if not name or name.startswith(("/", "\\", "~")) or ".." in parts or ":" in parts[0]:
        raise ValueError(f"{field} '{name}' does not lie in the data set's folder")
    return name


def _require_page(page: str, origin: RecordContext) -> None:
    """Raise ValueError for a page whose folder is at hand without it."""
    folder, _, name = page.rpartition("/")
    key = f"folder {folder}"
    if key not in origin.seen:
        origin.seen[key] = origin.pages(folder)
    known = origin.seen[key]
    if known is not None and name not in {one.rpartition("/")[2] for one in known}:
        raise ValueError(f"pages: page '{page}' does not exist")


def record_of(question: MMCRSample) -> dict[str, Any]:
    """Write a question as a record that reads as the same question."""
    evidence = question.evidence.model_dump(mode="json")
    said: dict[str, Any] = {
        "id": question.id,
        "document": question.document,
        "subject": "" if question.subject == NO_SUBJECT else question.subject,
        "type": question.type,
        "pages": list(question.images),
        "question": question.question,
        "options": question.options,
        "answer": question.answer,
        "hint": question.hint,
        "evidence": {name: found for name, found in evidence.items() if found},
        "rotations": list(question.rotations),
    }
    return {**question.extra, **{name: value for name, value in said.items() if value or name == "answer"}}
