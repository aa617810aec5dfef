"""Questions about the grids: the anomalous cell as a coordinate (appendix A.4), or as one of four (section 4.1)."""

from gigavqa.answers.coordinates import format_coordinate
from gigavqa.benchmarks.ultravr.samples import BLOCK_SIZE
from gigavqa.demo.draws import stream
from gigavqa.demo.records import Record, shuffled
from gigavqa.demo.ultravr.ad.grid import Grid
from gigavqa.demo.ultravr.ad.products import GRID, Product
from gigavqa.demo.ultravr.records import RecordQuestion, step, supervision

_COORDINATE = (
    "Which cell does not follow this description? "
    "Answer with its coordinate as (row, column), counted from 1 at the top left."
)
_CHOICE = "Which cell, given as (row, column) and counted from 1 at the top left, does not follow this description?"


def grid_records(grid: Grid) -> list[Record]:
    """Return the two records about a grid: one asks for the coordinate, one offers four to choose from."""
    coordinate = {"question": _introduction(grid) + _COORDINATE, "answer": format_coordinate(grid.cell)}
    return [_record(grid, "coordinate", coordinate), _record(grid, "choice", draw_choice(grid).fields)]


def draw_choice(grid: Grid) -> RecordQuestion:
    """Draw the question that offers the anomalous cell and three others of its sheet, each of the 24 as likely."""
    rng = stream(grid.seed, "ad", grid.product.name, "options")
    (first_row, first_column), (rows, columns) = grid.sheet, BLOCK_SIZE
    cells = [(first_row + down, first_column + across) for down in range(rows) for across in range(columns)]
    cells.remove(grid.cell)
    others = [cells[int(index)] for index in rng.choice(len(cells), 3, replace=False)]
    options, answer = shuffled(
        [format_coordinate(cell) for cell in (grid.cell, *others)], format_coordinate(grid.cell), rng
    )
    return RecordQuestion(_introduction(grid) + _CHOICE, options, answer)


def _introduction(grid: Grid) -> str:
    rows, columns = GRID
    return (
        f"The image is a grid of {rows} rows and {columns} columns of {grid.product.plural}. {grid.product.normality} "
    )


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
        "evidence": {"grid": list(GRID), "cell": list(grid.cell), "sheet": list(grid.sheet)},
    }


def _steps(product: Product, cell: tuple[int, int]) -> list[Record]:
    """Return the grid and its objects, each condition of normality, and the cell that violates one."""
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
