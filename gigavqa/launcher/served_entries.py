"""Entries of the models that `gigavqa up` serves: found in the catalogue, or made, and kept once they were served."""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from gigavqa.catalogue.entry import CatalogueEntry
from gigavqa.catalogue.errors import EntryExistsError
from gigavqa.catalogue.load import load_catalogue
from gigavqa.catalogue.resolve import resolve_model
from gigavqa.catalogue.write import write_entry
from gigavqa.launcher.supervisor import Announce
from gigavqa.runtime.errors import SettingsInvalidError
from gigavqa.runtime.home import Home


def served_entries(home: Home, names: Iterable[str]) -> tuple[CatalogueEntry, ...]:
    """Return the entries of the named models, made for those that the catalogue lacks; writes nothing.

    Raises what `resolve_model` raises, and SettingsInvalidError when another model has the same id.
    """
    known = dict(load_catalogue(home.catalogue))
    entries = []
    for name in names:
        entry = resolve_model(name, known)
        found = known.setdefault(entry.id, entry)
        if found.weights != entry.weights:
            raise SettingsInvalidError(
                f"'{name}' would be served as '{entry.id}', which the catalogue has with other weights "
                f"({found.weights}); rename the folder, or write an entry of your own"
            )
        entries.append(found)
    return tuple(entries)


@contextmanager
def written_entries(home: Home, entries: Sequence[CatalogueEntry], announce: Announce) -> Iterator[Callable[[], None]]:
    """Write the entries that the operator's catalogue lacks, which gateway and workers read, for as long as this lasts.

    They stay if what it gives is called, once they can be served; else the catalogue is again as it was.
    """
    was_there = home.catalogue.is_dir()
    written = list(_write(home, entries, announce))

    def keep() -> None:
        written.clear()

    try:
        yield keep
    finally:
        for path, content in written:
            if path.is_file() and path.read_bytes() == content:  # else somebody has edited it since
                path.unlink()
                announce(f"catalogue entry removed again, for it was not served: {path}")
        if written and not was_there:
            with contextlib.suppress(OSError):  # it holds something else by now
                home.catalogue.rmdir()


def _write(home: Home, entries: Sequence[CatalogueEntry], announce: Announce) -> Iterator[tuple[Path, bytes]]:
    known = load_catalogue(home.catalogue)
    for entry in {entry.id: entry for entry in entries if entry.id not in known}.values():
        try:
            path = write_entry(entry, home.catalogue)
        except EntryExistsError:  # of two that start at once, the first
            continue
        announce(f"catalogue entry written: {path} (edit it to change budget, decoding or engine arguments)")
        yield path, path.read_bytes()
