"""Facts as files tell them, one at a time."""

from collections.abc import Iterator
from typing import Literal, NamedTuple


class EntityText(NamedTuple):
    """What an entity is called and described as; `page` is the title of its page in an encyclopaedia."""

    id: str
    name: str
    description: str = ""
    aliases: tuple[str, ...] = ()
    page: str = ""


class Fact(NamedTuple):
    """A triple. Its object is an entity's id, or a value as it is read aloud: a year, a date, a number, a text."""

    subject: str
    property: str
    object: str
    kind: Literal["item", "value"] = "item"


class LeftOut(NamedTuple):
    """A line, or a statement on it, that is not used: the reason in one word, and a sentence."""

    line: int
    reason: str
    sentence: str


FactStream = Iterator[EntityText | Fact | LeftOut]
