"""What a quarter of an image holds of all objects of a category."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from gigavqa.construction.annotations import AnnotatedImage
from gigavqa.construction.candidates import Candidate, Rejection
from gigavqa.construction.recipes.marked_objects import MarkedCategory
from gigavqa.construction.recipes.offers import YES_NO
from gigavqa.construction.recipes.places import CORNERS, NO_PLACE, corner_quarters
from gigavqa.construction.recipes.recipe import RecipeContext
from gigavqa.construction.recipes.rules import UNCOUNTABLE
from gigavqa.construction.recipes.worded_recipe import WordedRecipe, phrase

_QUARTER = 0.25


class PartWholeRecipe(WordedRecipe):
    """Which quarter of the image holds the most ships? Does the upper left one hold more than a quarter of them?

    Evidence is one box around all objects of the category: a box for each would tell how many there are. It does not
    tell where in the image it lies, so such a question is for V2 and V4.
    """

    name = "part_whole"
    title = "Part and whole"
    refuses = (*UNCOUNTABLE, "near_line", "near_tie")
    silent = ("category", "place")

    def candidates(
        self, image: AnnotatedImage, context: RecipeContext, rng: np.random.Generator
    ) -> Iterator[Candidate | Rejection]:
        """Yield categories whose objects all lie clear of the lines between quarters; nothing is drawn."""
        marked = self.objects_of(image)
        for category in marked.drawn_categories(self._thresholds.most_categories):
            found = marked.countable(category, 4, self._thresholds.most_counted)
            if isinstance(found, str):
                yield self.rejection(image, found, category)
                continue
            quarters = corner_quarters(found.centers, found.extents, found.sides, self._thresholds.line_margin)
            if NO_PLACE in quarters:
                yield self.rejection(image, "near_line", category)
                continue
            counts = [int(number) for number in np.bincount(quarters, minlength=4)]
            yield self._most(image, found, counts)
            yield from (self._share(image, found, name, number) for name, number in zip(CORNERS, counts, strict=True))

    def _most(self, image: AnnotatedImage, found: MarkedCategory, counts: list[int]) -> Candidate | Rejection:
        most, next_most = sorted(counts, reverse=True)[:2]
        if most - next_most < self._thresholds.count_gap:
            return self.rejection(image, "near_tie", found.category)
        program = {"ask": "most", "category": found.category, "options": list(CORNERS)}
        return self.candidate(image, program, CORNERS[counts.index(most)], found.annotations, together=True)

    def _share(self, image: AnnotatedImage, found: MarkedCategory, place: str, number: int) -> Candidate | Rejection:
        gap = max(self._thresholds.share_margin * len(found), self._thresholds.share_gap)
        beyond = number - _QUARTER * len(found)
        if abs(beyond) < gap:
            return self.rejection(image, "near_tie", f"{found.category}, {place}")
        program = {"ask": "share", "category": found.category, "place": place, "options": list(YES_NO)}
        return self.candidate(image, program, YES_NO[beyond < 0], found.annotations, together=True)

    def slots(self, program: Mapping[str, Any], context: RecipeContext) -> dict[str, str]:
        """Return the category's names, and the phrase of the quarter that is asked about."""
        place = phrase("places", program["place"]) if "place" in program else ""
        return {**super().slots(program, context), "place": place}

    def option_text(self, option: str, program: Mapping[str, Any], context: RecipeContext) -> str:
        """Return the phrase of a quarter."""
        return phrase("places", option)
