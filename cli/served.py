"""Turns the arguments of `gigavqa up --model` into entries of the catalogue that the gateway and the workers read."""

from collections.abc import Iterable

from catalogue.entry import CatalogueEntry
from catalogue.load import load_catalogue
from catalogue.write import write_entry
from cli.errors import ArgumentError
from cli.lookup import model_entry
from cli.supervisor import Announce
from jobs.home import Home


def served_entries(home: Home, names: Iterable[str], announce: Announce) -> tuple[CatalogueEntry, ...]:
    """Entries of the named models. One that the catalogue lacks is written to the operator's folder of entries.

    Raises what `model_entry` raises, and ArgumentError when another model has the same id.
    """
    entries = []
    for name in names:
        catalogue = load_catalogue(home.catalogue)
        entry = model_entry(name, catalogue)
        if entry.id not in catalogue:
            # Of two that start at once, both write the same.
            path = write_entry(entry, home.catalogue, replace=True)
            announce(f"catalogue entry written: {path} (edit it to change budget, decoding or engine arguments)")
        elif catalogue[entry.id].weights != entry.weights:
            raise ArgumentError(
                f"'{name}' would be served as '{entry.id}', which the catalogue has with other weights "
                f"({catalogue[entry.id].weights}); rename the folder, or write an entry of your own"
            )
        else:
            entry = catalogue[entry.id]
        entries.append(entry)
    return tuple(entries)
