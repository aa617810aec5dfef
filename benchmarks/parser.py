"""The answer parser's confusion on the corpus of raw responses.

    python -m benchmarks.parser [FOLDER of *.jsonl and options.json]

A case states the text, the value and status that a careful reader gives it by the paper's rule (appendix D.2), and why.
Values decide accuracy: a wrong one is a wrong score. Statuses only say how an answer was found.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from evaluation.ultravr.answers import PARSER_VERSION, ParsedAnswer, ParseStatus, parse_answer

CORPUS = Path(__file__).resolve().parents[1] / "tests" / "evaluation" / "answers"
STATUSES: tuple[str, ...] = get_args(ParseStatus)


@dataclass(frozen=True)
class Case:
    place: str
    why: str
    text: str
    options: Mapping[str, str] | None
    expected: ParsedAnswer

    @property
    def parsed(self) -> ParsedAnswer:
        return parse_answer(self.text, self.options)


def read_corpus(folder: Path = CORPUS) -> Iterator[Case]:
    options = json.loads((folder / "options.json").read_text(encoding="utf-8"))
    for path in sorted(folder.glob("*.jsonl")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            case = json.loads(line)
            expected = ParsedAnswer(case["value"], case["status"])
            yield Case(f"{path.stem}:{number}", case["why"], case["text"], options[case["options"]], expected)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=CORPUS, help="a corpus; the tests' own when left out")
    cases = list(read_corpus(parser.parse_args().folder))
    verdicts = [(case, case.parsed) for case in cases]
    wrong = [(case, parsed) for case, parsed in verdicts if parsed != case.expected]
    values = sum(parsed.value == case.expected.value for case, parsed in verdicts)
    print(f"{PARSER_VERSION}: {len(cases)} cases, values right {values}, values and statuses right", end=" ")
    print(len(cases) - len(wrong), end="\n\n")
    print_confusion(Counter((case.expected.status, parsed.status) for case, parsed in verdicts))
    for case, parsed in wrong:
        print(f"\n{case.place} ({case.why}): {case.text!r}\n  stated {case.expected}\n  parsed {parsed}")
    return 1 if wrong else 0


def print_confusion(counts: Counter[tuple[str, str]]) -> None:
    """Rows: what the corpus states. Columns: what the parser says."""
    width = max(map(len, STATUSES)) + 2
    print("stated \\ parsed".ljust(width + 4) + "".join(status.rjust(width) for status in STATUSES))
    for stated in STATUSES:
        row = "".join(str(counts[stated, parsed] or ".").rjust(width) for parsed in STATUSES)
        print(stated.ljust(width + 4) + row)


if __name__ == "__main__":
    sys.exit(main())
