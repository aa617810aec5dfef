"""Questions about the grids: the anomalous cell as a coordinate (appendix A.4), or as one of four (section 4.1)."""

import numpy as np

from demo.ad.grid import Grid
from demo.ad.products import GRID, Product
from demo.draws import stream
from demo.records import Record, shuffled, step, supervision
from evaluation.ultravr.coordinates import format_coordinate


def grid_records(grid: Grid) -> list[Record]:
    """Return the two records about a grid: one asks for the coordinate, one offers four to choose from."""
    product, answer = grid.product, format_coordinate(grid.cell)
    options, letter = shuffled(_neighbours(grid), answer, stream(grid.seed, "ad", product.name, "options"))
    asked = f"The image is a grid of {GRID[0]} rows and {GRID[1]} columns of {product.plural}. {product.normality} "
    coordinate = (
        "Which cell does not follow this description? "
        "Answer with its coordinate as (row, column), counted from 1 at the top left."
    )
    choice = "Which cell, given as (row, column) and counted from 1 at the top left, does not follow this description?"
    return [
        _record(grid, "coordinate", {"question": asked + coordinate, "answer": answer}),
        _record(grid, "choice", {"question": asked + choice, "options": options, "answer": letter}),
    ]


def _record(grid: Grid, form: str, fields: Record) -> Record:
    product = grid.product
    return {
        "id": f"ad-{product.name.replace('_', '-')}-{form}",
        "domain": "ad",
        "category": product.category,
        "subcategory": product.name,
        "image": product.image,
        **fields,
        "reasoning_supervision": supervision(_steps(product, grid.cell)),
        "evidence": {"grid": list(GRID), "cell": list(grid.cell)},
    }


def _steps(product: Product, cell: tuple[int, int]) -> list[Record]:
    """The grid and its objects, each condition of normality, and the cell that violates one."""
    question, number = product.objects
    opening = [
        step("S1", "How many rows does the grid have?", GRID[0], "integer"),
        step("S2", "How many columns does the grid have?", GRID[1], "integer"),
        step("S3", question, number, "integer"),
    ]
    conditions = [
        step(f"S{4 + index}", f"Do all cells satisfy this condition: {text}?", index not in product.violated, "boolean")
        for index, text in enumerate(product.conditions)
    ]
    last = "Which cell violates at least one normality condition? Answer as (row, column)."
    return [*opening, *conditions, step(f"S{4 + len(conditions)}", last, format_coordinate(cell), "short_text")]


def _neighbours(grid: Grid) -> list[str]:
    """The anomalous cell and three cells close to it, so that none can be ruled out from its place alone."""
    rng: np.random.Generator = stream(grid.seed, "ad", grid.product.name, "neighbours")
    row, column = grid.cell
    near = [
        (row + down, column + across)
        for down in (-2, -1, 0, 1, 2)
        for across in (-2, -1, 0, 1, 2)
        if (down, across) != (0, 0) and 1 <= row + down <= GRID[0] and 1 <= column + across <= GRID[1]
    ]
    chosen = [near[int(index)] for index in rng.choice(len(near), 3, replace=False)]
    return [format_coordinate(cell) for cell in (grid.cell, *chosen)]
