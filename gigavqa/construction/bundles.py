"""Bundles: objects of one category whose attributes have certain values, under a name: "adults riding bicycles"."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gigavqa.construction.annotations import Annotation, attribute_text, is_recorded
from gigavqa.construction.errors import BuildError


@dataclass(frozen=True)
class Bundle:
    """A name for several, their category, and for each attribute the values that belong to it."""

    label: str
    category: str
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def holds(self, one: Annotation) -> bool | None:
        """Return whether an object of its category belongs to it; None where an attribute is not recorded."""
        recorded = {name: attribute_text(value) for name, value in one.attributes.items() if name in self.values}
        if all(recorded.get(name) in values for name, values in self.values.items()):
            return True
        told = {name: text for name, text in recorded.items() if is_recorded(text)}
        if any(text not in self.values[name] for name, text in told.items()):
            return False
        return None

    def document(self) -> dict[str, Any]:
        """Return the bundle as JSON."""
        values = {name: list(values) for name, values in self.values.items()}
        return {"label": self.label, "category": self.category, "values": values}


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    label: str = Field(min_length=1, pattern=r"^[^_\n]+$")
    category: str
    attributes: dict[str, str | list[str]] = {}


def read_bundles(path: Path, known: Mapping[str, Mapping[str, Sequence[str]]]) -> tuple[Bundle, ...]:
    """Read the `[[bundles]]` of a TOML file; `known` are categories with their attributes, and the values of each.

    Raises BuildError naming bundle and field, for what nothing is annotated with, too.
    """
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8")).get("bundles", [])
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BuildError(f"{path}: cannot be read as TOML: {error}") from error
    if not isinstance(entries, list) or not entries:
        raise BuildError(
            f'{path}: has no [[bundles]]; give each a label, a category, and attributes = {{age = "adult"}}'
        )
    bundles = tuple(_bundle(path, number, entry, known) for number, entry in enumerate(entries, start=1))
    labels = [bundle.label.casefold() for bundle in bundles]
    if twice := next((label for label in labels if labels.count(label) > 1), ""):
        raise BuildError(f"{path}: two bundles are called '{twice}'; name them apart")
    return bundles


def _bundle(path: Path, number: int, entry: Any, known: Mapping[str, Mapping[str, Sequence[str]]]) -> Bundle:
    where = f"{path}: bundle {number}"
    try:
        read = _Entry.model_validate(entry)
    except ValidationError as error:
        wrong = error.errors()[0]
        raise BuildError(f"{where}: {'.'.join(map(str, wrong['loc']))}: {wrong['msg']}") from error
    if read.category not in known:
        raise BuildError(f"{where}: category: no annotation is of '{read.category}': {', '.join(known)}")
    values = {name: (told,) if isinstance(told, str) else tuple(told) for name, told in read.attributes.items()}
    for name, wanted in values.items():
        there = known[read.category].get(name, ())
        if missing := [value for value in wanted if value not in there]:
            told = f"no {read.category} has '{missing[0]}'"
            raise BuildError(
                f"{where}: attributes.{name}: {told}: {', '.join(there) or 'its values do not sort objects'}"
            )
    return Bundle(read.label, read.category, values)
