"""Nothing of a record vanishes unsaid: what no reader took is listed once a file, by every benchmark's import."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from gigavqa.evaluation.datasets import load_dataset
from gigavqa.evaluation.importing import ImportSummary, import_dataset
from gigavqa.evaluation.installed import find_benchmark, installed_benchmarks
from gigavqa.tiling.headers import read_header
from tests.benchmarks.vistahop.files import OURS
from tests.evaluation.test_anybodys_answers import RECORDS


def bring(folder: Path, benchmark: str, records: list[dict[str, Any]], written: str | None = None) -> ImportSummary:
    """Import a file of records, one a line or as they are `written`, whose pictures are all there."""
    folder.mkdir(parents=True, exist_ok=True)
    pictures = [name for record in records for key in ("pages", "images", "image") for name in named(record.get(key))]
    for name in pictures:
        (folder / "pictures" / name).parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (60, 60)).save(folder / "pictures" / name)
    source = folder / ("records.json" if written else "records.jsonl")
    source.write_text(written or "".join(json.dumps(record) + "\n" for record in records))
    return import_dataset(
        find_benchmark(benchmark), source, folder / "pictures", folder / "data", check_image=read_header
    )


def named(value: Any) -> list[str]:
    """One name, or several."""
    return [value] if isinstance(value, str) else value or []


def notes(made: ImportSummary) -> list[str]:
    """What is told of files."""
    return [str(note) for note in made.notes]


@pytest.mark.parametrize("benchmark", RECORDS)
def test_a_record_that_is_read_whole_has_nothing_to_be_told(tmp_path: Path, benchmark: str) -> None:
    """Every name that a benchmark's own records have is one that it reads."""
    assert notes(bring(tmp_path, benchmark, [RECORDS[benchmark]])) == []


@pytest.mark.parametrize("benchmark", RECORDS)
@given(name=st.text(st.characters(categories=["Ll"], max_codepoint=127), min_size=11, max_size=20))
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_field_that_nobody_reads_is_told_with_its_number_of_records(
    tmp_path_factory: pytest.TempPathFactory, benchmark: str, name: str
) -> None:
    """It is kept with its samples, and never taken for something else."""
    record = RECORDS[benchmark]
    records = [record, {**record, "id": "second", name: "a"}, {**record, "id": "third", name: "b"}]
    made = bring(tmp_path_factory.mktemp("import"), benchmark, records)
    (told,) = notes(made)
    assert told.startswith(f"records.jsonl: not read: {name} (2 records")
    assert [one.extra.get(name) for one in load_dataset(made.folder).samples] == [None, "a", "b"]


HITS = "image_search"
NESTED: dict[str, tuple[str, dict[str, Any], str]] = {
    "a step's own": (
        "ultravr",
        {"reasoning_supervision": {"steps": [{"step_id": "S1", "question": "?", "ground_truth": True,
                                             "answer_format": "boolean", "rationale": "seen"}]}},
        "steps.rationale (1 record)",
    ),
    "steps beside steps": (
        "ultravr",
        {"reasoning_supervision": {"steps": [], "final_steps": [{}]}},
        "reasoning_supervision.final_steps (1 record)",
    ),
    "steps by another name": ("ultravr", {"reasoning_steps": [{}]}, "reasoning_steps (1 record)"),
    "an anchor's own": (
        "vistahop", {"anchors": [{"label": "a", "colour": "red"}]}, "anchors.colour (1 record)"
    ),
    "hits that are not shown": (
        "vistahop", {HITS: [{"title": str(number)} for number in range(6)]}, "image_search behind hit 5"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", NESTED)
def test_what_stands_deeper_in_a_record_is_told(tmp_path: Path, case: str) -> None:
    """Parts of which samples keep what they know alone."""
    benchmark, changes, told = NESTED[case]
    record = {**(OURS if benchmark == "vistahop" else RECORDS[benchmark]), **changes}
    record = {name: value for name, value in record.items() if name != "note" and (name in changes or name != HITS)}
    (note,) = notes(bring(tmp_path, benchmark, [record]))
    assert f"not read: {told}" in note


def test_a_name_that_is_nearly_one_that_is_read_is_asked_about(tmp_path: Path) -> None:
    """Once a file, whatever number of its questions inherit it."""
    clue = {name: value for name, value in RECORDS["atombench"].items() if name not in ("id", "image", "level")}
    records = [{"image": f"{number}.jpg", "clue_questions": [clue], "conclusions": [clue, clue]} for number in range(5)]
    for written in (None, json.dumps(records)):  # on lines of their own, or all on one
        (told,) = notes(bring(tmp_path / str(written is None), "atombench", records, written))
        assert ": not read: clue_questions (5 records; did you mean 'questions'" in told


def test_what_stands_beside_the_list_of_records_is_told(tmp_path: Path) -> None:
    """Of a file that is one object nothing is counted."""
    records = [RECORDS["questions"] | {"shade": "red"}]
    written = json.dumps({"made_with": 3, "questions": records})
    assert notes(bring(tmp_path, "questions", records, written)) == ["records.json: not read: made_with, shade"]


def test_samples_without_what_a_table_needs_are_told_by_the_import(tmp_path: Path) -> None:
    """As by a check: with the line in the source that is to be mended."""
    clue = {name: value for name, value in RECORDS["atombench"].items() if name not in ("id", "image", "level")}
    records = [{"image": "1.jpg", "clues": [clue], "conclusions": [clue]}, {"image": "2.jpg", "conclusions": [clue]}]
    warnings = [str(warning) for warning in bring(tmp_path, "atombench", records).warnings]
    assert any("records.jsonl:2: 2-q1: its image has no clue question, so that RCS" in warning for warning in warnings)
    assert not any("records.jsonl:1" in warning and "its image has no" in warning for warning in warnings)


def test_every_benchmark_of_ours_has_a_record_here() -> None:
    """Each of them is held to these rules; what a plugin reads is its own."""
    ours = {
        name for name, one in installed_benchmarks().items() if type(one).__module__.startswith("gigavqa.benchmarks.")
    }
    assert {*RECORDS} == ours
