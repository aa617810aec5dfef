"""Where the extreme object of a category lies, and which category lies nearest to a corner."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gigavqa.construction.annotations import AnnotatedImage
from gigavqa.construction.candidates import Candidate, Rejection
from gigavqa.construction.recipes.marked_objects import MarkedCategory, MarkedObjects, draw_words
from gigavqa.construction.recipes.offers import distinct_values, value_sets
from gigavqa.construction.recipes.places import CORNERS, NO_PLACE, corner_quarters, strip_names, strips
from gigavqa.construction.recipes.recipe import RecipeContext
from gigavqa.construction.recipes.references import (
    POLES,
    SIDES,
    SIZES,
    Reference,
    by_pole,
    by_side,
    by_size,
    corner_distances,
    edge_distances,
    north_of,
    pole_direction,
)
from gigavqa.construction.recipes.rules import UNCOUNTABLE
from gigavqa.construction.recipes.worded_recipe import WordedRecipe, phrase

_STRIP_ASKS = ("columns", "rows")


class ExtremeRecipe(WordedRecipe):
    """In which quarter of the image does the largest ship lie? Which of these lies nearest to the upper left corner?

    The outermost object in a direction is asked for across that direction: the leftmost ship lies on the left, and the
    question is how high. On the ground, likewise, where the image's label `north` says how it is turned. Evidence are
    the extreme object and the one that comes next, for a corner the nearest of each category; boxes do not tell where
    in the image they lie, so such a question is for V2 and V4.
    """

    name = "extreme"
    title = "Extreme"
    refuses = (*UNCOUNTABLE, "hidden", "mixed", "near_tie", "near_line", "tilted")
    silent = ("how", "category", "corner")

    def candidates(
        self, image: AnnotatedImage, context: RecipeContext, rng: np.random.Generator
    ) -> Iterator[Candidate | Rejection]:
        """Yield the extremes of categories, then those of the corners; nothing is drawn."""
        marked = self.objects_of(image)
        north = north_of(image.labels)
        for category in marked.drawn_categories(self._thresholds.most_categories):
            found = marked.countable(category, 2, self._thresholds.most_compared)
            if isinstance(found, str):
                yield self.rejection(image, found, category)
                continue
            yield from (self._quarter(image, found, by_size(found, how, self._thresholds)) for how in SIZES)
            for how, (axis, _) in SIDES.items():
                yield self._strip(image, found, by_side(found, how, self._thresholds), 1 - axis)
            if north is not None:
                yield from (self._on_the_ground(image, found, how, north) for how in POLES)
        yield from self._corners(image, marked, context)

    def _quarter(self, image: AnnotatedImage, found: MarkedCategory, way: Reference | str) -> Candidate | Rejection:
        if isinstance(way, str):
            return self.rejection(image, way, found.category)
        margin = self._thresholds.line_margin
        place = corner_quarters(found.centers[[way.place]], found.extents[[way.place]], found.sides, margin)[0]
        return self._placed(image, found, way, "quarter", names=CORNERS, place=int(place))

    def _strip(
        self, image: AnnotatedImage, found: MarkedCategory, way: Reference | str, axis: int
    ) -> Candidate | Rejection:
        if isinstance(way, str):
            return self.rejection(image, way, found.category)
        margin = self._thresholds.line_margin
        place = strips(found.centers[[way.place]], found.extents[[way.place]], found.sides, axis, margin)[0]
        return self._placed(image, found, way, _STRIP_ASKS[axis], names=strip_names(axis), place=int(place))

    def _placed(
        self,
        image: AnnotatedImage,
        found: MarkedCategory,
        way: Reference,
        ask: str,
        *,
        names: Sequence[str],
        place: int,
    ) -> Candidate | Rejection:
        if place == NO_PLACE:
            return self.rejection(image, "near_line", found.category)
        program = {"ask": ask, "how": way.how, "category": found.category, "options": list(names)}
        shown = [found.annotations[way.place], found.annotations[way.next]]
        return self.candidate(image, program, names[place], shown)

    def _on_the_ground(
        self, image: AnnotatedImage, found: MarkedCategory, how: str, north: float
    ) -> Candidate | Rejection:
        across, down = np.abs(pole_direction(how, north))
        if np.degrees(np.arctan2(min(across, down), max(across, down))) > self._thresholds.north_tilt:
            return self.rejection(image, "tilted", found.category)
        way = by_pole(found, how, north, self._thresholds)
        return self._strip(image, found, way, 1 if across > down else 0)

    def _corners(
        self, image: AnnotatedImage, marked: MarkedObjects, context: RecipeContext
    ) -> Iterator[Candidate | Rejection]:
        """Yield which category is nearest to each corner, among sets of four that have two or more in the image."""
        names = tuple(context.names[category].one for category in context.categories)
        values = distinct_values(context.categories, names)
        sets = {
            tuple(offer)
            for category in set(values) & set(marked.categories)
            for offer in value_sets(values, category, self._thresholds.options)
        }
        sets = {offer for offer in sets if len(set(offer) & set(marked.categories)) > 1}
        drawn = draw_words(["\n".join(offer) for offer in sets], self._thresholds.most_categories, image.image)
        for offered in (words.split("\n") for words in drawn):
            present = [category for category in offered if category in marked.categories]
            found = [marked.countable(category, 1, self._thresholds.most_compared) for category in present]
            whole = [one for one in found if isinstance(one, MarkedCategory)]
            if len(whole) < len(found) or not all(marked.is_absent(one) for one in offered if one not in present):
                reason = next((one for one in found if isinstance(one, str)), "unlabelled")
                yield self.rejection(image, reason, ", ".join(offered))
            else:
                yield from (self._nearest(image, offered, whole, corner) for corner in CORNERS)

    def _nearest(
        self, image: AnnotatedImage, offered: list[str], whole: list[MarkedCategory], corner: str
    ) -> Candidate | Rejection:
        distances = [corner_distances(one, corner) for one in whole]
        nearest = [int(np.argmin(each)) for each in distances]
        reach = np.array([each[at] for each, at in zip(distances, nearest, strict=True)])
        first, second = np.argsort(reach, kind="stable")[:2]
        winner = whole[first]
        own = float(np.hypot(*winner.extents[nearest[first]])) / 2
        margin = max(self._thresholds.corner_margin * float(np.hypot(*winner.sides)), own)
        edges = np.array([edge_distances(one, corner).min() for one in whole])
        if reach[second] - reach[first] < margin or edges[first] > edges.min():
            return self.rejection(image, "near_tie", ", ".join(offered))
        program = {"ask": "nearest", "corner": corner, "among": offered, "options": offered}
        shown = [one.annotations[at] for one, at in zip(whole, nearest, strict=True)]
        return self.candidate(image, program, winner.category, shown)

    def slots(self, program: Mapping[str, Any], context: RecipeContext) -> dict[str, str]:
        """Return the phrase of the extreme object, or of the corner."""
        if program["ask"] == "nearest":
            return {"corner": phrase("corners", program["corner"])}
        return {"reference": phrase("references", program["how"], one=context.names[program["category"]].one)}

    def option_text(self, option: str, program: Mapping[str, Any], context: RecipeContext) -> str:
        """Return the phrase of a place, or the name of one object of a category."""
        return context.names[option].one if program["ask"] == "nearest" else phrase("places", option)
