"""AD: which cell of a grid of products does not follow the description of a normal one (appendix A.4)."""

from collections.abc import Iterator, Mapping
from itertools import product as pairs_of
from typing import Any, Literal

import numpy as np

from gigavqa.answers.coordinates import format_coordinate
from gigavqa.benchmarks.ultravr.samples import BLOCK_SIZE
from gigavqa.benchmarks.ultravr.taxonomy import LETTERS
from gigavqa.benchmarks.ultravr.wording import grid_question, grid_steps, grid_wording
from gigavqa.construction.annotations import AnnotatedImage
from gigavqa.construction.candidates import Candidate, QuestionText, Rejection
from gigavqa.construction.recipes.recipe import RecipeContext

_LABELS = ("product", "kind", "violated", "rows", "columns", "row", "column")
Cell = tuple[int, int]


class AnomalousCell:
    """Questions for the anomalous cell of composed grids, as a coordinate or as one of four `choices`."""

    benchmark = "ultravr"
    name = "ad-anomaly"
    title = "The anomalous cell of a grid (UltraVR)"
    version = "ad-anomaly/1"
    reasons: Mapping[str, str] = {
        "no_grid": "the picture is no composed grid",
        "no_product": f"the product has no description: there are {', '.join(grid_wording().products)}",
        "no_quarters": f"rows or columns are no multiple of {BLOCK_SIZE[0]}, so that choices betray the cell's place",
    }

    def __init__(self, answers: Literal["coordinate", "choices"] = "coordinate") -> None:
        self.answers = answers

    def candidates(
        self, image: AnnotatedImage, context: RecipeContext, rng: np.random.Generator
    ) -> Iterator[Candidate | Rejection]:
        """Yield the one question of a grid; choices are the cell and three more of its sheet, each as likely."""
        if reason := self._refusal(image):
            yield Rejection(self.name, image.image, reason, str(image.labels.get("product", "the picture")))
            return
        told = image.labels
        rows, columns, row, column = (int(float(told[name])) for name in ("rows", "columns", "row", "column"))
        cell, sheet = (row, column), _sheet((row, column), (rows, columns))
        program: dict[str, Any] = {
            "category": str(told["kind"]),
            "product": str(told["product"]),
            "violated": [int(index) for index in str(told["violated"]).split(",")],
            "grid": [rows, columns],
            "sheet": list(sheet) if sheet else None,
            "split": str(told.get("anomaly", image.image)),
        }
        cells = list(pairs_of(range(1, rows + 1), range(1, columns + 1)))
        if self.answers == "choices" and sheet:
            cells = _choices(cell, sheet, rng)
        program["options"] = [format_coordinate(each) for each in cells]
        ids, boxes = tuple(one.id for one in image.annotations), tuple(one.box for one in image.annotations)
        yield Candidate(self.name, image.image, program, format_coordinate(cell), ids, boxes, "")

    def _refusal(self, image: AnnotatedImage) -> str:
        if any(name not in image.labels for name in _LABELS):
            return "no_grid"
        if image.labels["product"] not in grid_wording().products:
            return "no_product"
        sides = (int(float(image.labels["rows"])), int(float(image.labels["columns"])))
        whole = all(side % part == 0 for side, part in zip(sides, BLOCK_SIZE, strict=True))
        return "no_quarters" if self.answers == "choices" and not whole else ""

    def word(self, candidate: Candidate, context: RecipeContext, rng: np.random.Generator) -> QuestionText:
        """Return the question; of choices the options come in a drawn order."""
        program = candidate.program
        rows, columns = program["grid"]
        question = grid_question(program["product"], (rows, columns), choices=self.answers == "choices")
        if self.answers == "coordinate":
            return QuestionText(question, "text", candidate.truth)
        options = [program["options"][int(at)] for at in rng.permutation(len(LETTERS))]
        return QuestionText(question, "choice", candidate.truth, options)

    def record(self, candidate: Candidate, text: QuestionText) -> dict[str, Any]:
        """Return a candidate as a record of UltraVR."""
        program = candidate.program
        cell = [int(number) for number in candidate.truth.strip("()").split(",")]
        fields: dict[str, Any] = {"question": text.question, "answer": candidate.truth}
        if text.options:
            lettered = dict(zip(LETTERS, map(str, text.options), strict=True))
            fields |= {"options": lettered, "answer": LETTERS[[*lettered.values()].index(candidate.truth)]}
        rows, columns = program["grid"]
        steps = grid_steps(program["product"], (rows, columns), frozenset(program["violated"]), candidate.truth)
        evidence = {"grid": program["grid"], "cell": cell, "sheet": program["sheet"]}
        return {
            "id": candidate.id,
            "domain": "ad",
            "category": program["category"],
            "subcategory": program["product"],
            "image": candidate.image,
            **fields,
            "reasoning_supervision": {"step_type": "multi_step_qa", "steps": steps},
            "evidence": {name: value for name, value in evidence.items() if value is not None},
        }


def _sheet(cell: Cell, grid: Cell) -> Cell | None:
    """Return the first cell of the sheet that local evidence and choices come from; None where sheets do not fill it.

    Sheets lie beside each other and do not overlap: each cell is in one, so that the sheet tells nothing of its cell.
    """
    if any(side % part for side, part in zip(grid, BLOCK_SIZE, strict=True)):
        return None
    row, column = ((at - 1) // part * part + 1 for at, part in zip(cell, BLOCK_SIZE, strict=True))
    return row, column


def _choices(cell: Cell, sheet: Cell, rng: np.random.Generator) -> list[Cell]:
    """Return the cell and three more of its sheet, by place."""
    rows, columns = (range(first, first + part) for first, part in zip(sheet, BLOCK_SIZE, strict=True))
    others = [each for each in pairs_of(rows, columns) if each != cell]
    drawn = [others[int(at)] for at in rng.choice(len(others), len(LETTERS) - 1, replace=False)]
    return sorted([cell, *drawn])
