"""What was found out once of an image of a content, kept beside the digests for other processes."""

import hashlib
import os
from contextlib import suppress
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import TypeAdapter

from gigavqa.tiling.digest import digest_folder, write_fact

_Fact = TypeVar("_Fact")


class StoredFact(Generic[_Fact]):
    """One fact of a content, which `key` tells from any other; in the folder of digests, if there is one."""

    def __init__(self, form: TypeAdapter[_Fact], digest: str, *key: object) -> None:
        folder = digest_folder()
        name = hashlib.blake2b(repr((digest, *map(str, key))).encode(), digest_size=16).hexdigest()
        self._form = form
        self._place: Path | None = folder / name[:2] / f"{name}.fact" if folder else None

    def read(self) -> _Fact | None:
        """Return what was kept; None where nothing was, or what no longer can be read."""
        if self._place is None:
            return None
        with suppress(OSError, ValueError):
            kept = self._form.validate_json(self._place.read_bytes())
            os.utime(self._place)  # used just now
            return kept
        return None

    def write(self, fact: _Fact) -> None:
        """Keep a fact for others."""
        if self._place:
            write_fact(self._place, self._form.dump_json(fact).decode())
