"""Annotated images as lines of JSON, and the vocabulary of all of them."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from gigavqa.construction.annotations import AnnotatedImage, Annotation, AttributeValue, Box, Flag, attribute_text

_MOST_VALUES = 64
"""Values of an attribute at most, for it to sort objects; one with more names them one by one."""


def image_line(image: AnnotatedImage) -> dict[str, Any]:
    """Return an annotated image as the JSON of its line; what is empty is left out."""
    line = {
        "image": image.image,
        "size": [image.width, image.height],
        "labels": dict(image.labels),
        "incomplete": sorted(image.incomplete),
        "objects": [_object(one) for one in image.annotations],
        "landmarks": [_object(one) for one in image.landmarks],
    }
    return {key: value for key, value in line.items() if value or key == "objects"}


def read_image_line(line: Mapping[str, Any]) -> AnnotatedImage:
    """Return the annotated image of a line."""
    width, height = line["size"]
    return AnnotatedImage(
        line["image"],
        width,
        height,
        tuple(map(_annotation, line["objects"])),
        labels=line.get("labels", {}),
        incomplete=frozenset(line.get("incomplete", ())),
        landmarks=tuple(map(_annotation, line.get("landmarks", ()))),
    )


def _object(one: Annotation) -> dict[str, Any]:
    made = {
        "id": one.id,
        "category": one.category,
        "box": list(one.box),
        "rings": [list(ring) for ring in one.rings],
        "quad": list(one.quad or ()),
        "attributes": dict(one.attributes),
        "flags": sorted(one.flags),
    }
    return {key: value for key, value in made.items() if value}


def _annotation(line: Mapping[str, Any]) -> Annotation:
    return Annotation(
        line["id"],
        line["category"],
        Box(*line["box"]),
        rings=tuple(map(tuple, line.get("rings", ()))),
        quad=tuple(line["quad"]) if "quad" in line else None,
        attributes=line.get("attributes", {}),
        flags=cast("frozenset[Flag]", frozenset(line.get("flags", ()))),
    )


@dataclass
class Vocabulary:
    """What all annotations of a build speak of: categories with their counts, and attributes' values by category."""

    images: int = 0
    categories: Counter[str] = field(default_factory=Counter)
    _values: dict[str, dict[str, set[AttributeValue]]] = field(default_factory=lambda: defaultdict(dict))

    def counting(self, images: Iterable[AnnotatedImage]) -> Iterator[AnnotatedImage]:
        """Yield the images, and count what they hold."""
        for image in images:
            self.images += 1
            for one in image.annotations:
                self.categories[one.category] += 1
                self._count_attributes(one)
            yield image

    def alike(self) -> tuple[str, str] | None:
        """Return two categories that differ in case, blanks, - and _ alone: people take them for one."""
        seen: dict[str, str] = {}
        for category in sorted(self.categories):
            plain = re.sub(r"[\s_-]+", "", category.casefold())
            if plain in seen:
                return seen[plain], category
            seen[plain] = category
        return None

    def document(self) -> dict[str, Any]:
        """Return it as JSON, sorted. An attribute with more values than sort objects is left out."""
        attributes = {
            category: {
                name: sorted(set(map(attribute_text, values)))
                for name, values in by_name.items()
                if 1 < len(values) <= _MOST_VALUES
            }
            for category, by_name in self._values.items()
        }
        return {"images": self.images, "categories": dict(sorted(self.categories.items())), "attributes": attributes}

    def _count_attributes(self, one: Annotation) -> None:
        by_name = self._values[one.category] if one.attributes else {}
        for name, value in one.attributes.items():
            values = by_name.setdefault(name, set())
            if len(values) <= _MOST_VALUES:
                values.add(value)
