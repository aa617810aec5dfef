"""What the simulated engine writes where it is held to a JSON schema: the smallest value that is allowed."""

from typing import Any

import pytest
from pydantic import BaseModel, Field

from gigavqa.workers.engines.simulation.schemas import smallest_value


class Part(BaseModel):
    """A part of a record."""

    name: str
    kind: str | None = None


class Record(BaseModel):
    """A record with most of what schemas of records have."""

    parts: list[Part] = Field(min_length=2)
    number: int = Field(ge=3)
    nothing: float | None
    more: dict[str, str]
    parent: "Record | None" = None


def test_it_is_what_the_schema_allows() -> None:
    """References, alternatives, fewest items and bounds are kept; what is not required is left out."""
    value = smallest_value(Record.model_json_schema())
    assert value["parts"] == [{"name": ""}, {"name": ""}]
    Record.model_validate(value)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"const": 7}, 7),
        ({"enum": ["b", "a"]}, "b"),
        ({"oneOf": [{"type": "null"}, {"type": "string"}]}, None),
        ({"type": ["boolean", "null"]}, False),
        ({"properties": {"a": {"type": "string"}}, "required": ["a"]}, {"a": ""}),
        ({"type": "array", "items": {"type": "string"}}, []),
    ],
)
def test_each_form_has_one(schema: Any, value: Any) -> None:
    """Constants and the first of what is listed."""
    assert smallest_value(schema) == value


def test_a_schema_without_an_end_has_none() -> None:
    """The error says so."""
    schema = {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]}
    with pytest.raises(ValueError, match="contains itself without an end"):
        smallest_value(schema)
