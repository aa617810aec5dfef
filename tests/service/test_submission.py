"""A job is checked whole: it is queued, or refused with everything that is wrong, and then it leaves nothing."""

import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from redis import Redis

from gigavqa.contract.jobs import Job
from gigavqa.contract.responses import EngineInfo, RemoteInfo
from gigavqa.evaluation.installed import find_benchmark
from gigavqa.service.settings import GatewaySettings
from gigavqa.service.submission.validation import JobValidator, ResolvedJob
from gigavqa.store.job_registry import JobRegistry
from gigavqa.store.lua_scripts import LuaScripts
from gigavqa.store.redis_keys import KEYS
from gigavqa.store.worker_registry import WorkerStatus
from tests.benchmarks.ultravr.good_records import GOOD
from tests.contract.test_loops import LOOK_UP, LOOP
from tests.service.datasets import NAME, record, write_dataset, write_town
from tests.service.gateways import MODEL, RunningGateway, problem_of
from tests.service.openai.pictures import deep
from tests.service.workers import claim_all, claim_bundles, play
from tests.waiting import wait_until


def num_jobs(gateway: RunningGateway) -> int:
    """How many jobs the gateway keeps."""
    return len(gateway.client.get("/v1/jobs").json()["data"])


def refused(gateway: RunningGateway, **changes: Any) -> dict[str, Any]:
    """Submit what must be refused, and see that nothing of it was accepted."""
    problem = problem_of(gateway.submit(**changes), 422, "submission-invalid")
    assert num_jobs(gateway) == 0
    assert claim_all(gateway.redis_url) == []
    return problem


def test_a_small_job_is_queued_when_it_is_answered(gateway: RunningGateway) -> None:
    """The answer is 201 with the job in progress, and its requests wait for workers."""
    response = gateway.submit(plan="table1")
    job = response.json()
    assert response.status_code == 201
    assert response.headers["location"] == f"/v1/jobs/{job['id']}"
    assert job["status"] == "in_progress"
    assert job["request_counts"] == {"total": 8, "completed": 0, "failed": 0}
    assert len({request.id for request in claim_all(gateway.redis_url)}) == 8


