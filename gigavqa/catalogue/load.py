"""Reads the catalogue: the entries that ship with the package, those of plugins, then the operator's own."""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.catalogue.errors import EntryInvalidError, ModelUnknownError
from gigavqa.runtime.plugins import load_plugins
from gigavqa.runtime.suggestions import did_you_mean
from gigavqa.runtime.validation import describe_faults

SHIPPED_MODELS = Path(__file__).parent / "models"
ENTRY_POINTS = "gigavqa.models"
"""The group by which a package brings entries: each names a package whose folder holds them."""


class Catalogue(Mapping[str, CatalogueEntry]):
    """The models that can be served, by id."""

    def __init__(self, entries: Sequence[CatalogueEntry]) -> None:
        self._entries = {entry.id: entry for entry in entries}
        published = {entry.id: own for entry in self._entries.values() if (own := entry.at_published_budget())}
        self._published = {name: self._entries.setdefault(own.id, own) for name, own in published.items()}

    def __getitem__(self, model_id: str) -> CatalogueEntry:
        try:
            return self._entries[model_id]
        except KeyError:
            raise ModelUnknownError(self.lacks(model_id)) from None

    def get(self, model_id: str, default: Any = None) -> Any:
        """Return the entry of this id, or the default: answers may be those of a model that nobody serves here."""
        return self._entries.get(model_id, default)

    def __contains__(self, model_id: object) -> bool:
        return model_id in self._entries

    def find(self, name: str) -> CatalogueEntry:
        """Return the entry of this id, title, weights or alias, in whatever case it is written.

        Raises ModelUnknownError.
        """
        if name in self._entries:
            return self._entries[name]
        wanted = name.lower()
        for entry in self._entries.values():
            if wanted in map(str.lower, (entry.id, entry.title, entry.weights, *entry.aliases)):
                return entry
        raise ModelUnknownError(self.lacks(name))

    def id_of(self, name: str) -> str:
        """Return the id of the entry that `find` finds; the name itself where there is none."""
        try:
            return self.find(name).id
        except ModelUnknownError:
            return name

    def published(self, model_id: str) -> CatalogueEntry | None:
        """Return the entry of the same model at its published budget, where that is another one."""
        return self._published.get(model_id)

    def lacks(self, model_id: str) -> str:
        """Say that there is no such model, and which there are."""
        known = ", ".join(sorted(self._entries))
        close = did_you_mean(model_id, self._entries)
        return f"model '{model_id}' is not in the catalogue{close or ';'} it has: {known}"

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def load_catalogue(*folders: Path) -> Catalogue:
    """Read the shipped entries, those of plugins and those in `folders`; a later one replaces an earlier of its id.

    Raises EntryInvalidError naming the file.
    """
    known = (SHIPPED_MODELS, *plugin_folders(), *folders)
    return Catalogue([read_entry(path) for folder in known for path in sorted(folder.glob("*.toml"))])


def plugin_folders() -> list[Path]:
    """Return the folders of entries that installed packages bring, and of checkpoints beside them."""
    return [Path(folder) for package in load_plugins(ENTRY_POINTS).values() for folder in package.__path__]


def plugin_checkpoints() -> Mapping[str, Path]:
    """Return the checkpoints that lie beside plugins' entries, each a folder, by what `built-in:` names them."""
    return {file.parent.name: file.parent for folder in plugin_folders() for file in folder.glob("*/config.json")}


def read_entry(path: Path) -> CatalogueEntry:
    """Read one entry; raises EntryInvalidError naming the file and every field that is wrong."""
    try:
        entry = CatalogueEntry.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise EntryInvalidError(f"{path}: {error}") from error
    except ValidationError as error:
        raise EntryInvalidError(f"{path}: {describe_faults(error)}") from error
    if entry.id != path.stem:
        raise EntryInvalidError(f"{path}: the id '{entry.id}' differs from the file's name")
    return entry
