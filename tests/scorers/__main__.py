"""Compares many seeds: `python -m tests.scorers --seeds 50`."""

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.scorers.compare import BENCHMARKS, compare, lines_of

MOST_TOLD = 20


def main() -> int:
    """Compare the seeds of each benchmark, print how many numbers differ and which; 1 where any does."""
    parser = argparse.ArgumentParser(prog="python -m tests.scorers", description=__doc__)
    parser.add_argument("--seeds", type=int, default=50, help="how many seeds of each benchmark (50)")
    parser.add_argument("--first", type=int, default=0, help="the first seed (0)")
    parser.add_argument("--benchmark", choices=BENCHMARKS, action="append", help="all of them if left out")
    asked = parser.parse_args()
    is_same = True
    for benchmark in asked.benchmark or BENCHMARKS:
        numbers, told = 0, list[str]()
        for seed in range(asked.first, asked.first + asked.seeds):
            with TemporaryDirectory() as folder:
                compared = compare(Path(folder), benchmark, seed)
            numbers += compared.numbers
            told += lines_of(benchmark, seed, compared)
        print(f"{benchmark}: {asked.seeds} seeds, {numbers:,} numbers compared, {len(told):,} differ")
        print(*told[:MOST_TOLD], sep="\n", end="\n" if told else "")
        is_same = is_same and not told
    return 0 if is_same else 1


if __name__ == "__main__":
    sys.exit(main())
