"""Verdicts are streamed as files, from what is recorded, in an order that stays."""

import io
import json
from collections.abc import Callable
from typing import Any

import duckdb
import pandas
import pytest

from gigavqa.evaluation.datasets import load_dataset
from gigavqa.reports.writers.verdict_columns import VerdictFileLayout
from gigavqa.service.http import examples
from gigavqa.service.settings import GatewaySettings
from tests.service.datasets import record, write_dataset
from tests.service.gateways import RunningGateway, problem_of
from tests.service.test_results import lose_a_part
from tests.service.workers import play


@pytest.fixture
def job_id(gateway: RunningGateway) -> str:
    """A completed job in which every answer is A, as is right for one sample of four; one request failed."""
    job_id: str = gateway.submit(plan="table1").json()["id"]
    play(gateway.redis_url, lambda asked: None if asked.request_id.startswith("cctv-0003:S0-V0") else "Final answer: A")
    return job_id


def rows_of(gateway: RunningGateway, path: str, **params: Any) -> list[dict[str, Any]]:
    """The rows of the JSON form."""
    text = gateway.client.get(path, params={"format": "jsonl", **params}).raise_for_status().text
    return [json.loads(line) for line in text.splitlines()]


def test_every_response_has_a_row_in_the_order_of_recording(gateway: RunningGateway, job_id: str) -> None:
    """As the stream of responses has them; the columns are those that the documentation shows."""
    rows = rows_of(gateway, f"/v1/jobs/{job_id}/verdicts")
    stream = gateway.client.get(f"/v1/jobs/{job_id}/results").text.splitlines()
    assert [row["request_id"] for row in rows] == [json.loads(line)["request_id"] for line in stream]
    assert {tuple(row) for row in rows} == {tuple(examples.VERDICT)}
    (failed,) = (row for row in rows if row["failure"])
    assert (failed["outcome"], failed["score"], failed["correct"]) == ("failed", None, None)


def test_every_form_holds_the_reports_accuracy(gateway: RunningGateway, job_id: str) -> None:
    """With its media type and a name to save it by; the report counts one domain."""
    path, known = f"/v1/jobs/{job_id}/verdicts", {}
    for form, media_type in (("csv", "text/csv"), ("parquet", "application/vnd.apache.parquet")):
        answer = gateway.client.get(path, params={"format": form})
        assert answer.headers["content-type"].startswith(media_type)
        assert answer.headers["content-disposition"] == f'attachment; filename="verdicts-{job_id}.{form}"'
        read = pandas.read_csv if form == "csv" else pandas.read_parquet
        known[form] = read(io.BytesIO(answer.content)).groupby("condition")["score"].mean().to_dict()
    cells = gateway.client.get(f"/v1/jobs/{job_id}/report").json()["cells"]
    assert known["csv"] == known["parquet"] == {cell["condition"]: cell["accuracy"]["value"] for cell in cells}


def test_parquet_is_read_in_parts(gateway: RunningGateway, job_id: str) -> None:
    """As readers of tables do over HTTP: its length first, then its end, all of one file."""
    path, params = f"/v1/jobs/{job_id}/verdicts", {"format": "parquet"}
    whole = gateway.client.get(path, params=params)
    head = gateway.client.head(path, params=params)
    assert int(head.headers["content-length"]) == len(whole.content)
    assert head.headers["accept-ranges"] == "bytes"
    end = gateway.client.get(path, params=params, headers={"Range": "bytes=-4"})
    assert (end.status_code, end.content) == (206, b"PAR1")
    assert end.headers["etag"] == head.headers["etag"] == whole.headers["etag"]


def test_texts_and_parts_are_given_when_asked_for(gateway: RunningGateway, job_id: str) -> None:
    """No step was asked here: a file of parts has its columns and no row."""
    path = f"/v1/jobs/{job_id}/verdicts"
    assert {row["text"] for row in rows_of(gateway, path, texts=True)} == {"Final answer: A", None}
    table = pandas.read_csv(io.BytesIO(gateway.client.get(path, params={"parts": True}).content))
    layout = VerdictFileLayout.of(load_dataset(gateway.settings.data / "town"), parts=True)
    assert (len(table), list(table.columns)) == (0, list(layout.columns))


