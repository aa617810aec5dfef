"""A build's folder: its stages' files, each written whole, and what they were made of, so that a build goes on."""

import fcntl
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from blake3 import blake3

from gigavqa.construction.errors import BuildBusyError, BuildError
from gigavqa.evaluation.dataset_names import require_dataset_name
from gigavqa.reports.writers.verdict_files import open_whole_file
from gigavqa.runtime.suggestions import did_you_mean

STATE = "state.json"


def digest_file(path: Path) -> str:
    """Return the BLAKE3 digest of a file's bytes."""
    return blake3(max_threads=blake3.AUTO).update_mmap(path).hexdigest()


def canonical_json(value: Any) -> str:
    """Return JSON that is the same for the same value: sorted keys, no white space, characters as they are."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


class BuildFolder:
    """The folder of a build, `<home>/builds/NAME`."""

    def __init__(self, builds: Path, name: str) -> None:
        require_dataset_name(name)
        self.name = name
        self.path = builds / name

    @classmethod
    def existing(cls, builds: Path, name: str) -> "BuildFolder":
        """Return the folder of a build that was begun. Raises BuildError that names builds alike."""
        folder = cls(builds, name)
        if not (folder.path / STATE).is_file():
            known = sorted(place.parent.name for place in builds.glob(f"*/{STATE}"))
            raise BuildError(
                f"there is no build '{name}'{did_you_mean(name, known)}; `gigavqa build {name} --from ...`"
            )
        return folder

    def file(self, name: str) -> Path:
        """Return the path of a file of the build."""
        return self.path / name

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep every other process from building here. Raises BuildBusyError."""
        self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        with (self.path / ".lock").open("wb") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise BuildBusyError(f"'{self.name}' is being built by another process; wait until it ends") from None
            self._sweep()
            yield

    def is_current(self, stage: str, key: str) -> bool:
        """Return whether a stage's files are there, unchanged, and made of just this."""
        made = self._state().get(stage)
        if not made or made["key"] != key:
            return False
        return all(
            self.file(name).is_file() and digest_file(self.file(name)) == digest
            for name, digest in made["files"].items()
        )

    def finish(self, stage: str, key: str, files: Iterable[str]) -> None:
        """Record that a stage's files are whole."""
        made = {"key": key, "files": {name: digest_file(self.file(name)) for name in files}}
        self.write_json(STATE, {**self._state(), stage: made})

    def digest_of(self, stage: str) -> str:
        """Return what the files of a finished stage are, in one digest."""
        return blake3(canonical_json(self._state()[stage]["files"]).encode()).hexdigest()

    def write_json(self, name: str, value: Any) -> None:
        """Write a document of a few values, sorted and indented for people."""
        with open_whole_file(self.file(name)) as file:
            file.write(json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False).encode() + b"\n")

    def write_lines(self, name: str, values: Iterable[Any]) -> int:
        """Write one value a line as JSON; returns how many there were."""
        written = 0
        with open_whole_file(self.file(name)) as file:
            for value in values:
                file.write(canonical_json(value).encode() + b"\n")
                written += 1
        return written

    def read_json(self, name: str) -> Any:
        """Return a document that the build wrote."""
        return json.loads(self.file(name).read_bytes())

    def read_lines(self, name: str) -> Iterator[Any]:
        """Yield the values of a file of lines, one in memory at a time."""
        with self.file(name).open("rb") as file:
            yield from map(json.loads, file)

    def _state(self) -> Mapping[str, Any]:
        try:
            found: Mapping[str, Any] = json.loads(self.file(STATE).read_bytes())
        except FileNotFoundError:
            return {}
        return found

    def _sweep(self) -> None:
        """Delete the drafts that killed processes left; nobody else writes here."""
        for path in self.path.glob(".*"):
            if path.name != ".lock":
                path.unlink(missing_ok=True)
