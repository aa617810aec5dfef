"""Which of two categories an image shows more of, or fewer."""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any
from zlib import crc32

import numpy as np

from gigavqa.construction.annotations import AnnotatedImage
from gigavqa.construction.candidates import Candidate, Rejection
from gigavqa.construction.recipes.marked_objects import MarkedCategory
from gigavqa.construction.recipes.offers import distinct_values
from gigavqa.construction.recipes.recipe import RecipeContext
from gigavqa.construction.recipes.rules import UNCOUNTABLE
from gigavqa.construction.recipes.worded_recipe import WordedRecipe

_ASKS = ("more", "fewer")


class MoreOrFewerRecipe(WordedRecipe):
    """Which are there more of in the image: ships or planes?

    Evidence is one box around all objects of both categories: a box for each would tell how many there are. Whether
    more or fewer is asked depends on image and categories alone.
    """

    name = "more_or_fewer"
    title = "More or fewer"
    refuses = (*(reason for reason in UNCOUNTABLE if reason != "too_few"), "near_tie")

    def candidates(
        self, image: AnnotatedImage, context: RecipeContext, rng: np.random.Generator
    ) -> Iterator[Candidate | Rejection]:
        """Yield the pairs of categories that differ clearly in number; nothing is drawn."""
        marked = self.objects_of(image)
        countable: list[MarkedCategory] = []
        for category in marked.drawn_categories(self._thresholds.most_paired):
            found = marked.countable(category, 1, self._thresholds.most_counted)
            if isinstance(found, str):
                yield self.rejection(image, found, category)
            else:
                countable.append(found)
        for first, second in combinations(countable, 2):
            both = (first.category, second.category)
            if len(distinct_values(both, tuple(context.names[one].many for one in both))) == 2:
                yield self._compare(image, first, second)

    def _compare(self, image: AnnotatedImage, first: MarkedCategory, second: MarkedCategory) -> Candidate | Rejection:
        fewer, more = sorted((first, second), key=len)
        both = [first.category, second.category]
        gap = max(self._thresholds.count_gap, self._thresholds.count_gap_share * len(more))
        if len(more) - len(fewer) < gap:
            return self.rejection(image, "near_tie", " and ".join(both))
        ask = _ASKS[crc32(f"{image.image}/{both[0]}/{both[1]}".encode()) % 2]
        truth = (more if ask == "more" else fewer).category
        program = {"ask": ask, "categories": both, "options": both}
        return self.candidate(image, program, truth, [*first.annotations, *second.annotations], together=True)

    def option_text(self, option: str, program: Mapping[str, Any], context: RecipeContext) -> str:
        """Return the name of several objects of a category."""
        return context.names[option].many
