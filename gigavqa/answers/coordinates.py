"""Grid coordinates of AD: (row, column), 1-based from the top left of the grid."""

import re
from typing import Any, NamedTuple

_NUMBERS = re.compile(r"\(?\s*(\d{1,4})\s*,\s*(\d{1,4})\s*\)?")


class Coordinate(NamedTuple):
    """A cell of the grid, 1-based from the top left."""

    row: int
    column: int


def format_coordinate(cell: Coordinate | tuple[int, int]) -> str:
    """Write a cell as every answer is written: "(row, column)"."""
    return f"({cell[0]}, {cell[1]})"


def read_coordinate(value: Any) -> Coordinate | None:
    """Read an annotated coordinate: "(3, 7)", "3,7", [3, 7] or {"row": 3, "column": 7}; None for anything else."""
    if isinstance(value, str) and (match := _NUMBERS.fullmatch(value.strip())):
        return _positive(int(match[1]), int(match[2]))
    if isinstance(value, dict):
        value = [value.get("row"), value.get("column", value.get("col"))]
    if isinstance(value, list | tuple) and len(value) == 2 and all(type(number) is int for number in value):
        return _positive(value[0], value[1])
    return None


def _positive(row: int, column: int) -> Coordinate | None:
    return Coordinate(row, column) if row > 0 and column > 0 else None
