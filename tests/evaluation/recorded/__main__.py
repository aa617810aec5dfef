"""Records what is reported now: `python -m tests.evaluation.recorded`, of all cases or of those that are named."""

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.evaluation.recorded.cases import CASES
from tests.evaluation.recorded.differences import MOST_TOLD, differences
from tests.evaluation.recorded.outputs import FOLDER, load, outputs_of, path_of, store


def main() -> None:
    """Record cases anew, and print what differs from before."""
    parser = argparse.ArgumentParser(prog="python -m tests.evaluation.recorded", description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="CASE", help="names of cases; all if left out")
    asked = parser.parse_args().cases
    for name in asked or CASES:
        with TemporaryDirectory() as folder:
            outputs = outputs_of(CASES[name], Path(folder))
        told = [*differences(load(name), outputs)] if path_of(name).exists() else ["is new"]
        print(f"{name}: {store(name, outputs):,} bytes, {len(told):,} places differ")
        print(*told[:MOST_TOLD], sep="\n", end="\n" if told else "")
    if not asked:
        for path in FOLDER.glob("*.json.gz"):
            if path not in map(path_of, CASES):
                path.unlink()


if __name__ == "__main__":
    main()
