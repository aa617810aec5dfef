"""Candidates: selections of annotations with every truth computed, before a question is worded."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import Any, NamedTuple

from gigavqa.construction.annotations import Box

OPTIONS = "options"
"""Field of a program: every answer that may be offered, of which one is the truth."""


@dataclass(frozen=True)
class Candidate:
    """What one question can be about, as data: the program that makes its truth, without a word of the question.

    `program` holds operation and arguments as JSON, `truth` the result; `objects` are the ids of the annotations
    that the truth rests on, `boxes` the evidence in pixels. `balance` names the group in which a build draws truths in
    equal numbers (`count/ship`): all that a text says; without one it is balanced with no other. `wider` names the
    group that is left without what tells nothing of the answer (which region, which two objects), where there is one.
    `offers` are how many of the program's options a build may offer, preferred first; without it all are.
    """

    recipe: str
    image: str
    program: Mapping[str, Any]
    truth: Any
    objects: tuple[str, ...]
    boxes: tuple[Box, ...]
    balance: str
    wider: str = ""
    offers: tuple[int, ...] = ()

    @cached_property
    def id(self) -> str:
        """`<recipe>-<10 hex of its content>`: it does not move when other candidates change, or others are offered."""
        program = {key: value for key, value in self.program.items() if key != OPTIONS or not self.offers}
        content = json.dumps([self.recipe, self.image, program, self.truth, self.objects], sort_keys=True)
        return f"{self.recipe}-{sha256(content.encode()).hexdigest()[:10]}"

    def offering(self, options: Sequence[Any]) -> "Candidate":
        """Return the same candidate with these options alone; one whose offers nobody may choose stays as it is."""
        return replace(self, program={**self.program, OPTIONS: list(options)}) if self.offers else self

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
            "wider": self.wider,
            "offers": self.offers,
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
            line["wider"],
            tuple(line["offers"]),
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
