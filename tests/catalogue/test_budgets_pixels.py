"""What every family's processor makes of a rendered raster, against what it makes of the full image."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gigavqa.catalogue.families.deepseek_vl2 import DeepseekVL2Budget
from gigavqa.catalogue.families.gemma4 import Gemma4Budget
from gigavqa.catalogue.families.glm4v import Glm4vBudget
from gigavqa.catalogue.families.idefics3 import Idefics3Budget
from gigavqa.catalogue.families.internvl import InternVLBudget
from gigavqa.catalogue.families.kimi_vl import KimiVLBudget
from gigavqa.catalogue.families.llava_onevision import LlavaOnevisionBudget
from gigavqa.catalogue.families.minicpmv import MiniCPMVBudget
from gigavqa.catalogue.families.mllama import MllamaBudget
from gigavqa.catalogue.families.ovis import OvisBudget
from gigavqa.catalogue.families.phi4 import Phi4VisionBudget
from gigavqa.catalogue.families.qwen import QwenBudget
from gigavqa.tiling.budgets.base import NativeBudget
from gigavqa.tiling.geometry import Size
from gigavqa.tiling.rendering import render
from gigavqa.tiling.views import View
from tests.catalogue.families import family_of
from tests.tiling.pictures import psnr, save_pyramid, textured

FIXED, CHOOSY = Size(2600, 1900), Size(3773, 1322)
"""At the first size every family's raster is a fixed point; at the second three families have none."""

BUDGETS = [
    QwenBudget(factor=32, min_pixels=65536, max_pixels=1048576),
    Glm4vBudget(max_pixels=2097152),
    InternVLBudget(max_tiles=12),
    InternVLBudget(layout="hf", max_tiles=12),
    Gemma4Budget(max_soft_tokens=280),
    DeepseekVL2Budget(),
    MiniCPMVBudget(),
    Phi4VisionBudget(),
    KimiVLBudget(max_patches=4096),
    LlavaOnevisionBudget(),
    Idefics3Budget(),
    MllamaBudget(),
    OvisBudget(),
]
each_budget = pytest.mark.parametrize("budget", BUDGETS, ids=str)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[Size, Path]:
    """A pyramid of a textured picture of each size."""
    folder = tmp_path_factory.mktemp("pictures")
    return {size: save_pyramid(picture(size), folder / f"{size.width}.tif") for size in (FIXED, CHOOSY)}


@cache
def picture(size: Size) -> np.ndarray:
    """The full image."""
    return textured(*size)


def rendered(path: Path, budget: NativeBudget) -> Image.Image:
    """Our raster of the full image."""
    return Image.fromarray(render(path, View(image=path.name), budget).pixels)


@each_budget
@pytest.mark.parametrize("size", [FIXED, CHOOSY], ids=lambda size: f"{size.width}x{size.height}")
def test_the_processor_makes_the_same_of_the_raster(budget: NativeBudget, size: Size, files: dict[Size, Path]) -> None:
    """At 45 dB and more, of all tiles and of the overview."""
    family = family_of(budget)
    of_image = family.make(Image.fromarray(picture(size)))
    of_raster = family.make(rendered(files[size], budget))
    assert psnr(of_image.main, of_raster.main) >= 45
    assert (of_image.overview is None) == (of_raster.overview is None)
    if of_image.overview is not None and of_raster.overview is not None:
        assert psnr(of_image.overview, of_raster.overview) >= 45


@pytest.mark.parametrize("budget", [each for each in BUDGETS if not isinstance(each, Idefics3Budget)], ids=str)
def test_the_second_pass_changes_nothing(budget: NativeBudget, files: dict[Size, Path]) -> None:
    """The tiles hold the raster's own values, each as often, and nothing else but padding. Idefics3 stretches it."""
    family = family_of(budget)
    assert budget.plan(FIXED).fixed_point
    raster = rendered(files[FIXED], budget)
    values = np.rint(family.make(raster).main).astype(np.int64).ravel()
    added = np.bincount(values, minlength=256) - np.bincount(np.asarray(raster).ravel(), minlength=256)
    padding = {"DeepSeek-VL2": 127, "LLaVA-OneVision": 0, "Llama 3.2 Vision": 0}.get(family.name)
    assert [value for value in range(256) if added[value] and value != padding] == []


def test_some_sizes_have_no_fixed_point() -> None:
    """Their rasters are larger than the target, and the processor makes the last step."""
    plans = {budget: budget.plan(CHOOSY) for budget in BUDGETS}
    choosy = {budget: plan for budget, plan in plans.items() if not plan.fixed_point}
    assert {type(budget) for budget in choosy} == {Gemma4Budget, DeepseekVL2Budget, KimiVLBudget}
    assert all(plan.raster.width >= 2 * plan.decision.target.width for plan in choosy.values())
