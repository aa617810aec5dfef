"""What one part of an image holds: a quarter, or where it shows more than people count, a cell of a finer grid."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gigavqa.construction.annotations import AnnotatedImage
from gigavqa.construction.candidates import Candidate, Rejection
from gigavqa.construction.recipes.grid_cells import QUARTERS, GridCell, grid_cells
from gigavqa.construction.recipes.marked_objects import MarkedCategory, MarkedObjects
from gigavqa.construction.recipes.more_or_fewer import compare_numbers, distinct_pairs
from gigavqa.construction.recipes.offers import YES_NO
from gigavqa.construction.recipes.recipe import RecipeContext
from gigavqa.construction.recipes.rules import UNCOUNTABLE
from gigavqa.construction.recipes.worded_recipe import WordedRecipe, phrase


class RegionRecipe(WordedRecipe):
    """How many ships are there in the upper left quarter? Is there any in column 3 and row 5 of 8 x 8 equal cells?

    One image gives many answers to such a question, so that a single slide or mosaic can be asked about. Evidence is
    the part itself, whatever the answer.
    """

    name = "region"
    title = "Region"
    refuses = (*(reason for reason in UNCOUNTABLE if reason != "too_few"), "near_line", "near_tie")
    silent = ("cell",)

    def candidates(
        self, image: AnnotatedImage, context: RecipeContext, rng: np.random.Generator
    ) -> Iterator[Candidate | Rejection]:
        """Yield what can be asked of each cell; nothing is drawn."""
        categories = self.objects_of(image).drawn_categories(self._thresholds.most_paired)
        for cell in grid_cells(image, self._thresholds):
            marked = MarkedObjects(cell.scene, self._thresholds)
            countable: list[MarkedCategory] = []
            for category in categories:
                yield from self._presence(image, cell, marked, category)
                found = marked.countable(category, 1, self._thresholds.most_counted)
                if category in cell.crossing:
                    yield self.rejection(image, "near_line", category)
                elif isinstance(found, MarkedCategory):
                    countable.append(found)
                    options = list(range(1, self._thresholds.most_counted + 1))
                    program = self._program("count", cell, options, category=category)
                    yield self.candidate(image, program, len(found), found.annotations, region=cell.box)
                elif found != "too_few":
                    yield self.rejection(image, found, category)
            for first, second in distinct_pairs(countable, context):
                yield self._compare(image, cell, first, second)

    def _presence(
        self, image: AnnotatedImage, cell: GridCell, marked: MarkedObjects, category: str
    ) -> Iterator[Candidate]:
        program = self._program("presence", cell, list(YES_NO), category=category)
        clear = None if marked.is_incomplete(category) else marked.clearest(category)
        if clear is not None:
            yield self.candidate(image, program, "yes", [clear], region=cell.box)
        elif marked.is_absent(category) and category not in cell.crossing:
            yield self.candidate(image, program, "no", [], region=cell.box)

    def _compare(
        self, image: AnnotatedImage, cell: GridCell, first: MarkedCategory, second: MarkedCategory
    ) -> Candidate | Rejection:
        both = [first.category, second.category]
        found = compare_numbers(image, first, second, self._thresholds)
        if found is None:
            return self.rejection(image, "near_tie", " and ".join(both))
        ask, truth = found
        program = self._program(ask, cell, both, categories=both)
        return self.candidate(image, program, truth, [*first.annotations, *second.annotations], region=cell.box)

    def _program(self, ask: str, cell: GridCell, options: Sequence[Any], **about: Any) -> dict[str, Any]:
        return {"ask": ask, **about, "grid": cell.number, "cell": cell.name, "options": list(options)}

    def slots(self, program: Mapping[str, Any], context: RecipeContext) -> dict[str, str]:
        """Return the categories' names, and the phrase of the cell."""
        grid, cell, texts = program["grid"], program["cell"], self._wording["cells"]
        if grid == QUARTERS:
            told = texts["quarter"].format(place=phrase("places", cell))
        else:
            column, row = cell.split(",")
            told = texts["cell"].format(column=column, row=row, number=grid)
        return {**super().slots(program, context), "cell": told}

    def option_text(self, option: Any, program: Mapping[str, Any], context: RecipeContext) -> str:
        """Return a number, or the name of several objects of a category."""
        return context.names[option].many if "categories" in program else str(option)
