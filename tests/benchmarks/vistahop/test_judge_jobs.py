"""A job that judges goes the whole way: a real gateway, a real server and a real worker; what models write is scripted.

The engine is the simulated one, and says so in every response.
"""

import json
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from PIL import Image
from redis import Redis as PlainRedis
from redis.asyncio import Redis

from gigavqa.contract.requests import InferenceRequest
from gigavqa.launcher.preflight import free_port
from gigavqa.reports.report import Report
from gigavqa.runtime.embedded_store import StateStoreProcess
from gigavqa.service.settings import GatewaySettings
from gigavqa.workers.engines.engine import Message
from tests.benchmarks.vistahop.files import OURS, write
from tests.cli.installation import Installation
from tests.reports.tables import caveats_of, value_of, values_of
from tests.service.datasets import write_town
from tests.service.gateways import MODEL, RunningGateway, problem_of, running, settings_of
from tests.service.tenants import Tenant
from tests.service.workers import claim_all, play
from tests.waiting import wait_until
from tests.workers.conftest import redis, server  # noqa: F401 - fixtures
from tests.workers.examples import responses_of
from tests.workers.simulated_worker import running_worker
from tests.workers.tool_chats import WritingEngine

DIRECT = [{"protocol": "direct", "condition": "V2"}]
FIRST, SECOND = f"{MODEL} by vistahop-judge/3", f"{MODEL} by vistahop-judge/4"
ANSWERS = ("1911", "around 1911", "the year of the flood", "1850", "who knows", "1911")
"""What is answered to six questions about two pictures: twice to the word."""
Start = Callable[..., RunningGateway]


def says(chat: Sequence[Message]) -> str:
    """Answers questions by their number; judges round years as right, floods as unsure, and all else as wrong."""
    if "Principles" not in chat[0].text:
        return f"<answer>{ANSWERS[int(chat[1].text.partition('crane ')[2][0])]}</answer>"
    given = chat[1].text.partition("Given answer: ")[2]
    if "flood" in given:
        return "It is hard to say."
    return f"<judge>{'Yes' if 'around' in given else 'No'}</judge>\n<reason>So it is.</reason>"


def of_worker(request: InferenceRequest) -> str:
    """The same for requests as the queue holds them."""
    return says([Message("system", [request.system or ""]), Message("user", [request.turns[0].text])])


def draw(folder: Path) -> Path:
    """Six questions about two pictures."""
    records = [
        {**OURS, "id": f"q{at}", "images": [f"images/{at % 2}.jpg"], "question": f"When was crane {at} built?"}
        for at in range(len(ANSWERS))
    ]
    for record in records:
        record["image_search"] = []
    write(folder, records)
    (folder / "images").mkdir()
    for at in range(2):
        Image.new("RGB", (320, 320), (90 * at, 9, 40)).save(folder / f"images/{at}.jpg")
    return folder


@pytest.fixture
def settings(tmp_path: Path, server: StateStoreProcess) -> GatewaySettings:  # noqa: F811
    """Settings of a gateway with the harbours, and a town of another benchmark."""
    with PlainRedis.from_url(server.url) as client:
        client.flushall()
    settings = settings_of(tmp_path, server.url)
    write_town(settings.data)
    draw(settings.data / "harbours")
    return settings


@pytest.fixture
def start(settings: GatewaySettings) -> Iterator[Start]:
    """Starts gateways with changed settings; they end with the test."""
    with ExitStack() as stack:
        yield lambda **changes: stack.enter_context(running(settings.model_copy(update=changes)))


@pytest.fixture
def gateway(start: Start) -> RunningGateway:
    """A running gateway."""
    return start()


def ask(gateway: RunningGateway, **changes: Any) -> str:
    """Submit a job that asks all questions directly."""
    answer = gateway.submit(**{"dataset": "harbours", "cells": DIRECT, **changes})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def judge(gateway: RunningGateway, *jobs: str, prompt: str | None = None, **changes: Any) -> httpx.Response:
    """Submit a job that judges others."""
    body = {"dataset": "harbours", "models": [MODEL], "judge": {"jobs": jobs, "prompt": prompt}, **changes}
    return gateway.client.post("/v1/jobs", json=body)


