"""Compares reports of the product with what the scorers work out of the same data sets and responses."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from gigavqa.reports.score import score_files
from gigavqa.reports.writers.exports import render_json
from tests.scorers import atombench, atombench_data, mmcr, mmcr_data, ultravr, ultravr_data, vistahop, vistahop_data
from tests.scorers.cells import told_in_json
from tests.scorers.numbers import Difference, Numbers
from tests.scorers.responses import Made


class Benchmark(NamedTuple):
    """How data sets of a benchmark are drawn, and its numbers worked out."""

    make: Callable[[int], Made]
    score: Callable[[Made], Numbers]


BENCHMARKS: Mapping[str, Benchmark] = {
    "atombench": Benchmark(atombench_data.make, atombench.score),
    "mmcr": Benchmark(mmcr_data.make, mmcr.score),
    "ultravr": Benchmark(ultravr_data.make, ultravr.score),
    "vistahop": Benchmark(vistahop_data.make, vistahop.score),
}


class Compared(NamedTuple):
    """How many numbers were compared, and those that differ."""

    numbers: int
    differences: list[Difference]


def compare(folder: Path, benchmark: str, seed: int) -> Compared:
    """Draw a data set and responses into an empty folder, and compare all numbers of the report about them."""
    made = BENCHMARKS[benchmark].make(seed)
    report = score_files(folder / "data", *made.write(folder), judges=made.write_judges(folder))
    numbers, told = BENCHMARKS[benchmark].score(made), json.loads(render_json(report))
    return Compared(len(numbers.found), [*numbers.differences([*told["tables"], told_in_json(told["cells"])])])


def lines_of(benchmark: str, seed: int, compared: Compared) -> Iterator[str]:
    """Say what differs, one line a number."""
    return (f"{benchmark} seed {seed}: {difference}" for difference in compared.differences)
