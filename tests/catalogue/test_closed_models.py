"""Visual budgets of closed models beside what their vendors document and what papers print and others measured."""

import pytest

from gigavqa.catalogue.families.anthropic import AnthropicBudget
from gigavqa.catalogue.families.gemini import GeminiSoftTokenBudget, GeminiTileBudget
from gigavqa.catalogue.families.openai import OpenAIPatchBudget, OpenAITileBudget
from gigavqa.catalogue.load import load_catalogue
from gigavqa.tiling.budgets.base import NativeBudget
from gigavqa.tiling.errors import BudgetError
from gigavqa.tiling.geometry import Size
from tests.catalogue.sizes import EXTREMES, random_sizes

CATALOGUE = load_catalogue()
CLOSED = [
    model_id
    for model_id, entry in CATALOGUE.items()
    if entry.access == "private" and not model_id.endswith("-published")
]
PAPERS = {
    "gpt-5.5": (10_000, 3200),
    "gpt-5.4": (10_000, 3200),
    "gemini-3.1-pro": (2240, 2256),
    "gpt-5": (1190, 768),
    "gpt-4.1": (1445, 768),
    "gpt-4o": (1445, 768),
    "gemini-2.5-pro": (4128, 3072),
    "claude-sonnet-4": (1568, 1092),
}
"""Nominal tokens and effective resolution. UltraVR prints 3200 for both GPTs, and 2240 tokens and 2260 for Gemini."""


def test_the_closed_models_of_the_papers_tables_are_there() -> None:
    """UltraVR's three, ATOM-Bench's three, VistaHop's Claude and MMCR's GPT-4o, with their limits."""
    budgets = {model_id: CATALOGUE[model_id].visual_budget for model_id in CLOSED}
    assert {name: (b.nominal_visual_tokens, b.effective_resolution) for name, b in budgets.items()} == PAPERS


@pytest.mark.parametrize(
    ("budget", "size", "tokens"),
    [
        (OpenAITileBudget(), (1024, 1024), 765),  # the guide's examples
        (OpenAITileBudget(), (2048, 4096), 1105),
        (OpenAITileBudget(base_tokens=2833, tile_tokens=5667), (2048, 4096), 36835),
        (OpenAIPatchBudget(max_patches=1536, max_side=2048), (1024, 1024), 1024),
        (OpenAIPatchBudget(max_patches=1536, max_side=2048), (1800, 2400), 1452),
        (CATALOGUE["gpt-5.5"].visual_budget, (1024, 1024), 1229),  # measured
        (CATALOGUE["gpt-5.5"].visual_budget, (1280, 720), 1104),
        (CATALOGUE["gpt-5.5"].visual_budget, (3840, 2160), 9792),
        (CATALOGUE["gpt-5.5"].visual_budget, (4032, 3024), 11868),
        (AnthropicBudget(), (1092, 1092), 1521),
        (AnthropicBudget(), (1920, 1080), 1560),  # measured
        (GeminiTileBudget(), (384, 384), 258),
        (GeminiTileBudget(), (960, 540), 1548),  # the guide's example
        (GeminiSoftTokenBudget(), (256, 256), 1089),  # measured, less one token around each picture
        (GeminiSoftTokenBudget(), (1280, 720), 1100),
        (GeminiSoftTokenBudget(), (4032, 3024), 1064),
    ],
    ids=str,
)
def test_a_picture_costs_what_is_documented_or_was_measured(
    budget: NativeBudget, size: tuple[int, int], tokens: int
) -> None:
    """The vendors' own examples, and one request each that others have published."""
    assert budget.plan(Size(*size)).visual_tokens == tokens


@pytest.mark.parametrize(("size"), [(1092, 1092), (951, 1268), (896, 1344), (819, 1456), (784, 1568)], ids=str)
def test_anthropics_table_of_sizes_that_are_not_resized(size: tuple[int, int]) -> None:
    """Each passes unchanged, and a picture of three times its sides becomes no more than a hair larger."""
    budget, whole = AnthropicBudget(), Size(*size)
    assert budget.plan(whole).raster == whole
    shrunk = budget.plan(Size(3 * whole.width, 3 * whole.height)).raster
    assert whole.width <= shrunk.width <= whole.width + 2
    assert whole.height <= shrunk.height <= whole.height + 2


@pytest.mark.parametrize("model_id", CLOSED)
def test_a_raster_is_one_that_the_documents_leave_alone(model_id: str) -> None:
    """Whatever the picture's size: planned again, it stays as it is, within the budget's tokens and pixels."""
    budget = CATALOGUE[model_id].visual_budget
    for size in [*EXTREMES, *random_sizes(300)]:
        try:
            plan = budget.plan(size)
        except BudgetError:
            assert max(size) > 12 * min(size)
            continue
        assert budget.plan(plan.raster).visual_tokens == plan.visual_tokens <= budget.max_visual_tokens
        assert plan.raster.area <= budget.max_raster_pixels


@pytest.mark.parametrize("model_id", CLOSED)
def test_a_closed_model_says_where_it_is_asked(model_id: str) -> None:
    """Its vendor's endpoint, the variable of the key, and its name there."""
    entry = CATALOGUE[model_id]
    assert entry.remote.endpoint and entry.remote.endpoint.startswith("https://")
    assert entry.remote.key
    assert entry.remote_names == (entry.weights.removeprefix("remote:"),)
