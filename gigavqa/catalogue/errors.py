"""Errors of a model's entry."""


class CatalogueError(Exception):
    """A model cannot be served as asked."""


class ModelUnknownError(CatalogueError):
    """No entry of the catalogue has this id."""


class EntryInvalidError(CatalogueError):
    """An entry of the catalogue does not say what an entry must say; the message names the file and the field."""


class FamilyUnsupportedError(CatalogueError):
    """The checkpoint's architecture belongs to no family whose visual budget is known."""


class FamilyMismatchError(CatalogueError):
    """An entry names another family than its weights are of."""


class CheckpointUnavailableError(CatalogueError):
    """The name is no id of the catalogue, no checkpoint folder, and nothing that Hugging Face has."""


class CheckpointInvalidError(CatalogueError):
    """The checkpoint's configuration does not say what is needed to serve it; the message names file and field."""


class EntryExistsError(CatalogueError):
    """The operator's folder has an entry of this id already."""


class ShapeUnknownError(CatalogueError):
    """Nothing says how many layers and heads a model has."""
