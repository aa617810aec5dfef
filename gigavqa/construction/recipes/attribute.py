"""The value of an attribute of an object that words single out."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from gigavqa.construction.annotations import AnnotatedImage, attribute_text
from gigavqa.construction.candidates import Candidate, Rejection
from gigavqa.construction.recipes.marked_objects import MarkedCategory, draw_words
from gigavqa.construction.recipes.offers import YES_NO, distinct_values
from gigavqa.construction.recipes.recipe import RecipeContext
from gigavqa.construction.recipes.references import Reference, clear_references
from gigavqa.construction.recipes.rules import UNCOUNTABLE
from gigavqa.construction.recipes.worded_recipe import WordedRecipe, phrase

_BOOLEANS = {"True", "False"}


class AttributeRecipe(WordedRecipe):
    """What is the colour of the largest ship in the image?

    Offered are other values that the build's annotations have for the category; of an attribute that holds or not, yes
    and no. Evidence is the object's box.
    """

    name = "attribute"
    title = "Attribute"
    refuses = (*(reason for reason in UNCOUNTABLE if reason != "too_few"), "unread", "no_other_answer")
    silent = ("how",)

    def candidates(
        self, image: AnnotatedImage, context: RecipeContext, rng: np.random.Generator
    ) -> Iterator[Candidate | Rejection]:
        """Yield the attributes of objects that are singled out; nothing is drawn."""
        marked = self.objects_of(image)
        described = [category for category in marked.categories if context.attributes.get(category)]
        for category in draw_words(described, self._thresholds.most_paired, image.image):
            found = marked.countable(category, 1, self._thresholds.most_compared)
            if isinstance(found, str):
                yield self.rejection(image, found, category)
                continue
            ways = [*clear_references(found, self._thresholds, sides=True)]
            known = context.attributes[category]
            for attribute in draw_words(tuple(known), self._thresholds.most_attributes, category):
                for way in ways:
                    yield from self._read(image, found, way, attribute, known[attribute])

    def _read(
        self, image: AnnotatedImage, found: MarkedCategory, way: Reference, attribute: str, values: tuple[str, ...]
    ) -> Iterator[Candidate | Rejection]:
        one, about = found.annotations[way.place], f"{found.category}, {attribute}"
        if attribute not in one.attributes:
            yield self.rejection(image, "unread", about)
            return
        program = {"ask": "value", "how": way.how, "category": found.category, "attribute": attribute}
        truth = attribute_text(one.attributes[attribute])
        if set(values) <= _BOOLEANS:
            told = {**program, "ask": "holds", "options": list(YES_NO)}
            yield self.candidate(image, told, YES_NO[truth == "False"], [one])
            return
        offered = distinct_values(values, values)
        if truth not in offered or len(offered) < 2:
            yield self.rejection(image, "no_other_answer", about)
        else:
            yield self.candidate(image, {**program, "options": list(offered)}, truth, [one])

    def slots(self, program: Mapping[str, Any], context: RecipeContext) -> dict[str, str]:
        """Return the phrase of the object, and the attribute's name."""
        one = context.names[program["category"]].one
        return {"reference": phrase("references", program["how"], one=one), "attribute": program["attribute"]}
