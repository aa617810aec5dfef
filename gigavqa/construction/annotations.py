"""Annotations: what people marked in images, in one form whatever tool wrote them."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

Flag = Literal["difficult", "crowd", "ignore", "occluded", "truncated"]
"""What a tool says of an object: hard to tell, many objects in one outline, a zone without labels, hidden in part, cut
by the image's edge."""

AttributeValue = str | float | bool
Ring = tuple[float, ...]
"""A closed outline `x1, y1, x2, y2, ...` in pixels, without its first point again at its end."""


_UNKNOWN = frozenset({"", "?", "unknown", "unsure", "not sure", "not visible", "n/a", "null"})


def attribute_text(value: AttributeValue) -> str:
    """Return an attribute's value as people read it: whole numbers without a point, texts without blanks around."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()


def is_recorded(text: str) -> bool:
    """Return whether an attribute's text says something: not that nobody knows it."""
    return text.casefold() not in _UNKNOWN


class Box(NamedTuple):
    """Corners in pixels of the full-resolution image, from its top left; `x1 < x2`, `y1 < y2`, within the image."""

    x1: float
    y1: float
    x2: float
    y2: float


@dataclass(frozen=True, slots=True)
class Annotation:
    """One object that somebody marked in an image.

    `id` is `<file>#<position>`, from 1 in the order of the file, and stays the same when the file is read again.
    `category` is the file's own word. `rings` are the outlines of a polygon or mask (of a mask with holes the outer
    ones alone), empty where only a box was marked; `quad` are the corners of an oriented box, in the file's order. Both
    lie in pixels, like `box`, which encloses them and is clipped to the image.
    """

    id: str
    category: str
    box: Box
    rings: tuple[Ring, ...] = ()
    quad: Ring | None = None
    attributes: Mapping[str, AttributeValue] = field(default_factory=dict)
    flags: frozenset[Flag] = frozenset()


@dataclass(frozen=True, slots=True)
class AnnotatedImage:
    """An image and all that a file marks in it.

    `image` is its name below the folder of images, `width` and `height` are its pixels as its header has them. `labels`
    hold what is said of the image as a whole. `incomplete` are categories of which something was left out, so that no
    number of them is sure; an empty one stands for any, where nobody knows of which it was. `landmarks` are marks that
    people added, by which places are told; they are no objects of the image.
    """

    image: str
    width: int
    height: int
    annotations: tuple[Annotation, ...] = ()
    labels: Mapping[str, AttributeValue] = field(default_factory=dict)
    incomplete: frozenset[str] = frozenset()
    landmarks: tuple[Annotation, ...] = ()


class Omission(NamedTuple):
    """Something of a file that is not used: why in one word, and a sentence with file, record, field, remedy."""

    reason: str
    sentence: str


_DIFFERS = re.compile(r"'[^']*'|\"[^\"]*\"|\d[\d.,]*")
"""What sentences of one cause differ in: names in quotes, and numbers."""
_PLACES = 3


@dataclass
class _AlikeOmissions:
    """Sentences that differ in names and numbers alone: the first one, how many, and where the next few were."""

    first: str
    times: int = 0
    places: list[str] = field(default_factory=list)

    def add(self, sentence: str, times: int) -> None:
        self.times += times
        if sentence != self.first and len(self.places) < _PLACES:
            both = zip(_DIFFERS.findall(self.first), _DIFFERS.findall(sentence), strict=True)
            self.places.append(" ".join(theirs for ours, theirs in both if ours != theirs))

    @property
    def sentence(self) -> str:
        if self.times < 2:
            return self.first
        places = (
            f": {', '.join(self.places)}{' ...' if self.times > len(self.places) + 1 else ''}" if self.places else ""
        )
        return f"{self.first} ({self.times:,} such{places})"


class Omissions:
    """What readers leave out: every reason's count, and a sentence for each of its first few causes."""

    def __init__(self, most_sentences: int = 20) -> None:
        self.counts: Counter[str] = Counter()
        self._alike: dict[str, dict[str, _AlikeOmissions]] = {}
        self._most = most_sentences

    def add(self, reason: str, sentence: str, times: int = 1) -> None:
        """Count one, or as many as a sentence is about, and keep it if its cause is among the first of its reason."""
        self.counts[reason] += times
        kept, cause = self._alike.setdefault(reason, {}), _DIFFERS.sub("", sentence)
        if cause not in kept and len(kept) < self._most:
            kept[cause] = _AlikeOmissions(sentence)
        if cause in kept:
            kept[cause].add(sentence, times)

    def __iter__(self) -> Iterator[Omission]:
        """Yield a sentence for each cause, by reason in alphabetical order."""
        for reason in sorted(self._alike):
            for alike in self._alike[reason].values():
                yield Omission(reason, alike.sentence)

    def __len__(self) -> int:
        return self.counts.total()

    def document(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {"counts": dict(self.counts), "sentences": [omission._asdict() for omission in self]}
