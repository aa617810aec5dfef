"""Records with several faults: each benchmark tells all of them at once, wherever they are found."""

import json
from pathlib import Path
from typing import Any

import pytest

from gigavqa.evaluation.datasets import load_for_scoring
from gigavqa.evaluation.errors import DatasetInvalidError

_CLUE = {"image": "a.png", "level": "clue", "step": 1, "question": "What?", "options": ["x", "y"], "answer": "A"}
FAULTY: dict[str, tuple[list[dict[str, Any]], list[str]]] = {
    "ultravr": (
        [{"id": "u", "domain": "rs", "category": "none", "question": 5, "options": ["x", "y"], "answer": "A",
          "reasoning_supervision": 7}],
        ["reasoning_supervision must be an object", "category: ", "question: "],
    ),
    "vistahop": (
        [{"id": "v", "images": [7], "answers": ["x"], "category": "none", "level": "L2", "reasoning_path": 3}],
        ["reasoning_path: must be a list", "question: is missing", "images: a picture is the name", "category: "],
    ),
    "mmcr": (
        [{"id": "m", "question": 5, "options": ["x", "y"], "answer": "A. z"}],
        ["type: is missing", "pages: is missing", "answer 'A. z' does not fit", "document: ", "question: "],
    ),
    "atombench": (
        [_CLUE, {**_CLUE, "domain": "none", "certainty": "none"}],
        ["step 1 is used twice", "domain: 'none' is not known", "certainty: 'none' is none of"],
    ),
    "questions": (
        [{"id": "q", "question": "What?", "choices": ["x", "y"], "answer": "z", "boxes": "1,2"}],
        ["answer", "boxes: a region is"],
    ),
}  # fmt: skip
"""Records of each benchmark, and how the faults of the last one begin."""


@pytest.mark.parametrize("benchmark", sorted(FAULTY))
def test_all_faults_of_a_record_are_told_at_once(tmp_path: Path, benchmark: str) -> None:
    """Those of fields that cannot be read, and those of fields that hold what is not known."""
    records, told = FAULTY[benchmark]
    path = tmp_path / "records.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    with pytest.raises(DatasetInvalidError) as caught:
        load_for_scoring(path, benchmark)
    problems = [problem for problem in caught.value.problems if problem.line == len(records)]
    found = [next((one for one in told if problem.message.startswith(one)), problem.message) for problem in problems]
    assert sorted(found) == sorted(told)
