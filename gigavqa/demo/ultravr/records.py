"""Builds records in the paper's JSON shape (appendix F): options, answers, steps and coordinates."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gigavqa.benchmarks.ultravr.taxonomy import LETTERS

Record = dict[str, Any]


class RecordQuestion(NamedTuple):
    """What a text-only reader gets of a sample, and the letter that is right."""

    text: str
    options: dict[str, str]
    answer: str

    @property
    def fields(self) -> Record:
        """The record's fields of the same meaning."""
        return {"question": self.text, "options": self.options, "answer": self.answer}


def step(step_id: str, question: str, ground_truth: object, answer_format: str, options: Sequence[str] = ()) -> Record:
    """Return one step of a GT-CoT; `options` only where the answer is one of a list."""
    fields: Record = {
        "step_id": step_id,
        "question": question,
        "ground_truth": ground_truth,
        "answer_format": answer_format,
    }
    return {**fields, "options": list(options)} if options else fields


def supervision(steps: Sequence[Record]) -> Record:
    """Return the `reasoning_supervision` block that holds `steps`."""
    return {"step_type": "multi_step_qa", "steps": list(steps)}


def lettered(texts: Sequence[str]) -> dict[str, str]:
    """Return four option texts under the letters A to D, in their order."""
    return dict(zip(LETTERS, texts, strict=True))


def shuffled(texts: Sequence[str], right: str, rng: np.random.Generator) -> tuple[dict[str, str], str]:
    """Return the options in a drawn order, and the letter under which `right` stands."""
    options = lettered([texts[int(i)] for i in rng.permutation(len(texts))])
    return options, letter_of(options, right)


def letter_of(options: Mapping[str, str], text: str) -> str:
    """Return the letter under which `text` stands."""
    return next(letter for letter, option in options.items() if option == text)


def write_list(path: Path, records: Sequence[Record]) -> None:
    """Write records as one JSON list."""
    path.write_text(json.dumps(list(records), indent=1) + "\n", encoding="utf-8")


def write_lines(path: Path, records: Sequence[Record]) -> None:
    """Write records as one JSON object a line."""
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
