"""Answers of a model that nobody serves here are scored by every benchmark, whatever it is called, or not called."""

import json
from pathlib import Path
from typing import Any

import pytest

from gigavqa.catalogue.load import load_catalogue
from gigavqa.reports.score import score_files
from tests.benchmarks.mmcr.files import RECORD as DOCUMENT
from tests.benchmarks.ultravr.good_records import good_record

CLUE: dict[str, Any] = {
    "id": "quay-c1",
    "image": "quay.jpg",
    "level": "clue",
    "question": "What do the plates have in common?",
    "options": ["A blue band", "Three letters"],
    "answer": "B",
}
RECORDS: dict[str, dict[str, Any]] = {
    "atombench": CLUE,
    "mmcr": {**DOCUMENT, "pages": ["1.png", "2.png"]},
    "questions": {"id": "q", "image": "a.png", "question": "Which?", "choices": ["one", "two"], "answer": "B"},
    "ultravr": good_record("cctv-comparison"),
    "vistahop": {"id": "q", "images": ["a.png"], "question": "Which year?", "answers": ["1911"], "hops": 2},
}


@pytest.mark.parametrize("model", [None, "my-llava"])
@pytest.mark.parametrize("benchmark", RECORDS)
def test_the_answers_of_any_model_are_scored(tmp_path: Path, benchmark: str, model: str | None) -> None:
    """All tables are filled, of which some tell more of models that the catalogue describes."""
    (tmp_path / "samples").mkdir()
    (tmp_path / "dataset.toml").write_text(f'name = "{tmp_path.name}"\nbenchmark = "{benchmark}"\n')
    record = RECORDS[benchmark]
    (tmp_path / "samples" / "a.json").write_text(json.dumps([record]))
    said = {"sample_id": record["id"], "text": "B"} | ({"model": model} if model else {})
    (tmp_path / "said.ndjson").write_text(json.dumps(said))
    report = score_files(tmp_path, tmp_path / "said.ndjson")
    assert {cell.model for cell in report.cells} == {model or "unnamed"}
    assert report.tables


def test_a_model_that_is_not_in_the_catalogue_has_no_entry() -> None:
    """As of any mapping: only who asks for it by name to serve it is refused."""
    assert load_catalogue().get("my-llava") is None
    assert load_catalogue().get("my-llava", "nothing") == "nothing"
