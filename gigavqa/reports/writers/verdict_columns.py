"""Columns of files of verdicts: those of the score frame, what else is known of a response, and a benchmark's own.

They are flat and known before the first row, so that a file is written as the verdicts stream past, and an empty one
has its columns, too. `docs/report.md` lists them.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from gigavqa.evaluation.datasets import Dataset
from gigavqa.evaluation.outcomes import SampleOutcome

_SCHEMA_VERSION = 1  # another one makes rows anew that were kept: decision 0012
"""Version of what whole rows say of an outcome, where their columns do not tell."""

ColumnType = Literal["text", "integer", "number", "boolean", "json", "any"]
"""What a column holds: `json` is JSON text, `any` a text as it is and all else as JSON; both are values in JSONL."""
VerdictFileRow = dict[str, Any]

_REQUEST_COLUMNS: dict[str, ColumnType] = {
    **dict.fromkeys(("job_id", "request_id", "sample_id", "model", "protocol", "condition"), "text"),
    "max_rounds": "integer",
    "repeat": "integer",
}
_FRAME_COLUMNS: dict[str, ColumnType] = {"job": "text", "sample": "text"}
_SOURCES = {"job": "job_id", "sample": "sample_id"}
"""The score frame's names of columns that stand under those of earlier files, too."""
_VERDICT_COLUMNS: dict[str, ColumnType] = {"status": "text", "outcome": "text", "score": "number", "correct": "boolean"}
_RESPONSE_COLUMNS: dict[str, ColumnType] = {
    "question": "text",
    "options": "json",
    "truth": "text",
    "value": "text",
    **_VERDICT_COLUMNS,
    "failure": "text",
    "cut_off": "boolean",
    "overflowed": "boolean",
    "filtered": "boolean",
    "empty": "boolean",
    "closing": "text",
    "closing_value": "text",
    "closing_outcome": "text",
    "closing_agrees": "boolean",
    "tags": "json",
    "parts": "json",
    "rule": "text",
}
_PART_COLUMNS: dict[str, ColumnType] = {
    "number": "integer",
    "part": "text",
    "question": "text",
    "truth": "any",
    "value": "any",
    **{name: kind for name, kind in _VERDICT_COLUMNS.items() if name != "outcome"},
    "tags": "json",
    "notes": "json",
    "boxes": "json",
    "true_boxes": "json",
}


@dataclass(frozen=True)
class VerdictFileLayout:
    """The rows and columns of a file of verdicts.

    `levels` name what samples are grouped by, each a column `group_<level>`; `details` what the benchmark keeps of a
    reply for its report, each a column `detail_<name>` of its type. With `parts`, a row is a judged part of a chat, and
    has no details, else a response. With `texts`, a last column holds the raw text, and so does each of a response's
    parts.
    """

    levels: tuple[str, ...] = ()
    details: tuple[tuple[str, ColumnType], ...] = ()
    parts: bool = False
    texts: bool = False

    @classmethod
    def of(cls, dataset: Dataset, *, parts: bool = False, texts: bool = False) -> "VerdictFileLayout":
        """Return the layout for a data set: the levels of its benchmark, then what else its samples belong to."""
        levels = tuple(dict.fromkeys([*dataset.benchmark.grouping.levels, *dataset.columns.groups]))
        return cls(levels, cls.details_of(dataset.benchmark.details_type), parts, texts)

    @staticmethod
    def details_of(details: type[Any] | None) -> tuple[tuple[str, ColumnType], ...]:
        """Return the names and types of what a benchmark keeps of a reply; nothing where it keeps nothing."""
        return tuple((name, _column_type(hint)) for name, hint in get_type_hints(details).items()) if details else ()

    @cached_property
    def columns(self) -> Mapping[str, ColumnType]:
        """The type of each column, in order."""
        groups: dict[str, ColumnType] = {f"group_{level}": "text" for level in self.levels}
        text: dict[str, ColumnType] = {"text": "text"} if self.texts else {}
        details = {f"detail_{name}": kind for name, kind in self.details}
        own = {**_PART_COLUMNS, **_FRAME_COLUMNS} if self.parts else {**_RESPONSE_COLUMNS, **_FRAME_COLUMNS, **details}
        return {**_REQUEST_COLUMNS, **groups, **own, **text}

    @cached_property
    def digest(self) -> str:
        """Changes with what whole rows hold: with the columns, and with what these say of an outcome."""
        columns = replace(self, parts=False, texts=True).columns
        return hashlib.sha256(json.dumps([_SCHEMA_VERSION, [*columns.items()]]).encode()).hexdigest()[:16]

    def whole_row(self, outcome: SampleOutcome) -> VerdictFileRow:
        """Tell all that rows of a response hold, with a value for every column, None where there is none.

        It is the same whatever the layout's `parts` and `texts`, and JSON holds it, also of what is no number.
        """
        named = (*_REQUEST_COLUMNS, *_FRAME_COLUMNS)
        return {
            **{name: _none_if_empty(getattr(outcome, _SOURCES.get(name, name))) for name in named},
            **{f"group_{level}": _none_if_empty(outcome.groups.get(level)) for level in self.levels},
            **{name: getattr(outcome, name) for name in _RESPONSE_COLUMNS},
            **{f"detail_{name}": getattr(outcome.details, name, None) for name, _ in self.details},
            "text": outcome.text,
            "truth": _none_if_empty(outcome.truth),
            "parts": [part.model_dump(mode="json") for part in outcome.parts],
            "rule": _none_if_empty(outcome.rule),
        }

    def rows(self, whole: VerdictFileRow) -> Iterator[VerdictFileRow]:
        """Yield the rows of one response, of its whole one."""
        parts = whole["parts"] if self.texts else [_without_text(part) for part in whole["parts"]]
        if not self.parts:
            yield self._ordered({**whole, "parts": parts})
            return
        for number, part in enumerate(parts):
            yield self._ordered({**whole, **part, "number": number, "part": part["name"]})

    def _ordered(self, row: VerdictFileRow) -> VerdictFileRow:
        return {name: row[name] for name in self.columns}


def _without_text(part: VerdictFileRow) -> VerdictFileRow:
    return {name: value for name, value in part.items() if name != "text"}


def _none_if_empty(value: Any) -> Any:
    return None if value == "" else value


def _column_type(hint: Any) -> ColumnType:
    """Return the type of a column of such values, or of none: those of no plain type are JSON."""
    kind, *others = _kinds(hint) - {NoneType} or {hint}
    return "json" if others else _PLAIN_TYPES.get(kind, "json")


def _kinds(hint: Any) -> set[Any]:
    """Return the types that a value may be of."""
    if get_origin(hint) is Literal:
        return {type(one) for one in get_args(hint)}
    if get_origin(hint) in (Union, UnionType):
        return {kind for one in get_args(hint) for kind in _kinds(one)}
    return {hint}


_PLAIN_TYPES: Mapping[Any, ColumnType] = {bool: "boolean", int: "integer", float: "number", str: "text"}
