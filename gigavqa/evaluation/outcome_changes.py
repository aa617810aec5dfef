"""Revisions: what other versions of readers and judges said of the same answers, in reports that were made before."""

import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from gigavqa import answers as readers
from gigavqa.answers.final import READER_VERSION
from gigavqa.runtime.plurals import count_noun

ALIKE, UNKNOWN = "alike", "unknown"
"""An answer of which both versions say the same, and one whose verdicts were not compared."""


class OutcomeChange(NamedTuple):
    """One kind of difference between two sets of versions, as (reader, version) pairs; from and to an outcome."""

    then: tuple[tuple[str, str], ...]
    now: tuple[tuple[str, str], ...]
    was: str
    outcome: str


class Difference(BaseModel):
    """The number of answers that had one outcome and have another; where both are one, other parts, scores or closing
    turns.
    """

    model_config = ConfigDict(frozen=True)

    was: str
    now: str
    answers: int

    def __str__(self) -> str:
        same = " (in score, parts or closing turn)" if self.was == self.now else ""
        return f"{self.answers} {self.was} → {self.now}{same}"


class Revision(BaseModel):
    """The changes of verdicts when other versions read answers that had been read for an earlier report."""

    model_config = ConfigDict(frozen=True)

    then: dict[str, str] = Field(description="versions that read the answers before; those alone that changed")
    now: dict[str, str] = Field(description="versions that read them next")
    changes: tuple[str, ...] = Field(description="what each version in between changed")
    compared: int = Field(description="answers that were read by both")
    differences: tuple[Difference, ...] = Field(default=(), description="verdicts that differ, most frequent first")
    not_compared: int = Field(default=0, description="answers whose records, labels or models changed as well")

    def __str__(self) -> str:
        then, now = (", ".join(versions.values()) or "no reader of that name" for versions in (self.then, self.now))
        changed = sum(one.answers for one in self.differences)
        of = f"{changed} of {count_noun(self.compared, 'verdict')} {'differs' if changed == 1 else 'differ'}"
        listed = f": {', '.join(map(str, self.differences))}" if self.differences else ""
        other = f"; {self.not_compared} not compared, since records or models changed as well"
        return f"read before by {then}, then by {now}: {of}{listed}{other if self.not_compared else ''}"


@cache
def read_version_notes(folder: Path) -> dict[str, str]:
    """Read `versions.toml` in a folder of readers: what each version changed, oldest first."""
    return tomllib.loads((folder / "versions.toml").read_text(encoding="utf-8"))


def readers_of(versions: Mapping[str, str]) -> dict[str, str]:
    """Return the core's reader, and a benchmark's own `versions`."""
    return {"answers": READER_VERSION, **versions}


def revisions_of(revised: Counter[OutcomeChange], notes: Mapping[str, str]) -> tuple[Revision, ...]:
    """Tell what was counted, by versions; `notes` are a benchmark's own on its versions."""
    known = {**read_version_notes(Path(readers.__file__).parent), **notes}
    pairs = sorted({(one.then, one.now) for one in revised})
    return tuple(_revision(dict(then), dict(now), _between(revised, then, now), known) for then, now in pairs)


def _between(revised: Counter[OutcomeChange], then: object, now: object) -> Counter[tuple[str, str]]:
    return Counter({(key.was, key.outcome): n for key, n in revised.items() if (key.then, key.now) == (then, now)})


def _revision(
    then: Mapping[str, str], now: Mapping[str, str], found: Counter[tuple[str, str]], notes: Mapping[str, str]
) -> Revision:
    changed = [name for name in sorted({*then, *now}) if then.get(name) != now.get(name)]
    order = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    return Revision(
        then={name: then[name] for name in changed if name in then},
        now={name: now[name] for name in changed if name in now},
        changes=tuple(note for name in changed for note in _changes(then.get(name), now.get(name), notes)),
        compared=found.total() - found[UNKNOWN, UNKNOWN],
        differences=tuple(
            Difference(was=was, now=outcome, answers=answers)
            for (was, outcome), answers in order
            if was not in (ALIKE, UNKNOWN)
        ),
        not_compared=found[UNKNOWN, UNKNOWN],
    )


def _changes(then: str | None, now: str | None, notes: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each version behind one and up to another."""
    if now is None:
        yield f"{then} reads no more"
        return
    line = [version for version in notes if version.rpartition("/")[0] == now.rpartition("/")[0]]
    if now not in line or (then is not None and then not in line[: line.index(now)]):
        yield f"{now}: what it changed against {then} is not noted"
        return
    first = 0 if then is None else line.index(then) + 1
    for version in line[first : line.index(now) + 1]:
        yield f"{version} {notes[version]}"
