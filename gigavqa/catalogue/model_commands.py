"""Names of models in commands that people are told to run."""

import shlex

from gigavqa.catalogue.entry import PUBLISHED_SUFFIX, CatalogueEntry
from gigavqa.catalogue.load import SHIPPED_MODELS, plugin_folders
from gigavqa.runtime.home import Home


def name_in_commands(entry: CatalogueEntry) -> str:
    """Return what a command is to call a model: its id where the catalogue of this machine has it, else its weights.

    An entry that was made of a checkpoint is in no catalogue until somebody has it written.
    """
    file = f"{entry.id.removesuffix(PUBLISHED_SUFFIX)}.toml"
    folders = (Home.from_environment().catalogue, SHIPPED_MODELS, *plugin_folders())
    return entry.id if any((folder / file).is_file() for folder in folders) else shlex.quote(entry.weights)


def shorter_context_command(entry: CatalogueEntry, tokens: int) -> str:
    """Return the command that writes an entry of the same model with a context of so many tokens."""
    is_own = (Home.from_environment().catalogue / f"{entry.id}.toml").is_file()
    return f"gigavqa models add {name_in_commands(entry)} --context {tokens}{' --force' if is_own else ''}"
