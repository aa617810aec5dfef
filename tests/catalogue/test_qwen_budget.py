"""Qwen's visual budget against the `smart_resize` of the installed transformers."""

import ast
import importlib.util
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gigavqa.catalogue.families.qwen import QwenBudget
from gigavqa.tiling.errors import BudgetError
from gigavqa.tiling.geometry import Size
from tests.syntax import syntax_tree

PAPER = QwenBudget(factor=32, min_pixels=65536, max_pixels=16777216)
BUDGETS = [
    PAPER,
    QwenBudget(factor=28, min_pixels=3136, max_pixels=12845056),
    QwenBudget(factor=32, min_pixels=65536, max_pixels=262144),
]


def installed_smart_resize() -> Callable[..., tuple[int, int]]:
    """The function itself, without the module around it, which needs a torchvision that fits torch."""
    package = importlib.util.find_spec("transformers")
    if package is None or package.origin is None:
        pytest.skip("transformers is not installed")
    path = Path(package.origin).parent / "models" / "qwen2_vl" / "image_processing_qwen2_vl.py"
    tree = syntax_tree(path)
    function = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "smart_resize")
    names: dict[str, Any] = {"math": math}
    exec(compile(ast.Module([function], []), str(path), "exec"), names)
    resize: Callable[..., tuple[int, int]] = names["smart_resize"]
    return resize


def random_sizes(count: int) -> list[Size]:
    """Areas from 1 to 4e10 pixels and aspect ratios to 1:150, both evenly spread in magnitude."""
    draw = random.Random(7)
    sizes = []
    for _ in range(count):
        area, aspect = 10 ** draw.uniform(0, math.log10(4e10)), 150 ** draw.uniform(-1, 1)
        width, height = max(1, round(math.sqrt(area * aspect))), max(1, round(math.sqrt(area / aspect)))
        if max(width, height) <= 150 * min(width, height):
            sizes.append(Size(width, height))
    return sizes


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_the_raster_is_what_transformers_makes_of_the_full_image(budget: QwenBudget) -> None:
    """For thousands of sizes, tiny and gigapixel, square and long."""
    smart_resize = installed_smart_resize()
    for size in random_sizes(4000):
        expected = smart_resize(size.height, size.width, budget.factor, budget.min_pixels, budget.max_pixels)
        raster = budget.plan(size).raster
        assert (raster.height, raster.width) == expected, size


@given(st.integers(1, 200_000), st.integers(1, 200_000), st.sampled_from(BUDGETS))
def test_the_raster_is_a_fixed_point(width: int, height: int, budget: QwenBudget) -> None:
    """The family's own preprocessing of the raster changes nothing, and the tokens fit the budget."""
    assume(max(width, height) <= 150 * min(width, height))
    plan = budget.plan(Size(width, height))
    assume(max(plan.raster) <= 200 * min(plan.raster))
    assert budget.plan(plan.raster) == plan
    assert plan.visual_tokens == plan.raster.area // budget.factor**2


def test_the_papers_budget_is_16384_tokens_and_4096_pixels() -> None:
    """UltraVR, table 1."""
    assert (PAPER.max_visual_tokens, PAPER.effective_resolution) == (16384, 4096)


def test_a_picture_longer_than_200_times_its_breadth_is_refused() -> None:
    """As the Qwen processors refuse it, with the size in the message."""
    with pytest.raises(BudgetError, match="20100x100"):
        PAPER.plan(Size(20100, 100))
