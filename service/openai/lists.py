"""Lists of OpenAI's objects, a page at a time."""

from collections.abc import Sequence
from typing import Generic, Literal, Self, TypeVar

from pydantic import BaseModel


class ListItem(BaseModel):
    """An object that a list can be read on behind."""

    id: str


ObjectT = TypeVar("ObjectT", bound=ListItem)


class ObjectList(BaseModel, Generic[ObjectT]):
    """One page: its objects, the ids of the first and the last one, and whether there are more."""

    object: Literal["list"] = "list"
    data: list[ObjectT]
    first_id: str | None
    last_id: str | None
    has_more: bool

    @classmethod
    def of(cls, data: Sequence[ObjectT], *, more: bool) -> Self:
        """Return a page of these objects."""
        first, last = (data[0].id, data[-1].id) if data else (None, None)
        return cls(data=list(data), first_id=first, last_id=last, has_more=more)
