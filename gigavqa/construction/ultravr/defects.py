"""Which conditions of a product's normality a defect violates: a table of ours, and what a user's says otherwise."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gigavqa.benchmarks.ultravr.wording import grid_wording
from gigavqa.construction.errors import BuildError
from gigavqa.runtime.suggestions import did_you_mean

_OURS = Path(__file__).with_name("defects.toml")
_FIRST = 4
"""Number of the step that asks for a product's first condition."""


@dataclass(frozen=True)
class DefectTable:
    """The steps whose conditions are violated, by product and by a defect's or an image's name."""

    violations: Mapping[str, Mapping[str, tuple[str, ...]]]

    @classmethod
    def read(cls, path: Path | None = None) -> "DefectTable":
        """Return our table, and over it that of a file. Raises BuildError that names what is wrong in it."""
        tables = [_checked(_OURS), *([_checked(path)] if path else [])]
        joined: dict[str, dict[str, tuple[str, ...]]] = {product: {} for product in grid_wording().products}
        for product, steps in (each for table in tables for each in table.items()):
            joined[product] |= steps
        return cls(joined)

    def violated(self, product: str, image: str, defects: Iterable[str]) -> tuple[int, ...]:
        """Return the indices of the conditions that an anomalous image violates; none where that is not known.

        What is said of the image itself wins; else every one of its defects must be known.
        """
        known = self.violations.get(product, {})
        own = next((steps for key, steps in known.items() if f"/{image}".endswith(f"/{key}")), None)
        said = [own] if own is not None else [known.get(defect) for defect in defects]
        if None in said:
            return ()
        return tuple(sorted({int(step[1:]) - _FIRST for steps in said for step in steps or ()}))


def _checked(path: Path) -> dict[str, dict[str, tuple[str, ...]]]:
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BuildError(f"{path}: {error}; give TOML with a table for each product") from error
    return {product: _product(path, product, steps) for product, steps in table.items()}


def _product(path: Path, product: str, table: Any) -> dict[str, tuple[str, ...]]:
    products = grid_wording().products
    if product not in products or not isinstance(table, dict):
        told = f"is none of the products {', '.join(products)}{did_you_mean(product, products)}"
        raise BuildError(f"{path}: [{product}]: {told}; give a table of one")
    steps = [f"S{_FIRST + index}" for index in range(len(products[product].conditions))]
    for key, named in table.items():
        if not isinstance(named, list) or not named or not all(step in steps for step in named):
            raise BuildError(
                f"{path}: [{product}] {key}: must list steps of the violated conditions, {steps[0]} to {steps[-1]}"
            )
    return {key: tuple(named) for key, named in table.items()}
