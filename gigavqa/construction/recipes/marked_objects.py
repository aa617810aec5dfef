"""The objects of an image as arrays, sorted out by category, and whether those of a category can be counted."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from gigavqa.construction.annotations import AnnotatedImage, Annotation, Box, Ring
from gigavqa.construction.recipes.rules import Thresholds

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True)
class MarkedCategory:
    """All objects of one category in an image, in the order of the file.

    `corners` are their boxes (n x 4, pixels), `sides` the image's width and height.
    """

    category: str
    annotations: Sequence[Annotation]
    corners: Floats
    sides: Floats

    def __len__(self) -> int:
        return len(self.annotations)

    @cached_property
    def centers(self) -> Floats:
        """Centers of the boxes, n x 2 in pixels."""
        return (self.corners[:, :2] + self.corners[:, 2:]) / 2

    @cached_property
    def extents(self) -> Floats:
        """Widths and heights of the boxes, n x 2 in pixels."""
        return self.corners[:, 2:] - self.corners[:, :2]

    @cached_property
    def areas(self) -> Floats:
        """Areas in square pixels: of outlines where every object has one, else of oriented boxes, else of boxes."""
        if all(one.rings for one in self.annotations):
            return np.array([sum(map(_ring_area, one.rings)) for one in self.annotations])
        quads = [one.quad for one in self.annotations if one.quad]
        if len(quads) == len(self):
            return np.array([_ring_area(quad) for quad in quads])
        areas: Floats = self.extents.prod(axis=1)
        return areas

    @property
    def is_mixed(self) -> bool:
        """Whether some objects have an outline or an oriented box and others none, so that areas cannot be compared."""
        return len({(bool(one.rings), bool(one.quad)) for one in self.annotations}) > 1

    @property
    def ids(self) -> tuple[str, ...]:
        """The annotations' ids."""
        return tuple(one.id for one in self.annotations)

    @property
    def boxes(self) -> tuple[Box, ...]:
        """The annotations' boxes."""
        return tuple(one.box for one in self.annotations)

    def any_has(self, flag: str) -> bool:
        """Return whether one of the objects has a flag."""
        return any(flag in one.flags for one in self.annotations)


