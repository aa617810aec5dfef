"""Verdicts as files: what pandas and DuckDB read of them is what the report counts."""

import io
import json
import re
import weakref
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import duckdb
import pandas
import pyarrow.parquet
import pytest

from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.responses import Response
from gigavqa.evaluation.datasets import Dataset
from gigavqa.evaluation.installed import find_benchmark, installed_benchmarks
from gigavqa.evaluation.outcomes import SampleOutcome, sample_outcomes
from gigavqa.reports.report import build_report
from gigavqa.reports.writers.verdict_columns import VerdictFileLayout
from gigavqa.reports.writers.verdict_files import (
    MOST_ROWS,
    VERDICT_FORMATS,
    VerdictFormat,
    verdict_chunks,
    write_verdicts,
)
from tests.benchmarks.ultravr.good_records import good_sample
from tests.benchmarks.ultravr.responders import all_but, answer, everything
from tests.evaluation.responses import response

CATALOGUE = load_catalogue()
DATASET = Dataset(
    name="tiny",
    benchmark=find_benchmark("ultravr"),
    title="Tiny",
    description="",
    samples=(
        good_sample("cctv-comparison", id="c1"),
        good_sample("cctv-relation", id="c2"),
        good_sample("rs-logic", id="r1"),
        good_sample("ad-coordinate", id="a1"),
        good_sample("wsi-comparison", id="w1", answer=""),
    ),
    digest="0" * 64,
)
SAMPLES = {sample.id: sample for sample in DATASET.samples}
RESPONSES = [
    response("c1", "Final answer: B"),
    response("c2", "Final answer: A"),
    response("r1", "B"),
    response("a1", "Row 3, column 7"),
    response("w1", "Final answer: C"),
    response("c1", None, "V0"),
    response("r1", "I cannot determine this.", "V0"),
    response("a1", "A or B", "V0", request_id="a1:S0-V0"),
    answer(SAMPLES["c1"], "S4", knows=everything),
    answer(SAMPLES["c2"], "S4", knows=all_but("GND"), final=False),
]
HOSTILE = [
    "=1+1",
    "+A1",
    "-2+3",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "say \"Final answer: B\", then\nstop,\r\nwith 'quotes'",
    "a lone\rreturn",
    "🏙️ 東京 naïve \u2028 end",
    "",
    "NULL",
    "plain",
]


def outcomes_of(responses: list[Response]) -> Iterator[SampleOutcome]:
    """Judge responses as they stream past."""
    return sample_outcomes(DATASET, responses, CATALOGUE)


def written(folder: Path, form: VerdictFormat, responses: list[Response] = RESPONSES, **layout: Any) -> Path:
    """Write a file of verdicts on responses."""
    path = folder / f"verdicts.{form}"
    write_verdicts(outcomes_of(responses), path, form, VerdictFileLayout.of(DATASET, **layout))
    return path


def frame_of(path: Path) -> pandas.DataFrame:
    """Read a file as a user of pandas does."""
    if path.suffix == ".csv":
        return pandas.read_csv(path)
    return pandas.read_parquet(path) if path.suffix == ".parquet" else pandas.read_json(path, lines=True)


@pytest.mark.parametrize("form", VERDICT_FORMATS)
def test_pandas_finds_the_reports_accuracies(tmp_path: Path, form: VerdictFormat) -> None:
    """Mean score over domains of the mean over samples, for each cell that has scores."""
    frame = frame_of(written(tmp_path, form))
    by_domain = frame.groupby(["protocol", "condition", "group_domain"])["score"].mean()
    found = by_domain.groupby(["protocol", "condition"]).mean().to_dict()
    assert found == {cell: pytest.approx(value) for cell, value in accuracies().items()}


@pytest.mark.parametrize("form", VERDICT_FORMATS)
def test_duckdb_finds_the_reports_accuracies(tmp_path: Path, form: VerdictFormat) -> None:
    """As pandas does, without being told what the columns hold."""
    rows = duckdb.sql(
        "SELECT protocol, condition, avg(accuracy) FROM (SELECT protocol, condition, group_domain, avg(score) accuracy "
        f"FROM '{written(tmp_path, form)}' GROUP BY ALL) GROUP BY ALL"
    ).fetchall()
    assert {cell: value for *cell_, value in rows for cell in [tuple(cell_)]} == pytest.approx(accuracies())


