"""Which object differs from all others in an attribute, and which quarter from all others in what it holds."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from gigavqa.construction.annotations import AnnotatedImage, attribute_text
from gigavqa.construction.candidates import Candidate, Rejection
from gigavqa.construction.recipes.marked_objects import Indices, MarkedCategory, draw_words
from gigavqa.construction.recipes.places import CORNERS, NO_PLACE, corner_quarters
from gigavqa.construction.recipes.recipe import RecipeContext
from gigavqa.construction.recipes.rules import UNCOUNTABLE
from gigavqa.construction.recipes.worded_recipe import WordedRecipe, phrase


class OddOneOutRecipe(WordedRecipe):
    """Where is the one ship whose colour differs? In which quarter of the image is there no ship?

    Evidence are the boxes of all objects of the category, since all must be looked at.
    """

    name = "odd_one_out"
    title = "Odd one out"
    refuses = (*UNCOUNTABLE, "near_line", "unread", "not_odd")
    silent = ("category", "attribute")

    def candidates(
        self, image: AnnotatedImage, context: RecipeContext, rng: np.random.Generator
    ) -> Iterator[Candidate | Rejection]:
        """Yield categories with one odd object in an attribute, or one empty quarter; nothing is drawn."""
        marked = self.objects_of(image)
        for category in marked.drawn_categories(self._thresholds.most_categories):
            found = marked.countable(category, 3, self._thresholds.most_counted)
            if isinstance(found, str):
                yield self.rejection(image, found, category)
                continue
            margin = self._thresholds.line_margin
            quarters = corner_quarters(found.centers, found.extents, found.sides, margin)
            yield self._empty_quarter(image, found, quarters)
            known = tuple(context.attributes.get(category, {}))
            for attribute in draw_words(known, self._thresholds.most_attributes, category):
                yield self._odd_object(image, found, quarters, attribute)

    def _empty_quarter(self, image: AnnotatedImage, found: MarkedCategory, quarters: Indices) -> Candidate | Rejection:
        if NO_PLACE in quarters:
            return self.rejection(image, "near_line", found.category)
        empty = [name for at, name in enumerate(CORNERS) if at not in quarters]
        if len(empty) != 1:
            return self.rejection(image, "not_odd", found.category)
        program = {"ask": "empty", "category": found.category, "options": list(CORNERS)}
        return self.candidate(image, program, empty[0], found.annotations)

    def _odd_object(
        self, image: AnnotatedImage, found: MarkedCategory, quarters: Indices, attribute: str
    ) -> Candidate | Rejection:
        about = f"{found.category}, {attribute}"
        values = [attribute_text(one.attributes[attribute]) for one in found.annotations if attribute in one.attributes]
        if len(values) < len(found):
            return self.rejection(image, "unread", about)
        counts = Counter(values)
        if len(counts) != 2 or min(counts.values()) != 1:
            return self.rejection(image, "not_odd", about)
        place = quarters[values.index(min(counts, key=lambda value: counts[value]))]
        if place == NO_PLACE:
            return self.rejection(image, "near_line", about)
        program = {"ask": "attribute", "category": found.category, "attribute": attribute, "options": list(CORNERS)}
        return self.candidate(image, program, CORNERS[place], found.annotations)

    def slots(self, program: Mapping[str, Any], context: RecipeContext) -> dict[str, str]:
        """Return the category's names, and the attribute's."""
        return {**super().slots(program, context), "attribute": program.get("attribute", "")}

    def option_text(self, option: str, program: Mapping[str, Any], context: RecipeContext) -> str:
        """Return the phrase of a quarter."""
        return phrase("places", option)
