"""The two products: which conditions of normality the anomalous one violates, and what draws them."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from gigavqa.benchmarks.ultravr.taxonomy import Category
from gigavqa.demo.sprites import Pen
from gigavqa.demo.ultravr.ad.breakfast_box import draw_breakfast_box
from gigavqa.demo.ultravr.ad.pushpins import draw_pushpins
from gigavqa.tiling.geometry import Size

CELL = Size(1600, 1280)
GRID = (10, 10)


class Product(NamedTuple):
    """One kind of product in a grid, by the name that its wording has."""

    name: str
    category: Category
    violated: frozenset[int]
    """Indices of the conditions that the anomalous cell violates."""
    draw: Callable[[Pen, np.random.Generator, bool], None]

    @property
    def image(self) -> str:
        """Name of the grid's image, relative to the data set's folder; it tells nothing of the anomaly."""
        return f"images/{self.name.replace('_', '-')}-grid.png"


PRODUCTS = (
    Product(
        name="breakfast_box",
        category="logical_anomaly",
        violated=frozenset({1, 2}),
        draw=draw_breakfast_box,
    ),
    Product(
        name="pushpins",
        category="structural_anomaly",
        violated=frozenset({1}),
        draw=draw_pushpins,
    ),
)
