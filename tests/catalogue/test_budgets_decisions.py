"""Every family's visual budget against the processor that is installed for it."""

from functools import cache

import pytest

from gigavqa.tiling.budgets.base import RasterPlan
from gigavqa.tiling.geometry import Size
from gigavqa.workers.engines.vllm.compat.torch_companions import repair_torch_companions
from tests.catalogue.sizes import EXTREMES, random_sizes

repair_torch_companions()
processors = pytest.importorskip("tests.catalogue.processors", reason="vLLM and transformers are not installed")

FAMILIES = [processors.family_of(budget) for budget in processors.PAPER]
SIZES = [*EXTREMES, *random_sizes(800)]

each_family = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)


@cache
def planned(family: "processors.Family") -> dict[Size, RasterPlan]:
    """The plans of all sizes, made once."""
    return {size: family.budget.plan(size) for size in SIZES}


@each_family
def test_decisions_and_tokens_are_the_processors_own(family: "processors.Family") -> None:
    """For tiny and gigapixel sizes of every shape to 1:12."""
    for size, plan in planned(family).items():
        decided = family.decide(size)
        assert plan.visual_tokens == decided.tokens, size
        for name in ("target", "grid", "overview"):
            if (expected := getattr(decided, name)) is not None:
                assert getattr(plan.decision, name) == expected, (size, name)


@each_family
def test_the_processor_decides_alike_about_the_raster(family: "processors.Family") -> None:
    """What is rendered leads to the same tiles and tokens as the full image, and no raster is large."""
    for size, plan in planned(family).items():
        assert family.decide(plan.raster) == family.decide(size), size
        assert plan.raster.area <= max(family.budget.max_raster_pixels, plan.decision.target.area), size


@each_family
def test_a_fixed_point_stays_as_it_is(family: "processors.Family") -> None:
    """Its own plan is itself; a raster that is none leads to the same decision."""
    for plan in planned(family).values():
        assert plan.fixed_point == (plan.raster == plan.decision.target)
        again = family.budget.plan(plan.raster)
        assert again.decision == plan.decision
        assert not plan.fixed_point or again == plan


@each_family
def test_no_picture_costs_more_than_the_most(family: "processors.Family") -> None:
    """The engine reserves for `max_visual_tokens`."""
    assert max(plan.visual_tokens for plan in planned(family).values()) <= family.budget.max_visual_tokens


def test_a_third_picture_ends_deepseeks_cropping() -> None:
    """Two pictures are cropped each as if it were alone; of three each is one tile and 421 tokens."""
    budget = next(family.budget for family in FAMILIES if family.name == "DeepSeek-VL2")
    size = random_sizes(1, least_area=1e8)[0]
    assert budget.plan(size, 2) == budget.plan(size, 1)
    assert budget.plan(size, 3).visual_tokens == 421
    assert budget.plan(size, 3).decision.grid == (1, 1)
    assert budget.counts_images


@pytest.mark.parametrize("family", [f for f in FAMILIES if f.name != "DeepSeek-VL2"], ids=lambda family: family.name)
def test_other_families_do_not_count_pictures(family: "processors.Family") -> None:
    """A view of a prompt with thirty others is planned like one alone."""
    assert not family.budget.counts_images
    for size in SIZES[:100]:
        assert family.budget.plan(size, 37) == family.budget.plan(size)
