"""The table `cells` that every report has: what was answered, how answers were found, and accuracies."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from tests.scorers.numbers import Number, Numbers, deviation, mean, share
from tests.scorers.responses import Line, Made, counted, is_empty, is_failed, is_outgrown


class Judged(NamedTuple):
    """A response that counts, with how its answer was found and what it scored; no score without a known truth."""

    line: Line
    sample: Line
    status: str
    score: float | None

    @property
    def repeat(self) -> tuple[str, int]:
        """Job and number of the repeat."""
        return self.line["job_id"], self.line["repeat"]


JSON = "cells of the JSON report"
COUNTS = ("cut_off", "overflowed", "filtered", "empty", "duplicates", "missing", "awaiting", "unknown")
_REASONS = {
    "missing": "no response",
    "awaiting": "the answer awaits an expert",
    "unknown": "the data set has no such sample",
}
Cell = tuple[str, str, str, int | None]
"""Model, protocol, condition and rounds."""


def cell_of(line: Line) -> Cell:
    """Say which cell a response belongs to."""
    return line["model"], line["protocol"], line["condition"], line.get("max_rounds")


def cells(lines: Sequence[Line], samples: Sequence[Line], judge: Callable[[Line, Line], tuple[str, float | None]]
          ) -> dict[Cell, list[Judged]]:  # fmt: skip
    """Judge the responses that count, without those of requests that failed, by their cells; empty ones stay."""
    by_id = {sample["id"]: sample for sample in samples}
    found: dict[Cell, list[Judged]] = defaultdict(list)
    for line in lines:
        found[cell_of(line)] = []
    for line in counted(lines, by_id):
        if not is_failed(line):
            found[cell_of(line)].append(Judged(line, by_id[line["sample_id"]], *judge(line, by_id[line["sample_id"]])))
    return found


def by_sample(judged: Iterable[Judged]) -> dict[str, float]:
    """Average each sample's scores over its responses, without those that have none."""
    scores: dict[str, list[float]] = defaultdict(list)
    for one in judged:
        if one.score is not None:
            scores[one.sample["id"]].append(one.score)
    return {sample: sum(values) / len(values) for sample, values in scores.items()}


def accuracy(judged: Iterable[Judged], rule: str = "mean over samples of the mean over their repeats") -> Number:
    """Work out an accuracy, and Wilson's interval over samples."""
    scores = by_sample(judged)
    return share(mean(scores.values()), len(scores), rule)


def add_cells(
    numbers: Numbers,
    found: Mapping[Cell, Sequence[Judged]],
    made: Made,
    *,
    applies: Callable[[Line, str], bool],
    accuracies: Callable[[Sequence[Judged]], Mapping[str, Number]],
    unreadable: frozenset[str],
) -> None:
    """Work out the table `cells`: a row a cell; `accuracies` says its numbers by columns, `accuracy` among them."""
    asked = _asked(made, applies)
    for cell, judged in found.items():
        row = row_of(cell)
        numbers.add("cells", row, "answered", Number(len(judged), None, "responses that did not fail"))
        numbers.add("cells", row, "expected", Number(asked[cell], None, "samples asked, as often as any of them"))
        counts = Counter(one.status for one in judged)
        told = ", ".join(f"{status} {number}" for status, number in sorted(counts.items()))
        numbers.add("cells", row, "statuses", Number(told, None, "how answers were found"))
        numbers.add(
            "cells", row, "repeats", Number(_repeats(judged, accuracies), None, "mean and deviation of repeats")
        )
        for column, statuses in (("abstention", frozenset({"abstained"})), ("unreadable", unreadable)):
            rate = sum(one.status in statuses for one in judged) / len(judged) if judged else None
            numbers.add("cells", row, column, share(rate, len(judged), f"share of answers that are {statuses}"))
        for column, number in accuracies(judged).items():
            numbers.add("cells", row, column, number)
        for column, number in _counts(made, cell, judged, applies).items():
            numbers.add(JSON, row, column, Number(number, None, f"responses: {column}"))


def told_in_json(cells: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """What the JSON report alone counts of its cells, as a table."""
    rows = []
    for cell in cells:
        excluded = {one["reason"]: one["count"] for one in cell["excluded"]}
        keys = row_of((cell["model"], cell["protocol"], cell["condition"], cell["rounds"]))
        values = [excluded.get(_REASONS[name], 0) if name in _REASONS else cell[name] for name in COUNTS]
        rows.append({"title": "", "keys": keys, "values": values})
    return {"name": JSON, "groups": [{"columns": [{"key": name} for name in COUNTS]}], "rows": rows}


def _counts(made: Made, cell: Cell, judged: Sequence[Judged], applies: Callable[[Line, str], bool]) -> dict[str, int]:
    known = {sample["id"]: sample for sample in made.records}
    lines = [line for line in made.lines if cell_of(line) == cell]
    recorded = Counter(line["sample_id"] for line in counted(lines, known))
    often = max(recorded.values(), default=1)
    ends = [[turn["finish_reason"] for turn in one.line["turns"]] for one in judged]
    return {
        "cut_off": sum(bool(reasons) and reasons[-1] == "length" for reasons in ends),
        "overflowed": sum(is_outgrown(one.line) or one.line.get("stop") == "context" for one in judged),
        "filtered": sum("content_filter" in reasons for reasons in ends),
        "empty": sum(is_empty(one.line) for one in judged),
        "duplicates": sum(line["sample_id"] in known for line in lines) - recorded.total(),
        "missing": sum(often - recorded[name] for name, one in known.items() if applies(one, cell[1])),
        "awaiting": sum(not (one.sample.get("answer") or one.sample.get("answers")) for one in judged),
        "unknown": sum(line["sample_id"] not in known for line in lines),
    }


def row_of(cell: Cell) -> dict[str, str]:
    """Say what a cell's row is known by."""
    model, protocol, condition, rounds = cell
    keys = {"model": model, "protocol": protocol, "condition": condition}
    return keys | ({"rounds": str(rounds)} if rounds else {})


def _asked(made: Made, applies: Callable[[Line, str], bool]) -> dict[Cell, int]:
    often: dict[Cell, Counter[str]] = {cell_of(line): Counter() for line in made.lines}
    for line in counted(made.lines, [sample["id"] for sample in made.records]):
        often[cell_of(line)][line["sample_id"]] += 1
    return {cell: max(counts.values(), default=1) * sum(applies(sample, cell[1]) for sample in made.records)
            for cell, counts in often.items()}  # fmt: skip


def _repeats(judged: Sequence[Judged], accuracies: Callable[[Sequence[Judged]], Mapping[str, Number]]) -> str | None:
    repeats = sorted({one.line["repeat"] for one in judged})
    each = [accuracies([one for one in judged if one.line["repeat"] == repeat])["accuracy"].value for repeat in repeats]
    known = [value for value in each if isinstance(value, float)]
    if len(known) < 2:
        return None
    return f"{100 * sum(known) / len(known):.1f} ± {100 * deviation(known):.1f} (k={len(known)})"