def report_of(gateway: RunningGateway, *jobs: str, judges: Sequence[str] = ()) -> Report:
    """The report over jobs, by judges."""
    params = {"job": list(jobs), "judge": list(judges)}
    answer = gateway.client.get("/v1/reports", params=params)
    assert answer.status_code == 200, answer.text
    return Report.model_validate(answer.json())


async def test_judges_go_the_whole_way(gateway: RunningGateway, redis: Redis, tmp_path: Path) -> None:  # noqa: F811
    """Every different answer is judged once over all jobs, a picture is rendered once, and the report joins both."""
    engine = WritingEngine(says)
    async with running_worker(redis, gateway.settings.data, tmp_path / "pyramids", lambda: engine) as rig:
        jobs = [ask(gateway, repeats=3), ask(gateway, seed=1)]
        for job in jobs:
            await rig.until_final(job)
        judges = [judge(gateway, *jobs, prompt=f"vistahop-judge/{number}").json()["id"] for number in (3, 4)]
        for job in judges:
            await rig.until_final(job)
        renders = rig.library.stats().renders
    verdicts = await responses_of(redis, judges[0])
    assert Counter(str(one.details["answer"]) for one in verdicts) == Counter(ANSWERS[1:5])
    assert {(one.protocol, one.sampling.temperature) for one in verdicts} == {("judge", 0.0)}
    assert [raster.view.sizing for one in verdicts for raster in one.rasters] == ["fit:32:65536:8294400"] * 4
    assert renders == 2, "two pictures, whoever asks for them"
    plain, judged = report_of(gateway, *jobs), report_of(gateway, *jobs, judges=judges)
    assert value_of(plain, "table4", "p1").value == 3 / 6
    assert value_of(judged, "table4", "p1").value == 3 / 5
    (cell,) = judged.cells
    assert [(one.count, one.samples) for one in cell.excluded] == [(4, ("q2",))]
    for name in (FIRST, SECOND):
        told = values_of(judged, "by_judge", judge=name)
        assert (told["judged"], told["unreadable"], told["missing"]) == (20, 4, 0)
    assert value_of(judged, "judges", "kappa", judge=FIRST, other=SECOND).value == 1
    assert value_of(judged, "judges", "agreement", judge="rules/2", other=FIRST).value == 1
    assert [job.judges for job in judged.jobs] == [(), (), tuple(jobs), tuple(jobs)]
    caveats = caveats_of(judged)
    assert caveats[0] == f"right and wrong are by {FIRST}; beside it {SECOND}"
    assert f"{FIRST} judges answers of its own, too, which models may favour" in caveats
    own = report_of(gateway, judges[0])
    assert values_of(own, "judgements")["yes"] == 1
    assert "What judges said" in gateway.client.get(f"/v1/jobs/{judges[0]}/report", params={"format": "html"}).text
    rows = gateway.client.get(f"/v1/jobs/{judges[0]}/verdicts", params={"format": "jsonl"}).text
    assert Counter(json.loads(row)["status"] for row in rows.splitlines()) == {"yes": 1, "no": 2, "unreadable": 1}
    lines = gateway.client.get("/v1/verdicts", params={"job": jobs[1], "judge": judges[0], "format": "jsonl"}).text
    found = {row["sample_id"]: row["outcome"] for row in map(json.loads, lines.splitlines())}
    assert [found[f"q{at}"] for at in range(6)] == ["right", "right", "unscored", "wrong", "wrong", "right"]
    page = gateway.client.get("/v1/reports", params={"job": jobs[1], "judge": judges[0], "format": "html"}).text
    assert f"Judged by {FIRST}" in page


