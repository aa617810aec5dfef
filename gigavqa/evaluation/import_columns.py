"""The columns of an import's records: what they are called, and which are missing."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

from gigavqa.evaluation.benchmark import Benchmark
from gigavqa.evaluation.capabilities import RecordLayout
from gigavqa.evaluation.errors import Problem
from gigavqa.evaluation.image_lookup import IMAGE_SUFFIXES, LONGEST_NAME
from gigavqa.evaluation.records import Record
from gigavqa.runtime.suggestions import did_you_mean

_MOST_FIELDS = 24
"""Fields that an error lists; a benchmark names the usual ones first."""


class ImportColumns:
    """Gives the columns of records the names that were asked for, and notes which there were.

    With a `stem`, records without an id have one of it and their number. `decimal` is the decimal sign of numbers that
    are texts, where somebody said so.
    """

    def __init__(self, names: Mapping[str, str], stem: str | None = None, decimal: str | None = None) -> None:
        self.names = names
        self._stem = stem
        self._decimal = decimal
        self._called = {called: name for name, called in names.items()}
        self.seen: dict[str, bool] = {}
        """The columns that there are, and whether one names a picture."""

    def __call__(self, record: Record) -> Record:
        """Return the record with its columns renamed; a column that already has such a name gives way."""
        if self._decimal:
            record = replace(record, decimal=self._decimal, decimal_told=True)
        value = record.value
        if self._stem and isinstance(value, dict):
            value = {"id": f"{self._stem}-{record.index}", **value}
            record = replace(record, value=value)
        if not isinstance(value, dict):
            return record
        for name in record.header or value:
            self.seen[name] = self.seen.get(name, False) or _names_an_image(value.get(name))
        if not self.names:
            return record
        renamed = {self.names[name]: inner for name, inner in value.items() if name in self.names}
        kept = {name: inner for name, inner in value.items() if name not in self.names and name not in renamed}
        return replace(record, value={**kept, **renamed}, called=self._called)


def _names_an_image(value: Any) -> bool:
    return isinstance(value, str) and len(value) < LONGEST_NAME and value.lower().endswith(IMAGE_SUFFIXES)


def check_columns(benchmark: Benchmark[Any, Any], columns: ImportColumns, source: str) -> Iterator[Problem]:
    """Say which of the names that were asked for there are not, or are two."""
    fields = RecordLayout.of(benchmark).fields
    for name, called in columns.names.items():
        told = f"--map {name}={called}"
        if name not in columns.seen:
            turned = f": is {called}={name} meant?" if called in columns.seen else did_you_mean(name, columns.seen)
            there = ", ".join(columns.seen) or "none"
            yield Problem(source, None, None, f"{told}: there is no column '{name}'{turned or ';'} there are {there}")
        if fields and not any(fnmatchcase(called, field) for field in fields):
            close = did_you_mean(called, fields)
            known = ", ".join(fields[:_MOST_FIELDS])
            yield Problem(source, None, None, f"{told}: there is no field '{called}'{close or ';'} there are {known}")
        if others := [other for other, field in columns.names.items() if field == called and other != name]:
            yield Problem(source, None, None, f"{told}: column '{others[0]}' is called so, too; name one of them")


def describe_missing_image(benchmark: Benchmark[Any, Any], columns: ImportColumns) -> str:
    """Say that a record names no image, and which column may name it."""
    if not RecordLayout.of(benchmark).general:
        return "names no image, and no single image has its name"
    likely = next((name for name, is_picture in columns.seen.items() if is_picture), "COLUMN")
    there = ", ".join(columns.seen)
    return (
        f"is missing, and no single image has the id's name or the file's; the columns are {there}; "
        f"`--map {likely}=image` says which one names it"
    )
