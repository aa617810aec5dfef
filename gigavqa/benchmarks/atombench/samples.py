"""One question of ATOM-Bench: about a clue of a picture, or about the conclusion that its clues allow."""

from collections.abc import Iterator
from typing import Any, get_args

from pydantic import Field, PositiveInt, ValidationInfo, field_validator, model_validator

from gigavqa.benchmarks.atombench.taxonomy import (
    DIMENSION_OF,
    DOMAINS,
    LEVELS,
    Certainty,
    ConclusionKind,
    Difficulty,
    QuestionLevel,
    Scope,
)
from gigavqa.evaluation import samples as host

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_OF_CLUES = ("domain", "dimension", "scope", "certainty", "step")
_OF_CONCLUSIONS = ("difficulty", "kind")
_NAMED: dict[str, tuple[str, ...]] = {
    "scope": get_args(Scope),
    "certainty": get_args(Certainty),
    "difficulty": get_args(Difficulty),
    "kind": get_args(ConclusionKind),
}


class AtomSample(host.Sample):
    """One multiple-choice question about a picture; an empty answer is not known, so that the question counts nothing.

    Questions of one `place` go together: the image, or the `group` where the record names one. `step` is a clue's
    position in the image's sequence from macro to micro, from 1. Labels that are missing are None.
    """

    options: dict[str, str] | None = Field(default=None, validate_default=True)
    level: QuestionLevel
    answer: str = ""
    group: str = ""
    domain: str | None = None
    dimension: str | None = Field(default=None, validate_default=True)
    scope: Scope | None = None
    certainty: Certainty | None = None
    step: PositiveInt | None = None
    kind: ConclusionKind | None = None
    difficulty: Difficulty | None = None

    @property
    def truth(self) -> str:
        """The right option's letter."""
        return self.answer

    @property
    def groups(self) -> dict[str, str]:
        """Level, and whatever label the question has."""
        labels = {name: getattr(self, name) for name in ("dimension", "domain", "scope", "certainty", "difficulty")}
        named = {name: str(value) for name, value in {**labels, "kind": self.kind}.items() if value}
        return {"level": self.level, **named, **({"step": str(self.step)} if self.step else {})}

    @property
    def place(self) -> str:
        """The key that groups its questions: the image, unless the record says otherwise."""
        return self.group or (self.images[0] if self.images else self.id)

    @property
    def num_options(self) -> int:
        """The number of options."""
        return len(self.options or ())

    @property
    def right_text(self) -> str:
        """The right option's words; empty where the answer is not known."""
        return (self.options or {}).get(self.answer, "")

    @field_validator("level", mode="before")
    @classmethod
    def _level_is_known(cls, level: Any) -> Any:
        if level not in LEVELS:
            raise ValueError(f"'{level}' is neither clue nor conclusion")
        return level

    @field_validator("domain")
    @classmethod
    def _domain_is_known(cls, domain: str | None) -> str | None:
        if domain is not None and domain not in DIMENSION_OF:
            raise ValueError(f"'{domain}' is not known: {', '.join(DIMENSION_OF)}")
        return domain

    @field_validator("dimension")
    @classmethod
    def _dimension_holds_domain(cls, dimension: str | None, info: ValidationInfo) -> str | None:
        domain = info.data.get("domain")
        if domain is not None and dimension not in (None, DIMENSION_OF[domain]):
            raise ValueError(f"'{dimension}' does not hold domain '{domain}', which belongs to {DIMENSION_OF[domain]}")
        if dimension is not None and dimension not in DOMAINS:
            raise ValueError(f"'{dimension}' is not known: {', '.join(DOMAINS)}")
        return DIMENSION_OF[domain] if domain is not None else dimension

    @field_validator(*_NAMED, mode="before")
    @classmethod
    def _label_is_known(cls, label: Any, info: ValidationInfo) -> Any:
        known = _NAMED[info.field_name or ""]
        if label is not None and label not in known:
            raise ValueError(f"'{label}' is none of {', '.join(known)}")
        return label

    @field_validator("options")
    @classmethod
    def _options_are_several(cls, options: dict[str, str] | None) -> dict[str, str] | None:
        if options is None or not 2 <= len(options) <= len(LETTERS):
            raise ValueError(f"at least 2, and at most {len(LETTERS)}, not {len(options or ())}")
        return dict(sorted(options.items()))

    @model_validator(mode="after")
    def _fits_together(self) -> "AtomSample":
        if wrong := list(self._misfits()):
            raise ValueError("; ".join(wrong))
        return self

    def _misfits(self) -> Iterator[str]:
        options = list(self.options or ())
        if options != list(LETTERS[: len(options)]):
            yield f"options must be lettered A, B, C, D without a gap, not {', '.join(options)}"
        elif self.answer and self.answer not in options:
            yield f"answer '{self.answer}' is none of the options {', '.join(options)}"
        for level, names in (("clue", _OF_CLUES), ("conclusion", _OF_CONCLUSIONS)):
            if self.level != level:
                yield from (f"{name} belongs to {level} questions" for name in names if getattr(self, name) is not None)
        if len(self.images) > 1:
            yield f"is about {len(self.images)} images; each question is about one"