def test_failed_verdicts_are_retried_and_the_report_grows(gateway: RunningGateway) -> None:
    """A job that judges is cancelled, retried and read like any other; with a judge and without are told apart."""
    job = ask(gateway)
    play(gateway.redis_url, of_worker)
    judging = judge(gateway, job).json()
    assert judging["request_counts"]["total"] == 4
    play(gateway.redis_url, lambda request: None if request.sample_id == "q1" else of_worker(request))
    first = report_of(gateway, job, judges=[judging["id"]])
    assert value_of(first, "table4", "p1").value == 2 / 4
    assert gateway.client.post(f"/v1/jobs/{judging['id']}/retry").status_code == 200
    assert [request.sample_id for request in claim_all(gateway.redis_url)] == ["q1"]
    assert gateway.client.post(f"/v1/jobs/{judging['id']}/cancel").status_code == 200
    params = {"job": job, "judge": judging["id"]}
    tags = {
        gateway.client.get("/v1/reports", params=given).headers["etag"]
        for given in ({"job": job}, params, {**params, "judge": [judging["id"], judging["id"]]})
    }
    assert len(tags) == 2
    assert value_of(report_of(gateway, job), "table4", "p1").value == 3 / 6
    assert "Judged by" in gateway.client.get(f"/v1/jobs/{job}/report", params={"judge": judging["id"]}).text


def test_what_cannot_be_judged_is_refused_in_a_sentence(gateway: RunningGateway) -> None:
    """Unknown and unfinished jobs, those of other data sets and of judges, prompts and plans; nothing is accepted."""
    job = ask(gateway)

    def refused(*jobs: str, **changes: Any) -> str:
        before = len(gateway.client.get("/v1/jobs").json()["data"])
        problem = problem_of(judge(gateway, *jobs, **changes), 422, "submission-invalid")
        assert len(gateway.client.get("/v1/jobs").json()["data"]) == before
        return str(problem["errors"][0]["detail"])

    assert refused("job_0") == "there is no job job_0"
    assert refused(job) == f"job {job} is in_progress; answers are judged once it has ended"
    play(gateway.redis_url, lambda request: "<answer>1911</answer>")
    assert refused(job) == f"nothing to judge: every answer of {job} is settled without a model, or there is none"
    town = str(gateway.submit().json()["id"])
    play(gateway.redis_url)
    assert refused(job, town) == f"job {town} is over data set 'town', and this one over 'harbours'"
    assert "which no model judges" in refused(town, dataset="town")
    known = ", ".join(f"vistahop-judge/{number}" for number in (3, 4, 1, 2))
    assert f"there is {known}" in refused(job, prompt="nobody/1")
    wrong = ask(gateway)
    play(gateway.redis_url, of_worker)
    for changes in ({"repeats": 2}, {"plan": "table4"}, {"samples": ["q1"]}, {"cells": DIRECT}):
        assert f"a job that judges has no {next(iter(changes))}" in refused(wrong, **changes)
    judging = str(judge(gateway, wrong).json()["id"])
    play(gateway.redis_url, of_worker)
    assert refused(judging).startswith(f"job {judging} judges itself; name the jobs whose answers it judges: {wrong}")
    reports = "/v1/reports"
    for params, told in (
        ({"job": [wrong, judging]}, f"job: {judging} judges; name it as `judge`"),
        ({"job": [wrong], "judge": [job]}, f"judge: job {job} does not judge"),
        ({"job": [judging], "judge": [judging]}, f"job: {judging} judges"),
    ):
        assert told in problem_of(gateway.client.get(reports, params=params), 422, "judges-mixed")["detail"]
    problem_of(gateway.client.get(reports, params={"job": town, "judge": judging}), 422, "datasets-differ")


def test_nobody_judges_or_reads_by_jobs_of_another(start: Start) -> None:
    """They are not there, in the words for jobs that never were."""
    gateway = start(require_keys=True)
    ada, bob = Tenant(gateway, "ada"), Tenant(gateway, "bob")
    jobs = [tenant.submit(dataset="harbours", cells=DIRECT).json()["id"] for tenant in (ada, bob)]
    play(gateway.redis_url, of_worker)
    body = {"dataset": "harbours", "models": [MODEL]}
    problem = problem_of(bob.post("/v1/jobs", json={**body, "judge": {"jobs": jobs}}), 422, "submission-invalid")
    assert [error["detail"] for error in problem["errors"]] == [f"there is no job {jobs[0]}"]
    adas = ada.post("/v1/jobs", json={**body, "judge": {"jobs": jobs[:1]}}).json()["id"]
    problem_of(bob.get("/v1/reports", params={"job": jobs[1], "judge": adas}), 404, "job-not-found")
    problem_of(bob.get(f"/v1/jobs/{jobs[1]}/verdicts", params={"judge": adas}), 404, "job-not-found")


