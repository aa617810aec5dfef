"""RS comparison: how far the counts of two quadrants differ, each under a condition on a landmark (appendix F.2)."""

from collections.abc import Iterator, Mapping
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np

from gigavqa.benchmarks.ultravr.taxonomy import QUADRANTS, Quadrant
from gigavqa.benchmarks.ultravr.wording import Slots, task_wording
from gigavqa.construction.annotations import AnnotatedImage, Annotation
from gigavqa.construction.candidates import Candidate, QuestionText, Rejection
from gigavqa.construction.recipes.recipe import RecipeContext
from gigavqa.construction.ultravr.landmarks import Condition, conditions_in, satisfying
from gigavqa.construction.ultravr.regions import (
    REGION_REASONS,
    RegionObjects,
    named_categories,
    normalized,
    objects_by_region,
)
from gigavqa.construction.ultravr.rs_landmarks import RsLandmarks
from gigavqa.construction.ultravr.task_recipe import TaskRecipe, the_quadrant

_MOST_OBJECTS = 12
_MOST_APART = 5
_MOST_DIFFERENCE = 6
_OFFERS = (*(range(start, start + 4) for start in range(4)), range(0, 7, 2))
"""Sets of four differences, by ones and by twos, of which each may be true."""
_Regions = Mapping[str, Mapping[Quadrant, RegionObjects]]


class _Half(NamedTuple):
    """One quadrant's part of a question: its condition, and the objects that satisfy it of those that it has."""

    quadrant: Quadrant
    condition: Condition
    objects: list[Annotation]
    number: int


class ConditionedComparison(TaskRecipe):
    """Questions of the absolute difference between two counts, in quadrants and by landmarks."""

    domain = "rs"
    category = "comparison"
    forms = frozenset({"dota"})
    name = "rs-comparison"
    title = "Counts by landmarks of two quadrants (UltraVR)"
    version = "rs-comparison/1"
    inquiries = (RsLandmarks(),)
    reasons: Mapping[str, str] = {
        **REGION_REASONS,
        "absent": "a quadrant has no object of the category",
        "dense": f"there are more than {_MOST_OBJECTS} objects of the category in a quadrant",
        "counts_apart": f"the quadrants' counts differ by more than {_MOST_APART}, or the counts by landmarks by more "
        f"than {_MOST_DIFFERENCE}",
        "no_landmark": "a quadrant holds no landmark whole: none that is described, and no single object of a category "
        "that is larger than what is counted",
        "ambiguous_condition": "an object lies so to a landmark that nobody can tell whether it is near, or within",
        "nothing_left": "no object of a quadrant satisfies the condition",
        "nothing_dropped": "every object satisfies the conditions, so that they say nothing",
    }

    def candidates(
        self, image: AnnotatedImage, context: RecipeContext, rng: np.random.Generator
    ) -> Iterator[Candidate | Rejection]:
        """Yield every pair of quadrants of every category, under the conditions that each quadrant allows."""
        yield from self.unnamed(image, context)
        regions: _Regions = {name: objects_by_region(image, name) for name in named_categories(image, context)}
        for category, by_quadrant in regions.items():
            conditions = {name: conditions_in(image, name, regions, context.names, category) for name in QUADRANTS}
            for a, b in combinations(QUADRANTS, 2):
                about = f"{category} in {a} and {b}"
                if reason := _doubt(by_quadrant[a], by_quadrant[b]):
                    yield self.rejection(image, reason, about)
                elif not (conditions[a] and conditions[b]):
                    yield self.rejection(image, "no_landmark", about)
                else:
                    for both in product(conditions[a], conditions[b]):
                        halves = [
                            _half(name, condition, by_quadrant[name])
                            for name, condition in zip((a, b), both, strict=True)
                        ]
                        yield from self._compare(image, context, category, halves)

    def _compare(
        self, image: AnnotatedImage, context: RecipeContext, category: str, halves: list[_Half | None]
    ) -> Iterator[Candidate | Rejection]:
        known = [half for half in halves if half]
        if len(known) < len(halves):
            yield self.rejection(image, "ambiguous_condition", category)
            return
        about = f"{category} {known[0].condition.text} and {known[1].condition.text}"
        counts = [len(half.objects) for half in known]
        truth = abs(counts[0] - counts[1])
        if reason := _fault(known, truth):
            yield self.rejection(image, reason, about)
            return
        names = context.names[category]
        program: dict[str, Any] = {
            "category": category,
            "many": names.many,
            "quadrants": [half.quadrant for half in known],
        }
        for at, half in zip("ab", known, strict=True):
            program |= {
                f"region_{at}": half.quadrant,
                f"condition_{at}": half.condition.text,
                f"landmark_{at}": normalized(image, half.condition.landmark),
                f"region_{at}_boxes": [normalized(image, one) for one in half.objects],
            }
        shown = [one for half in known for one in (half.condition.landmark, *half.objects)]
        objects = [*{one.id: one for one in shown}.values()]
        for offered in _OFFERS:
            if truth in offered:
                options = [*map(str, offered)]
                text = (category, ",".join(options))
                yield self.candidate(image, {**program, "options": options}, str(truth), objects, text)

    def word(self, candidate: Candidate, context: RecipeContext, rng: np.random.Generator) -> QuestionText:
        """Return the fixed question, and four differences in a drawn order."""
        question = task_wording(self.domain, self.category).question(self.slots(candidate.program))
        offered = candidate.program["options"]
        return QuestionText(question, "choice", candidate.truth, [offered[at] for at in rng.permutation(len(offered))])

    def slots(self, program: Mapping[str, Any]) -> Slots:
        """Return type, quadrants and conditions."""
        named = {key: program[key] for key in ("many", "condition_a", "condition_b")}
        return named | {f"region_{at}": the_quadrant(program[f"region_{at}"]) for at in "ab"}

    def truths(self, candidate: Candidate) -> Mapping[str, Any]:
        """Return landmark, existence, objects and count of both quadrants, and the difference."""
        truths: dict[str, Any] = {}
        for first, at in ((1, "a"), (5, "b")):
            boxes = candidate.program[f"region_{at}_boxes"]
            told = (candidate.program[f"landmark_{at}"], bool(boxes), boxes, len(boxes))
            truths |= {f"S{first + offset}": truth for offset, truth in enumerate(told)}
        return truths | {"S9": abs(truths["S4"] - truths["S8"])}


def _half(quadrant: Quadrant, condition: Condition, region: RegionObjects) -> _Half | None:
    found = satisfying(condition, region.objects)
    return None if found is None else _Half(quadrant, condition, found, len(region.objects))


def _doubt(a: RegionObjects, b: RegionObjects) -> str:
    if doubt := a.doubt or b.doubt:
        return doubt
    numbers = sorted((len(a.objects), len(b.objects)))
    if not numbers[0]:
        return "absent"
    if numbers[1] > _MOST_OBJECTS:
        return "dense"
    return "counts_apart" if numbers[1] - numbers[0] > _MOST_APART else ""


def _fault(halves: list[_Half], difference: int) -> str:
    if not all(half.objects for half in halves):
        return "nothing_left"
    if all(len(half.objects) == half.number for half in halves):
        return "nothing_dropped"
    return "counts_apart" if difference > _MOST_DIFFERENCE else ""
