"""The recipes that are installed: those of the product, and those that packages bring."""

from collections.abc import Mapping
from functools import cache

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
from gigavqa.runtime.plugins import load_plugins

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
    """Return all recipes by name, the product's first. A package's may not take the name of one of these."""
    own: dict[str, QuestionRecipe] = {kind.name: kind() for kind in _OWN}
    brought = {recipe.name: recipe for recipe in (load() for load in load_plugins(RECIPE_GROUP).values())}
    return {**own, **{name: recipe for name, recipe in brought.items() if name not in own}}
