"""Answers of experts to samples whose records await them (T4): a file beside the records, which reviews write."""

import json
from collections.abc import Mapping

ANSWERS = "answers.jsonl"


def read_answers(text: str) -> dict[str, str]:
    """Read `answers.jsonl`: lines of {"sample", "answer"}. Raises ValueError naming every bad line."""
    found: dict[str, str] = {}
    wrong = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                sample, answer = _read_line(line)
            except ValueError as error:
                wrong.append(f"line {number}: {error}")
                continue
            if found.setdefault(sample, answer) != answer:
                wrong.append(f"line {number}: '{sample}' has another answer already")
    if wrong:
        raise ValueError(f"{ANSWERS}: {'; '.join(wrong)}")
    return found


def with_answer(fields: Mapping[str, object], answers: Mapping[str, str]) -> dict[str, object]:
    """Return a sample's fields with the expert's answer, where the record has none."""
    answer = "" if fields.get("answer") else answers.get(str(fields.get("id")), "")
    return {**fields, **({"expert_answer": answer} if answer else {})}


def _read_line(line: str) -> tuple[str, str]:
    try:
        found = json.loads(line)
    except ValueError as error:
        raise ValueError(f"is not JSON: {error}") from error
    if not isinstance(found, dict) or not all(isinstance(found.get(name), str) for name in ("sample", "answer")):
        raise ValueError("must be an object with the texts sample and answer")
    return found["sample"], found["answer"].strip().upper()
