"""The recipes that are installed: those of the product, and those that packages bring."""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from gigavqa.construction.recipes.attribute import AttributeRecipe
from gigavqa.construction.recipes.count import CountRecipe
from gigavqa.construction.recipes.extreme import ExtremeRecipe
from gigavqa.construction.recipes.more_or_fewer import MoreOrFewerRecipe
from gigavqa.construction.recipes.odd_one_out import OddOneOutRecipe
from gigavqa.construction.recipes.part_whole import PartWholeRecipe
from gigavqa.construction.recipes.presence import PresenceRecipe
from gigavqa.construction.recipes.recipe import RECIPE_GROUP, QuestionRecipe
from gigavqa.construction.recipes.region import RegionRecipe
from gigavqa.construction.recipes.relation import RelationRecipe
from gigavqa.evaluation.installed import installed_benchmarks
from gigavqa.runtime.plugins import load_plugins

_ROOM = "gigavqa.construction"
_OWN = (
    PresenceRecipe,
    CountRecipe,
    MoreOrFewerRecipe,
    ExtremeRecipe,
    OddOneOutRecipe,
    RelationRecipe,
    PartWholeRecipe,
    AttributeRecipe,
    RegionRecipe,
)


@cache
def installed_recipes() -> Mapping[str, QuestionRecipe]:
    """Return all recipes by name, the product's first. A package's may not take the name of one of these.

    Those of a benchmark with its own records are the `RECIPES` of `gigavqa.construction.<benchmark>.recipes`.
    """
    kinds = [*_OWN, *(kind for module in _recipe_modules() for kind in module.RECIPES)]
    own: dict[str, QuestionRecipe] = {kind.name: kind() for kind in kinds}
    brought = {recipe.name: recipe for recipe in (load() for load in load_plugins(RECIPE_GROUP).values())}
    return {**own, **{name: recipe for name, recipe in brought.items() if name not in own}}


def recipes_of(benchmark: str) -> Mapping[str, QuestionRecipe]:
    """Return the recipes that make records of a benchmark, by name."""
    return {name: recipe for name, recipe in installed_recipes().items() if recipe.benchmark == benchmark}


def _recipe_modules() -> Iterator[ModuleType]:
    for benchmark in installed_benchmarks():
        folder = f"{_ROOM}.{benchmark}"
        if find_spec(folder) and find_spec(f"{folder}.recipes"):
            yield import_module(f"{folder}.recipes")
