"""How many objects of a category an image shows."""

from collections.abc import Iterator

import numpy as np

from gigavqa.construction.annotations import AnnotatedImage
from gigavqa.construction.candidates import Candidate, Rejection
from gigavqa.construction.recipes.recipe import RecipeContext
from gigavqa.construction.recipes.rules import UNCOUNTABLE
from gigavqa.construction.recipes.worded_recipe import WordedRecipe


class CountRecipe(WordedRecipe):
    """How many ships are there in the image?

    Evidence is one box around all that are counted: a box for each would tell how many there are. Counts of
    other images are offered beside its own.
    """

    name = "count"
    title = "Count"
    refuses = tuple(reason for reason in UNCOUNTABLE if reason != "too_few")

    def candidates(
        self, image: AnnotatedImage, context: RecipeContext, rng: np.random.Generator
    ) -> Iterator[Candidate | Rejection]:
        """Yield the categories whose objects can be counted; nothing is drawn."""
        marked = self.objects_of(image)
        for category in marked.drawn_categories(self._thresholds.most_categories):
            found = marked.countable(category, 1, self._thresholds.most_counted)
            if isinstance(found, str):
                yield self.rejection(image, found, category)
                continue
            counts = list(range(1, self._thresholds.most_counted + 1))
            program = {"ask": "count", "category": category, "options": counts}
            yield self.candidate(image, program, len(found), found.annotations, together=True)
