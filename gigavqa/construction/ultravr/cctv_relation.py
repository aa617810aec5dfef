"""CCTV relational inference: how two described persons stand to each other in the image (appendix F.1)."""

from collections.abc import Iterator, Mapping
from itertools import permutations
from typing import Any

import numpy as np

from gigavqa.benchmarks.ultravr.taxonomy import Quadrant
from gigavqa.benchmarks.ultravr.vocabulary import DIRECTIONS, FRONT_BACK, LEFT_RIGHT, RELATIONS
from gigavqa.benchmarks.ultravr.wording import Slots
from gigavqa.construction.annotations import AnnotatedImage, Annotation
from gigavqa.construction.candidates import Candidate, Rejection
from gigavqa.construction.recipes.marked_objects import draw_words
from gigavqa.construction.recipes.recipe import RecipeContext
from gigavqa.construction.ultravr.cctv_cues import CctvCues
from gigavqa.construction.ultravr.persons import FACING, Description, describe, person_categories
from gigavqa.construction.ultravr.regions import (
    REGION_REASONS,
    RegionObjects,
    center,
    named_categories,
    normalized,
    objects_by_region,
    touched_quadrants,
)
from gigavqa.construction.ultravr.task_recipe import TaskRecipe

_LEAST_APART = 0.02
_MOST_PERSONS = 12
"""Of a quadrant, that are put in pairs."""


class PersonRelation(TaskRecipe):
    """Questions where one person is, relative to another: in the frame of the image, front is nearer its lower edge.

    Both are in one quadrant, since a description names it: two quadrants would tell how they lie.
    """

    domain = "cctv"
    category = "relational_inference"
    forms = frozenset({"panda"})
    name = "cctv-relational-inference"
    title = "Positions of two described persons (UltraVR)"
    version = "cctv-relational-inference/1"
    inquiries = (CctvCues(),)
    reasons: Mapping[str, str] = {
        **REGION_REASONS,
        "no_facing": f"nobody recorded as `{FACING}` where an object faces: {', '.join(DIRECTIONS)}",
        "not_unique": "what is recorded of an object may be true of another one in its quadrant, too",
        "near_tie": "two objects are too close in one direction, or their feet lie otherwise than their centers",
    }

    def candidates(
        self, image: AnnotatedImage, context: RecipeContext, rng: np.random.Generator
    ) -> Iterator[Candidate | Rejection]:
        """Yield ordered pairs of described persons of each quadrant."""
        yield from self.unnamed(image, context)
        for category in named_categories(image, context):
            for quadrant, region in objects_by_region(image, category).items():
                if region.objects and region.doubt:
                    yield self.rejection(image, region.doubt, f"{category} in {quadrant}")
                    continue
                described = yield from self._describe(image, quadrant, region, context.names[category].one)
                for a, b in permutations(described, 2):
                    yield self._relate(image, category, quadrant, (a, b))

    def _describe(
        self, image: AnnotatedImage, quadrant: Quadrant, region: RegionObjects, noun: str
    ) -> Any:  # Generator[Rejection, None, list[Description]]
        faced = [one for one in region.objects if one.attributes.get(FACING) in DIRECTIONS]
        if region.objects and not faced:
            yield self.rejection(image, "no_facing", f"{noun} in {quadrant}")
        found: dict[str, Description] = {}
        others = [*region.objects, *_persons_beside(image, region, quadrant)]
        for one in faced:
            description = describe(one, others, noun, quadrant)
            if description is None:
                yield self.rejection(image, "not_unique", one.id)
            else:
                found[one.id] = description
        return [found[name] for name in draw_words(list(found), _MOST_PERSONS, f"{image.image}/{quadrant}")]

    def _relate(
        self, image: AnnotatedImage, category: str, quadrant: Quadrant, pair: tuple[Description, Description]
    ) -> Candidate | Rejection:
        a, b = (one.person for one in pair)
        relation = _relation(image, a, b)
        if relation is None:
            return self.rejection(image, "near_tie", f"{a.id} and {b.id}")
        program: dict[str, Any] = {
            "category": category,
            "final_relation": relation,
            "quadrants": [quadrant],
            "options": list(RELATIONS),
        }
        for at, one in zip("ab", pair, strict=True):
            program[f"target_{at}"] = {
                "label": f"Person {at.upper()}",
                "bbox_normalized": normalized(image, one.person),
                "direction": one.person.attributes[FACING],
                "target_description": one.text,
            }
        return self.candidate(image, program, relation, (a, b), (category, quadrant))

    def slots(self, program: Mapping[str, Any]) -> Slots:
        """Return both descriptions."""
        return {f"person_{at}": program[f"target_{at}"]["target_description"] for at in "ab"}

    def truths(self, candidate: Candidate) -> Mapping[str, Any]:
        """Return boxes and facing of both, and the relation in parts and whole."""
        a, b = candidate.program["target_a"], candidate.program["target_b"]
        front, left = candidate.truth.split("-")
        return {
            **{"S1": a["bbox_normalized"], "S2": b["bbox_normalized"], "S3": a["direction"], "S4": b["direction"]},
            "S5": next(word for word, short in FRONT_BACK.items() if short == front),
            "S6": next(word for word, short in LEFT_RIGHT.items() if short == left),
            "S7": candidate.truth,
        }


def _persons_beside(image: AnnotatedImage, region: RegionObjects, quadrant: Quadrant) -> list[Annotation]:
    """Return persons of other categories in a quadrant, also in part: of whom an age is told, no category is."""
    own = {one.category for one in region.objects}
    categories = person_categories(image.annotations) - own
    return [
        one for one in image.annotations if one.category in categories and quadrant in touched_quadrants(image, one)
    ]


def _relation(image: AnnotatedImage, a: Annotation, b: Annotation) -> str | None:
    """Return where a is relative to b; None where it is too close to tell."""
    (ax, ay), (bx, by) = center(image, a), center(image, b)
    if abs(ax - bx) < _LEAST_APART or abs(ay - by) < _LEAST_APART:
        return None
    if (ay > by) != (a.box.y2 > b.box.y2) or a.box.y2 == b.box.y2:
        return None
    return f"{'front' if ay > by else 'back'}-{'left' if ax < bx else 'right'}"
