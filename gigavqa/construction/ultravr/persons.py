"""Descriptions of persons by what is recorded of them, each of which fits one person alone."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from gigavqa.construction.annotations import Annotation, attribute_text, is_recorded

FACING = "facing"
_AGE, _POSE = "age", "pose"
_CUES: Mapping[str, str] = {
    "upper clothing": "wearing {} upper clothing",
    "headwear": "wearing {}",
    "carried": "carrying {}",
}
_SEEN = (_AGE, _POSE, *_CUES)
_NOTHING = frozenset({"none", "no", "nothing", "without"})


class Description(NamedTuple):
    """A person, and the words that fit this one alone."""

    person: Annotation
    text: str


def describe(one: Annotation, others: Iterable[Annotation], noun: str, quadrant: str) -> Description | None:
    """Return a person's description by age, pose, quadrant and cues; None where it may fit another one of the quadrant.

    Whoever lacks a recorded value may have it. Where a person faces is not told, nor what somebody does not wear or
    carry.
    """
    own = {name: value for name, value in _values(one).items() if value.casefold() not in _NOTHING}
    for other in others:
        theirs = _values(other)
        if other.id != one.id and all(theirs.get(name, value) == value for name, value in own.items()):
            return None
    pose = f" {own[_POSE]}" if _POSE in own else ""
    cues = [text.format(own[name]) for name, text in _CUES.items() if name in own]
    text = f"the {own.get(_AGE, noun)}{pose} in the {quadrant} quadrant"
    return Description(one, ", ".join([text, " and ".join(cues)] if cues else [text]))


def person_categories(annotations: Iterable[Annotation]) -> frozenset[str]:
    """Return the categories of which any object has an age: what the others are, no description tells."""
    return frozenset(one.category for one in annotations if _AGE in _values(one))


def _values(one: Annotation) -> dict[str, str]:
    """Return what can be seen of a person, by attributes whose names may be written with _ or -."""
    plain = {name.replace("_", " ").replace("-", " ").casefold(): value for name, value in one.attributes.items()}
    told = {name: attribute_text(plain[name]).replace("_", " ").strip() for name in _SEEN if name in plain}
    return {name: value for name, value in told.items() if is_recorded(value)}