def test_a_small_job_that_the_server_lost_at_once_is_accepted_again(
    gateway: RunningGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A power cut between the job and its requests costs the client nothing."""
    create, lost = JobRegistry.create, []

    async def create_and_lose(registry: JobRegistry, *told: Any) -> tuple[Job, bool]:
        created = await create(registry, *told)
        if not lost:
            lost.append(created)
            with Redis.from_url(gateway.redis_url) as server:
                server.flushall()
        return created

    monkeypatch.setattr(JobRegistry, "create", create_and_lose)
    job = gateway.submit().json()
    assert (job["status"], num_jobs(gateway), len(lost)) == ("in_progress", 1, 1)
    assert len(claim_all(gateway.redis_url)) == job["request_counts"]["total"]


def test_requests_of_one_image_share_bundles_of_a_bounded_size(start: Callable[..., RunningGateway]) -> None:
    """Four samples over two images, each asked six times, make bundles of at most five requests of one image."""
    gateway = start(bundle_requests=5)
    assert gateway.submit(repeats=6).status_code == 201
    bundles = claim_bundles(gateway.redis_url)
    assert sorted(len(requests) for requests in bundles) == [2, 2, 5, 5, 5, 5]
    assert all(len({request.views[0].image for request in requests}) == 1 for requests in bundles)


def test_bad_samples_are_named_by_file_and_line(gateway: RunningGateway) -> None:
    """Every bad record of the data set is one entry of `errors`; the good ones are not accepted alone."""
    write_dataset(gateway.settings.data, [record(0), record(1, answer="E"), record(2, domain="sea"), record(3)])
    problem = problem_of(gateway.submit(), 422, "dataset-invalid")
    places = {(error["file"], error["line"], error["sample"]) for error in problem["errors"]}
    assert places == {("samples/cctv.jsonl", 2, "cctv-0001"), ("samples/cctv.jsonl", 3, "cctv-0002")}
    assert num_jobs(gateway) == 0


def test_a_data_set_full_of_bad_samples_has_a_bounded_answer(gateway: RunningGateway) -> None:
    """The first hundred are listed, and all are counted."""
    write_dataset(gateway.settings.data, [record(number, answer="E") for number in range(150)])
    problem = problem_of(gateway.submit(), 422, "dataset-invalid")
    assert len(problem["errors"]) == 100
    assert problem["detail"].startswith("150 ")


def test_a_missing_image_is_named_with_its_sample(gateway: RunningGateway) -> None:
    """An image that does not exist refuses the job before anything of it is queued."""
    write_dataset(gateway.settings.data, [record(0), record(1, image="images/gone.png")])
    (error,) = refused(gateway)["errors"]
    assert (error["sample"], error["image"]) == ("cctv-0001", f"{NAME}/images/gone.png")


def test_an_unreadable_image_is_named_without_the_data_root(gateway: RunningGateway) -> None:
    """A file that is no image is refused by its name below the data root, which the answer does not give away."""
    (gateway.settings.data / NAME / "images/plaza-1.png").write_bytes(b"not a picture")
    problem = refused(gateway)
    assert [error["image"] for error in problem["errors"]] == [f"{NAME}/images/plaza-1.png"]
    assert str(gateway.settings.data) not in str(problem)


def test_an_image_of_16_bits_is_refused_with_what_helps(gateway: RunningGateway) -> None:
    """By its header, before anything of the job is queued."""
    (gateway.settings.data / NAME / "images/plaza-1.png").write_bytes(deep())
    (error,) = refused(gateway)["errors"]
    assert error["image"] == f"{NAME}/images/plaza-1.png"
    assert "has 16 bits a sample, 1 band" in error["detail"] and "`gigavqa show " in error["detail"]


def test_an_image_that_was_repaired_is_read_again(gateway: RunningGateway) -> None:
    """What is kept of a header is forgotten when the file changes."""
    picture = gateway.settings.data / NAME / "images/plaza-1.png"
    good = picture.read_bytes()
    picture.write_bytes(b"not a picture")
    refused(gateway)
    picture.write_bytes(good)
    assert gateway.submit().status_code == 201


@pytest.mark.parametrize("image", ["../secret.png", "/etc/hostname", "images/../../secret.png"])
def test_names_of_images_cannot_leave_the_data_set(gateway: RunningGateway, image: str) -> None:
    """Absolute names and `..` are bad records."""
    write_dataset(gateway.settings.data, [record(0, image=image)])
    problem = problem_of(gateway.submit(), 422, "dataset-invalid")
    assert problem["errors"][0]["line"] == 1


def test_links_out_of_the_data_root_are_not_followed(gateway: RunningGateway, tmp_path: Path) -> None:
    """A link to a real picture elsewhere is refused."""
    picture = gateway.settings.data / NAME / "images/plaza-0.png"
    elsewhere = tmp_path / "elsewhere.png"
    picture.rename(elsewhere)
    picture.symlink_to(elsewhere)
    (error,) = refused(gateway)["errors"]
    assert error["image"] == f"{NAME}/images/plaza-0.png"


@pytest.mark.parametrize(
    "name", ["..", "../data", "town/../town", "/etc", "nowhere", ".", "town/images", "", "x" * 300]
)
def test_names_of_data_sets_cannot_leave_the_data_root(gateway: RunningGateway, name: str) -> None:
    """Only the name of a folder of the data root is a data set's name."""
    (error,) = refused(gateway, dataset=name)["errors"]
    assert error["pointer"] == "#/dataset"


@pytest.mark.parametrize(("name", "command"), [("demo", "gigavqa dataset demo"), ("nowhere", "gigavqa dataset list")])
def test_a_data_set_that_is_not_there_is_named_with_the_remedy(
    gateway: RunningGateway, name: str, command: str
) -> None:
    """The demo's can be made by a command."""
    (error,) = refused(gateway, dataset=name)["errors"]
    assert f"'{name}'" in error["detail"]
    assert command in error["detail"]


def test_a_data_set_that_is_a_link_out_of_the_data_root_is_refused(gateway: RunningGateway, tmp_path: Path) -> None:
    """A linked folder is refused even though it holds a proper data set."""
    write_town(tmp_path / "other", name="linked")
    (gateway.settings.data / "linked").symlink_to(tmp_path / "other" / "linked")
    assert refused(gateway, dataset="linked")["errors"][0]["pointer"] == "#/dataset"


def test_unknown_models_are_pointed_at(gateway: RunningGateway) -> None:
    """Each model that is not in the catalogue is named by its place in the body."""
    problem = refused(gateway, models=[MODEL, "gpt-0", "gpt-1"])
    assert [error["pointer"] for error in problem["errors"]] == ["#/models/1", "#/models/2"]


def test_a_model_may_be_named_as_chats_name_it(gateway: RunningGateway) -> None:
    """By its title or weights, in whatever case; the job has its id."""
    reply = gateway.submit(models=["DEMO (Qwen3-VL architecture, random weights)"])
    assert reply.json()["spec"]["models"] == [MODEL]


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"plan": "table9"}, "table9"),
        ({"cells": [{"protocol": "S9", "condition": "V2"}]}, "S9"),
        ({"sampling": {"temperature": 9}}, "temperature"),
        ({"sampling": {"heat": 1}}, "heat"),
        ({"options": {"exmaples": 1}}, "exmaples"),
        ({"thumbnail": 0}, "options.thumbnail"),
        ({"samples": ["cctv-9999"]}, "cctv-9999"),
        ({"plan": "table3"}, "'cctv-0000' has no steps"),
    ],
)
def test_what_cannot_be_asked_is_named(gateway: RunningGateway, changes: dict[str, Any], word: str) -> None:
    """Plans, protocols, sampling parameters, samples and steps that do not exist are refused by name."""
    assert word in refused(gateway, **changes)["errors"][0]["detail"]


