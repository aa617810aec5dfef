"""RS logical verification: in which of two quadrants a category has objects of one orientation (appendix F.2)."""

from collections.abc import Iterator, Mapping
from itertools import permutations
from math import atan2, degrees, hypot
from typing import Any

import numpy as np

from gigavqa.benchmarks.ultravr.taxonomy import QUADRANTS, Quadrant
from gigavqa.benchmarks.ultravr.wording import Slots
from gigavqa.construction.annotations import AnnotatedImage, Annotation
from gigavqa.construction.candidates import Candidate, Rejection
from gigavqa.construction.recipes.recipe import CategoryNames, RecipeContext
from gigavqa.construction.ultravr.regions import (
    REGION_REASONS,
    RegionObjects,
    named_categories,
    normalized,
    objects_by_region,
)
from gigavqa.construction.ultravr.task_recipe import TaskRecipe, the_quadrant

_ORIENTATIONS = ("horizontal", "vertical")
_LEAST_RATIO = 1.5
_MOST_DEGREES = 20
_MOST_OBJECTS = 12
_LETTERS = {(True, True): "A", (True, False): "B", (False, True): "C", (False, False): "D"}


def orientation(one: Annotation) -> str | None:
    """Return how an object lies; None where its sides are nearly equal, or it lies aslant by over 20 degrees.

    Of an oriented box by the longer pair of its sides, of an upright one by width and height.
    """
    x, y = _longer_side(one.quad) if one.quad else _upright(one)
    if not x and not y:
        return None
    angle = degrees(atan2(abs(y), abs(x)))
    return "horizontal" if angle <= _MOST_DEGREES else "vertical" if angle >= 90 - _MOST_DEGREES else None


def _upright(one: Annotation) -> tuple[float, float]:
    width, height = one.box.x2 - one.box.x1, one.box.y2 - one.box.y1
    if max(width, height) < _LEAST_RATIO * min(width, height):
        return 0, 0
    return (width, 0) if width > height else (0, height)


def _longer_side(quad: tuple[float, ...]) -> tuple[float, float]:
    """Return the mean of the longer two opposite sides of four corners; (0, 0) where the others are as long."""
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = zip(quad[::2], quad[1::2], strict=True)
    first = ((bx - ax + cx - dx) / 2, (by - ay + cy - dy) / 2)
    second = ((cx - bx + dx - ax) / 2, (cy - by + dy - ay) / 2)
    long, short = sorted((first, second), key=lambda side: -hypot(*side))
    return long if hypot(*long) >= _LEAST_RATIO * hypot(*short) else (0, 0)


class OrientationVerification(TaskRecipe):
    """Questions in which of two quadrants an orientation is present."""

    domain = "rs"
    category = "logical_verification"
    forms = frozenset({"dota"})
    name = "rs-logical-verification"
    title = "Orientation in two quadrants (UltraVR)"
    version = "rs-logical-verification/2"
    reasons: Mapping[str, str] = {
        **REGION_REASONS,
        "ambiguous_orientation": "an object is nearly square, or lies aslant",
        "absent": "a quadrant has no object of the category at all, so that its orientation is not what is asked",
        "dense": f"there are more than {_MOST_OBJECTS} objects of the category in a quadrant",
    }

    def candidates(
        self, image: AnnotatedImage, context: RecipeContext, rng: np.random.Generator
    ) -> Iterator[Candidate | Rejection]:
        """Yield every ordered pair of quadrants with every orientation, of every category in the image."""
        yield from self.unnamed(image, context)
        for category in named_categories(image, context):
            regions = objects_by_region(image, category)
            for pair in permutations(QUADRANTS, 2):
                found = {quadrant: regions[quadrant] for quadrant in pair}
                about = f"{category} in {pair[0]} and {pair[1]}"
                if reason := next(filter(None, map(_doubt, found.values())), ""):
                    yield self.rejection(image, reason, about)
                    continue
                for which in _ORIENTATIONS:
                    yield self._candidate(image, (category, context.names[category]), found, which)

    def _candidate(
        self,
        image: AnnotatedImage,
        kind: tuple[str, CategoryNames],
        found: Mapping[Quadrant, RegionObjects],
        which: str,
    ) -> Candidate:
        (a, b), (category, names) = found, kind
        lying = [[one for one in region.objects if orientation(one) == which] for region in found.values()]
        program = {
            "category": category,
            "one": names.one,
            "many": names.many,
            "orientation": which,
            "region_a": a,
            "region_b": b,
            "region_a_boxes": [normalized(image, one) for one in lying[0]],
            "region_b_boxes": [normalized(image, one) for one in lying[1]],
            "region_b_count": len(lying[1]),
            "quadrants": [quadrant for quadrant in QUADRANTS if quadrant in found],
            "options": list("ABCD"),
        }
        objects = [one for region in found.values() for one in region.objects]
        truth = _LETTERS[bool(lying[0]), bool(lying[1])]
        return self.candidate(image, program, truth, objects, (category, which, a, b))

    def slots(self, program: Mapping[str, Any]) -> Slots:
        """Return orientation, type and quadrants."""
        named = {key: program[key] for key in ("orientation", "one", "many")}
        return named | {f"region_{at}": the_quadrant(program[f"region_{at}"]) for at in "ab"}

    def truths(self, candidate: Candidate) -> Mapping[str, Any]:
        """Return the objects and counts of both quadrants, and whether both have some."""
        a, b = candidate.program["region_a_boxes"], candidate.program["region_b_boxes"]
        return {"S1": a, "S2": len(a), "S3": b, "S4": len(b), "S5": bool(a and b)}


def _doubt(region: RegionObjects) -> str:
    """Return why nothing can be asked about a quadrant, or nothing."""
    if region.doubt:
        return region.doubt
    if not region.objects:
        return "absent"
    if len(region.objects) > _MOST_OBJECTS:
        return "dense"
    return "" if all(map(orientation, region.objects)) else "ambiguous_orientation"
