"""Turns the arguments of `gigavqa up --model` into entries of the catalogue that the gateway and the workers read."""

from collections.abc import Iterable

import tomli_w

from catalogue.entry import CatalogueEntry
from catalogue.load import load_catalogue
from catalogue.resolve import resolve_model
from cli.errors import ArgumentError
from cli.supervisor import Announce
from jobs.home import Home


def served_entries(home: Home, names: Iterable[str], announce: Announce) -> tuple[CatalogueEntry, ...]:
    """Entries of the named models. One that the catalogue lacks is written to the operator's folder of entries.

    Raises what `resolve_model` raises, and ArgumentError when another model has the same id.
    """
    entries = []
    for name in names:
        catalogue = load_catalogue(home.catalogue)
        entry = resolve_model(name, catalogue)
        if entry.id not in catalogue:
            _write(entry, home, announce)
        elif catalogue[entry.id].weights != entry.weights:
            raise ArgumentError(
                f"'{name}' would be served as '{entry.id}', which the catalogue has with other weights "
                f"({catalogue[entry.id].weights}); rename the folder, or write an entry of your own"
            )
        else:
            entry = catalogue[entry.id]
        entries.append(entry)
    return tuple(entries)


def _write(entry: CatalogueEntry, home: Home, announce: Announce) -> None:
    path = home.catalogue / f"{entry.id}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".tmp")
    temporary.write_text(tomli_w.dumps(entry.model_dump(mode="json", exclude_none=True)), encoding="utf-8")
    temporary.replace(path)
    announce(f"catalogue entry written: {path} (edit it to change budget, decoding or engine arguments)")
