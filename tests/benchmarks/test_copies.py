"""Of copies of a response one rule decides which counts, in tables and verdicts, whatever the copies say.

An answer goes before a failure, the earlier one before the later, and of equal ones the first in the files.
"""

import json
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from gigavqa.catalogue.load import load_catalogue
from gigavqa.evaluation.datasets import load_for_scoring
from gigavqa.evaluation.outcomes import SampleOutcome
from gigavqa.reports.report import Report
from gigavqa.reports.score import outcomes_of_files, score_files
from tests.evaluation.test_anybodys_answers import RECORDS

CATALOGUE = load_catalogue()
ALL = RECORDS
SAID: dict[str, dict[str, Any]] = {
    "a letter": {"text": "Final answer: B"},
    "another": {"text": "Final answer: C"},
    "a year": {"text": "<answer>1911</answer>"},
    "nothing clear": {"text": "hm"},
    "no words": {"text": ""},
    "failed": {"failure": {"type": "EngineDiedError", "message": "gone"}},
}


def dataset(folder: Path, benchmark: str) -> Path:
    """A data set of one sample."""
    (folder / "samples").mkdir(parents=True)
    (folder / "dataset.toml").write_text(f'name = "{folder.name}"\nbenchmark = "{benchmark}"\n')
    (folder / "samples" / "a.json").write_text(json.dumps([ALL[benchmark]]))
    return folder


def lines(path: Path, said: Sequence[dict[str, Any]]) -> Path:
    """A file of lines."""
    path.write_text("".join(json.dumps(one) + "\n" for one in said))
    return path


def scored(samples: Path, *files: Path) -> tuple[Report, SampleOutcome]:
    """The report of files, and the one verdict on them."""
    (outcome,) = outcomes_of_files(load_for_scoring(samples), *files, catalogue=CATALOGUE)
    return score_files(samples, *files), outcome


@pytest.mark.parametrize("benchmark", ALL)
def test_the_first_answer_counts_in_tables_and_verdicts(tmp_path: Path, benchmark: str) -> None:
    """Any two of all kinds of replies under one request give what the first gives alone, unless it failed."""
    samples = dataset(tmp_path / "set", benchmark)
    one = {"sample_id": ALL[benchmark]["id"], "request_id": "q"}
    alone = {kind: scored(samples, lines(tmp_path / "alone.jsonl", [one | said])) for kind, said in SAID.items()}
    for first, second in permutations(SAID, 2):
        kind = second if first == "failed" else first
        report, outcome = scored(samples, lines(tmp_path / "both.jsonl", [one | SAID[first], one | SAID[second]]))
        assert outcome.model_dump() == alone[kind][1].model_dump(), (first, second)
        assert without_counts_of_copies(report) == without_counts_of_copies(alone[kind][0]), (first, second)
        assert report.cells[0].duplicates == 1


@pytest.mark.parametrize("benchmark", ALL)
def test_the_earlier_answer_counts_wherever_it_stands(tmp_path: Path, benchmark: str) -> None:
    """Where lines tell their time, their place tells nothing."""
    samples = dataset(tmp_path / "set", benchmark)
    one = {"sample_id": ALL[benchmark]["id"], "request_id": "q", "repeat": 0}
    for first, second in permutations((kind for kind in SAID if kind != "failed"), 2):
        early = one | SAID[first] | {"created_at": "2026-11-25T10:00:00Z"}
        late = one | SAID[second] | {"created_at": "2026-11-25T11:00:00Z"}
        found = [
            scored(samples, lines(tmp_path / "a.jsonl", [early]), lines(tmp_path / "b.jsonl", [late])),
            scored(samples, lines(tmp_path / "a.jsonl", [late]), lines(tmp_path / "b.jsonl", [early])),
        ]
        assert {outcome.text for _, outcome in found} == {SAID[first]["text"]}
        assert found[0] == found[1]


def test_lines_of_files_of_one_name_are_no_copies(tmp_path: Path) -> None:
    """They are repeats, as all lines of one's own for one sample; one file that is named twice counts once."""
    samples = dataset(tmp_path / "set", "ultravr")
    files = []
    for folder, letter in (("a", "B"), ("b", "A")):
        (tmp_path / folder).mkdir()
        said = {"sample_id": ALL["ultravr"]["id"], "text": letter}
        files.append(lines(tmp_path / folder / "said.jsonl", [said]))
    (cell,) = score_files(samples, *files, files[0]).cells
    assert (cell.answered, cell.duplicates, cell.accuracy.value) == (2, 1, 0.5)


@pytest.mark.parametrize("benchmark", ALL)
def test_a_file_given_twice_changes_nothing(tmp_path: Path, benchmark: str) -> None:
    """But that its copies are told."""
    samples = dataset(tmp_path / "set", benchmark)
    said = [{"sample_id": ALL[benchmark]["id"], **one} for one in SAID.values()]
    file = lines(tmp_path / "said.jsonl", said)
    once, twice = score_files(samples, file), score_files(samples, file, file)
    assert without_counts_of_copies(once) == without_counts_of_copies(twice)


def without_counts_of_copies(report: Report) -> dict[str, Any]:
    """All of a report but what it tells of copies, and of what they took."""
    cells = tuple(cell.model_copy(update={"duplicates": 0}) for cell in report.cells)
    caveats = tuple(caveat for caveat in report.caveats if "further cop" not in caveat.text)
    return report.model_copy(update={"cells": cells, "caveats": caveats}).model_dump(exclude={"work", "provenance"})
