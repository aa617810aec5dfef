"""What tools are given of a build: annotations as shapes that they can draw, and questions by image and by object."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from gigavqa.construction.annotations import AnnotatedImage, Annotation, AttributeValue, Box, Ring
from gigavqa.construction.kept_ids import NAME, written_id

_RIGHT = 0.5
"""Pixels by which the corners of an oriented box may lie beside a rectangle that is drawn for it."""


class TurnedBox(NamedTuple):
    """A rectangle: its corner at the top left before it is turned clockwise about that, sides and degrees."""

    x: float
    y: float
    width: float
    height: float
    degrees: float

    @property
    def center(self) -> tuple[float, float]:
        """Return its middle, about which it is the same turned box."""
        cos, sin = math.cos(math.radians(self.degrees)), math.sin(math.radians(self.degrees))
        across, down = self.width / 2, self.height / 2
        return self.x + across * cos - down * sin, self.y + across * sin + down * cos

    @classmethod
    def of(cls, quad: Ring) -> "TurnedBox | None":
        """Return the rectangle of four corners; None where they are none."""
        (x1, y1), (x2, y2), (x3, y3), (x4, y4) = (quad[at : at + 2] for at in (0, 2, 4, 6))
        if math.hypot(x1 + x3 - x2 - x4, y1 + y3 - y2 - y4) > _RIGHT:
            return None
        width, height = math.hypot(x2 - x1, y2 - y1), math.hypot(x4 - x1, y4 - y1)
        across = ((x2 - x1) * (x4 - x1) + (y2 - y1) * (y4 - y1)) / (width * height)
        is_clockwise = (x2 - x1) * (y4 - y1) - (y2 - y1) * (x4 - x1) > 0
        if abs(across) * min(width, height) > _RIGHT or not is_clockwise:
            return None
        return cls(x1, y1, width, height, math.degrees(math.atan2(y2 - y1, x2 - x1)) % 360)


class DrawnObject(NamedTuple):
    """An annotation as tools draw it: a box, a turned box or one outline.

    `rings` are all its outlines, for tools that draw several; `asked` are the questions that rest on it, with answers.
    """

    id: str
    category: str
    box: Box
    ring: Ring | None = None
    turned: TurnedBox | None = None
    rings: tuple[Ring, ...] = ()
    attributes: Mapping[str, AttributeValue] = {}
    asked: tuple[str, ...] = ()


@dataclass(frozen=True)
class DrawnImage:
    """An image with all that is annotated in it, and the questions about it."""

    image: AnnotatedImage
    objects: Sequence[DrawnObject]
    questions: Sequence[Mapping[str, Any]]


DrawnImages = Callable[[], Iterator[DrawnImage]]
"""Gives the images anew each time: a file's head tells what its body holds."""


def drawn_images(images: Iterable[AnnotatedImage], records: Iterable[Mapping[str, Any]]) -> Iterator[DrawnImage]:
    """Yield all images as tools draw them, so that a build of what comes back is over the same ones.

    Flags are attributes of value 1; what an image lost is a zone over all of it, as in COCO.
    """
    asked: dict[str, list[Mapping[str, Any]]] = {}
    for record in records:
        asked.setdefault(record["image"], []).append(record)
    for image in images:
        questions = asked.get(image.image, [])
        told: dict[str, list[str]] = {}
        for record in questions:
            for name in record.get("objects", ()):
                told.setdefault(name, []).append(f"{record['id']}: {answer_text(record)}")
        objects = [_drawn(one, tuple(told.get(one.id, ()))) for one in image.annotations]
        yield DrawnImage(image, [*objects, *_zones(image)], questions)


def answer_text(record: Mapping[str, Any]) -> str:
    """Return a record's answer in words."""
    return str(record.get("answer_text", record.get("answer", "")))


def is_number(value: AttributeValue) -> bool:
    """Return whether a value is a number, and no truth."""
    return isinstance(value, float | int) and not isinstance(value, bool)


def _drawn(one: Annotation, asked: tuple[str, ...]) -> DrawnObject:
    flags: dict[str, AttributeValue] = dict.fromkeys(sorted(one.flags), "1")
    turned = TurnedBox.of(one.quad) if one.quad and len(one.quad) == 8 else None
    outline = one.rings[0] if len(one.rings) == 1 else one.quad if one.quad and not turned else None
    turned = None if outline else turned
    return DrawnObject(
        written_id(one.id), one.category, one.box, outline, turned, one.rings, {**one.attributes, **flags}, asked
    )


def _zones(image: AnnotatedImage) -> Iterator[DrawnObject]:
    """Yield zones over all of an image that lost marks: of their category, or of any where it is not known."""
    known = next((one.category for one in image.annotations), "object")
    for number, lost in enumerate(sorted(image.incomplete), start=1):
        whole, flag = Box(0, 0, image.width, image.height), "crowd" if lost else "ignore"
        yield DrawnObject(f"{NAME}-zone-{number}", lost or known, whole, attributes={flag: "1"})
