"""One question about a document whose pages are images: options, the right letter, and where its evidence stands."""

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, PositiveInt, field_validator, model_validator

from gigavqa.benchmarks.mmcr.taxonomy import LETTERS, MOST_OPTIONS, QuestionType, source_of
from gigavqa.evaluation import samples as host

NO_SUBJECT = "no subject"


class EvidencePages(BaseModel):
    """The place of the answer: pages counted from 1, and what on them, in words ("figure 1")."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    pages: tuple[PositiveInt, ...] = ()
    sources: tuple[str, ...] = ()

    @property
    def places(self) -> str:
        """Its pages for people, "page 2" or "pages 2, 3"."""
        return f"page{'s' if len(self.pages) > 1 else ''} {', '.join(map(str, self.pages))}"


class MMCRSample(host.Sample):
    """One question in its original order of options; `images` are the pages of its document, in order.

    `rotations` holds orders of the options that a source asks by itself: for rotation k, as the k-th text, the letters
    of the original order as they are shown from A on ("BCDEA"); empty ones are rotated by rule.
    """

    document: str = Field(min_length=1)
    subject: str = NO_SUBJECT
    type: QuestionType
    answer: str = ""
    hint: str = ""
    evidence: EvidencePages = EvidencePages()
    rotations: tuple[str, ...] = ()

    @property
    def truth(self) -> str:
        """The letter of the right option in the original order."""
        return self.answer

    @property
    def letters(self) -> str:
        """The options' letters in the original order."""
        return "".join(self.options or ())

    @property
    def groups(self) -> dict[str, str]:
        """Type, subject, document, and whether it needs several sources."""
        return {
            "type": self.type,
            "subject": self.subject,
            "document": self.document,
            "source": source_of(self.type),
        }

    def order(self, rotation: int) -> str:
        """The original letters as rotation k shows them: under the j-th letter the (j + k)-th, from the first again.

        An order of the source's own wins.
        """
        own = self.rotations[rotation] if rotation < len(self.rotations) else ""
        return own or self.letters[rotation:] + self.letters[:rotation]

    def shown(self, rotation: int) -> dict[str, str]:
        """Return the options as rotation k shows them, by the letters that it gives them."""
        options = self.options or {}
        return {letter: options[old] for letter, old in zip(self.letters, self.order(rotation), strict=True)}

    def original(self, letter: str | None, rotation: int) -> str | None:
        """Return the original letter of the option that rotation k shows under `letter`."""
        return None if letter is None else self.order(rotation)[self.letters.index(letter)]

    @field_validator("options", mode="before")
    @classmethod
    def _options_are_lettered(cls, options: Any) -> Any:
        if isinstance(options, dict):
            letters = list(options)
            if not 2 <= len(letters) <= MOST_OPTIONS or letters != list(LETTERS[: len(letters)]):
                raise ValueError(f"must be two to five, lettered from A without a gap, not {letters}")
        return options

    @model_validator(mode="after")
    def _fits(self) -> "MMCRSample":
        if wrong := list(self._misfits()):
            raise ValueError("; ".join(wrong))
        return self

    def _misfits(self) -> Iterator[str]:
        if not self.options:
            yield "options: is missing: two to five, lettered from A"
        elif self.answer and self.answer not in self.options:
            yield f"answer '{self.answer}' is none of the options {', '.join(self.options)}"
        beyond = [page for page in self.evidence.pages if self.images and page > len(self.images)]
        if beyond:
            yield f"evidence.pages: {beyond[0]} is beyond the document's {len(self.images)} pages"
        letters = self.letters if self.options else ""
        if wrong := [order for order in self.rotations if order and letters and sorted(order) != sorted(letters)]:
            yield f"rotations: '{wrong[0]}' is no order of the letters {letters}"