def test_a_job_without_responses_has_a_file(gateway: RunningGateway) -> None:
    """With its columns, in CSV and in Parquet; of JSON lines there is none."""
    path = f"/v1/jobs/{gateway.submit().json()['id']}/verdicts"
    assert rows_of(gateway, path) == []
    assert gateway.client.get(path).text.startswith('"job_id","request_id"')
    frame = pandas.read_parquet(io.BytesIO(gateway.client.get(path, params={"format": "parquet"}).content))
    assert list(frame.columns) == list(examples.VERDICT)


def test_verdicts_that_did_not_change_are_not_sent_again(gateway: RunningGateway, job_id: str) -> None:
    """The ETag stands for what is recorded, for the records, and for the form."""
    path = f"/v1/jobs/{job_id}/verdicts"
    known = {"If-None-Match": gateway.client.get(path).headers["etag"]}
    assert gateway.client.get(path, headers=known).status_code == 304
    for other in ({"format": "jsonl"}, {"parts": True}, {"texts": True}):
        assert gateway.client.get(path, headers=known, params=other).status_code == 200
    write_dataset(gateway.settings.data, [record(number, answer="A") for number in range(4)])
    assert gateway.client.get(path, headers=known).status_code == 200


def test_several_jobs_are_one_file(gateway: RunningGateway, job_id: str) -> None:
    """Job after job, in the order in which they are named, each once."""
    other = gateway.submit().json()["id"]
    play(gateway.redis_url)
    rows = rows_of(gateway, "/v1/verdicts", job=[other, job_id, other])
    assert [row["job_id"] for row in rows] == [other] * 4 + [job_id] * 8


def test_what_cannot_be_read_has_a_row_until_it_is_back(
    settings: GatewaySettings, start: Callable[..., RunningGateway], gateway: RunningGateway, job_id: str
) -> None:
    """It says so as its failure, is scored by nobody, and the file is another one when the part is there again."""
    gateway.stop()
    part, again, path = lose_a_part(settings), start(), f"/v1/jobs/{job_id}/verdicts"
    lacking = again.client.get(path)
    counts = "SELECT failure, model IS NULL, count(*) FROM frame WHERE score IS NULL GROUP BY ALL ORDER BY ALL"
    frame = pandas.read_csv(io.BytesIO(lacking.content))
    assert ("ResponseUnreadable", True, 4) in duckdb.sql(counts).fetchall()
    assert len(frame) == 8
    part.with_suffix(".kept").rename(part)
    whole = again.client.get(path, headers={"If-None-Match": lacking.headers["ETag"]})
    assert "ResponseUnreadable" not in whole.text
    again.client.get(path, headers={"If-None-Match": whole.headers["ETag"]})
    known = {"If-None-Match": again.client.get(path).headers["ETag"]}
    assert again.client.get(path, headers=known).status_code == 304


def test_what_cannot_be_judged_is_a_problem_and_no_file(gateway: RunningGateway, job_id: str) -> None:
    """No job, no data set, several of them, no such form: said before anything is sent."""
    problem_of(gateway.client.get("/v1/jobs/job_0/verdicts"), 404, "job-not-found")
    problem_of(gateway.client.get(f"/v1/jobs/{job_id}/verdicts", params={"format": "xlsx"}), 422, "request-invalid")
    problem_of(gateway.client.get("/v1/verdicts"), 422, "request-invalid")
    write_dataset(gateway.settings.data, [record(number) for number in range(2)], name="village")
    other = gateway.submit(dataset="village").json()["id"]
    problem_of(gateway.client.get("/v1/verdicts", params={"job": [job_id, other]}), 422, "datasets-differ")
    (gateway.settings.data / "town").rename(gateway.settings.data / "gone")
    problem_of(gateway.client.get(f"/v1/jobs/{job_id}/verdicts"), 404, "dataset-not-found")
