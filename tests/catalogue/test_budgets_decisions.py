"""Every family's visual budget against the processor that is installed for it."""

from functools import cache
from typing import TYPE_CHECKING

import pytest

from gigavqa.catalogue.families.deepseek_vl2 import DeepseekVL2Budget
from gigavqa.tiling.budgets.base import NativeBudget, RasterPlan
from gigavqa.tiling.geometry import Size
from tests.catalogue.families import PAPER, family_of
from tests.catalogue.sizes import EXTREMES, random_sizes

if TYPE_CHECKING:
    from tests.catalogue.processors import ProcessorFamily

SIZES = [*EXTREMES, *random_sizes(800)]


@pytest.fixture(scope="module", params=PAPER, ids=str)
def family(request: pytest.FixtureRequest) -> "ProcessorFamily":
    """One family after the other."""
    return family_of(request.param)


@cache
def planned(family: "ProcessorFamily") -> dict[Size, RasterPlan]:
    """The plans of all sizes, made once."""
    return {size: family.budget.plan(size) for size in SIZES}


def test_decisions_and_tokens_are_the_processors_own(family: "ProcessorFamily") -> None:
    """For tiny and gigapixel sizes of every shape to 1:12."""
    for size, plan in planned(family).items():
        decided = family.decide(size)
        assert plan.visual_tokens == decided.tokens, size
        for name in ("target", "grid", "overview"):
            if (expected := getattr(decided, name)) is not None:
                assert getattr(plan.decision, name) == expected, (size, name)


def test_the_processor_decides_alike_about_the_raster(family: "ProcessorFamily") -> None:
    """What is rendered leads to the same tiles and tokens as the full image, and no raster is large."""
    for size, plan in planned(family).items():
        assert family.decide(plan.raster) == family.decide(size), size
        assert plan.raster.area <= max(family.budget.max_raster_pixels, plan.decision.target.area), size


def test_a_fixed_point_stays_as_it_is(family: "ProcessorFamily") -> None:
    """Its own plan is itself; a raster that is none leads to the same decision."""
    for plan in planned(family).values():
        assert plan.fixed_point == (plan.raster == plan.decision.target)
        again = family.budget.plan(plan.raster)
        assert again.decision == plan.decision
        assert not plan.fixed_point or again == plan


def test_no_picture_costs_more_than_the_most(family: "ProcessorFamily") -> None:
    """The engine reserves for `max_visual_tokens`."""
    assert max(plan.visual_tokens for plan in planned(family).values()) <= family.budget.max_visual_tokens


def test_a_third_picture_ends_deepseeks_cropping() -> None:
    """Two pictures are cropped each as if it were alone; of three each is one tile and 421 tokens."""
    budget = next(budget for budget in PAPER if isinstance(budget, DeepseekVL2Budget))
    size = random_sizes(1, least_area=1e8)[0]
    assert budget.plan(size, 2) == budget.plan(size, 1)
    assert budget.plan(size, 3).visual_tokens == 421
    assert budget.plan(size, 3).decision.grid == (1, 1)
    assert budget.counts_images


@pytest.mark.parametrize("budget", [each for each in PAPER if not isinstance(each, DeepseekVL2Budget)], ids=str)
def test_other_families_do_not_count_pictures(budget: NativeBudget) -> None:
    """A view of a prompt with thirty others is planned like one alone."""
    assert not budget.counts_images
    for size in SIZES[:100]:
        assert budget.plan(size, 37) == budget.plan(size)