def test_requests_beyond_the_context_are_named_with_their_count(gateway: RunningGateway) -> None:
    """Questions and pictures that leave no room for an answer refuse the job."""
    long = [record(number, question="word " * 8000 + "?") for number in range(2)]
    write_dataset(gateway.settings.data, [*long, record(2)])
    problem = refused(gateway)
    (error,) = problem["errors"]
    assert error["requests"] == 2
    assert "exceed the context of 8192" in error["detail"]


def test_answers_that_the_context_bounds_are_a_warning_of_the_job(gateway: RunningGateway) -> None:
    """The job is asked, and says how many prompts leave less than `max_tokens`; whoever looks at it later is told."""
    job = gateway.submit(sampling={"max_tokens": 8192}).json()
    (told,) = job["warnings"]
    assert told.startswith(f"{MODEL}: {job['request_counts']['total']} prompts leave less of the context")
    assert gateway.job(job["id"])["warnings"] == [told]


def test_a_job_larger_than_the_queue_is_refused_for_good(start: Callable[..., RunningGateway]) -> None:
    """A job that could never be queued is no reason to try again later."""
    gateway = start(queue_requests=3)
    problem_of(gateway.submit(), 422, "job-too-large")
    assert num_jobs(gateway) == 0


def test_a_full_queue_answers_429_and_accepts_nothing(start: Callable[..., RunningGateway]) -> None:
    """The client is told when to come back, and its idempotency key is free for then."""
    gateway = start(queue_requests=6)
    assert gateway.submit().status_code == 201
    body = {"dataset": NAME, "models": [MODEL], "cells": [{"protocol": "S0", "condition": "V2"}]}
    again = {"Idempotency-Key": "second"}
    response = gateway.client.post("/v1/jobs", json=body, headers=again)
    problem_of(response, 429, "queue-full")
    assert int(response.headers["retry-after"]) >= 1
    assert num_jobs(gateway) == 1
    play(gateway.redis_url)
    assert gateway.client.post("/v1/jobs", json=body, headers=again).status_code == 201


