"""Records what is reported now: `python -m tests.reports.recorded`, of all cases or of those that are named."""

import argparse

from tests.reports.recorded.cases import CASES
from tests.reports.recorded.differences import MOST_TOLD, differences
from tests.reports.recorded.outputs import FOLDER, load, path_of, store
from tests.reports.recorded.process import score_case, scoring_process


def main() -> None:
    """Record cases anew, and print what differs from before."""
    parser = argparse.ArgumentParser(prog="python -m tests.reports.recorded", description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="CASE", help="names of cases; all if left out")
    asked = parser.parse_args().cases
    with scoring_process() as process:
        for name in asked or CASES:
            outputs = process.submit(score_case, name).result()
            told = [*differences(load(name), outputs)] if path_of(name).exists() else ["is new"]
            print(f"{name}: {store(name, outputs):,} bytes, {len(told):,} places differ")
            print(*told[:MOST_TOLD], sep="\n", end="\n" if told else "")
    if not asked:
        for path in FOLDER.glob("*.json.gz"):
            if path not in map(path_of, CASES):
                path.unlink()


if __name__ == "__main__":
    main()
