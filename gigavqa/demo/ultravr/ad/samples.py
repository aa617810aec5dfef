"""Questions about the grids: the anomalous cell as a coordinate (appendix A.4), or as one of four (section 4.1)."""

from gigavqa.answers.coordinates import format_coordinate
from gigavqa.benchmarks.ultravr.samples import BLOCK_SIZE
from gigavqa.benchmarks.ultravr.wording import grid_question, grid_steps
from gigavqa.demo.draws import stream
from gigavqa.demo.records import Record, shuffled
from gigavqa.demo.ultravr.ad.grid import Grid
from gigavqa.demo.ultravr.ad.products import GRID
from gigavqa.demo.ultravr.records import RecordQuestion, supervision


def grid_records(grid: Grid) -> list[Record]:
    """Return the two records about a grid: one asks for the coordinate, one offers four to choose from."""
    coordinate = {
        "question": grid_question(grid.product.name, GRID, choices=False),
        "answer": format_coordinate(grid.cell),
    }
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
    return RecordQuestion(grid_question(grid.product.name, GRID, choices=True), options, answer)


def _record(grid: Grid, form: str, fields: Record) -> Record:
    product = grid.product
    steps = grid_steps(product.name, GRID, product.violated, format_coordinate(grid.cell))
    return {
        "id": f"ad-{product.name.replace('_', '-')}-{form}",
        "domain": "ad",
        "category": product.category,
        "subcategory": product.name,
        "image": product.image,
        **fields,
        "reasoning_supervision": supervision(steps),
        "evidence": {"grid": list(GRID), "cell": list(grid.cell), "sheet": list(grid.sheet)},
    }