def test_a_repeated_call_finds_its_job_though_the_data_set_is_gone(gateway: RunningGateway) -> None:
    """An idempotency key answers with its job before anything is checked again."""
    body = {"dataset": NAME, "models": [MODEL], "plan": "table1"}
    key = {"Idempotency-Key": "once"}
    first = gateway.client.post("/v1/jobs", json=body, headers=key)
    shutil.rmtree(gateway.settings.data / NAME)
    again = gateway.client.post("/v1/jobs", json=body, headers=key)
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json()["id"] == first.json()["id"]


def test_a_large_job_is_checked_in_the_background(start: Callable[..., RunningGateway]) -> None:
    """Beyond the inline limit the answer is `validating`, and the job gets into progress by itself."""
    gateway = start(inline_samples=3)
    job = gateway.submit().json()
    assert job["status"] == "validating"
    wait_until(lambda: gateway.job(job["id"])["status"] == "in_progress", what="the job's progress")
    assert gateway.job(job["id"])["request_counts"]["total"] == 4


def test_a_large_job_that_cannot_be_run_fails_with_its_reasons(start: Callable[..., RunningGateway]) -> None:
    """What the background check finds is in the job's errors."""
    gateway = start(inline_samples=1)
    write_dataset(gateway.settings.data, [record(0), record(1, image="images/gone.png")])
    job = gateway.submit().json()
    wait_until(lambda: gateway.job(job["id"])["status"] == "failed", what="the job's failure")
    assert "gone.png" in gateway.job(job["id"])["errors"][0]


def test_a_large_job_waits_for_room_in_the_queue(start: Callable[..., RunningGateway]) -> None:
    """A full queue keeps a background job validating; it goes on when there is room."""
    gateway = start(queue_requests=6, inline_samples=3)
    first = gateway.submit().json()
    wait_until(lambda: gateway.job(first["id"])["status"] == "in_progress", what="the first job's progress")
    second = gateway.submit().json()
    assert gateway.job(second["id"])["status"] == "validating"


def test_a_job_left_validating_is_taken_up_after_a_restart(
    settings: GatewaySettings, start: Callable[..., RunningGateway]
) -> None:
    """A gateway that starts goes on with the jobs that another one left behind."""
    first = start(queue_requests=6, inline_samples=3)
    running = first.submit().json()
    wait_until(lambda: first.job(running["id"])["status"] == "in_progress", what="the first job's progress")
    left = first.submit().json()
    first.stop()
    play(settings.redis_url or "")
    second = start(queue_requests=6)
    wait_until(lambda: second.job(left["id"])["status"] == "in_progress", what="the job's progress")
    assert len(claim_all(second.redis_url)) == 4


