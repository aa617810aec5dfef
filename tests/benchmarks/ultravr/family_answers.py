"""Answers in the styles of model families, with a careful reader's verdicts, and what the code reads in them.

A folder holds `final.jsonl`, `steps.jsonl`, `schema.jsonl` and `options.json`. A folder without those names is a plain
corpus of final answers, as those of `tests/answers/`.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gigavqa.answers.boxes import UNIT_FRAME
from gigavqa.answers.final import parse_answer
from gigavqa.benchmarks.ultravr.answers import read_schema_reply
from gigavqa.benchmarks.ultravr.judging import UltraVRJudge
from gigavqa.benchmarks.ultravr.step_judge import StepJudge
from gigavqa.evaluation.replies import reply_of
from tests.benchmarks.ultravr.good_records import good_record, good_sample, sample_from, step_of
from tests.evaluation.responses import response

ANSWERED = frozenset({"marker", "last"})
"""Statuses that `answered` stands for: how an answer was found is the reader's own affair."""


@dataclass(frozen=True)
class Case:
    """What a text says by a careful reader (`stated`), as fields of a verdict; `statuses` are the ones that fit."""

    place: str
    part: str
    kind: str
    language: str
    family: str
    clear: bool
    why: str
    text: str
    stated: Mapping[str, Any]
    statuses: frozenset[str]
    row: Mapping[str, Any]
    options: Mapping[str, str] | None

    def read(self) -> dict[str, Any]:
        """Read the text: its status, and every field that is stated, as JSON has them."""
        read = _READERS[self.part](self)
        return json.loads(json.dumps({"status": read["status"], **{key: read[key] for key in self.stated}}))  # type: ignore[no-any-return]

    def agrees(self, read: Mapping[str, Any]) -> bool:
        """Whether all that was read is as stated."""
        return self.value_agrees(read) and read["status"] in self.statuses

    def value_agrees(self, read: Mapping[str, Any]) -> bool:
        """Whether what decides the score is as stated, however it was found."""
        return all(read[key] == stated for key, stated in self.stated.items())


def read_cases(folder: Path) -> Iterator[Case]:
    """Read every case of a folder."""
    options = json.loads((folder / "options.json").read_text(encoding="utf-8"))
    for path in sorted(folder.glob("*.jsonl")):
        part = path.stem if path.stem in _STATED else "final"
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            row = json.loads(line)
            yield _case(row, part, row.get("id", f"{path.stem}:{number}"), path.stem, options)


def _case(row: dict[str, Any], part: str, place: str, stem: str, options: Mapping[str, Any]) -> Case:
    return Case(
        place=place,
        part=part,
        kind=row.get("kind", stem),
        language=row.get("language", "-"),
        family=row.get("family", "-"),
        clear=row.get("clear", True),
        why=row["why"],
        text=row["raw"] if part == "steps" else row["text"],
        stated={key: row[key] for key in _STATED[part]},
        statuses=frozenset().union(*(_statuses(status) for status in (row["status"], *row.get("also", ())))),
        row=row,
        options=options[row["options"]] if part == "final" else None,
    )


def _statuses(status: str) -> frozenset[str]:
    return ANSWERED if status == "answered" else frozenset({status})


def _final(case: Case) -> dict[str, Any]:
    parsed = parse_answer(case.text, case.options)
    return {"value": parsed.value, "status": parsed.status}


def _step(case: Case) -> dict[str, Any]:
    record, step_id = case.row["step"].split()
    changes = good_record(record)
    step_of(changes, step_id).update(ground_truth=case.row["truth"])
    if "question" in case.row:
        step_of(changes, step_id).update(question=case.row["question"])
    sample = sample_from(changes)
    step = next(step for step in sample.steps if step.step_id == step_id)
    verdict = StepJudge(sample, step).judge(case.text, UNIT_FRAME)
    return {"value": verdict.value, "status": verdict.status, "correct": verdict.correct}


def _schema(case: Case) -> dict[str, Any]:
    sample = good_sample(case.row["sample"])
    written = read_schema_reply(case.text, sample.steps)
    reply = reply_of(response(sample.id, case.text, protocol="S2"))
    verdict = UltraVRJudge(sample)(reply, UNIT_FRAME)
    return {
        "answers": written.answers,
        "final": written.final,
        "complete": written.complete,
        "value": verdict.value,
        "status": verdict.status,
    }


_READERS = {"final": _final, "steps": _step, "schema": _schema}
_STATED = {
    "final": ("value",),
    "steps": ("value", "correct"),
    "schema": ("answers", "final", "complete", "value"),
}
