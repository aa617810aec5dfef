"""Kinds of errors that people find in replies (section 6, appendix D): a file beside the records, and its table."""

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from gigavqa.benchmarks.atombench.judging import ReplyErrors
from gigavqa.benchmarks.atombench.repeats import AtomBaseScores
from gigavqa.evaluation.capabilities import LabelKind
from gigavqa.evaluation.metrics.intervals import estimate_share
from gigavqa.evaluation.score_frame import CellKey
from gigavqa.evaluation.tables import Column, ColumnGroup, Row, Table, Value

ERRORS = "errors.jsonl"
ERROR_KINDS: Mapping[str, str] = {
    "post_hoc": "Post hoc fallacy: evidence made up for a conclusion",
    "anchoring": "Symbolic anchoring: a superficial sign over stronger clues",
    "perception": "Perceptual limitation: a fine-grained clue misread",
}
"""What a wrong answer can be put down to; the paper's cases have one kind or two."""
LABEL_KINDS = tuple(
    LabelKind(
        name=name,
        title=f"{words}?",
        file=ERRORS,
        choices={"yes": "yes", "no": "no"},
        values={"yes": True, "no": False},
        place={"job": "job", "request": "request"},
        says="present",
        constants={"error": name},
    )
    for name, words in ERROR_KINDS.items()
)
ErrorLabels = Mapping[tuple[str, str], ReplyErrors]
"""Whether a reply has an error of each kind that somebody looked for, by job and request."""
_FIELDS = {"job": str, "request": str, "error": str, "present": bool}


def read_error_labels(text: str) -> ErrorLabels:
    """Read `errors.jsonl`: lines of {"job", "request", "error", "present"}. Raises ValueError naming every bad line."""
    found: dict[tuple[str, str], dict[str, bool]] = {}
    wrong = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                job, request, error, present = _read_line(line)
            except ValueError as fault:
                wrong.append(f"line {number}: {fault}")
                continue
            if found.setdefault((job, request), {}).setdefault(error, present) is not present:
                wrong.append(f"line {number}: another line says the opposite of '{request}'")
    if wrong:
        raise ValueError(f"{ERRORS}: {'; '.join(wrong)}")
    return {place: tuple(sorted(said.items())) for place, said in found.items()}


def _read_line(line: str) -> tuple[Any, ...]:
    try:
        found = json.loads(line)
    except ValueError as error:
        raise ValueError(f"is not JSON: {error}") from error
    if not isinstance(found, dict) or not all(isinstance(found.get(name), kind) for name, kind in _FIELDS.items()):
        raise ValueError("must be an object with the texts job, request and error, and present: true or false")
    if found["error"] not in ERROR_KINDS:
        raise ValueError(f"error '{found['error']}' is none of {', '.join(ERROR_KINDS)}")
    return tuple(found[name] for name in _FIELDS)


def error_table(scores: AtomBaseScores) -> Table:
    """Return how many wrong replies of each cell have an error of each kind, of those that people looked at."""
    groups = (
        ColumnGroup(
            title="Replies",
            columns=(
                Column(key="wrong", title="not right", unit="count", keys={"metric": "not_right"}),
                Column(key="labelled", title="labelled", unit="count", keys={"metric": "labelled"}),
            ),
        ),
        *(
            ColumnGroup(
                title=words.partition(":")[0],
                columns=(
                    Column(key=name, title="cases", label=f"{name}, cases", unit="count",
                           keys={"metric": "errors", "error": name}),
                    Column(key=f"{name} share", title="share", label=f"{name}, share", unit="loss", decimals=2,
                           keys={"metric": "error_share", "error": name}),
                ),
            )
            for name, words in ERROR_KINDS.items()
        ),
    )  # fmt: skip
    return Table(
        name="errors",
        title="Kinds of errors (section 6)",
        caption=f"Of replies that are not right, by the labels that people gave in {ERRORS}; one may have several. "
        "Shares are of the replies that somebody looked at for the kind.",
        groups=groups,
        rows=tuple(row for key in scores.cells if (row := _row(scores, key))),
        detail=True,
    )


def _row(scores: AtomBaseScores, key: CellKey) -> Row | None:
    """Return a cell's row; None where nobody labelled a reply of it."""
    replies = [one for one in scores.cell(*key).answered.detailed.details if one.final != "right"]
    labels = [one.errors for one in replies if one.errors]
    if not labels:
        return None
    said = Counter(pair for label in labels for pair in label)
    values: list[Value] = [len(replies), len(labels)]
    for name in ERROR_KINDS:
        values += [said[name, True], estimate_share(said[name, True], said[name, True] + said[name, False])]
    return Row(title=f"{scores.title_of(key.model)} · {key.how}", keys=key.keys, values=tuple(values))
