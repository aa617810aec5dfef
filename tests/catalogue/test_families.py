"""The families as a whole: none is forgotten, none hides another, and models are served as their family is."""

from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from gigavqa.catalogue import families
from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.catalogue.families.registry import BY_MODEL_TYPE, FAMILIES
from gigavqa.catalogue.load import load_catalogue

FOLDER = Path(families.__path__[0])
MODULES = [
    import_module(f"gigavqa.catalogue.families.{path.stem}")
    for path in sorted(FOLDER.glob("*.py"))
    if path.stem not in {"__init__", "family", "registry"}
]
ENTRIES = list(load_catalogue().values())


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_a_familys_file_is_registered(module: ModuleType) -> None:
    """Under the name and the model types that it states, which no other family has."""
    for family in module.FAMILIES:
        assert FAMILIES[family.name] is family
        assert all(BY_MODEL_TYPE[each] is family for each in family.model_types)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_a_shipped_model_is_served_as_its_family_is(entry: CatalogueEntry) -> None:
    """Its visual budget is one of the family's own file, and its boxes are written as the family writes them."""
    family = entry.known_family
    assert family is not None
    assert entry.visual_budget.__module__ == family.budget.__module__
    assert entry.box_convention == family.box_convention
