"""Base classes of everything that crosses between rooms."""

from collections.abc import Sized

from pydantic import BaseModel, ConfigDict


class Contract(BaseModel):
    """Base of everything that crosses between rooms."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def is_none(value: object) -> bool:
    """Return whether a field is left out of JSON: it holds nothing."""
    return value is None


def is_false(value: bool) -> bool:
    """Return whether a field is left out of JSON: it does not hold."""
    return not value


def is_empty(value: Sized) -> bool:
    """Return whether a field is left out of JSON: it holds no items."""
    return not value
