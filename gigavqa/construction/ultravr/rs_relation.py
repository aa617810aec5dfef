"""RS relational inference: how the extreme objects of two adjacent quadrants lie to each other (appendix F.2)."""

from collections.abc import Iterator, Mapping
from itertools import permutations, product
from typing import Any, Literal, NamedTuple

import numpy as np

from gigavqa.benchmarks.ultravr.taxonomy import QUADRANTS, Quadrant
from gigavqa.benchmarks.ultravr.wording import Slots
from gigavqa.construction.annotations import AnnotatedImage, Annotation
from gigavqa.construction.candidates import Candidate, Rejection
from gigavqa.construction.recipes.recipe import RecipeContext
from gigavqa.construction.ultravr.regions import (
    REGION_REASONS,
    RegionObjects,
    center,
    extent,
    named_categories,
    normalized,
    objects_by_region,
)
from gigavqa.construction.ultravr.task_recipe import TaskRecipe, the_quadrant

_LEAST_LEAD = 0.005
_MOST_OBJECTS = 200
_LEAST_BESIDE_NONE = 2
"""Objects in the one quadrant where the other has none, so that an extreme one is worth a word."""
_DIRECTIONS = (("west of", "east of"), ("north of", "south of"))
_SELECTORS = (("leftmost", "rightmost"), ("topmost", "bottommost"))
"""By axis, x and y: the one at the lower coordinate first."""


class Extreme(NamedTuple):
    """An object that a selector names, or why none can be told apart; `one` is None where there is none."""

    one: Annotation | None
    doubt: str = ""


def extreme(image: AnnotatedImage, region: RegionObjects, axis: Literal[0, 1], *, last: bool) -> Extreme:
    """Return the object at the low or high end of an axis: it leads the next one by center and by outer edge.

    By center it leads by 0.005 of the side, or half its own side if that is more.
    """
    sign = -1 if last else 1
    ordered = sorted(region.objects, key=lambda one: sign * center(image, one)[axis])
    if len(ordered) < 2:
        return Extreme(ordered[0] if ordered else None)
    first, second = ordered[:2]
    lead = sign * (center(image, second)[axis] - center(image, first)[axis])
    edges = [sign * one.box[axis + 2 * last] for one in ordered]
    if lead < max(_LEAST_LEAD, extent(image, first)[axis] / 2) or edges[0] >= min(edges[1:]):
        return Extreme(None, "near_tie")
    return Extreme(first)


class ExtremeRelation(TaskRecipe):
    """Questions how the extreme objects of two adjacent quadrants lie to each other, across the line between them.

    Objects are selected along the axis that parts the quadrants, which says nothing of the other one.
    """

    domain = "rs"
    category = "relational_inference"
    forms = frozenset({"dota"})
    name = "rs-relational-inference"
    title = "Extreme objects of adjacent quadrants (UltraVR)"
    version = "rs-relational-inference/1"
    reasons: Mapping[str, str] = {
        **REGION_REASONS,
        "near_tie": "two objects are too close to each other to tell which is the outermost, or which lies further",
        "too_few": "one quadrant has no object of the category, and the other less than two",
        "dense": f"there are more than {_MOST_OBJECTS} objects of the category in a quadrant",
    }

    def candidates(
        self, image: AnnotatedImage, context: RecipeContext, rng: np.random.Generator
    ) -> Iterator[Candidate | Rejection]:
        """Yield every ordered pair of adjacent quadrants with each end of their axis, of every category."""
        yield from self.unnamed(image, context)
        for category in named_categories(image, context):
            regions = objects_by_region(image, category)
            for a, b in permutations(QUADRANTS, 2):
                apart = _axis_apart(a, b)
                if apart is None:
                    continue
                about = f"{category} in {a} and {b}"
                if reason := _doubt(regions[a], regions[b]):
                    yield self.rejection(image, reason, about)
                    continue
                for ends in product((False, True), repeat=2):
                    found = self._compare(image, regions, (a, b), apart, ends)
                    if isinstance(found, str):
                        yield self.rejection(image, found, about)
                    else:
                        names = context.names[category]
                        program = {"category": category, "one": names.one, "many": names.many, **found[0]}
                        text = (category, program["selector_a"], a, program["selector_b"], b)
                        yield self.candidate(image, program, *found[1:], text)

    def _compare(
        self,
        image: AnnotatedImage,
        regions: Mapping[Quadrant, RegionObjects],
        pair: tuple[Quadrant, Quadrant],
        apart: Literal[0, 1],
        ends: tuple[bool, ...],
    ) -> tuple[dict[str, Any], str, list[Annotation]] | str:
        """Return program, truth and objects, or the reason why there are none."""
        found = [extreme(image, regions[name], apart, last=last) for name, last in zip(pair, ends, strict=True)]
        if doubt := next((one.doubt for one in found if one.doubt), ""):
            return doubt
        across: Literal[0, 1] = 0 if apart else 1
        a, b = (one.one for one in found)
        first = _lies_first(image, a, b, across) if a and b else None
        if a and b and first is None:
            return "near_tie"
        relation, opposite = _DIRECTIONS[across]
        selectors = {f"selector_{at}": _SELECTORS[apart][last] for at, last in zip("ab", ends, strict=True)}
        boxes = {f"selected_{at}": one and normalized(image, one) for at, one in (("a", a), ("b", b))}
        program = {
            **selectors,
            **{f"region_{at}": name for at, name in zip("ab", pair, strict=True)},
            **boxes,
            "relation": relation,
            "opposite": opposite,
            "relation_truths": first,
            "quadrants": list(pair),
            "options": list("ABCD"),
        }
        truth = "C" if a is None else "D" if b is None else "A" if first else "B"
        return program, truth, [one for one in (a, b) if one]

    def slots(self, program: Mapping[str, Any]) -> Slots:
        """Return selectors, type, quadrants and directions."""
        named = ("one", "many", "selector_a", "selector_b", "relation", "opposite")
        return {key: program[key] for key in named} | {
            f"region_{at}": the_quadrant(program[f"region_{at}"]) for at in "ab"
        }

    def truths(self, candidate: Candidate) -> Mapping[str, Any]:
        """Return which quadrants have objects, the selected ones, and whether the first direction holds."""
        a, b = candidate.program["selected_a"], candidate.program["selected_b"]
        return {"S1": a is not None, "S2": a, "S3": b is not None, "S4": b, "S5": candidate.program["relation_truths"]}


def _axis_apart(a: Quadrant, b: Quadrant) -> Literal[0, 1] | None:
    """Return the axis along which two quadrants are neighbours: 0 side by side, 1 one above the other."""
    differs = [one != other for one, other in zip(a.split("-"), b.split("-"), strict=True)]
    if all(differs):
        return None
    return 1 if differs[0] else 0


def _doubt(a: RegionObjects, b: RegionObjects) -> str:
    if doubt := a.doubt or b.doubt:
        return doubt
    numbers = sorted((len(a.objects), len(b.objects)))
    if numbers[1] > _MOST_OBJECTS:
        return "dense"
    return "too_few" if not numbers[0] and numbers[1] < _LEAST_BESIDE_NONE else ""


def _lies_first(image: AnnotatedImage, a: Annotation, b: Annotation, axis: Literal[0, 1]) -> bool | None:
    """Return whether a lies nearer to the top or left; None where centers are too close to tell."""
    gap = center(image, b)[axis] - center(image, a)[axis]
    margin = max(_LEAST_LEAD, *(extent(image, one)[axis] / 2 for one in (a, b)))
    return None if abs(gap) < margin else gap > 0
