"""Which of two categories an image shows more of, or fewer."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any
from zlib import crc32

import numpy as np

from gigavqa.construction.annotations import AnnotatedImage
from gigavqa.construction.candidates import Candidate, Rejection
from gigavqa.construction.recipes.marked_objects import MarkedCategory
from gigavqa.construction.recipes.offers import distinct_values
from gigavqa.construction.recipes.recipe import RecipeContext
from gigavqa.construction.recipes.rules import UNCOUNTABLE, Thresholds
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
        for first, second in distinct_pairs(countable, context):
            yield self._compare(image, first, second)

    def _compare(self, image: AnnotatedImage, first: MarkedCategory, second: MarkedCategory) -> Candidate | Rejection:
        both = [first.category, second.category]
        found = compare_numbers(image, first, second, self._thresholds)
        if found is None:
            return self.rejection(image, "near_tie", " and ".join(both))
        ask, truth = found
        program = {"ask": ask, "categories": both, "options": both}
        return self.candidate(image, program, truth, [*first.annotations, *second.annotations], together=True)

    def option_text(self, option: str, program: Mapping[str, Any], context: RecipeContext) -> str:
        """Return the name of several objects of a category."""
        return context.names[option].many


def distinct_pairs(
    found: Sequence[MarkedCategory], context: RecipeContext
) -> Iterator[tuple[MarkedCategory, MarkedCategory]]:
    """Yield the pairs of categories whose names answers can tell apart."""
    for first, second in combinations(found, 2):
        both = (first.category, second.category)
        if len(distinct_values(both, tuple(context.names[one].many for one in both))) == 2:
            yield first, second


def compare_numbers(
    image: AnnotatedImage, first: MarkedCategory, second: MarkedCategory, thresholds: Thresholds
) -> tuple[str, str] | None:
    """Return whether more or fewer is asked of two categories in an image, and which it is; None where it is close."""
    fewer, more = sorted((first, second), key=len)
    if len(more) - len(fewer) < max(thresholds.count_gap, thresholds.count_gap_share * len(more)):
        return None
    ask = _ASKS[crc32(f"{image.image}/{first.category}/{second.category}".encode()) % 2]
    return ask, (more if ask == "more" else fewer).category
