"""Whether a category occurs in an image."""

from collections.abc import Iterator
from zlib import crc32

import numpy as np

from gigavqa.construction.annotations import AnnotatedImage, Annotation
from gigavqa.construction.candidates import Candidate, Rejection
from gigavqa.construction.recipes.marked_objects import draw_words
from gigavqa.construction.recipes.offers import YES_NO
from gigavqa.construction.recipes.recipe import RecipeContext
from gigavqa.construction.recipes.worded_recipe import WordedRecipe


class PresenceRecipe(WordedRecipe):
    """Is there any ship in the image?

    Evidence is one box, whatever the answer: the largest object of a category that is whole and clear, for no of
    another category of the image that is drawn. So neither the number of views nor their size gives the answer away,
    and V3 is right where it sees what the box holds. An image in which nothing else is marked asks for no absent
    category.
    """

    name = "presence"
    title = "Presence"
    refuses = ("unclear", "unlabelled", "nothing_else")

    def candidates(
        self, image: AnnotatedImage, context: RecipeContext, rng: np.random.Generator
    ) -> Iterator[Candidate | Rejection]:
        """Yield one for each category that occurs, and for some that do not; nothing is drawn."""
        found = self.objects_of(image)
        for category in found.drawn_categories(self._thresholds.most_categories):
            clear = found.clearest(category)
            if found.is_incomplete(category):
                yield self.rejection(image, "unlabelled", category)
            elif clear is None:
                yield self.rejection(image, "unclear", category)
            else:
                yield self.candidate(image, self._program(category), "yes", [clear])
        marked = frozenset(found.categories)
        others = [category for category in context.categories if category not in marked]
        shown = [clear for category in found.categories if (clear := found.clearest(category))]
        for category in draw_words(others, self._thresholds.most_absent, image.image):
            if not found.is_absent(category):
                yield self.rejection(image, "unlabelled", category)
            elif not shown:
                yield self.rejection(image, "nothing_else", category)
            else:
                yield self.candidate(
                    image, self._program(category), "no", [min(shown, key=lambda one: _draw(image, category, one))]
                )

    def _program(self, category: str) -> dict[str, object]:
        return {"ask": "presence", "category": category, "options": list(YES_NO)}


def _draw(image: AnnotatedImage, missing: str, shown: Annotation) -> int:
    """Return where an object comes in a drawn order, which depends on no other object."""
    return crc32(f"{image.image}/{missing}/{shown.category}".encode())
