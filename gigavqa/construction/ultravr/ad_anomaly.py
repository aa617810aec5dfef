"""AD: which cell of a grid of products does not follow the description of a normal one (appendix A.4)."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import product as pairs_of
from pathlib import Path
from typing import Any

import numpy as np

from gigavqa.answers.coordinates import format_coordinate, read_coordinate
from gigavqa.benchmarks.ultravr.samples import BLOCK_SIZE
from gigavqa.benchmarks.ultravr.taxonomy import LETTERS
from gigavqa.benchmarks.ultravr.wording import grid_question, grid_steps, grid_wording
from gigavqa.construction.annotations import AnnotatedImage, Omissions
from gigavqa.construction.build_folder import canonical_json, digest_file
from gigavqa.construction.candidates import Candidate, QuestionText, Rejection
from gigavqa.construction.errors import BuildError
from gigavqa.construction.recipes.recipe import Composite, RecipeContext, RecipeQuota
from gigavqa.construction.ultravr.defects import DefectTable
from gigavqa.construction.ultravr.grid_plans import KINDS, GridPlanner, GridShape
from gigavqa.construction.ultravr.grids import write_grid
from gigavqa.construction.ultravr.records import CATEGORY_QUOTA, ultravr_record
from gigavqa.runtime.work_progress import counted

_ANSWERS = ("coordinate", "choices")
_NUMBERS = {"rows": "rows", "columns": "columns", "most": "grids"}
_SHAPE = GridShape()
_LABELS = ("product", "kind", "violated", "rows", "columns", "row", "column")
Cell = tuple[int, int]


class AnomalousCell:
    """Questions for the anomalous cell of composed grids, as a coordinate or as one of four choices."""

    benchmark = "ultravr"
    forms = frozenset({"mvtec-loco"})
    quota = RecipeQuota(CATEGORY_QUOTA.per_image, len(KINDS) * CATEGORY_QUOTA.per_build)
    name = "ad-anomaly"
    title = "The anomalous cell of a grid (AD)"
    reasons: Mapping[str, str] = {
        "no_product": f"the product has no description: there are {', '.join(grid_wording().products)}",
        "no_quarters": f"rows or columns are no multiple of {BLOCK_SIZE[0]}, so that choices betray the cell's place",
    }
    parameters: Mapping[str, str] = {
        "answers": "coordinate, or choices: one of four cells of a quarter of the grid",
        "rows": "rows of a grid; 10 if omitted",
        "columns": "columns of a grid; 10 if omitted",
        "grids": "grids of each product and kind of anomaly at most; 10 if omitted",
        "defects": "a file that says which conditions a defect violates, over our own",
    }

    def __init__(
        self,
        answers: str = "coordinate",
        shape: GridShape = _SHAPE,
        defects: DefectTable | None = None,
    ) -> None:
        self.answers, self._shape = answers, shape
        self._defects = defects or DefectTable.read()
        self.version = f"ad-anomaly/1 {answers}"
        self.composition = canonical_json(["grids/1", *shape, self._defects.violations])

    def adjusted(self, chosen: Mapping[str, str]) -> "AnomalousCell":
        """Return the recipe with what is chosen. Raises BuildError for a value that none can be."""
        answers = chosen.get("answers", self.answers)
        if answers not in _ANSWERS:
            raise BuildError(f"--set answers={answers}: is none of {', '.join(_ANSWERS)}")
        numbers = {name: _number(name, chosen[key]) for name, key in _NUMBERS.items() if key in chosen}
        defects = DefectTable.read(Path(chosen["defects"])) if "defects" in chosen else self._defects
        return AnomalousCell(answers, self._shape._replace(**numbers), defects)

    def takes(self, picture: AnnotatedImage) -> bool:
        """Return whether it is a picture of a product, normal or anomalous."""
        return {"product", "split", "kind"} <= picture.labels.keys()

    def compose(
        self, pictures: Iterable[AnnotatedImage], images: Path, folder: Path, omissions: Omissions, seed: int
    ) -> Iterator[Composite]:
        """Write the grids of products, by content: one that is there already is the same."""
        digest_of = cache(lambda name: digest_file(images / name))
        plans = GridPlanner(self._shape, self._defects, digest_of, omissions, seed).plan(pictures)
        for plan in counted(iter(plans), "grids composed"):
            target = folder / plan.image
            if not target.is_file():
                write_grid([images / name for name in plan.sources], plan.rows, plan.columns, target)
            yield Composite(plan.annotated(), plan.document())

    def candidates(
        self, image: AnnotatedImage, context: RecipeContext, rng: np.random.Generator
    ) -> Iterator[Candidate | Rejection]:
        """Yield the one question of a grid; choices are the cell and three more of its sheet, each as likely.

        Of other pictures nothing is asked.
        """
        if any(name not in image.labels for name in _LABELS):
            return
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
        program, cell = candidate.program, read_coordinate(candidate.truth)
        rows, columns = program["grid"]
        steps = grid_steps(program["product"], (rows, columns), frozenset(program["violated"]), candidate.truth)
        kind = {"domain": "ad", "category": program["category"], "subcategory": program["product"]}
        evidence = {"grid": program["grid"], "cell": list(cell or ()), "sheet": program["sheet"]}
        shown = {name: value for name, value in evidence.items() if value is not None}
        return ultravr_record(candidate, text, kind, steps, shown)


def _number(name: str, text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise BuildError(f"--set {name}={text}: must be a whole number from 1 on")
    return int(text)


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
