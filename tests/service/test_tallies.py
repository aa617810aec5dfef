"""Reports rest on tallies beside the parts, and say the same as if every response were judged again."""

import asyncio
import html
import json
import random
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from gigavqa.answers.final import READER_VERSION, parse_answer
from gigavqa.answers.parsed_answers import ParsedAnswer
from gigavqa.benchmarks.ultravr import judging
from gigavqa.catalogue.load import load_catalogue
from gigavqa.contract.jobs import JobSpec
from gigavqa.contract.requests import InferenceRequest
from gigavqa.contract.responses import Response, TurnResponse
from gigavqa.evaluation import outcome_changes
from gigavqa.evaluation.datasets import load_dataset
from gigavqa.reports.report import build_report
from gigavqa.service.results.tallies import JobTallies
from gigavqa.service.settings import GatewaySettings
from gigavqa.store.connection import connect
from gigavqa.store.parquet_parts import TALLY, VERDICTS
from gigavqa.store.redis_keys import KEYS
from gigavqa.store.results import ResultStore
from gigavqa.store.sink import ParquetSink
from tests.service.datasets import NAME, record, write_dataset
from tests.service.gateways import RunningGateway
from tests.service.workers import play

Start = Callable[..., RunningGateway]
TEXTS = ("Final answer: A", "Final answer: B", "A or C", "not sure", "hm")


def answers(failing: int = 0, seed: int = 7) -> Callable[[InferenceRequest], str | None]:
    """Answers of all kinds by the request, the same in whatever order they are asked for; some fail."""

    def of(request: InferenceRequest) -> str | None:
        draw = random.Random(f"{seed} {request.id}")
        return None if draw.randrange(10) < failing else draw.choice(TEXTS)

    return of


def drain(settings: GatewaySettings, rows: int = 3) -> None:
    """Move everything that is recorded to small parts; no gateway may run."""

    async def sink() -> None:
        redis = connect(settings.redis_url or "")
        await ParquetSink(redis, settings.results_uri, rows=rows).run_until_drained()
        await redis.aclose()

    asyncio.run(sink())


def report(gateway: RunningGateway, job_id: str) -> dict[str, Any]:
    """A job's report, without what it tells of the job."""
    told: dict[str, Any] = gateway.client.get(f"/v1/jobs/{job_id}/report").raise_for_status().json()
    del told["jobs"]
    return told


def from_scratch(gateway: RunningGateway, job_id: str) -> dict[str, Any]:
    """What judging every response that can be read now gives."""

    async def read() -> list[Response]:
        redis = connect(gateway.redis_url)
        found = await ResultStore(redis, gateway.settings.results_uri).read(job_id, limit=10_000)
        await redis.aclose()
        return [response for _, response in found if isinstance(response, Response)]

    spec = JobSpec.model_validate(gateway.job(job_id)["spec"])
    dataset = load_dataset(gateway.settings.data / NAME)
    built = build_report(dataset, asyncio.run(read()), load_catalogue(), spec)
    return built.model_dump(mode="json", exclude={"jobs"})


def judged(gateway: RunningGateway) -> int:
    """How many responses the gateway has judged since its start."""
    tallies = gateway.app.state.parts[JobTallies]
    assert isinstance(tallies, JobTallies)
    return tallies.judged


def tallies_of(settings: GatewaySettings) -> list[Path]:
    """The tallies that stand beside the parts."""
    return sorted(Path(settings.results_uri).rglob(f"*{TALLY}"))


def verdicts(gateway: RunningGateway, job_id: str) -> list[dict[str, Any]]:
    """The verdicts on a job's responses, in rows."""
    text = gateway.client.get(f"/v1/jobs/{job_id}/verdicts", params={"format": "jsonl"}).raise_for_status().text
    return [json.loads(line) for line in text.splitlines()]


def forget_verdicts(settings: GatewaySettings) -> int:
    """Delete what stands beside the parts, and tell how many verdict files those were; all is judged again."""
    found = [*Path(settings.results_uri).rglob(f"*{VERDICTS}")]
    for path in (*found, *tallies_of(settings)):
        path.unlink()
    return len(found)


@pytest.fixture
def job_id(settings: GatewaySettings, gateway: RunningGateway) -> str:
    """A job of 24 requests, some of which failed, in eight parts; the gateway is stopped."""
    job_id: str = gateway.submit(plan="table1", repeats=3).json()["id"]
    play(gateway.redis_url, answers(failing=2))
    gateway.stop()
    drain(settings)
    return job_id


def test_a_report_by_tallies_equals_one_from_scratch(start: Start, job_id: str) -> None:
    """When the tallies are made, and when another gateway finds them there."""
    first, again = start(), start()
    told = report(first, job_id)
    assert told == from_scratch(first, job_id)
    assert report(again, job_id) == told
    assert (judged(first) > 0, judged(again)) == (True, 0)


