"""Results are streamed as NDJSON, filtered, resumed by cursor and followed to the job's end."""

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from redis import Redis

from gigavqa.contract.codec import compress, decompress
from gigavqa.contract.requests import InferenceRequest
from gigavqa.service.settings import GatewaySettings
from gigavqa.store.connection import connect
from gigavqa.store.redis_keys import KEYS
from gigavqa.store.sink import ParquetSink
from tests.service.gateways import RunningGateway, problem_of
from tests.service.workers import play
from tests.waiting import wait_until


def results(gateway: RunningGateway, job_id: str, **query: Any) -> list[dict[str, Any]]:
    """Read a job's results to the end of the stream."""
    response = gateway.client.get(f"/v1/jobs/{job_id}/results", params=query)
    assert response.headers["content-type"] == "application/x-ndjson", response.text
    return [json.loads(line) for line in response.content.splitlines()]


def second_fails(request: InferenceRequest) -> str | None:
    """Answer everything but one sample."""
    return None if request.sample_id == "cctv-0001" else f"Final answer: {request.sample_id}"


@pytest.fixture
def job_id(gateway: RunningGateway) -> str:
    """A completed job of table 1 over four samples: eight responses, those of one sample failed."""
    job_id: str = gateway.submit(plan="table1").json()["id"]
    play(gateway.redis_url, second_fails)
    return job_id


def test_every_response_is_one_line_with_its_raw_text(gateway: RunningGateway, job_id: str) -> None:
    """Eight requests give eight lines; the text is what was recorded."""
    lines = results(gateway, job_id)
    assert len({line["request_id"] for line in lines}) == 8
    assert all(line["turns"][0]["text"] == f"Final answer: {line['sample_id']}" for line in lines if line["turns"])


def test_reading_goes_on_behind_a_cursor(gateway: RunningGateway, job_id: str) -> None:
    """Reading two lines at a time, each time behind the last cursor, gives every line once and in order."""
    read: list[dict[str, Any]] = []
    while page := results(gateway, job_id, limit=2, after=read[-1]["cursor"] if read else "0-0"):
        assert len(page) <= 2
        read += page
    assert read == results(gateway, job_id)


@pytest.mark.parametrize(
    ("query", "read"),
    [
        ({"limit": 2}, [1, 1]),
        ({"limit": 3}, [1, 2]),
        ({"limit": 600}, [1, 2, 4, 8]),
        ({}, [1, 2, 4, 8]),
        ({"limit": 2, "status": "ok"}, [1, 2]),
    ],
)
def test_a_short_page_reads_no_more_than_it_sends(
    gateway: RunningGateway, job_id: str, query: dict[str, Any], read: list[int]
) -> None:
    """The server is asked for twice as many each time, and for no more than are wanted; nobody knows with a filter."""
    with Redis.from_url(gateway.redis_url) as server:
        server.config_set("slowlog-log-slower-than", 0)
        server.slowlog_reset()
        results(gateway, job_id, **query)
        commands = [entry["command"].split() for entry in reversed(server.slowlog_get(1000))]
    counts = [int(words[-1]) for words in commands if words[0] == b"XRANGE" and words[1].endswith(b":results")]
    assert counts[: len(read)] == read


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ({"condition": "V0"}, 4),
        ({"protocol": "S0"}, 8),
        ({"protocol": "S1"}, 0),
        ({"max_rounds": 10}, 0),
        ({"model": "another"}, 0),
        ({"sample_id": "cctv-0002"}, 2),
        ({"status": "failed"}, 2),
        ({"status": "ok", "condition": "V2"}, 3),
        ({"status": "ok", "limit": 5}, 5),
    ],
)
def test_filters_keep_what_they_say(gateway: RunningGateway, job_id: str, query: dict[str, Any], count: int) -> None:
    """Each filter alone, and two together."""
    lines = results(gateway, job_id, **query)
    assert len(lines) == count
    wanted = {name: value for name, value in query.items() if name not in {"status", "limit"}}
    assert all(line[name] == value for line in lines for name, value in wanted.items())
    if "status" in query:
        assert all((line.get("failure") is not None) == (query["status"] == "failed") for line in lines)


