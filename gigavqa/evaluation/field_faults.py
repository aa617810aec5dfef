"""Field faults: what stands in place of a field of a record that cannot be read; all others are read and checked."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from gigavqa.evaluation.errors import ColumnError

Value = TypeVar("Value")


@dataclass(frozen=True)
class FieldFault:
    """Why a field cannot be read; one that two fields have is told once."""

    text: str


def read_field(read: Callable[[], Value]) -> Value | FieldFault:
    """Return what is read of a record for a field, or its fault. Raises ColumnError, which is no record's own."""
    try:
        return read()
    except ColumnError:
        raise
    except ValueError as error:
        return FieldFault(str(error))
