"""Landmarks of a quadrant, and which objects a condition on one holds for: within it, or near it."""

from collections.abc import Iterator, Mapping, Sequence
from math import hypot
from typing import NamedTuple

from gigavqa.benchmarks.ultravr.taxonomy import QUADRANTS, Quadrant
from gigavqa.construction.additions import LANDMARK
from gigavqa.construction.annotations import AnnotatedImage, Annotation, Box
from gigavqa.construction.recipes.marked_objects import draw_words
from gigavqa.construction.recipes.recipe import CategoryNames
from gigavqa.construction.ultravr.regions import RegionObjects

_NEAR = 0.5
"""Of a landmark's diagonal: the gap up to which an object is near it."""
_UNSURE = 1.5
"""Times that gap: up to here nobody can tell."""
_MOST_CONDITIONS = 2


class Condition(NamedTuple):
    """A landmark in a quadrant, and how objects lie to it."""

    relation: str
    landmark: Annotation
    name: str

    @property
    def text(self) -> str:
        """As it stands in a question."""
        return f'"{self.relation} {self.name}"'

    def holds(self, one: Annotation) -> bool | None:
        """Return whether an object satisfies the condition; None where nobody can tell."""
        if self.relation == "within":
            return _is_within(one.box, self.landmark.box)
        box = self.landmark.box
        gap, near = _gap(one.box, box), _NEAR * hypot(box.x2 - box.x1, box.y2 - box.y1)
        return True if gap <= near else None if gap <= _UNSURE * near else False


def conditions_in(
    image: AnnotatedImage,
    quadrant: Quadrant,
    regions: Mapping[str, Mapping[Quadrant, RegionObjects]],
    names: Mapping[str, CategoryNames],
    counted: str,
) -> list[Condition]:
    """Return conditions on landmarks that lie whole in a quadrant, each larger than every object that is counted.

    A landmark is what people described as one, or the only object of its category in the quadrant. Of many conditions
    the same ones are drawn each time.
    """
    largest = max((_area(one.box) for one in regions[counted][quadrant].objects), default=0)
    found = {
        condition.text: condition
        for one, name in _landmarks(image, quadrant, regions, names, counted)
        if _area(one.box) > largest and _lies_in(image, one.box, quadrant)
        for condition in (Condition("within", one, name), Condition("near", one, name))
    }
    return [found[text] for text in draw_words(list(found), _MOST_CONDITIONS, f"{image.image}/{quadrant}/{counted}")]


def _landmarks(
    image: AnnotatedImage,
    quadrant: Quadrant,
    regions: Mapping[str, Mapping[Quadrant, RegionObjects]],
    names: Mapping[str, CategoryNames],
    counted: str,
) -> Iterator[tuple[Annotation, str]]:
    described = [one for one in image.annotations if LANDMARK in one.attributes and one.category != counted]
    described += image.landmarks
    texts = [_described(one) for one in described]
    yield from ((one, text) for one, text in zip(described, texts, strict=True) if texts.count(text) == 1)
    for category, by_quadrant in regions.items():
        region = by_quadrant[quadrant]
        if category != counted and len(region.objects) == 1 and not region.doubt:
            (one,), text = region.objects, f"the {names[category].one}"
            if LANDMARK not in one.attributes and text not in texts:
                yield one, text


def _described(one: Annotation) -> str:
    text = str(one.attributes[LANDMARK]).strip()
    return text if text.lower().startswith("the ") else f"the {text}"


def _is_within(box: Box, around: Box) -> bool | None:
    """Return whether a box lies in another; None where it crosses its edge."""
    if around.x1 <= box.x1 and box.x2 <= around.x2 and around.y1 <= box.y1 and box.y2 <= around.y2:
        return True
    return False if _gap(box, around) > 0 else None


def _gap(one: Box, other: Box) -> float:
    across = max(one.x1 - other.x2, other.x1 - one.x2, 0)
    down = max(one.y1 - other.y2, other.y1 - one.y2, 0)
    return hypot(across, down)


def _area(box: Box) -> float:
    return (box.x2 - box.x1) * (box.y2 - box.y1)


def _lies_in(image: AnnotatedImage, box: Box, quadrant: Quadrant) -> bool:
    row, column = divmod(QUADRANTS.index(quadrant), 2)
    left, top = column * image.width / 2, row * image.height / 2
    return left <= box.x1 and box.x2 <= left + image.width / 2 and top <= box.y1 and box.y2 <= top + image.height / 2


def satisfying(condition: Condition, objects: Sequence[Annotation]) -> list[Annotation] | None:
    """Return the objects for which a condition holds; None where of one nobody can tell."""
    held = [condition.holds(one) for one in objects]
    return None if None in held else [one for one, holds in zip(objects, held, strict=True) if holds]