BAD_QUERIES = [
    {"after": "yesterday"},
    {"after": "99999999999999999999-0"},
    {"after": "٣-٣"},
    {"limit": 0},
    {"status": "good"},
    {"colour": "red"},
]


@pytest.mark.parametrize("query", BAD_QUERIES)
def test_a_malformed_query_is_refused_by_parameter(gateway: RunningGateway, job_id: str, query: dict[str, Any]) -> None:
    """Also a parameter that does not exist: it would be a filter that is silently not applied."""
    problem = problem_of(gateway.client.get(f"/v1/jobs/{job_id}/results", params=query), 422, "request-invalid")
    assert problem["errors"][0]["parameter"] in query


def test_following_waits_for_responses_until_the_job_is_final(gateway: RunningGateway) -> None:
    """A stream that is opened before anything is recorded ends with the last response, having sent each once."""
    job_id = gateway.submit(plan="table1").json()["id"]
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(results, gateway, job_id, follow=True)
        wait_until(lambda: 'gigavqa_open_streams{kind="results"} 1.0' in gateway.client.get("/metrics").text)
        play(gateway.redis_url, max_bundles=1)
        assert not reading.done()
        play(gateway.redis_url)
        lines = reading.result(timeout=60)
    assert len({line["request_id"] for line in lines}) == len(lines) == 8


def test_the_sink_changes_no_line(
    settings: GatewaySettings, start: Callable[..., RunningGateway], gateway: RunningGateway, job_id: str
) -> None:
    """Once all texts have moved to Parquet parts, a gateway streams the very lines that it streamed before."""
    before = results(gateway, job_id)
    gateway.stop()
    assert drain(settings) == 8
    assert results(start(), job_id) == before


def test_a_deleted_job_leaves_no_parquet_part(
    settings: GatewaySettings, start: Callable[..., RunningGateway], gateway: RunningGateway, job_id: str
) -> None:
    """What the sink wrote for a job goes with it."""
    gateway.stop()
    drain(settings)
    parts = Path(settings.results_uri)
    assert list(parts.rglob("*.parquet"))
    start().client.delete(f"/v1/jobs/{job_id}").raise_for_status()
    assert not list(parts.rglob("*.parquet"))


def test_results_whose_store_is_away_are_a_503_and_come_when_it_is_back(
    settings: GatewaySettings, start: Callable[..., RunningGateway], gateway: RunningGateway, job_id: str
) -> None:
    """A disk that cannot be read stands for a bucket that is not reached."""
    gateway.stop()
    drain(settings)
    again, (part,) = start(), list(Path(settings.results_uri).rglob("*.parquet"))
    kept = part.rename(part.with_suffix(".kept"))
    part.symlink_to(part)  # reading it is an error of the disk
    refused = again.client.get(f"/v1/jobs/{job_id}/results")
    assert "results store is not reached" in problem_of(refused, 503, "results-unavailable")["detail"]
    assert refused.headers["retry-after"]
    part.unlink()
    kept.rename(part)
    assert len(results(again, job_id)) == 8


