"""Reads entities in the JSON of Wikidata's dumps: labels, aliases, and statements by the best rank."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gigavqa.construction.vistahop.knowledge.errors import BadFactError
from gigavqa.construction.vistahop.knowledge.facts import EntityText, Fact

_ITEM = re.compile(r"Q[1-9]\d{0,11}")
_TIME = re.compile(r"([+-])(\d{1,16})-(\d\d)-(\d\d)T")
_YEAR, _MONTH, _DAY = 9, 10, 11
_UNUSED = frozenset({"external-id", "url", "commonsMedia", "globe-coordinate", "math", "geo-shape", "tabular-data"})
"""Kinds of values that no question asks for: they are no facts that people tell, and are passed over."""
_GREGORIAN = "Q1985727"


def is_entity(line: Mapping[str, Any]) -> bool:
    """Return whether a line is an entity of a dump."""
    return "claims" in line or line.get("type") in ("item", "property")


def read_entity(line: Mapping[str, Any], languages: Sequence[str]) -> Iterator[EntityText | Fact | BadFactError]:
    """Yield the texts of an item and its facts; statements that are not used come as errors. Raises BadFactError."""
    key = line.get("id")
    if line.get("type", "item") != "item":
        raise BadFactError("no-item", f"'{str(key)[:40]}' is no item: of properties the table is used")
    if not isinstance(key, str) or not _ITEM.fullmatch(key):
        raise BadFactError("id", f"id: '{str(key)[:40]}' is none of an item, such as Q42")
    yield _texts(key, line, languages)
    claims = line.get("claims") or {}
    if not isinstance(claims, Mapping):
        raise BadFactError("claims", f"claims of {key}: is no object of statements by property")
    for name, statements in claims.items():
        for statement in _best(statements):
            try:
                if fact := _fact(key, name, statement["mainsnak"]):
                    yield fact
            except BadFactError as error:
                yield error
            except (KeyError, TypeError, AttributeError, ValueError) as error:
                yield BadFactError("statement", f"claims.{name} of {key}: {type(error).__name__}: {str(error)[:80]}")


def _texts(key: str, line: Mapping[str, Any], languages: Sequence[str]) -> EntityText:
    def said(field: str) -> Any:
        found = line.get(field) or {}
        return next((found[code] for code in languages if isinstance(found, Mapping) and code in found), None)

    label, description, aliases = (
        said("labels"),
        said("descriptions"),
        said("aliases"),
    )
    links = line.get("sitelinks") or {}
    page = next((links[f"{code}wiki"] for code in languages if f"{code}wiki" in links), None)
    return EntityText(
        key,
        _text(label),
        _text(description),
        tuple(_text(alias) for alias in aliases or () if _text(alias)),
        str(page.get("title", "")) if isinstance(page, Mapping) else "",
    )


def _text(found: Any) -> str:
    value = found.get("value") if isinstance(found, Mapping) else found
    return value.strip() if isinstance(value, str) else ""


def _best(statements: Any) -> list[Any]:
    """Return the statements that Wikidata itself takes for true: preferred ones, else all but deprecated ones."""
    if not isinstance(statements, list):
        return []
    ranked = [(each.get("rank", "normal") if isinstance(each, Mapping) else "normal", each) for each in statements]
    preferred = [each for rank, each in ranked if rank == "preferred"]
    return preferred or [each for rank, each in ranked if rank == "normal"]


def _fact(subject: str, name: str, snak: Mapping[str, Any]) -> Fact | None:
    """Return the fact of a statement; None for a kind of value that is passed over. Raises BadFactError."""
    if snak.get("snaktype", "value") != "value":
        raise BadFactError("no-value", f"claims.{name} of {subject}: the value is {snak['snaktype']}")
    if snak.get("datatype") in _UNUSED:
        return None
    kind, value = snak["datavalue"]["type"], snak["datavalue"]["value"]
    if kind == "wikibase-entityid":
        found = value.get("id") or f"Q{value['numeric-id']}"
        return Fact(subject, name, found) if _ITEM.fullmatch(found) else None  # a property, a lexeme
    readers = {"time": _time, "quantity": _quantity, "monolingualtext": _monolingual, "string": _string}
    text = readers[kind](subject, name, value) if kind in readers else ""
    return Fact(subject, name, text, "value") if text else None


def _monolingual(_subject: str, _name: str, value: Mapping[str, Any]) -> str:
    return str(value["text"]).strip()


def _string(_subject: str, _name: str, value: Any) -> str:
    return str(value).strip()


def _time(subject: str, name: str, value: Mapping[str, Any]) -> str:
    """Return a year, a month or a day. Raises BadFactError for what is less precise, B.C., or not Gregorian."""
    found, precision = _TIME.match(value["time"]), value["precision"]
    if (
        not found
        or precision < _YEAR
        or found[1] == "-"
        or not value.get("calendarmodel", _GREGORIAN).endswith(_GREGORIAN)
    ):
        raise BadFactError(
            "time",
            f"claims.{name} of {subject}: {value['time'][:40]} at precision {precision} is no Gregorian year A.D.",
        )
    year, month, day = str(int(found[2])), found[3], found[4]
    parts = {_YEAR: (year,), _MONTH: (year, month)}.get(precision, (year, month, day))
    return "-".join(parts)


def _quantity(subject: str, name: str, value: Mapping[str, Any]) -> str:
    """Return a plain number. Raises BadFactError for one of a unit, whose name a dump of a subset need not have."""
    if str(value.get("unit", "1")) != "1":
        raise BadFactError("unit", f"claims.{name} of {subject}: a number of {str(value['unit'])[-20:]} is left out")
    return str(value["amount"]).removeprefix("+")
