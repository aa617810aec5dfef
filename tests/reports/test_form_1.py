"""Responses that were recorded in the first form are scored as they were: a Parquet part, and lines of the stream.

`tests/store/form_1/` holds what was written then: 45 responses to five samples under every protocol and condition, by a
worker whose engine answered from a script, among them an S4 chat that failed at its third turn, one that outgrew its
context, an answer that was cut off, and S3 chats that were told one example or none. `report.csv` is the report of that
time on them.
"""

import csv
import io
import json
from pathlib import Path

import pytest

from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.schema_versions import read_bundle, read_spec
from gigavqa.evaluation.datasets import load_dataset
from gigavqa.evaluation.errors import ResponsesInvalidError
from gigavqa.evaluation.expansion import expand
from gigavqa.evaluation.response_files import read_replies
from gigavqa.reports.score import score_files
from gigavqa.reports.writers.exports import render_csv
from gigavqa.tiling.geometry import Size
from tests.evaluation.folders import write_dataset
from tests.reports.tables import caveats_of

FORM_1 = Path(__file__).parents[1] / "store" / "form_1"
PART, LINES = FORM_1 / "part.parquet", FORM_1 / "lines.ndjson"


def numbers(report: str) -> set[tuple[str, ...]]:
    """Lines of a CSV report in its columns of then; a part of a table is called by the table's name and a word more."""
    lines = csv.DictReader(io.StringIO(report))
    later = {"text", "example", "from"}
    return {
        (line.pop("table").partition("_")[0], *(line[name] for name in line if name not in later)) for line in lines
    }


def test_a_part_scores_as_it_did() -> None:
    """Every number of the report is the same to its last digit, in the table that it stood in, or a part of it."""
    report = score_files(FORM_1 / "samples.jsonl", PART)
    assert numbers((FORM_1 / "report.csv").read_text()) - numbers(render_csv(report)) == set()


def test_examples_that_were_told_are_still_counted() -> None:
    """One of the S3 chats was told no example, for want of one on another image; the report says so."""
    warnings = caveats_of(score_files(FORM_1 / "samples.jsonl", PART))
    assert any("S3 V2: 1 of 5 responses were told no example" in warning for warning in warnings)


@pytest.mark.parametrize("number", range(4))
def test_lines_read_as_the_part_does(number: int, tmp_path: Path) -> None:
    """A line of the stream and the row of the part that holds the same response are the same reply."""
    line = tmp_path / "line.ndjson"
    line.write_bytes(LINES.read_bytes().splitlines()[number])
    (reply,) = read_replies([line], "S0")
    assert reply in list(read_replies([PART], "S0"))


def test_what_turns_answered_is_known() -> None:
    """The steps of the chat that outgrew its context are there by their names, its final answer is not."""
    (reply,) = (reply for reply in read_replies([LINES], "S0") if reply.overflowed)
    assert [name for name, _ in reply.steps] == ["S1", "S2", "S3", "S4", "S5"]
    assert (reply.text, reply.failure) == (None, None)


def test_a_line_of_a_form_to_come_is_refused(tmp_path: Path) -> None:
    """It names the version, and is not taken for a line of somebody's own, from which little would be read."""
    line = tmp_path / "line.ndjson"
    line.write_text(json.dumps({**json.loads(LINES.read_text().splitlines()[0]), "version": 3}))
    with pytest.raises(
        ResponsesInvalidError, match=r"line.ndjson:1: is of version 3; this release reads versions 1 to 2"
    ):
        list(read_replies([line], "S0"))


def test_a_job_asks_what_it_asked(tmp_path: Path) -> None:
    """Prompts, views and draws of a job of that time are the same to the letter, five views of V4 among them.

    Their order is another one since: the comparison goes by their ids. What was said of pictures then has a name.
    """
    asked = {request.id: request for request in read_bundle((FORM_1 / "bundle.json").read_bytes()).requests}
    records = map(json.loads, (FORM_1 / "samples.jsonl").read_text().splitlines())
    record = next(record for record in records if record["id"] == "rs-logic")
    folder = write_dataset(tmp_path / "tiny", record, record | {"id": "rs-other", "image": "images/other.png"})
    stored = read_spec((FORM_1 / "spec.json").read_text())
    spec = stored.model_copy(update={"options": {**stored.options, "conditions": "conditions/1", "s3": "s3/1"}})
    pairs = expand(load_dataset(folder), spec, load_catalogue(), lambda _: Size(1000, 600))
    now = {request.id: request for _, request in pairs}
    assert now.keys() == asked.keys()
    for name, request in now.items():
        assert request.model_dump(exclude={"details"}) == asked[name].model_dump(exclude={"details"})
    told = next(iter(asked))
    assert now[told].details == asked[told].details == {"examples": ["rs-other"]}
