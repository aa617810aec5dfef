"""Candidates: selections of annotations with every truth computed, before a question is worded."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any, NamedTuple

from gigavqa.construction.annotations import Box


@dataclass(frozen=True)
class Candidate:
    """What one question can be about, as data: the program that makes its truth, without a word of the question.

    `program` holds operation and arguments as JSON, `truth` the result; `objects` are the ids of the annotations
    that the truth rests on, `boxes` the evidence in pixels. `balance` names the group in which a build draws truths in
    equal numbers (`count/ship`); without one it is balanced with no other.
    """

    recipe: str
    image: str
    program: Mapping[str, Any]
    truth: Any
    objects: tuple[str, ...]
    boxes: tuple[Box, ...]
    balance: str

    @cached_property
    def id(self) -> str:
        """`<recipe>-<10 hex of its content>`: it does not move when other candidates change."""
        content = json.dumps([self.recipe, self.image, self.program, self.truth, self.objects], sort_keys=True)
        return f"{self.recipe}-{sha256(content.encode()).hexdigest()[:10]}"

    def line(self) -> dict[str, Any]:
        """Return the candidate as the JSON of its line."""
        return {
            "id": self.id,
            "recipe": self.recipe,
            "image": self.image,
            "program": self.program,
            "truth": self.truth,
            "objects": self.objects,
            "boxes": self.boxes,
            "balance": self.balance,
        }

    @classmethod
    def from_line(cls, line: Mapping[str, Any]) -> "Candidate":
        """Return the candidate of a line."""
        return cls(
            line["recipe"],
            line["image"],
            line["program"],
            line["truth"],
            tuple(line["objects"]),
            tuple(Box(*box) for box in line["boxes"]),
            line["balance"],
        )


class Rejection(NamedTuple):
    """A selection that no question is made of: its reason of the recipe's closed list, and what it was about."""

    recipe: str
    image: str
    reason: str
    about: str


class QuestionText(NamedTuple):
    """A candidate in words. `options` are empty for numbers; `answer` is an option's text, `yes`, `no` or a number.

    Where `has_fixed_order`, each letter belongs to an option, and letters are not balanced.
    """

    question: str
    type: str
    answer: str | float
    options: Sequence[str] = ()
    has_fixed_order: bool = False