def accuracies() -> dict[tuple[str, str], float | None]:
    """What the report says of each cell."""
    cells = build_report(DATASET, RESPONSES, CATALOGUE).cells
    assert len(cells) == 3
    return {(cell.protocol, cell.condition): cell.accuracy.value for cell in cells}


def test_a_row_says_what_became_of_a_response(tmp_path: Path) -> None:
    """Right, wrong, unscored, failed, abstained and unreadable ones; nothing where nothing can be said."""
    lines = [json.loads(line) for line in written(tmp_path, "jsonl").read_text().splitlines()]
    said = [(line["sample_id"], line["outcome"], line["score"], line["correct"], line["failure"]) for line in lines[:8]]
    assert said == [
        ("c1", "right", 1.0, True, None),
        ("c2", "wrong", 0.0, False, None),
        ("r1", "right", 1.0, True, None),
        ("a1", "right", 1.0, True, None),
        ("w1", "unscored", None, None, None),
        ("c1", "failed", None, None, "EngineDiedError"),
        ("r1", "abstained", 0.0, False, None),
        ("a1", "unreadable", 0.0, False, None),
    ]
    assert (lines[4]["truth"], lines[3]["value"], lines[0]["options"]["D"][:8]) == (None, "(3, 7)", "Sitting ")
    assert lines[9]["tags"] == {"first error": "GND"}
    assert [part["name"] for part in lines[9]["parts"]][:2] == ["S1", "S2"]
    assert "text" not in lines[9] and "text" not in lines[9]["parts"][0]


def test_parts_are_rows_of_their_own(tmp_path: Path) -> None:
    """One of each judged step, in order, under the columns of its response."""
    frame = frame_of(written(tmp_path, "parquet", parts=True, texts=True))
    assert len(frame) == len(SAMPLES["c1"].steps) + len(SAMPLES["c2"].steps)
    first = frame[frame.sample_id == "c1"]
    assert list(first.number) == list(range(11))
    assert list(first.part) == [step.step_id for step in SAMPLES["c1"].steps]
    assert (first.truth.iloc[2], first.value.iloc[2], first.text.iloc[2]) == ("2", "2", "2")
    assert (first.truth.iloc[9], first.truth.iloc[0]) == ("group_a_more", "true")
    assert json.loads(first.true_boxes.iloc[1])[0] == [0.1, 0.1, 0.12, 0.12]
    operations = duckdb.sql("SELECT tags->>'operation' o, avg(score) FROM frame GROUP BY o").fetchall()
    assert dict(operations)["QUA"] == 1.0
    assert 0 < dict(operations)["GND"] < 1


@pytest.mark.parametrize("form", VERDICT_FORMATS)
@pytest.mark.parametrize("parts", [False, True])
def test_a_file_without_rows_has_its_columns(tmp_path: Path, form: VerdictFormat, parts: bool) -> None:
    """But for lines of JSON, of which there is none."""
    path = written(tmp_path, form, [], parts=parts)
    if form == "jsonl":
        assert path.read_bytes() == b""
        return
    frame = frame_of(path)
    assert len(frame) == 0
    assert list(frame.columns) == list(VerdictFileLayout.of(DATASET, parts=parts).columns)
    assert duckdb.sql(f"SELECT count(*) FROM '{path}'").fetchall() == [(0,)]


def test_hostile_texts_come_back_whole(tmp_path: Path) -> None:
    """Quotes, line ends, commas and emoji in every form; in CSV a formula has a quote in front, which stays text."""
    responses = [response("c1", text, request_id=f"q{at}") for at, text in enumerate(HOSTILE)]
    for form in ("jsonl", "parquet"):
        assert list(duckdb.sql(f"SELECT text FROM '{written(tmp_path, form, responses, texts=True)}'").fetchall()) == [
            (text,) for text in HOSTILE
        ]
    path = written(tmp_path, "csv", responses, texts=True)
    safe = [f"'{text}" if text[:1] in set("=+-@\t\r") else text for text in HOSTILE]
    assert safe[:6] == [f"'{text}" for text in HOSTILE[:6]]
    assert list(pandas.read_csv(path, keep_default_na=False).text) == safe
    # DuckDB takes an empty text of a CSV file for none.
    rows = duckdb.sql(f"SELECT coalesce(text, '') FROM '{path}'").fetchall()
    assert [text for (text,) in rows] == safe


