"""Verdicts on files of responses, as files."""

import json
from pathlib import Path

import duckdb
import pytest

from tests.cli.installation import Installation
from tests.evaluation.responses import response


@pytest.fixture
def responses(installation: Installation) -> Path:
    """One answer for each sample, three of them right."""
    path = installation.home / "responses.ndjson"
    lines = [{"sample_id": f"cctv-{at:04d}", "text": f"Final answer: {letter}"} for at, letter in enumerate("ABCA")]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "ndjson", "parquet"])
def test_verdicts_are_written_beside_the_report(installation: Installation, responses: Path, suffix: str) -> None:
    """One row a response in the form that the file's name says; three right ones of four are 0.75."""
    file = installation.home / f"verdicts.{suffix}"
    assert "75.0" in installation.ok("score", "tiny", str(responses), "--verdicts", str(file))
    rows = duckdb.sql(f"SELECT avg(score), count(*) FROM '{file}'").fetchall()
    assert rows == [(0.75, 4)]


def test_verdicts_leave_out_the_copies_that_the_report_leaves_out(installation: Installation) -> None:
    """A file that is named twice, and a failure that was answered later: each request has the row that counts."""
    file, lines = installation.home / "verdicts.jsonl", installation.home / "recorded.ndjson"
    failed = response("cctv-0000", None)
    answered = [response("cctv-0000", "Final answer: A"), response("cctv-0001", "Final answer: A")]
    lines.write_text("".join(one.model_dump_json() + "\n" for one in (failed, *answered)))
    installation.ok("score", "tiny", str(lines), str(lines), "--verdicts", str(file), "--texts")
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert [(row["sample_id"], row["outcome"], row["text"]) for row in rows] == [
        ("cctv-0000", "right", "Final answer: A"),
        ("cctv-0001", "wrong", "Final answer: A"),
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--verdicts", "verdicts.xlsx"), "'verdicts.xlsx' ends in none of .csv, .jsonl, .parquet, .ndjson"),
        (("--texts",), "name their file with --verdicts"),
        (("--verdicts", "nowhere/verdicts.csv"), "nowhere/verdicts.csv"),
    ],
)
def test_wrong_files_of_verdicts_are_refused(
    installation: Installation, responses: Path, arguments: tuple[str, ...], said: str
) -> None:
    """In one line, with status 2."""
    refused = installation.run("score", "tiny", str(responses), *arguments)
    assert refused.returncode == 2
    assert said in refused.stderr
