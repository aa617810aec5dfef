"""How tables call a model."""

from collections.abc import Mapping

from catalogue.entry import CatalogueEntry


def title_of(model: str, catalogue: Mapping[str, CatalogueEntry]) -> str:
    """Return the catalogue's title, else the model's own id."""
    return catalogue[model].title if model in catalogue else model
