"""Describe faults of values that were checked against a model, in plain words."""

import reprlib
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

_WORDS = {
    "Field required": "is missing",
    "Extra inputs are not permitted": "is not known",
    "Value error, ": "",
    "Input should be a valid integer": "must be a whole number",
    "Input should be a valid ": "must be a ",
    "Input should be ": "must be ",
    "Input should have": "must have",
}
_SAYS_ITS_INPUT = frozenset({"missing", "extra_forbidden", "value_error", "assertion_error"})


def describe_faults(error: ValidationError, *outer: str) -> str:
    """Return every fault with the place of its field, below `outer` places, in one line."""
    return "; ".join(_fault_lines(error, outer))


def describe_fault(detail: Mapping[str, Any]) -> str:
    """Return what is wrong with one value, and what it is."""
    message = describe_rule(detail)
    return message if detail["type"] in _SAYS_ITS_INPUT else f"{message}, not {reprlib.repr(detail['input'])}"


def describe_rule(detail: Mapping[str, Any]) -> str:
    """Return which rule a value breaks, without the value, which may be a secret."""
    message = str(detail["msg"]).partition(", unable to ")[0]
    start = next((start for start in _WORDS if message.startswith(start)), "")
    return _WORDS.get(start, "") + message.removeprefix(start)


def faults_at(faults: Mapping[str, str]) -> ValidationError:
    """Return the error that a validator of a whole model raises to name the fields that are wrong."""
    details = [
        InitErrorDetails(type=PydanticCustomError("value_error", "{said}", {"said": said}), loc=(name,), input=None)
        for name, said in faults.items()
    ]
    return ValidationError.from_exception_data("fields", details)


def _fault_lines(error: ValidationError, outer: tuple[str, ...]) -> Iterator[str]:
    for detail in error.errors(include_url=False):
        place = ".".join((*outer, *map(str, detail["loc"])))
        yield f"{place}: {describe_fault(detail)}" if place else describe_fault(detail)
