"""The answer reader's agreement with a careful reader's verdicts on raw responses.

    python -m performance.parser [FOLDER]

A case states what a text is worth by the paper's rule (appendix D.2), and why. A folder holds final answers, or final
answers, step answers and replies to S2 of the families (`tests/benchmarks/ultravr/family_answers.py` says how); left
out, it is the tests' own. Values decide accuracy: a wrong one is a wrong score. Statuses only say how an answer was
found.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from gigavqa.answers.final import READER_VERSION
from gigavqa.benchmarks.ultravr.step_judge import STEP_PARSER_VERSION
from tests.benchmarks.ultravr.family_answers import Case, read_cases

TESTS = Path(__file__).resolve().parents[1] / "tests"
CORPUS, STYLES = TESTS / "answers", TESTS / "benchmarks" / "ultravr" / "answers"
_LONGEST_SHOWN = 600


class ParserReading(NamedTuple):
    case: Case
    read: dict[str, Any]

    @property
    def value_right(self) -> bool:
        return self.case.value_agrees(self.read)

    @property
    def right(self) -> bool:
        return self.case.agrees(self.read)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, help="a corpus; the tests' own when left out")
    folder = parser.parse_args().folder
    parts = [folder] if folder else [CORPUS, STYLES / "families", STYLES / "held_out"]
    wrong = [print_agreement(part) for part in parts]
    return 1 if any(wrong) else 0


def print_agreement(folder: Path) -> int:
    """Print a folder's agreement and disagreements; return how many there are."""
    reads = [ParserReading(case, case.read()) for case in read_cases(folder)]
    print(f"{folder}: {READER_VERSION}, {STEP_PARSER_VERSION}")
    print(f"{'':36}{'values right':>22}{'with statuses':>22}")
    print_line("all", reads)
    for clear in (True, False):
        print_line("clear" if clear else "not clear", [read for read in reads if read.case.clear == clear])
    by: dict[str, Callable[[Case], str]] = {
        "part": lambda case: f"{case.part}, {'clear' if case.clear else 'not clear'}",
        "kind": lambda case: f"{case.part}: {case.kind}",
        "family": lambda case: case.family,
        "language": lambda case: case.language,
    }
    for name, group_of in by.items():
        print(f"by {name}")
        for group, _ in Counter(group_of(read.case) for read in reads).most_common():
            print_line(f"  {group}", [read for read in reads if group_of(read.case) == group])
    wrong = [read for read in reads if not read.right]
    print_wrong(wrong)
    return len(wrong)


def print_line(name: str, reads: Iterable[ParserReading]) -> None:
    reads = list(reads)
    if reads:
        print(f"{name:36}", *(_share(right, len(reads)) for right in _counts(reads)), sep="")


def _counts(reads: list[ParserReading]) -> tuple[int, int]:
    return sum(read.value_right for read in reads), sum(read.right for read in reads)


def _share(right: int, of: int) -> str:
    return f"{f'{right} of {of} ({100 * right / of:.1f} %)':>22}"


def print_wrong(reads: Iterable[ParserReading]) -> None:
    for case, read in reads:
        text = case.text if len(case.text) <= _LONGEST_SHOWN else "[…] " + case.text[-_LONGEST_SHOWN:]
        print(f"\n{case.place} [{case.kind}, {'clear' if case.clear else 'not clear'}] ({case.why}): {text!r}")
        if case.options:
            print(f"  options {dict(case.options)}")
        different = {key: stated for key, stated in case.stated.items() if read[key] != stated}
        print(f"  stated {different} {sorted(case.statuses)}")
        print(f"  read   { {key: read[key] for key in (*different, 'status')} }")


if __name__ == "__main__":
    sys.exit(main())
