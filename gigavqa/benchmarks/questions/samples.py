"""One question of anybody's own: pictures, how it is to be answered, and the truths that count."""

from collections.abc import Iterator
from math import isfinite
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat, NonNegativeInt, model_validator

from gigavqa.evaluation import samples as host

AnswerKind = Literal["choice", "choices", "yes_no", "number", "text", "open"]
"""How a question is answered: one of its options, several, yes or no, a number, a word or short phrase, any text."""
LONGEST_SHORT = 80
"""Characters of a truth at most, for a question to be one with a short answer."""
LETTERS_JOINT = ", "
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
NO_CATEGORY = "no category"


class EvidenceRegion(BaseModel):
    """A region of one of the sample's images: `x,y,w,h` in level-0 pixels, or `pct:x,y,w,h`; `image` counts from 0."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    image: NonNegativeInt = 0
    region: str


class Question(host.Sample):
    """One question with the answers that count as right, each as a text.

    `answers` holds one option's letter, all letters of a choice of several, "yes" or "no", one number, or any number of
    equally right texts; without any the truth is not known. Of an open question they are what a reader may compare
    with. A number is right that differs by at most `tolerance`, or by at most `relative_tolerance` times the truth.
    `lettered` tells that truths are meant as they are written, single letters, too.
    """

    kind: AnswerKind
    answers: tuple[str, ...] = ()
    tolerance: NonNegativeFloat = 0.0
    relative_tolerance: NonNegativeFloat = 0.0
    hint: str = ""
    category: str = NO_CATEGORY
    sorted_by: dict[str, str] = Field(default={}, description="further groups, by the name of what sorts them")
    evidence: tuple[EvidenceRegion, ...] = ()
    lettered: bool = False

    @property
    def truth(self) -> str:
        """The right answers; of a choice of several, all their letters."""
        return (LETTERS_JOINT if self.kind == "choices" else " | ").join(self.answers)

    @property
    def scored(self) -> bool:
        """Whether rules can tell if a reply is right."""
        return bool(self.answers) and self.kind != "open"

    @property
    def groups(self) -> dict[str, str]:
        """Category, and whatever else sorts the question."""
        return {"category": self.category, **self.sorted_by}

    @property
    def chance(self) -> float:
        """The share of guesses that are right: one in as many as there are options, one in two for yes or no, else
        never.

        Where several letters are asked for, a guess is one of all sets but the empty one.
        """
        if self.kind == "choice" and self.options:
            return 1 / len(self.options)
        if self.kind == "choices" and self.options:
            return 1 / float(2 ** len(self.options) - 1)
        return 0.5 if self.kind == "yes_no" else 0.0

    @model_validator(mode="after")
    def _fits(self) -> "Question":
        if faults := [*self._faults_of_answers(), *self._faults_of_evidence()]:
            raise ValueError("; ".join(faults))
        return self

    def _faults_of_answers(self) -> Iterator[str]:
        if self.kind in ("choice", "choices"):
            letters = list(self.options or ())
            if len(letters) < 2 or letters != list(LETTERS[: len(letters)]):
                yield f"options must be two or more, lettered without a gap; there are {letters or 'none'}"
            elif self.kind == "choice":
                yield from self._faults_of_one(letters)
            elif list(self.answers) != [letter for letter in letters if letter in self.answers]:
                yield f"answer: {', '.join(self.answers)} are no letters of the options in their order"
        elif self.kind == "yes_no":
            yield from self._faults_of_one(["yes", "no"])
        elif self.kind == "number" and self.answers and not _is_number(self.answers[0]):
            yield f"answer '{self.answers[0]}' is no number"

    def _faults_of_one(self, known: list[str]) -> Iterator[str]:
        if len(self.answers) > 1:
            yield f"answer: {', '.join(self.answers)} are several, and only one can be right"
        elif self.answers and self.answers[0] not in known:
            yield f"answer '{self.answers[0]}' is none of {', '.join(known)}"

    def _faults_of_evidence(self) -> Iterator[str]:
        if beyond := [one.image for one in self.evidence if self.images and one.image >= len(self.images)]:
            yield f"evidence: image {beyond[0]} is named, and there are {len(self.images)}, counted from 0"


def _is_number(text: str) -> bool:
    try:
        return isfinite(float(text))
    except ValueError:
        return False
