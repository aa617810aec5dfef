"""Names of columns in custom data sets, and the fields of a question that they give.

Names are compared without case, and with spaces and hyphens as underscores. Of several names of one field, the first
in the list that a record has is taken.
"""

import ast
import json
import re
from collections.abc import Iterator, Mapping
from math import isnan
from typing import Any

from gigavqa.evaluation.records import Record

COLUMN_NAMES: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "index", "idx", "question_id", "questionid", "qid", "sample_id", "uid"),
    "images": (
        "images", "image", "image_path", "image_paths", "img", "imgs", "img_path", "picture", "pictures", "file_name",
        "filename", "image_file", "image_name", "file", "pages", "bytes",
    ),
    "question": ("question", "query", "prompt", "instruction", "text"),
    "hint": ("hint", "context"),
    "options": (
        "options", "choices", "candidates", "multi_choice_options", "multiple_choice_options", "mc_options",
        "mcq_options", "option_list", "options_list", "list_of_options", "choice_list", "choices_list",
        "answer_options", "answer_choices",
    ),
    "answer": (
        "answer", "answers", "label", "gt", "ground_truth", "gt_answer", "correct_answer", "correct_option", "target",
        "answer_key", "answerkey", "gold", "gold_answer", "gold_label", "gt_label", "correct_choice", "correct_label",
        "correct_letter", "answer_letter", "answer_option", "answer_label", "groundtruth", "reference_answer",
    ),
    "answer_index": (
        "answer_index", "answer_idx", "correct_index", "correct_idx", "correct_choice_idx", "correct_choice_index",
        "correct_option_idx", "correct_option_index", "correct_answer_idx", "correct_answer_index", "gold_index",
        "gold_idx", "gt_index", "gt_idx", "label_index", "label_idx", "target_index", "target_idx",
    ),
    "answer_from_1": ("answer_from_1",),
    "answer_text": ("answer_text",),
    "type": ("question_type", "answer_type", "kind", "type"),
    "tolerance": ("tolerance", "absolute_tolerance"),
    "relative_tolerance": ("relative_tolerance",),
    "category": ("category", "categories", "type", "task", "topic", "subject", "domain", "class", "capability"),
    "groups": ("groups",),
    "boxes": ("boxes", "box", "bbox", "bboxes", "evidence_boxes"),
    "regions": ("regions", "region", "evidence_regions"),
    "evidence": ("evidence",),
}  # fmt: skip
"""The fields of a question, and what files call them."""

GROUPS = ("l2_category", "subcategory", "split", "difficulty", "level", "source", "subset", "subtask", "subfield")
"""Columns that sort questions beside their category, and are reported by."""
IGNORED = "ignored"
_COMMON_FIELDS = (
    "image", "question", "options", "answer", "category", "hint", "id", "type", "answer_index", "answer_from_1",
    "answer_text", "tolerance", "relative_tolerance", "group_*", "boxes", "regions", "option_*", "image_*", IGNORED,
)  # fmt: skip
FIELDS = tuple(dict.fromkeys((*_COMMON_FIELDS, *(name for names in COLUMN_NAMES.values() for name in names))))
"""What `--map` may call a column: * stands for a letter or number, or for what a group is called."""
REQUIRED_COLUMNS = (
    *COLUMN_NAMES["options"],
    "option[_0-9]*",
    "choice[_0-9]*",
    "a",
    "b",
    "answer",
    "answers",
    "correct_answer",
    "ground_truth",
)
"""Names, or patterns of them, without which a question is another one."""
_LONGEST_GROUP = 100


class RecordColumns:
    """One record's columns, from which fields are taken; what nobody takes is left over."""

    def __init__(self, value: Mapping[str, Any], record: Record | None = None) -> None:
        self._record = record
        self._there = tuple(value)
        self._left = {name: inner for name, inner in value.items() if not _is_empty(inner)}
        self._known: dict[str, str] = {}
        for name in self._left:
            self._known.setdefault(plain_name(name), name)

    def all(self, field: str) -> Iterator[tuple[str, Any]]:
        """Yield the columns that a field may be called, each with its own name, without taking them."""
        for known in COLUMN_NAMES[field]:
            if (name := self._known.get(known)) in self._left:
                yield name, self._left[name]

    def called(self, name: str) -> str:
        """Return the file's own name of a column, where it was given another one."""
        return self._record.name_of(name) if self._record else name

    def missing(self, field: str, likely: str = "COLUMN") -> str:
        """Say that a field is missing, or only empty here, and which columns there are."""
        if empty := self.empty(field):
            return f"{empty}: is empty here"
        there = self._names_there()
        return (
            f"{field}: is missing; the columns are {', '.join(there)}; `--map {likely}={field}` says which one holds it"
        )

    def empty(self, field: str) -> str:
        """Return the column of a field that has nothing here; nothing where there is no such column."""
        called = self._record.called if self._record else {}
        own = {plain_name(self.called(known)) for known in COLUMN_NAMES[field]}
        others = {name for field_of, name in called.items() if plain_name(field_of) not in COLUMN_NAMES[field]}
        there = (name for name in self._names_there() if name not in others)
        return next((name for name in there if plain_name(name) in own), "")

    def _names_there(self) -> tuple[str, ...]:
        header = self._record.header if self._record else ()
        return header or tuple(map(self.called, self._there))

    def first(self, field: str) -> tuple[str, Any]:
        """Take the first column of a field: its own name and its value, which is None where there is none."""
        name, value = next(self.all(field), (field, None))
        self.drop(name)
        return name, value

    def named(self, pattern: str) -> dict[str, Any]:
        """Take the columns whose plain names match, by what the pattern's group matches."""
        found = {match[1]: name for known, name in self._known.items() if (match := re.fullmatch(pattern, known))}
        return {key: self._left.pop(name) for key, name in found.items() if name in self._left}

    @property
    def plain_names(self) -> frozenset[str]:
        """The names of what is left, as they are compared."""
        return frozenset(known for known, name in self._known.items() if name in self._left)

    def drop(self, name: str) -> None:
        """Take a column away."""
        self._left.pop(name, None)

    def groups(self) -> dict[str, str]:
        """Take the columns that sort a question, whatever its category is."""
        names = [name for known, name in self._known.items() if known in GROUPS or known in COLUMN_NAMES["category"]]
        found = {name: text_of(self._left[name]) for name in names if name in self._left}
        short = {name: text for name, text in found.items() if text and len(text) <= _LONGEST_GROUP}
        for name in short:
            self.drop(name)
        return short

    def left(self) -> dict[str, Any]:
        """Return what nobody took, as JSON can say it; bytes are left out."""
        return {name: _plain_value(value) for name, value in self._left.items() if not isinstance(value, bytes)}


def _is_empty(value: Any) -> bool:
    return value is None or value == "" or (isinstance(value, float) and isnan(value))


def plain_name(name: str) -> str:
    """Return a column's name as names are compared."""
    return re.sub(r"[\s_\-]+", "_", str(name).strip().lower())


def text_of(value: Any) -> str:
    """Return a value as a text: whole floats without their point; nothing for what is none, such as a list."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip() if isinstance(value, str | int | float) else ""


def parse_list(value: Any) -> Any:
    """Return the list that a text writes, as JSON or as Python does; any other value as it is."""
    text = value.strip() if isinstance(value, str) else ""
    if text[:1] + text[-1:] not in ("[]", "{}"):
        return value
    for read in (json.loads, ast.literal_eval):
        try:
            return read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    return value


def _plain_value(value: Any) -> Any:
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return str(value)
    return value
