"""One question of VistaHop: a picture, truths of which any will do, and what is known of the way to them."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from gigavqa.answers.matching import BoxCorners
from gigavqa.benchmarks.vistahop.taxonomy import (
    ANCHOR_KINDS,
    ANSWER_TYPES,
    CATEGORIES,
    FORMS,
    FUSED,
    level_of,
    plain_label,
)
from gigavqa.evaluation import samples as host

MOST_HITS = 5
"""Hits of an image search that are shown."""
LETTERS = "ABCDEFGHIJ"
"""Letters of options, which a question may have in its text alone."""


def _hops(value: Any) -> Any:
    whole = int(value) if isinstance(value, float) and value.is_integer() else value
    if whole is not None and (isinstance(whole, bool) or not isinstance(whole, int) or whole < 1):
        raise ValueError(f"must be a whole number of at least 1, not {value!r}")
    return whole


Hops = Annotated[int | None, BeforeValidator(_hops)]


class _VistaHopBase(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)


class Anchor(_VistaHopBase):
    """A thing in the picture where a chain begins; `box` is (x1, y1, x2, y2) in parts of the picture's sides."""

    label: str = ""
    kind: str | None = None
    box: BoxCorners | None = None

    @field_validator("kind", mode="before")
    @classmethod
    def _kind_is_known(cls, kind: Any) -> Any:
        return _unknown_to_none("kind", kind, ANCHOR_KINDS)

    @field_validator("box")
    @classmethod
    def _box_lies_within(cls, box: BoxCorners | None) -> BoxCorners | None:
        if box and not all(0 <= side <= 1 for side in box):
            raise ValueError(f"sides must lie from 0 to 1, not {list(box)}")
        if box and not (box[0] < box[2] and box[1] < box[3]):
            raise ValueError(f"is [x1, y1, x2, y2] with x1 < x2 and y1 < y2, not {list(box)}")
        return box


class Hop(_VistaHopBase):
    """One relation of a chain, and the documents that tell it."""

    start: str = Field(alias="from")
    relation: str = ""
    end: str = Field(alias="to")
    documents: tuple[str, ...] = ()


class Hit(_VistaHopBase):
    """A page that an image search found; `thumbnail` is the position of its picture among the sample's images."""

    title: str
    thumbnail: int | None = None


class Component(_VistaHopBase):
    """One of the chains of a fused question, as a question of its own."""

    question: str
    answers: tuple[str, ...] = ()
    hops: Hops = None
    anchors: tuple[Anchor, ...] = ()
    chain: tuple[Hop, ...] = ()
    value: str | float | None = None


class VistaHopSample(host.Sample):
    """A question about the first of `images`; the others are thumbnails of image-search hits.

    `answers` are equally right; without any, an expert is awaited. `hops` counts all chains, and gives the level.
    `unshown` names further pictures of the record, which nobody is shown.
    """

    answers: tuple[str, ...] = ()
    hops: Hops = None
    level: str = Field(default="", validate_default=True)
    category: str | None = None
    scenario: str = ""
    form: str | None = None
    answer_type: str | None = None
    anchors: tuple[Anchor, ...] = ()
    chain: tuple[Hop, ...] = ()
    hits: tuple[Hit, ...] = ()
    components: tuple[Component, ...] = Field(default=(), validate_default=True)
    unshown: tuple[str, ...] = ()

    @property
    def truth(self) -> str:
        """The right answers."""
        return " | ".join(self.answers)

    @property
    def groups(self) -> dict[str, str]:
        """Level, and whatever label the question has."""
        named = {
            "category": self.category, "scenario": self.scenario, "form": self.form, "answer type": self.answer_type,
            "anchor": self.anchor_kind, "hops": str(self.hops or ""),
        }  # fmt: skip
        return {"level": self.level, **{name: label for name, label in named.items() if label}}

    @property
    def is_fused(self) -> bool:
        """Whether several chains lead to the answer."""
        return self.form in FUSED or len(self.components) > 1

    @property
    def all_anchors(self) -> tuple[Anchor, ...]:
        """Its own anchors, and those of its components that are no copies."""
        found = (*self.anchors, *(anchor for one in self.components for anchor in one.anchors))
        return tuple(dict.fromkeys(found))

    @property
    def all_hops(self) -> tuple[Hop, ...]:
        """The hops of its chain, or of its components' chains."""
        return self.chain or tuple(hop for one in self.components for hop in one.chain)

    @property
    def anchor_kind(self) -> str | None:
        """The kind of its first anchor, by which it is counted."""
        return next((anchor.kind for anchor in self.all_anchors if anchor.kind), None)

    @field_validator("answers", mode="before")
    @classmethod
    def _answers_say_something(cls, answers: Any) -> Any:
        if not isinstance(answers, list | tuple):
            raise ValueError(f"must be a list of texts, any of which is right, not {answers!r}")
        return tuple(text for one in answers if (text := _text(one)))

    @field_validator("level", mode="before")
    @classmethod
    def _level_follows_from_hops(cls, level: Any, info: ValidationInfo) -> str:
        hops = info.data.get("hops")
        said = f"L{level}" if isinstance(level, int) else str(level or "").strip().upper()
        if said and "hops" in info.data and said != level_of(hops):
            told = f"of {hops} hops it is {level_of(hops)}" if hops else "it follows from hops, which are not given"
            raise ValueError(f"'{level}' contradicts: {told}")
        return level_of(hops)

    @field_validator("category", mode="before")
    @classmethod
    def _category_is_known(cls, category: Any) -> Any:
        plain = category.strip().capitalize() if isinstance(category, str) else category
        return _unknown_to_none("category", plain or None, dict.fromkeys(CATEGORIES, ""))

    @field_validator("form", mode="before")
    @classmethod
    def _form_is_known(cls, form: Any) -> Any:
        return _unknown_to_none("form", form, FORMS)

    @field_validator("answer_type", mode="before")
    @classmethod
    def _answer_type_is_known(cls, kind: Any) -> Any:
        return _unknown_to_none("answer type", kind, ANSWER_TYPES)

    @field_validator("components")
    @classmethod
    def _components_make_it_up(cls, components: tuple[Component, ...], info: ValidationInfo) -> tuple[Component, ...]:
        form, hops = info.data.get("form"), info.data.get("hops")
        if form in FUSED and not components:
            raise ValueError(f"form '{form}' joins several chains, and there is no component")
        parts = [one.hops for one in components]
        if hops is not None and components and None not in parts and sum(filter(None, parts)) != hops:
            raise ValueError(f"their hops are {' + '.join(map(str, parts))}, and hops says {hops}")
        return components

    @model_validator(mode="after")
    def _hits_name_images(self) -> "VistaHopSample":
        beyond = [hit.thumbnail for hit in self.hits if (hit.thumbnail or 0) >= max(1, len(self.images))]
        if beyond:
            raise ValueError(f"image_search: thumbnail {beyond[0]} is named, and there are {len(self.images)} images")
        return self


def _unknown_to_none(name: str, label: Any, known: Mapping[str, str]) -> Any:
    plain = plain_label(label, known)
    if plain is not None and (not isinstance(plain, str) or plain not in known):
        raise ValueError(f"{name} '{label}' is none of {', '.join(known)}")
    return plain


def _text(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"a truth must be a text or a number, not {value!r}")
    return str(value).strip()