class MarkedObjects:
    """What is marked in an image, by category. Zones (flags `crowd` and `ignore`) are no objects."""

    _latest: ClassVar["MarkedObjects | None"] = None

    @classmethod
    def in_image(cls, image: AnnotatedImage, thresholds: Thresholds) -> "MarkedObjects":
        """Return an image's objects; for one recipe after another the same, until another image is asked for."""
        latest = cls._latest
        if latest is None or latest.image is not image or latest._thresholds != thresholds:
            cls._latest = latest = cls(image, thresholds)
        return latest

    def __init__(self, image: AnnotatedImage, thresholds: Thresholds) -> None:
        self.image = image
        self._thresholds = thresholds
        self._found: dict[str, MarkedCategory] = {}
        self._faults: dict[str, str | None] = {}
        self._sides = np.array([image.width, image.height], float)
        self._places: dict[str, list[int]] = {}
        self._zones: set[str] = set()
        self._has_ignored = False
        for place, one in enumerate(image.annotations):
            if "ignore" in one.flags:
                self._has_ignored = True
            elif "crowd" in one.flags:
                self._zones.add(one.category)
            else:
                self._places.setdefault(one.category, []).append(place)
        boxes = [one.box for one in image.annotations]
        self._corners = np.array(boxes, float).reshape(-1, 4)
        low, high = self._corners[:, :2], self._corners[:, 2:]
        self._touches = np.asarray(((low < thresholds.edge) | (high > self._sides - thresholds.edge)).any(axis=1))
        self._is_tiny = np.asarray(((high - low) < thresholds.min_side).any(axis=1))

    @property
    def categories(self) -> tuple[str, ...]:
        """Categories with an object, sorted."""
        return tuple(sorted(self._places))

    def drawn_categories(self, most: int) -> tuple[str, ...]:
        """Return so many of the categories at most: the same ones whatever else is marked, sorted."""
        return draw_words(self.categories, most, self.image.image)

    def of(self, category: str) -> MarkedCategory:
        """Return the objects of a category, however they are marked."""
        if category not in self._found:
            places = self._places.get(category, [])
            annotations = [self.image.annotations[place] for place in places]
            self._found[category] = MarkedCategory(category, annotations, self._corners[places], self._sides)
        return self._found[category]

    def countable(self, category: str, least: int, most: int) -> MarkedCategory | str:
        """Return the objects of a category where they are all that there are, whole and clear; else the reason why not.

        A crowd hides objects of its own category, a zone to be ignored those of any; so do marks that were left out.
        """
        places = self._places.get(category, [])
        if self._hides(category):
            return "unlabelled"
        if not least <= len(places) <= most:
            return "too_few" if len(places) < least else "too_many"
        if category not in self._faults:
            self._faults[category] = self._fault(category)
        return self._faults[category] or self.of(category)

    def _fault(self, category: str) -> str | None:
        """Return why objects that are all marked are not whole and clear; None where they are."""
        places, found = self._places[category], self.of(category)
        if found.any_has("difficult"):
            return "difficult"
        if self._touches[places].any() or found.any_has("truncated"):
            return "cut"
        if self._is_tiny[places].any():
            return "tiny"
        return "twice" if has_twins(found.corners, self._thresholds.same_object) else None

    def is_absent(self, category: str) -> bool:
        """Return whether nothing of a category is marked, no zone could hide any, and no mark of it was left out."""
        return category not in self._places and not self._hides(category)

    def is_incomplete(self, category: str) -> bool:
        """Return whether a mark was left out that is of a category, or may be."""
        return not self.image.incomplete.isdisjoint({"", category})

    def clearest(self, category: str) -> Annotation | None:
        """Return the largest object of a category that is whole and clear; None where none is."""
        places = np.array(self._places.get(category, []), dtype=np.intp)
        clear = places[~(self._touches[places] | self._is_tiny[places])]
        annotations = [self.image.annotations[place] for place in clear]
        good = [one for one in annotations if not one.flags & {"difficult", "truncated", "occluded"}]
        return max(good, key=lambda one: (_box_area(one.box), one.id), default=None)

    def _hides(self, category: str) -> bool:
        return self._has_ignored or category in self._zones or self.is_incomplete(category)


def draw_words(words: Sequence[str], most: int, seed: str) -> tuple[str, ...]:
    """Draw so many words at most, sorted; whether a word is drawn depends on the seed and on smaller draws alone."""
    if len(words) <= most:
        return tuple(sorted(words))
    return tuple(sorted(sorted(words, key=lambda word: (crc32(f"{seed}/{word}".encode()), word))[:most]))


def enclosing_box(boxes: Sequence[Box]) -> Box:
    """Return the smallest box around one or more; it lies within the image as they do."""
    left, top, right, bottom = zip(*boxes, strict=True)
    return Box(min(left), min(top), max(right), max(bottom))


def _box_area(box: Box) -> float:
    return (box.x2 - box.x1) * (box.y2 - box.y1)


def _ring_area(ring: Ring) -> float:
    x, y = np.array(ring[0::2]), np.array(ring[1::2])
    return float(abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2)


def has_twins(corners: Sequence[Box] | Floats, same: float) -> bool:
    """Return whether two boxes overlap by more than `same`, as intersection over union."""
    overlaps = overlap(corners, corners, same)
    np.fill_diagonal(overlaps, False)
    return bool(overlaps.any())


def overlap(first: Sequence[Box] | Floats, second: Sequence[Box] | Floats, same: float) -> NDArray[np.bool_]:
    """Return which boxes of both lists (n and m) overlap by more than `same`, as n x m."""
    one, other = (np.asarray(boxes, float).reshape(-1, 4) for boxes in (first, second))
    low = np.maximum(one[:, None, :2], other[None, :, :2])
    high = np.minimum(one[:, None, 2:], other[None, :, 2:])
    shared = np.clip(high - low, 0, None).prod(axis=2)
    areas = [(boxes[:, 2:] - boxes[:, :2]).prod(axis=1) for boxes in (one, other)]
    return np.asarray(shared > same * (areas[0][:, None] + areas[1][None, :] - shared))