def test_a_second_report_judges_only_what_is_new(
    settings: GatewaySettings, start: Start, gateway: RunningGateway
) -> None:
    """A bundle is in parts when the first report comes, and the other is recorded between it and the second."""
    job_id: str = gateway.submit(plan="table1", repeats=2).json()["id"]
    recorded = play(gateway.redis_url, answers(), max_bundles=1)
    gateway.stop()
    drain(settings)
    again = start()
    before = report(again, job_id)
    sunk = judged(again)
    play(gateway.redis_url, answers())
    after = report(again, job_id)
    assert before != after == from_scratch(again, job_id)
    assert (sunk, judged(again)) == (recorded, 16)


def test_a_retry_takes_failures_out_of_parts_that_were_tallied(
    settings: GatewaySettings, start: Start, job_id: str
) -> None:
    """Their new answers count in their place, whether they are in parts or not, and nothing else is judged again."""
    gateway = start()
    report(gateway, job_id)
    known, failed = judged(gateway), gateway.job(job_id)["request_counts"]["failed"]
    gateway.client.post(f"/v1/jobs/{job_id}/retry").raise_for_status()
    assert report(gateway, job_id) == from_scratch(gateway, job_id)
    play(gateway.redis_url, answers())
    told = report(gateway, job_id)
    assert (told, judged(gateway) - known) == (from_scratch(gateway, job_id), failed)
    gateway.stop()
    drain(settings)
    assert report(start(), job_id) == told


@pytest.mark.slow
def test_a_retry_takes_answers_that_are_none_out_of_parts_that_were_tallied(
    settings: GatewaySettings, start: Start, gateway: RunningGateway
) -> None:
    """Empty ones and those that were broken off stand beside good ones in parts; their successors count instead."""
    job_id: str = gateway.submit(plan="table1", repeats=2).json()["id"]
    void = [TurnResponse(text="", finish_reason=reason) for reason in ("stop", "error", "content_filter")]
    number = play(gateway.redis_url, lambda request: [*void, "Final answer: A"][int(request.sample_id[-1])])
    gateway.stop()
    drain(settings)
    again = start()
    before = report(again, job_id)
    assert before == from_scratch(again, job_id)
    again.client.post(f"/v1/jobs/{job_id}/retry?empty=true").raise_for_status()
    assert report(again, job_id) == from_scratch(again, job_id)
    assert play(again.redis_url, answers()) == number // 2
    told = report(again, job_id)
    assert before != told == from_scratch(again, job_id)
    again.stop()
    drain(settings)
    assert report(start(), job_id) == told


@pytest.mark.parametrize(
    "spoil",
    [
        Path.unlink,
        lambda file: file.write_bytes(file.read_bytes()[:-1]),
        lambda file: file.write_bytes(b""),
        lambda file: (file.unlink(), file.mkdir()),
    ],
    ids=["removed", "cut", "emptied", "folder"],
)
def test_a_tally_that_is_damaged_is_made_again(
    settings: GatewaySettings, start: Start, job_id: str, spoil: Callable[[Path], object]
) -> None:
    """It costs the judging of its own part, and no number."""
    whole = report(start(), job_id)
    spoil(tallies_of(settings)[0])
    again = start()
    assert report(again, job_id) == whole
    assert 0 < judged(again) <= 3


def test_a_part_that_is_damaged_counts_no_longer_though_it_was_tallied(
    settings: GatewaySettings, start: Start, job_id: str
) -> None:
    """Its responses are missing, as from scratch, and a warning counts them; with the part they are back."""
    whole = report(start(), job_id)
    tally = tallies_of(settings)[0]
    part = tally.with_name(tally.name.removeprefix("_")).with_suffix(".parquet")
    content = part.read_bytes()
    part.write_bytes(content[:-1])
    gateway = start()
    told, scratch = report(gateway, job_id), from_scratch(gateway, job_id)
    (warning, *caveats) = told.pop("caveats")
    assert (told, caveats) == (scratch, scratch.pop("caveats"))
    assert "3 of 24 recorded responses cannot be read" in warning["text"]
    part.write_bytes(content)
    assert report(gateway, job_id) == whole


def test_other_records_are_judged_by_again(settings: GatewaySettings, start: Start, job_id: str) -> None:
    """Tallies stand for the judges that made them: with a changed answer all are made anew."""
    gateway = start()
    before = report(gateway, job_id)
    known = judged(gateway)
    write_dataset(settings.data, [record(number, answer="A") for number in range(4)])
    after = report(gateway, job_id)
    assert before != after == from_scratch(gateway, job_id)
    assert judged(gateway) == 2 * known


