"""Builds that are cut at every file that they write, and go on each time."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from gigavqa.construction import build_folder
from gigavqa.construction.builds import Build


class CutBuild(NamedTuple):
    """A build that went on to its end, how often it was cut, and what the last run wrote."""

    build: Build
    cuts: int
    writes: list[str]


def build_with_cuts(build: Callable[[], Build], monkeypatch: pytest.MonkeyPatch) -> CutBuild:
    """Build again and again, each time cut one file later, until nothing is left to write."""
    write, writes = build_folder.open_whole_file, list[str]()
    at, cuts = 0, 0

    @contextmanager
    def cut(target: Path) -> Iterator[Any]:
        with write(target) as file:
            yield file
            if len(writes) == at:
                raise KeyboardInterrupt
        writes.append(target.name)

    monkeypatch.setattr(build_folder, "open_whole_file", cut)
    while True:
        writes.clear()
        try:
            return CutBuild(build(), cuts, writes)
        except KeyboardInterrupt:
            at, cuts = (at + 1, cuts + 1) if len(writes) == at else (0, cuts)
