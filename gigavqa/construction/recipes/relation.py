"""How two objects that words single out lie to each other, in the image's frame."""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

import numpy as np

from gigavqa.construction.annotations import AnnotatedImage
from gigavqa.construction.candidates import Candidate, Rejection
from gigavqa.construction.recipes.marked_objects import MarkedCategory
from gigavqa.construction.recipes.recipe import RecipeContext
from gigavqa.construction.recipes.references import Reference, clear_references
from gigavqa.construction.recipes.rules import UNCOUNTABLE
from gigavqa.construction.recipes.worded_recipe import WordedRecipe, phrase

_DIRECTIONS = ("above-left", "above-right", "below-left", "below-right")


class RelationRecipe(WordedRecipe):
    """Where does the largest ship lie, as seen from the only plane?

    Objects are singled out by size, or as the only ones: by place they would lie to each other as the words say.
    Evidence are both boxes.
    """

    name = "relation"
    title = "Relation"
    refuses = (*(reason for reason in UNCOUNTABLE if reason != "too_few"), "near_tie")
    silent = ("categories", "hows")

    def candidates(
        self, image: AnnotatedImage, context: RecipeContext, rng: np.random.Generator
    ) -> Iterator[Candidate | Rejection]:
        """Yield pairs of objects that are apart in both directions; nothing is drawn."""
        marked = self.objects_of(image)
        singled: list[tuple[MarkedCategory, Reference]] = []
        for category in marked.drawn_categories(self._thresholds.most_paired):
            found = marked.countable(category, 1, self._thresholds.most_compared)
            if isinstance(found, str):
                yield self.rejection(image, found, category)
            else:
                singled += [(found, way) for way in clear_references(found, self._thresholds, sides=False)]
        for first, second in combinations(singled, 2):
            yield self._relate(image, *first, *second)

    def _relate(
        self, image: AnnotatedImage, found_a: MarkedCategory, a: Reference, found_b: MarkedCategory, b: Reference
    ) -> Candidate | Rejection:
        both = [found_a.category, found_b.category]
        off = found_a.centers[a.place] - found_b.centers[b.place]
        own = np.maximum(found_a.extents[a.place], found_b.extents[b.place]) / 2
        if (np.abs(off) < np.maximum(own, self._thresholds.apart * found_a.sides)).any():
            return self.rejection(image, "near_tie", " and ".join(both))
        truth = _DIRECTIONS[2 * int(off[1] > 0) + int(off[0] > 0)]
        program = {"ask": "relation", "categories": both, "hows": [a.how, b.how], "options": list(_DIRECTIONS)}
        return self.candidate(image, program, truth, [found_a.annotations[a.place], found_b.annotations[b.place]])

    def slots(self, program: Mapping[str, Any], context: RecipeContext) -> dict[str, str]:
        """Return the phrases of both objects."""
        told = (
            phrase("references", how, one=context.names[category].one)
            for category, how in zip(program["categories"], program["hows"], strict=True)
        )
        return dict(zip(("first", "second"), told, strict=True))

    def option_text(self, option: str, program: Mapping[str, Any], context: RecipeContext) -> str:
        """Return the phrase of a direction."""
        text: str = self._wording["directions"][option]
        return text