@pytest.mark.slow
def test_a_report_tells_what_another_version_of_the_reader_changed(
    start: Start, job_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An older reader took the first letter of two; every form of the report, now and later, says so."""
    with monkeypatch.context() as older:
        older.setattr(outcome_changes, "READER_VERSION", "answers/6")
        older.setattr(judging, "parse_answer", _first_letter)
        report(gateway := start(), job_id)
        before = outcomes(gateway, job_id)
    after = report(gateway := start(), job_id)
    (revision,) = after["revisions"]
    pairs = ((before[request], outcome) for request, outcome in outcomes(gateway, job_id).items())
    changes = Counter(pair for pair in pairs if pair[0] != pair[1])
    assert changes.keys() == {("right", "unreadable"), ("wrong", "unreadable")}
    assert {(one["was"], one["now"]): one["answers"] for one in revision["differences"]} == changes
    assert (revision["then"], revision["now"]) == ({"answers": "answers/6"}, {"answers": READER_VERSION})
    assert revision["changes"][0].startswith("answers/7 reads")
    assert report(start(), job_id) == after
    for form in ("md", "html"):
        page = html.unescape(gateway.client.get(f"/v1/jobs/{job_id}/report", params={"format": form}).text)
        assert f"{changes.total()} of {revision['compared']} verdicts differ" in page
        assert revision["changes"][0] in page


def _first_letter(text: str, options: Mapping[str, str] | None, *, cut_off: bool = False) -> ParsedAnswer:
    return ParsedAnswer("A", "last") if text == "A or C" else parse_answer(text, options, cut_off=cut_off)


def outcomes(gateway: RunningGateway, job_id: str) -> dict[str, str]:
    """What became of each answer of a job, by its request."""
    lines = gateway.client.get(f"/v1/jobs/{job_id}/verdicts", params={"format": "jsonl"}).text.splitlines()
    return {one["request_id"]: one["outcome"] for one in map(json.loads, lines) if not one["failure"]}


def test_parts_that_do_not_add_up_are_not_relied_on(start: Start, job_id: str) -> None:
    """The server forgot a part, as an older release did of all; every response is read all the same."""
    gateway = start()
    whole = report(gateway, job_id)
    with Redis.from_url(gateway.redis_url) as redis:
        redis.hdel(KEYS.parts(job_id), next(iter(redis.hkeys(KEYS.parts(job_id)))))
    assert report(start(), job_id) == whole


def test_a_deleted_job_leaves_no_tally(settings: GatewaySettings, start: Start, job_id: str) -> None:
    """They go with its parts."""
    gateway = start()
    report(gateway, job_id)
    assert len(tallies_of(settings)) == 8
    gateway.client.delete(f"/v1/jobs/{job_id}").raise_for_status()
    assert (tallies_of(settings), forget_verdicts(settings)) == ([], 0)


def test_a_report_and_verdicts_judge_each_answer_once(start: Start, job_id: str) -> None:
    """Whichever is asked first, also by another gateway, in whatever form."""
    first, again = start(), start()
    report(first, job_id)
    known = judged(first)
    assert verdicts(again, job_id) == verdicts(first, job_id)
    assert report(again, job_id) == report(first, job_id)
    assert (judged(first), judged(again)) == (known, 0)


def test_verdicts_follow_retries_and_records(settings: GatewaySettings, start: Start, job_id: str) -> None:
    """What was kept of responses that a retry took back, and of other records, is in no file any more."""
    gateway = start()
    before = verdicts(gateway, job_id)
    gateway.client.post(f"/v1/jobs/{job_id}/retry").raise_for_status()
    answered = [row for row in before if not row["failure"]]
    assert verdicts(gateway, job_id) == answered != before
    play(gateway.redis_url, answers())
    told = verdicts(gateway, job_id)
    assert (told[: len(answered)], len(told)) == (answered, len(before))
    gateway.stop()
    drain(settings)
    again = start()
    assert verdicts(again, job_id) == told
    write_dataset(settings.data, [record(number, answer="A") for number in range(4)])
    after = verdicts(again, job_id)
    assert {row["truth"] for row in told} != {row["truth"] for row in after} == {"A"}
    assert forget_verdicts(settings) > 0
    assert verdicts(start(), job_id) == after


def test_kept_verdicts_that_are_damaged_are_made_again(settings: GatewaySettings, start: Start, job_id: str) -> None:
    """It costs the judging of that part; and of a part that is damaged itself nothing is read that was kept."""
    whole = verdicts(start(), job_id)
    kept = sorted(Path(settings.results_uri).rglob(f"*{VERDICTS}"))[0]
    kept.write_bytes(kept.read_bytes()[:-1])
    again = start()
    assert verdicts(again, job_id) == whole
    assert 0 < judged(again) <= 3
    part = kept.with_name(kept.name.removeprefix("_")).with_suffix(".parquet")
    part.write_bytes(part.read_bytes()[:-1])
    lacking = [row["request_id"] for row in verdicts(start(), job_id) if row["failure"] == "ResponseUnreadable"]
    assert lacking == [row["request_id"] for row in whole][: len(lacking)] != []