def test_a_job_that_was_judged_and_changed_refuses_the_retry_of_its_judge(gateway: RunningGateway) -> None:
    """Its verdicts would be on other answers than were asked about; one that is gone is named."""
    job = ask(gateway)
    play(gateway.redis_url, lambda request: None if request.sample_id == "q3" else of_worker(request))
    judging = judge(gateway, job).json()["id"]
    play(gateway.redis_url, lambda request: None)
    gateway.client.post(f"/v1/jobs/{job}/retry")
    play(gateway.redis_url, of_worker)
    retry = f"/v1/jobs/{judging}/retry"
    problem = problem_of(gateway.client.post(retry), 409, "dataset-changed")
    assert "or the answers that it judges, changed" in problem["detail"]
    assert gateway.client.delete(f"/v1/jobs/{job}").is_success
    assert f"there is no job {job}" in problem_of(gateway.client.post(retry), 422, "submission-invalid")["detail"]


@pytest.mark.slow
def test_a_killed_gateway_goes_on_with_a_judges_job(settings: GatewaySettings, start: Start, tmp_path: Path) -> None:
    """SIGKILL while it is `validating`: the next gateway expands the same requests from the answers that are kept."""
    first = start()
    job = ask(first)
    play(first.redis_url, of_worker)
    first.stop()
    limits = {"GIGAVQA_INLINE_REQUESTS": "2", "GIGAVQA_QUEUE_REQUESTS": "6"}
    environ = {**Installation(settings.folder).environment, "REDIS_URL": str(settings.redis_url), **limits}
    url = f"http://127.0.0.1:{(port := free_port('127.0.0.1'))}"
    with (tmp_path / "gateway.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "gigavqa.service", "--port", str(port)], env=environ, stderr=log
        )
    try:
        wait_until(lambda: _answers(url), timeout=60, what="readiness")
        with httpx.Client(base_url=url, timeout=20) as client:
            blocking = {"dataset": "harbours", "models": [MODEL], "cells": DIRECT}
            other = client.post("/v1/jobs", json=blocking).json()["id"]
            wait_until(lambda: client.get(f"/v1/jobs/{other}").json()["status"] == "in_progress", timeout=60)
            body = {"dataset": "harbours", "models": [MODEL], "judge": {"jobs": [job]}}
            left = client.post("/v1/jobs", json=body).json()
            assert left["status"] == "validating"
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    play(str(settings.redis_url), of_worker)
    second = start()
    wait_until(lambda: second.job(left["id"])["status"] == "in_progress", timeout=60, what="the job's progress")
    assert sorted(str(request.details["answer"]) for request in claim_all(second.redis_url)) == sorted(ANSWERS[1:5])


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/readyz").is_success
    except httpx.TransportError:
        return False


@pytest.mark.slow
def test_a_judge_of_the_command_line(gateway: RunningGateway, tmp_path: Path) -> None:
    """`gigavqa judge`, then reports that name it, over the service and from files alone."""
    installation = Installation(gateway.settings.folder, gateway.url)
    job = ask(gateway)
    play(gateway.redis_url, of_worker)
    judging = installation.ok("judge", job, "-m", MODEL, "--prompt", "vistahop-judge/4").strip()
    play(gateway.redis_url, of_worker)
    report = Report.model_validate_json(installation.ok("report", job, "--judge", judging, "--format", "json"))
    assert value_of(report, "table4", "p1").value == 3 / 5
    files = [tmp_path / f"{name}.ndjson" for name in (job, judging)]
    for name, file in zip((job, judging), files, strict=True):
        installation.ok("results", name, "-o", str(file))
    arguments = ("score", "harbours", str(files[0]), "--judge", str(files[1]), "--format", "json")
    scored = Report.model_validate_json(installation.ok(*arguments))
    assert scored.table("table4") == report.table("table4")
    assert caveats_of(scored)[0] == f"right and wrong are by {SECOND}"
    mixed = installation.run("score", "harbours", *map(str, files))
    assert mixed.returncode == 2
    assert "some responses are a judge's" in mixed.stderr
