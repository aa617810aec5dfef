"""Files of triples that the tests write."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

HEAD = "subject\tproperty\tobject\tsubject_label\tobject_label\tkind\n"


def tsv(path: Path, rows: Iterable[tuple[str, ...]]) -> Path:
    """Write a plain table."""
    path.write_text(HEAD + "".join("\t".join([*row, *[""] * (6 - len(row))]) + "\n" for row in rows))
    return path


def item(key: str, label: str, claims: dict[str, list[Any]], **more: Any) -> dict[str, Any]:
    """An entity as Wikidata's dump has it; values of `claims` are ids, or whole statements."""
    told = {
        name: [value if isinstance(value, dict) else statement(entity(value)) for value in values]
        for name, values in claims.items()
    }
    return {"type": "item", "id": key, "labels": {"en": {"language": "en", "value": label}}, "claims": told, **more}


def statement(value: dict[str, Any], rank: str = "normal", **snak: Any) -> dict[str, Any]:
    """A statement of a value."""
    return {"mainsnak": {"snaktype": "value", "datavalue": value, **snak}, "type": "statement", "rank": rank}


def entity(key: str) -> dict[str, Any]:
    """A value that is an entity."""
    return {"type": "wikibase-entityid", "value": {"entity-type": "item", "id": key}}


def time(text: str, precision: int) -> dict[str, Any]:
    """A value that is a date."""
    model = "http://www.wikidata.org/entity/Q1985727"
    return {"type": "time", "value": {"time": text, "precision": precision, "calendarmodel": model}}


def dump(path: Path, entities: Iterable[Any]) -> Path:
    """Write a dump, as Wikidata's are: a list with one entity a line."""
    lines = [each if isinstance(each, str) else json.dumps(each) for each in entities]
    path.write_text("[\n" + ",\n".join(lines) + "\n]\n")
    return path