def test_parquet_has_types(tmp_path: Path) -> None:
    """Scores are floats and what is right a boolean, both with gaps; repeats and rounds are integers, all else text."""
    schema = pyarrow.parquet.read_schema(written(tmp_path, "parquet", texts=True))
    types = {name: str(schema.field(name).type) for name in schema.names}
    assert types.pop("score") == "double"
    assert {types.pop(name) for name in ("repeat", "max_rounds")} == {"int64"}
    flags = ("correct", "cut_off", "overflowed", "filtered", "empty", "closing_agrees")
    assert {types.pop(name) for name in flags} == {"bool"}
    assert set(types.values()) == {"string"}
    described = duckdb.sql(f"DESCRIBE SELECT score, correct FROM '{written(tmp_path, 'parquet')}'").fetchall()
    assert [row[1] for row in described] == ["DOUBLE", "BOOLEAN"]
    assert frame_of(written(tmp_path, "parquet")).score.isna().sum() == 2


class Kept(NamedTuple):
    """What a benchmark may keep of a reply, of every type that a column can have."""

    level: Literal["near", "far"] | None
    calls: int
    pixels: float | None
    voided: bool
    letters: tuple[str, ...] = ()


def test_what_a_benchmark_keeps_of_a_reply_is_a_column_of_its_type(tmp_path: Path) -> None:
    """Under its own name behind `detail_`, after all other columns; none for a reply of which nothing is kept."""
    layout = replace(VerdictFileLayout.of(DATASET), details=VerdictFileLayout.details_of(Kept))
    first, second = outcomes_of(RESPONSES[:2])
    kept = first.model_copy(update={"details": Kept("near", 3, None, True, ("A", "B"))})
    write_verdicts([kept, second], tmp_path / "kept.parquet", "parquet", layout)
    table = pyarrow.parquet.read_table(tmp_path / "kept.parquet").select([f"detail_{name}" for name in Kept._fields])
    assert [str(field.type) for field in table.schema] == ["string", "int64", "double", "bool", "string"]
    rows = [tuple(row.values()) for row in table.to_pylist()]
    assert rows == [("near", 3, None, True, '["A","B"]'), (None,) * 5]


def test_every_installed_benchmark_has_the_columns_of_the_score_frame() -> None:
    """By the frame's own names, and what the benchmark keeps of a reply beside."""
    for benchmark in installed_benchmarks().values():
        columns = VerdictFileLayout.of(replace(DATASET, benchmark=benchmark)).columns
        frame = ("model", "protocol", "condition", "repeat", "job", "sample", "outcome", "status", "score")
        assert {*frame} <= {*columns}
        fields = benchmark.details_type._fields if benchmark.details_type else ()
        assert [f"detail_{name}" for name in fields] == [name for name in columns if name.startswith("detail_")]


def test_columns_of_earlier_files_say_the_same(tmp_path: Path) -> None:
    """`job_id` and `sample_id`, which queries of people name."""
    frame = frame_of(written(tmp_path, "parquet"))
    assert list(frame["job"]) == list(frame["job_id"])
    assert list(frame["sample"]) == list(frame["sample_id"])


def test_columns_are_the_same_whatever_is_judged() -> None:
    """Levels of the benchmark are columns of their own names behind `group_`, which clash with no other."""
    assert VerdictFileLayout.of(DATASET).levels == ("domain", "category", "subcategory")
    columns = list(VerdictFileLayout(("model", "status")).columns)
    assert len(set(columns)) == len(columns)
    assert {"model", "status", "group_model", "group_status"} <= set(columns)