def test_a_stream_whose_store_goes_away_is_cut_and_told_why_when_it_goes_on(
    settings: GatewaySettings,
    start: Callable[..., RunningGateway],
    gateway: RunningGateway,
    job_id: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """No end is sent that would look like all of it; the log has a line, and no traceback."""
    gateway.stop()
    drain(settings, rows=4)
    again, (_, part) = start(), sorted(Path(settings.results_uri).rglob("*.parquet"))
    part.unlink()
    part.symlink_to(part)  # reading it is an error of the disk
    lines: list[str] = []
    with (
        pytest.raises(httpx.RemoteProtocolError),
        again.client.stream("GET", f"/v1/jobs/{job_id}/results") as answer,
    ):
        for line in answer.iter_lines():
            lines.append(line)  # noqa: PERF402 - what came before the error counts
    assert 1 <= len(lines) <= 4  # by pages
    told = [record for record in caplog.records if "cut short" in record.message]
    assert len(told) == 1 and not any(record.exc_info for record in caplog.records)


def lose_a_part(settings: GatewaySettings) -> Path:
    """Put a job's eight responses into two parts, and take the first of them away."""
    drain(settings, rows=4)
    first, _ = sorted(Path(settings.results_uri).rglob("*.parquet"))
    first.rename(first.with_suffix(".kept"))
    return first


def test_a_lost_part_costs_the_stream_its_own_responses_alone(
    settings: GatewaySettings, start: Callable[..., RunningGateway], gateway: RunningGateway, job_id: str
) -> None:
    """Four lines say what cannot be read, four are responses; reading goes on behind either kind."""
    gateway.stop()
    part = lose_a_part(settings)
    again = start()
    lines = results(again, job_id)
    assert [line.get("unreadable") for line in lines] == [f"the Parquet part {part.stem} is gone"] * 4 + [None] * 4
    assert len({line["request_id"] for line in lines}) == 8
    assert {line.get("part") for line in lines[:4]} == {part.stem}
    assert lines[:4] == results(again, job_id, limit=4)
    assert lines[4:] == results(again, job_id, after=lines[3]["cursor"])
    assert len(results(again, job_id, status="failed")) == 2


def test_a_report_says_what_could_not_be_read_until_it_is_back(
    settings: GatewaySettings, start: Callable[..., RunningGateway], gateway: RunningGateway, job_id: str
) -> None:
    """A warning counts the responses and names their part; with the part the report is whole again."""
    gateway.stop()
    part, client, path = lose_a_part(settings), start().client, f"/v1/jobs/{job_id}/report"
    lacking = client.get(path)
    said = [told["text"] for told in lacking.json()["caveats"] if "cannot be read" in told["text"]]
    reason = f"the Parquet part {part.stem} is gone (4)"
    assert said == [f"job {job_id}: 4 of 8 recorded responses cannot be read: {reason}"]
    part.with_suffix(".kept").rename(part)
    whole = client.get(path, headers={"If-None-Match": lacking.headers["ETag"]})
    assert not [told for told in whole.json()["caveats"] if "cannot be read" in told["text"]]
    known = client.get(path, headers={"If-None-Match": client.get(path).headers["ETag"]})
    assert known.status_code == 304


@pytest.mark.parametrize("rows", [None, 4], ids=["on the server", "in a part"])
def test_a_response_that_cannot_be_read_costs_none_of_the_others(
    settings: GatewaySettings,
    start: Callable[..., RunningGateway],
    gateway: RunningGateway,
    job_id: str,
    rows: int | None,
) -> None:
    """The stream names it in its place, the report counts it, verdicts tell it; the other answers are all there."""
    with Redis.from_url(gateway.redis_url) as redis:
        spoilt = next(line["request_id"] for line in results(gateway, job_id) if line["turns"])
        text = decompress(redis.hget(KEYS.texts(job_id), spoilt))
        redis.hset(KEYS.texts(job_id), spoilt, compress(text.replace(b'"text":"', b'"text":1,"was":"')))
    if rows:
        gateway.stop()
        drain(settings, rows=rows)
        gateway = start()
    lines = results(gateway, job_id)
    assert [line["request_id"] for line in lines if "unreadable" in line] == [spoilt]
    assert len(lines) == 8
    report = gateway.client.get(f"/v1/jobs/{job_id}/report").raise_for_status().json()
    (said,) = [told["text"] for told in report["caveats"] if "cannot be read" in told["text"]]
    assert said.startswith(f"job {job_id}: 1 of 8 recorded responses cannot be read: ")
    verdicts = gateway.client.get(f"/v1/jobs/{job_id}/verdicts", params={"format": "jsonl"}).raise_for_status()
    told = {each["request_id"]: each for each in map(json.loads, verdicts.content.splitlines())}
    assert (len(told), told[spoilt]["failure"]) == (8, "ResponseUnreadable")


def drain(settings: GatewaySettings, rows: int = 512) -> int:
    """Move everything that is recorded to Parquet parts; returns the number of responses."""

    async def sink() -> int:
        redis = connect(settings.redis_url or "")
        moved = await ParquetSink(redis, settings.results_uri, rows=rows).run_until_drained()
        await redis.aclose()
        return moved

    return asyncio.run(sink())
