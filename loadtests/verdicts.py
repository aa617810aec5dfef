"""Verdicts on a shape of traffic, required and found: a CSV file, which the table is made of."""

import csv
from collections.abc import Iterable
from dataclasses import astuple, dataclass
from pathlib import Path


@dataclass(frozen=True)
class ThresholdResult:
    """One thing that was required: `limit` and `found` as a reader is told them."""

    what: str
    limit: str
    found: str
    kept: bool


def write(file: Path, verdicts: Iterable[ThresholdResult]) -> None:
    """Write verdicts behind those that a CSV file has, which is made if there is none."""
    with file.open("a", newline="") as lines:
        csv.writer(lines).writerows(astuple(verdict) for verdict in verdicts)


def read(file: Path) -> list[ThresholdResult]:
    """Read what was written; nothing where the run ended before it was judged."""
    if not file.exists():
        return []
    with file.open(newline="") as lines:
        return [ThresholdResult(what, limit, found, kept == "True") for what, limit, found, kept in csv.reader(lines)]
