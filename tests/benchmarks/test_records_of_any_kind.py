"""Whatever a record holds, a benchmark reads it or says what is wrong with it."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gigavqa.evaluation.capabilities import RecordLayout
from gigavqa.evaluation.errors import Problem
from gigavqa.evaluation.installed import installed_benchmarks
from gigavqa.evaluation.reader_choice import find_reader
from gigavqa.evaluation.sample_files import load_samples

SCALARS: st.SearchStrategy[Any] = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 1 << 70), st.floats(allow_nan=False), st.sampled_from(["", "A", "x.png"])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["A", "0", "text", "bytes", "path", "label", "answer"]), inner, max_size=3),
    ),
    max_leaves=6,
)
BENCHMARKS = installed_benchmarks()


@pytest.mark.parametrize("name", BENCHMARKS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100)
@given(data=st.data())
def test_a_record_is_read_or_is_a_problem(tmp_path: Path, name: str, data: st.DataObject) -> None:
    """Every field that the benchmark reads may hold anything."""
    benchmark = BENCHMARKS[name]
    fields = st.sampled_from([field for field in RecordLayout.of(benchmark).fields if "*" not in field] or ["question"])
    usual = {"id": "a", "question": "Which?", "image": "x.png", "answer": "A", "options": {"A": "x", "B": "y"}}
    odd = st.dictionaries(fields, VALUES, max_size=5)
    records = data.draw(st.lists(st.builds(lambda one: usual | one, odd) | odd, min_size=1, max_size=3))
    file = tmp_path / "odd.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    problems: list[Problem] = []
    load_samples(benchmark, [file], tmp_path, problems)
    assert all(problem.message for problem in problems)


@pytest.mark.parametrize(
    "table",
    [
        {"image": "x.png", "question": "How many?", "answer": "3"},
        {"image": {"bytes": "iVBORw0KGgo=", "path": "x.png"}, "question": "How many?", "answer": "3"},
        {"images": ["x.png"], "question": "What is it?", "answers": ["a cat"], "type": "text"},
        {"index": 1, "image_path": "x.png", "question": "Is it?", "answer": "yes", "category": "colour"},
    ],
)
def test_records_without_a_benchmarks_own_fields_are_anybodys(tmp_path: Path, table: dict[str, Any]) -> None:
    """A question, a picture and an answer alone make no benchmark of a paper's."""
    file = tmp_path / "t.jsonl"
    file.write_text(json.dumps(table) + "\n")
    assert find_reader(file).name == "questions"


def test_a_file_that_nobody_can_read_is_anybodys(tmp_path: Path) -> None:
    """Its errors are those of the reader for records of any kind, and not of a benchmark that it is none of."""
    file = tmp_path / "t.csv"
    file.write_text("Bild;Frage;Antwort\nx.png;Wie viele?;3\n")
    assert find_reader(file).name == "questions"