@pytest.mark.parametrize("form", VERDICT_FORMATS)
def test_no_more_than_a_batch_is_held(form: VerdictFormat) -> None:
    """However many there are: when bytes come, at most a batch of outcomes was drawn since the last ones."""
    (one,) = outcomes_of(RESPONSES[:1])
    drawn = gone = 0

    def leave() -> None:
        nonlocal gone
        gone += 1

    def endless() -> Iterator[SampleOutcome]:
        nonlocal drawn
        while True:
            outcome = one.model_copy(update={"request_id": f"q{drawn}"})
            drawn += 1
            weakref.finalize(outcome, leave)
            yield outcome

    layout = VerdictFileLayout.of(DATASET)
    chunks = (chunk for chunk in verdict_chunks(map(layout.whole_row, endless()), form, layout) if chunk)
    sizes = []
    for _ in range(4):
        before = drawn
        next(chunks)
        sizes.append(drawn - before)
    assert max(sizes) == MOST_ROWS
    assert drawn - gone <= 1


def test_long_texts_end_a_batch_early() -> None:
    """Two of ten million characters are never held together with a third."""
    (one,) = outcomes_of(RESPONSES[:1])
    long = (one.model_copy(update={"text": "x" * 10_000_000}) for _ in range(4))
    file = io.BytesIO()
    write_verdicts(long, file, "parquet", VerdictFileLayout.of(DATASET, texts=True))
    assert pyarrow.parquet.ParquetFile(file).metadata.num_row_groups == 2


@pytest.mark.parametrize("form", VERDICT_FORMATS)
def test_the_same_responses_make_the_same_bytes(tmp_path: Path, form: VerdictFormat) -> None:
    """In the order in which they came."""
    layout = VerdictFileLayout.of(DATASET)
    rows = map(layout.whole_row, outcomes_of(RESPONSES))
    assert written(tmp_path, form).read_bytes() == b"".join(verdict_chunks(rows, form, layout))
    ids = duckdb.sql(f"SELECT request_id FROM '{tmp_path}/verdicts.{form}'").fetchall()
    assert [name for (name,) in ids] == [one.request_id for one in RESPONSES]


def test_what_is_not_finished_leaves_no_file(tmp_path: Path) -> None:
    """A file that was there before stays as it was."""
    path = written(tmp_path, "csv")
    before = path.read_bytes()

    def broken() -> Iterator[SampleOutcome]:
        yield from outcomes_of(RESPONSES[:1])
        raise OSError("the connection is gone")

    with pytest.raises(OSError, match="connection"):
        write_verdicts(broken(), path, "csv", VerdictFileLayout.of(DATASET))
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


PAGE = (Path(__file__).parents[2] / "docs/report.md").read_text(encoding="utf-8")
SECTION = PAGE.split("# Verdicts\n")[1].split("# Data sets\n")[0]


@pytest.mark.parametrize("parts", [False, True])
def test_every_column_is_documented_in_its_order(parts: bool) -> None:
    """The first table of docs/report.md names the columns of responses, the second what parts have behind groups."""
    tables = [block.splitlines()[2:] for block in SECTION.split("\n\n") if block.startswith("| column")]
    named = [name for row in tables[parts] for name in re.findall(r"`(\w+)(?:\.\.\.)?`", row.split("|")[1])]
    columns = list(VerdictFileLayout(("",), (("", "text"),), parts=parts, texts=True).columns)
    assert named == (columns[columns.index("group_") + 1 :] if parts else columns)


def documented(language: str) -> str:
    """The example in a language, without its comment."""
    found = re.search(rf"```{language}\n.*?\n(.*?)```", SECTION, re.DOTALL)
    assert found
    return found[1]


def test_the_documented_examples_say_what_the_report_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That of DuckDB and that of pandas, as they are printed; what has no score has no accuracy."""
    written(tmp_path, "parquet")
    monkeypatch.chdir(tmp_path)
    by_duckdb = {tuple(key): (mean, n) for *key, mean, n in duckdb.sql(documented("sql")).fetchall() if n}
    by_pandas = {key: (row["mean"], row["count"]) for key, row in eval(documented("python")).iterrows() if row["count"]}
    reported = {
        (*cell.key[:3], group): (score.overall.value, score.overall.count)
        for cell in build_report(DATASET, RESPONSES, CATALOGUE).cells
        for group, score in cell.groups.items()
        if score.overall.count
    }
    assert by_duckdb == by_pandas == reported
    assert reported["qwen3-vl-8b", "S0", "V2", "cctv"] == (0.5, 2)
