"""The two products: their normality as conditions, and which of them the anomalous one violates."""

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
    """One kind of product in a grid; its steps are S1-S3 for the grid, one a condition, and the last for the cell."""

    name: str
    category: Category
    plural: str
    normality: str
    objects: tuple[str, int]
    """The question of step S3 about one normal cell, and its answer."""
    conditions: tuple[str, ...]
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
        plural="breakfast boxes",
        normality=(
            "A normal breakfast box has two compartments. The left compartment holds exactly two tangerines and "
            "exactly one nectarine. The right compartment holds cereals in its upper part and a mix of banana chips "
            "and almonds in its lower part; the ratio and the relative position of the two are fixed."
        ),
        objects=("How many pieces of fruit does the left compartment of every cell hold?", 3),
        conditions=(
            "the box has a left and a right compartment",
            "the left compartment holds exactly two tangerines",
            "the left compartment holds exactly one nectarine",
            "the left compartment holds nothing but fruit",
            "the upper part of the right compartment is filled with cereals",
            "the lower part of the right compartment holds banana chips",
            "the lower part of the right compartment holds almonds",
            "cereals and mix share the right compartment in the fixed ratio",
            "the tangerines are undamaged",
            "the nectarines are undamaged",
            "the box is undamaged and free of foreign objects",
        ),
        violated=frozenset({1, 2}),
        draw=draw_breakfast_box,
    ),
    Product(
        name="pushpins",
        category="structural_anomaly",
        plural="boxes of pushpins",
        normality=(
            "A normal box of pushpins has fifteen compartments in three rows of five. Each compartment holds exactly "
            "one yellow pushpin with a straight, complete needle. The box and its separators are intact and clean."
        ),
        objects=("How many compartments does the box in every cell have?", 15),
        conditions=(
            "each compartment holds exactly one pushpin",
            "every pushpin has a straight, complete needle",
            "the box and its separators are intact and clean",
        ),
        violated=frozenset({1}),
        draw=draw_pushpins,
    ),
)