def test_a_large_job_is_validated_by_one_gateway(
    start: Callable[..., RunningGateway], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another one finds it in hand, leaves it alone, and makes nothing of it."""
    gateway, _ = start(inline_samples=3), start(inline_samples=3)
    refused, drafted, exclusively, draft = Event(), [], JobRegistry.exclusively, JobValidator.draft

    @asynccontextmanager
    async def tell_of_refusals(registry: JobRegistry, job_id: str, seconds: float) -> AsyncIterator[bool]:
        async with exclusively(registry, job_id, seconds) as mine:
            if not mine:
                refused.set()
            yield mine

    def draft_slowly(validator: JobValidator, *told: Any) -> ResolvedJob:
        drafted.append(validator)
        assert len(drafted) == 1 or refused.wait(20)
        return draft(validator, *told)

    monkeypatch.setattr(JobRegistry, "exclusively", tell_of_refusals)
    monkeypatch.setattr(JobValidator, "draft", draft_slowly)
    job = gateway.submit().json()
    wait_until(lambda: gateway.job(job["id"])["status"] == "in_progress", timeout=20, what="the job's progress")
    assert len(drafted) == 2, "once before it was accepted, and once when it was validated"


def test_so_many_large_jobs_wait_and_more_are_refused(start: Callable[..., RunningGateway]) -> None:
    """A job that finds no place among those that wait is a 429, and leaves its key free."""
    gateway = start(queue_requests=6, inline_samples=3, waiting_jobs=1)
    first = gateway.submit().json()
    wait_until(lambda: gateway.job(first["id"])["status"] == "in_progress", what="the first job's progress")
    assert gateway.submit().json()["status"] == "validating"
    response = gateway.submit()
    problem_of(response, 429, "queue-full")
    assert int(response.headers["retry-after"]) >= 1
    assert num_jobs(gateway) == 2


def test_a_job_whose_records_change_amid_its_queueing_fails(start: Callable[..., RunningGateway]) -> None:
    """Its first bundles ask the old records, so further ones would ask others under the same names."""
    gateway = start(resume_seconds=0.1)
    with Redis.from_url(gateway.redis_url) as redis:
        # As a gateway leaves it that dies after it has kept room for the job.
        job_id = gateway.submit(samples=["cctv-0000"]).json()["id"]
        write_town(gateway.settings.data, num_samples=5)
        redis.hset(f"gigavqa:job:{job_id}", "status", "validating")
        redis.zadd("gigavqa:jobs:validating", {job_id: redis.zscore("gigavqa:jobs", job_id)})
        wait_until(lambda: gateway.job(job_id)["status"] == "failed", what="the job's failure")
    assert "changed while the job was queued" in gateway.job(job_id)["errors"][0]


def test_jobs_are_listed_by_status_and_unknown_filters_are_refused(gateway: RunningGateway) -> None:
    """A filter that is not applied would show other jobs than were asked for."""
    done = gateway.submit().json()["id"]
    play(gateway.redis_url)
    going_on = gateway.submit().json()["id"]
    for status, job_id in (("completed", done), ("in_progress", going_on)):
        listed = gateway.client.get("/v1/jobs", params={"status": status}).json()["data"]
        assert [job["id"] for job in listed] == [job_id]
    problem_of(gateway.client.get("/v1/jobs", params={"status": "finished"}), 422, "request-invalid")
    problem = problem_of(gateway.client.get("/v1/jobs", params={"state": "completed"}), 422, "request-invalid")
    assert problem["errors"][0]["parameter"] == "state"


def test_a_source_that_no_worker_has_is_refused(gateway: RunningGateway, monkeypatch: pytest.MonkeyPatch) -> None:
    """By name and with a sample; it is taken once a worker announces it, and corpora need nobody to."""
    kind = type(find_benchmark("ultravr"))
    ask = kind.ask
    tools = [LOOK_UP.model_copy(update={"name": source, "source": source}) for source in ("web", "pages/corpus")]
    loop = LOOP.model_copy(update={"tools": tuple(tools)})
    monkeypatch.setattr(kind, "ask", lambda *arguments: replace(ask(*arguments), loop=loop))
    (error,) = refused(gateway)["errors"]
    assert "no worker has the source 'web'" in error["detail"]
    assert error["sample"]
    status = WorkerStatus(worker="w", models=(MODEL,), state="ready", sources=("web",), since=datetime.now(UTC))
    with Redis.from_url(gateway.redis_url) as redis:
        redis.set(KEYS.worker("w"), status.model_dump_json())
        redis.sadd(KEYS.workers(), "w")
    assert gateway.submit().status_code == 201
    assert {request.loop for request in claim_all(gateway.redis_url)} == {loop}


def announce(gateway: RunningGateway, name: str, engine: EngineInfo | None) -> None:
    """Let a worker of the model announce itself."""
    status = WorkerStatus(worker=name, models=(MODEL,), state="ready", engine=engine, since=datetime.now(UTC))
    with Redis.from_url(gateway.redis_url) as redis:
        redis.set(KEYS.worker(name), status.model_dump_json())
        redis.sadd(KEYS.workers(), name)


def elsewhere(dialect: str, *, keeps_to_schemas: bool) -> EngineInfo:
    """An engine elsewhere."""
    remote = RemoteInfo(endpoint="e", model="m", dialect=dialect, pictures="png", keeps_to_schemas=keeps_to_schemas)
    return EngineInfo(name="remote", version="1", remote=remote)


def test_closing_turns_are_refused_where_no_engine_can_be_held(gateway: RunningGateway) -> None:
    """With a sentence; they are taken once any worker of the model can hold answers, and without closing turns."""
    announce(gateway, "w", elsewhere("anthropic", keeps_to_schemas=False))
    (error,) = refused(gateway, closing="choice")["errors"]
    assert "'anthropic' holds no answer to a schema; ask it without closing" in error["detail"]
    assert error["pointer"] == "#/models/0"
    assert gateway.submit().status_code == 201
    announce(gateway, "v", elsewhere("openai", keeps_to_schemas=True))
    assert gateway.submit(closing="choice").status_code == 201


def test_closing_turns_are_asked_of_whoever_comes(gateway: RunningGateway) -> None:
    """A job waits for workers that are not there yet; every request has its own, and says so in its name."""
    job = gateway.submit(closing="choice").json()
    assert (job["spec"]["closing"], job["warnings"]) == ("choice", [])
    requests = claim_all(gateway.redis_url)
    assert {request.closing.structure.choice for request in requests if request.closing} == {
        ("A", "B", "C", "D", "none")
    }
    assert all("+choice:" in request.id for request in requests)


@pytest.mark.parametrize(
    ("closing", "told"), [("number", "fits none"), ("boolean", "fits none"), ("letter", "closing")]
)
def test_closing_turns_that_fit_nothing_are_refused(gateway: RunningGateway, closing: str, told: str) -> None:
    """Questions with options are closed by a number no more than by a kind that does not exist."""
    response = gateway.submit(closing=closing)
    assert response.status_code == 422
    assert told in response.text


def test_a_job_says_how_many_of_its_requests_are_not_closed(gateway: RunningGateway) -> None:
    """Among them cells of a grid, which only an object says."""
    cell = {**GOOD["ad-coordinate"], "image": "images/plaza-1.png"}
    write_dataset(gateway.settings.data, [record(0), cell])
    (told,) = gateway.submit(closing="choice").json()["warnings"]
    assert told.startswith("closing choice: 1 of 2 requests get no closing turn") and told.endswith("coordinate 1")
    assert gateway.submit(closing="auto").json()["warnings"] == []


@pytest.mark.parametrize("step", ["reserve", "append", "start"])
def test_a_job_that_is_refused_never_runs_and_one_that_runs_was_accepted(
    start: Callable[..., RunningGateway], monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """Where the server refuses to write from some step on: recorded is accepted, and goes on when it takes writes."""
    gateway = start(resume_seconds=0.2)
    with Redis.from_url(gateway.redis_url) as redis:
        call = getattr(LuaScripts, step)

        async def after_the_last_write(self: LuaScripts, *arguments: Any, **named: Any) -> Any:
            redis.config_set("maxmemory", 1)
            return await call(self, *arguments, **named)

        try:
            with monkeypatch.context() as patched:
                patched.setattr(LuaScripts, step, after_the_last_write)
                accepted = gateway.submit()
                assert (accepted.status_code, accepted.json()["status"]) == (201, "validating")
                problem_of(gateway.submit(), 503, "server-refuses-writes")
        finally:
            redis.config_set("maxmemory", 0)
        job_id = accepted.json()["id"]
        wait_until(lambda: gateway.job(job_id)["status"] == "in_progress", what="the job in the queue")
        assert [job["id"] for job in gateway.client.get("/v1/jobs").json()["data"]] == [job_id]
        assert gateway.job(job_id)["request_counts"]["total"] == 4
