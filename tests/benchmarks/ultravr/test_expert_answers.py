"""A sample whose record awaits an expert counts as soon as one has answered, and is asked as before."""

import json
from pathlib import Path

import pytest

from gigavqa.benchmarks.ultravr.reading import record_of
from gigavqa.catalogue.load import load_catalogue
from gigavqa.evaluation.datasets import load_dataset, read_dataset
from gigavqa.evaluation.label_files import write_reviewed_answers
from gigavqa.evaluation.reviews import sample_digest
from gigavqa.reports.report import build_report
from tests.benchmarks.ultravr.good_records import GOOD
from tests.evaluation.responses import response

AWAITING = {**GOOD["wsi-comparison"], "id": "t4", "answer": "", "images": ["images/slide.tif"]}


def folder_of(place: Path, answers: str = "") -> Path:
    """A data set of one sample that awaits its answer."""
    folder = place / "tiny"
    (folder / "samples").mkdir(parents=True)
    (folder / "dataset.toml").write_text('name = "tiny"\nbenchmark = "ultravr"\n')
    (folder / "samples" / "a.json").write_text(json.dumps([AWAITING]))
    if answers:
        (folder / "answers.jsonl").write_text(answers)
    return folder


def test_an_expert_s_answer_counts_in_reports_and_changes_nothing_that_is_asked(tmp_path: Path) -> None:
    """The same records, the same digest, another accuracy; the sample is the one that was reviewed."""
    before = load_dataset(folder_of(tmp_path / "before"))
    after = load_dataset(folder_of(tmp_path / "after", '{"sample": "t4", "answer": "b"}\n'))
    assert before.digest == after.digest
    assert before.labels != after.labels
    digests = {sample_digest(one.benchmark, one.samples[0]) for one in (before, after)}
    assert len(digests) == 1
    assert record_of(after.samples[0]) == record_of(before.samples[0])  # type: ignore[arg-type]
    reports = [
        build_report(dataset, [response("t4", "Final answer: B")], load_catalogue()) for dataset in (before, after)
    ]
    assert [report.awaiting_expert for report in reports] == [("t4",), ()]
    assert [report.cells[0].accuracy.value for report in reports] == [None, 1.0]


def test_an_answer_of_the_record_s_own_stays(tmp_path: Path) -> None:
    """Whatever the file says."""
    folder = folder_of(tmp_path, '{"sample": "t4", "answer": "B"}\n')
    (folder / "samples" / "a.json").write_text(json.dumps([{**AWAITING, "answer": "A"}]))
    assert load_dataset(folder).samples[0].truth == "A"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("x", "line 1: is not JSON"),
        ('{"sample": "t4"}', "line 1: must be an object with the texts sample and answer"),
        ('{"sample": "t4", "answer": "A"}\n{"sample": "t4", "answer": "B"}', "line 2: 't4' has another answer already"),
        ('{"sample": "t4", "answer": "Z"}', "the expert's answer 'Z' is none of the options A, B, C, D"),
    ],
)
def test_a_line_that_cannot_be_used_is_named(tmp_path: Path, line: str, told: str) -> None:
    """By file and line, or by the sample that it does not fit."""
    (problem,) = read_dataset(folder_of(tmp_path, line)).problems
    assert told in problem.message


def test_reviews_write_over_their_own_lines_alone(tmp_path: Path) -> None:
    """What was written by hand wins; what no review says any more goes."""
    by_hand = '{"sample":"z",  "answer": "A"}'
    (tmp_path / "answers.jsonl").write_text(f"{by_hand}\n")
    write_reviewed_answers(tmp_path, "answers.jsonl", {"t4": "B", "z": "C"})
    first, second = (tmp_path / "answers.jsonl").read_text().splitlines()
    assert first == by_hand
    assert json.loads(second) == {"sample": "t4", "answer": "B", "reviewed": True}
    write_reviewed_answers(tmp_path, "answers.jsonl", {})
    assert (tmp_path / "answers.jsonl").read_text().splitlines() == [by_hand]
