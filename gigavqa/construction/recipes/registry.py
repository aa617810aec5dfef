"""The recipes that are installed: those of the product, and those that packages bring."""

from collections.abc import Mapping, Sequence
from functools import cache

from gigavqa.construction.benchmark_modules import benchmark_modules
from gigavqa.construction.errors import BuildError
from gigavqa.construction.readers.reader import AnnotationReader
from gigavqa.construction.recipes.attribute import AttributeRecipe
from gigavqa.construction.recipes.count import CountRecipe
from gigavqa.construction.recipes.extreme import ExtremeRecipe
from gigavqa.construction.recipes.more_or_fewer import MoreOrFewerRecipe
from gigavqa.construction.recipes.odd_one_out import OddOneOutRecipe
from gigavqa.construction.recipes.part_whole import PartWholeRecipe
from gigavqa.construction.recipes.presence import PresenceRecipe
from gigavqa.construction.recipes.recipe import RECIPE_GROUP, AdjustableRecipe, QuestionRecipe
from gigavqa.construction.recipes.region import RegionRecipe
from gigavqa.construction.recipes.relation import RelationRecipe
from gigavqa.runtime.plugins import load_plugins
from gigavqa.runtime.suggestions import did_you_mean

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
    kinds = [*_OWN, *(kind for module in benchmark_modules("recipes") for kind in module.RECIPES)]
    own: dict[str, QuestionRecipe] = {kind.name: kind() for kind in kinds}
    brought = {recipe.name: recipe for recipe in (load() for load in load_plugins(RECIPE_GROUP).values())}
    return {**own, **{name: recipe for name, recipe in brought.items() if name not in own}}


def recipes_of(benchmark: str) -> Mapping[str, QuestionRecipe]:
    """Return the recipes that make records of a benchmark, by name."""
    return {name: recipe for name, recipe in installed_recipes().items() if recipe.benchmark == benchmark}


def choose_recipes(
    benchmark: str, wanted: Sequence[str], parameters: Mapping[str, str], reader: AnnotationReader
) -> list[QuestionRecipe]:
    """Return the recipes of a benchmark that are wanted, with what is chosen of them.

    If none is named, these are all that are for annotations of the reader's form.

    Raises BuildError for a benchmark without recipes, for a name that none has, and for a parameter that none has.
    """
    installed = recipes_of(benchmark)
    if not installed:
        known = sorted({recipe.benchmark for recipe in installed_recipes().values()})
        told = f"no recipe makes records of '{benchmark}'{did_you_mean(benchmark, known)}"
        raise BuildError(f"--benchmark: {told}; known: {', '.join(known)}")
    if unknown := [name for name in wanted if name not in installed]:
        told = ", ".join(installed)
        raise BuildError(
            f"{benchmark} has no recipe '{unknown[0]}'{did_you_mean(unknown[0], installed)}: its recipes are {told}"
        )
    chosen = [recipe for name, recipe in installed.items() if name in (wanted or installed)]
    if not wanted:
        chosen = [recipe for recipe in chosen if not recipe.forms or reader.name in recipe.forms]
    if not chosen:
        told = f"{reader.title} does not say what its images show"
        raise BuildError(f"{told}; name the recipes of {benchmark} by --recipes: {', '.join(installed)}")
    offered = {name for recipe in chosen if isinstance(recipe, AdjustableRecipe) for name in recipe.parameters}
    if unknown := [name for name in parameters if name not in offered]:
        told = f"--set {unknown[0]}: no recipe of this build has it{did_you_mean(unknown[0], sorted(offered))}"
        raise BuildError(f"{told}: {', '.join(sorted(offered)) or 'none has any'}")
    return [_adjusted(recipe, parameters) for recipe in chosen]


def _adjusted(recipe: QuestionRecipe, parameters: Mapping[str, str]) -> QuestionRecipe:
    if not isinstance(recipe, AdjustableRecipe):
        return recipe
    own = {name: value for name, value in parameters.items() if name in recipe.parameters}
    return recipe.adjusted(own) if own else recipe
