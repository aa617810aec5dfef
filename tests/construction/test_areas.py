"""How large an object is, and which quadrants it reaches into."""

import numpy as np
import pytest

from gigavqa.benchmarks.ultravr.taxonomy import QUADRANTS
from gigavqa.construction.annotations import AnnotatedImage, Annotation, Box
from gigavqa.construction.recipes.marked_objects import MarkedCategory
from gigavqa.construction.ultravr.regions import touched_quadrants

CORNERS = np.array([[0.0, 0.0, 60.0, 20.0]])


@pytest.mark.parametrize("outline", ["rings", "quad"])
@pytest.mark.parametrize("ring", [(0, 0, 60, 0, 60, 20, 0, 20), (0, 20, 60, 20, 60, 0, 0, 0)])
def test_an_outline_that_is_its_box_has_the_area_of_its_box(outline: str, ring: tuple[float, ...]) -> None:
    """Whichever way round it goes."""
    bare = Annotation("a", "ship", Box(0, 0, 60, 20))
    outlined = Annotation("a", "ship", Box(0, 0, 60, 20), **{outline: (ring,) if outline == "rings" else ring})  # type: ignore[arg-type]
    areas = [
        MarkedCategory("ship", (one,), CORNERS, np.array([1000.0, 500.0])).areas.tolist() for one in (bare, outlined)
    ]
    assert areas == [[1200.0], [1200.0]]


@pytest.mark.parametrize("across", [(0.1, 0.3), (0.4, 0.6), (0.6, 0.7)])
@pytest.mark.parametrize("down", [(0.1, 0.3), (0.4, 0.6), (0.6, 0.7)])
def test_a_box_touches_the_quadrants_that_it_lies_in(across: tuple[float, float], down: tuple[float, float]) -> None:
    """One, two side by side, two above each other, or all four."""
    box = Box(1000 * across[0], 500 * down[0], 1000 * across[1], 500 * down[1])
    columns, rows = (({0} if low < 0.5 else set()) | ({1} if high > 0.5 else set()) for low, high in (across, down))
    found = touched_quadrants(AnnotatedImage("a.png", 1000, 500), Annotation("a", "ship", box))
    assert found == [name for at, name in enumerate(QUADRANTS) if at // 2 in rows and at % 2 in columns]
