"""Retries of large jobs: answered at once, brought into the queue beside, once each, whatever dies meanwhile."""

import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest
from redis import Redis

from gigavqa.contract.requests import InferenceRequest
from gigavqa.service.submission.validation import JobValidator
from gigavqa.store.lua_scripts import LuaScripts, RetryBundle
from tests.service.datasets import record, write_dataset
from tests.service.gateways import RunningGateway, problem_of
from tests.service.workers import claim_all, play
from tests.waiting import wait_until

PAUSE = "gigavqa.service.operations.reconciler._FAILURE_SECONDS"
FAILED = ("cctv-0001", "cctv-0002", "cctv-0003")


def failing(request: InferenceRequest) -> str | None:
    """One sample of four is answered."""
    return None if request.sample_id in FAILED else "A"


@pytest.fixture
def large(start: Callable[..., RunningGateway], monkeypatch: pytest.MonkeyPatch) -> RunningGateway:
    """A gateway to which a job of four requests is a large one, and each a bundle that is appended alone."""
    monkeypatch.setattr("gigavqa.store.queue._CHUNK_RETRIED", 1)
    monkeypatch.setattr(PAUSE, 0.2)
    return start(inline_samples=1, inline_requests=1, bundle_requests=1, resume_seconds=0.2)


def run_failing(gateway: RunningGateway) -> str:
    """Run a job three of whose four requests fail; returns its id."""
    job_id = str(gateway.submit().json()["id"])
    await_status(gateway, job_id, "in_progress")
    play(gateway.redis_url, failing)
    assert gateway.job(job_id)["request_counts"] == {"total": 4, "completed": 1, "failed": 3}
    return job_id


def await_status(gateway: RunningGateway, job_id: str, status: str) -> dict[str, Any]:
    """Wait until the job has a status, and return it."""
    wait_until(lambda: gateway.job(job_id)["status"] == status, what=f"the job as {status}")
    return gateway.job(job_id)


def retry(gateway: RunningGateway, job_id: str, **query: bool) -> dict[str, Any]:
    """Retry a job, and return what was answered."""
    answer = gateway.client.post(f"/v1/jobs/{job_id}/retry", params=query).raise_for_status()
    return dict(answer.json())


def test_a_retry_of_a_large_job_is_answered_before_its_data_set_is_read(
    large: RunningGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is `validating` with all that it has recorded, and then asks what failed, and nothing else."""
    job_id, draft, answered = run_failing(large), JobValidator.draft, threading.Event()

    def draft_later(self: JobValidator, *arguments: Any) -> Any:
        assert answered.wait(10)
        return draft(self, *arguments)

    monkeypatch.setattr(JobValidator, "draft", draft_later)
    job = retry(large, job_id)
    assert (job["status"], job["finished_at"]) == ("validating", None)
    assert job["request_counts"] == {"total": 4, "completed": 1, "failed": 3}
    problem_of(large.client.post(f"/v1/jobs/{job_id}/retry"), 409, "job-state-conflict")
    answered.set()
    job = await_status(large, job_id, "in_progress")
    assert job["request_counts"] == {"total": 4, "completed": 1, "failed": 0}
    assert sorted(request.sample_id for request in claim_all(large.redis_url)) == [*FAILED]


def test_a_large_job_of_which_nothing_can_be_asked_again_is_as_it_was(large: RunningGateway) -> None:
    """Its failures stay, and its errors say why; a retry that can be made forgets them."""
    job_id = run_failing(large)
    before = large.job(job_id)
    folder = write_dataset(large.settings.data, [record(number, question="Where?") for number in range(4)])
    assert retry(large, job_id)["status"] == "validating"
    after = await_status(large, job_id, "completed")
    assert after.pop("errors") == [f"the records of data set '{folder.name}' changed since job {job_id}"]
    kept = ("request_counts", "failures", "finished_at", "in_progress_at", "usage")
    assert [after[name] for name in kept] == [before[name] for name in kept]
    write_dataset(large.settings.data, [record(number) for number in range(4)])
    assert retry(large, job_id)["errors"] == []
    assert await_status(large, job_id, "in_progress")["errors"] == []


def test_a_large_job_without_failures_is_refused_at_once(large: RunningGateway) -> None:
    """With `empty` its replies are looked through first, and it is as it was."""
    job_id = large.submit().json()["id"]
    await_status(large, job_id, "in_progress")
    play(large.redis_url)
    problem_of(large.client.post(f"/v1/jobs/{job_id}/retry"), 409, "job-state-conflict")
    retry(large, job_id, empty=True)
    (told,) = await_status(large, job_id, "completed")["errors"]
    assert told.startswith(f"job {job_id} has no failed request")


@pytest.mark.parametrize(("text", "failed"), [(None, 1), ("A", 0)])
def test_a_retry_that_was_cut_off_goes_on_and_asks_nothing_twice(
    large: RunningGateway, monkeypatch: pytest.MonkeyPatch, text: str | None, failed: int
) -> None:
    """A request that was queued before, and failed again or was answered meanwhile, is not queued once more."""
    job_id, append, fail_again = run_failing(large), LuaScripts.append_retry, [threading.Event(), threading.Event()]
    calls = 0

    async def dying(
        self: LuaScripts, job_id: str, bundles: Iterable[RetryBundle], taken_back: Mapping[str, str]
    ) -> str | None:
        nonlocal calls
        calls += 1
        if calls == 2:
            fail_again[0].set()
            fail_again[1].wait(10)
            raise ConnectionError("the gateway dies")
        return await append(self, job_id, bundles, taken_back)

    monkeypatch.setattr(LuaScripts, "append_retry", dying)
    retry(large, job_id)
    assert fail_again[0].wait(10)
    assert play(large.redis_url, lambda request: text) == 1
    fail_again[1].set()
    job = await_status(large, job_id, "in_progress")
    assert job["request_counts"] == {"total": 4, "completed": 2 - failed, "failed": failed}
    assert play(large.redis_url) == 2
    assert large.job(job_id)["request_counts"] == {"total": 4, "completed": 4 - failed, "failed": failed}
    assert large.job(job_id)["status"] == "completed"


def test_a_cancelled_retry_keeps_what_was_answered(large: RunningGateway, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything of it is queued: it is cancelled, and can be asked again."""
    job_id, reserved, go_on = run_failing(large), threading.Event(), threading.Event()
    draft = JobValidator.draft

    def draft_later(self: JobValidator, *arguments: Any) -> Any:
        reserved.set()
        assert go_on.wait(10)
        return draft(self, *arguments)

    with monkeypatch.context() as patched:
        patched.setattr(JobValidator, "draft", draft_later)
        retry(large, job_id)
        assert reserved.wait(10)
        job = large.client.post(f"/v1/jobs/{job_id}/cancel").json()
        go_on.set()
    assert (job["status"], job["request_counts"]) == ("cancelled", {"total": 4, "completed": 1, "failed": 3})
    retry(large, job_id)
    await_status(large, job_id, "in_progress")
    assert play(large.redis_url) == 3
    assert large.job(job_id)["request_counts"] == {"total": 4, "completed": 4, "failed": 0}


@pytest.mark.parametrize("inline", [1, 1000])
@pytest.mark.parametrize("step", ["reopen", "reserve", "append_retry", "start"])
def test_a_retry_goes_on_when_the_server_takes_writes_again(
    start: Callable[..., RunningGateway], monkeypatch: pytest.MonkeyPatch, step: str, inline: int
) -> None:
    """From some step on the server refuses to write: what was answered by a retry is made, small or large."""
    monkeypatch.setattr(PAUSE, 0.2)
    gateway = start(inline_samples=inline, inline_requests=inline, resume_seconds=0.2)
    job_id = run_failing(gateway)
    with Redis.from_url(gateway.redis_url) as redis:
        call = getattr(LuaScripts, step)

        async def behind_the_last_write(self: LuaScripts, *arguments: Any, **named: Any) -> Any:
            made = await call(self, *arguments, **named) if step == "reopen" else None
            redis.config_set("maxmemory", 1)
            return made if step == "reopen" else await call(self, *arguments, **named)

        try:
            with monkeypatch.context() as patched:
                patched.setattr(LuaScripts, step, behind_the_last_write)
                assert retry(gateway, job_id)["status"] == "validating"
                wait_until(lambda: redis.config_get("maxmemory")["maxmemory"] == "1", what="the refusal")
        finally:
            redis.config_set("maxmemory", 0)
        await_status(gateway, job_id, "in_progress")
        assert play(gateway.redis_url) == 3
        assert gateway.job(job_id)["request_counts"] == {"total": 4, "completed": 4, "failed": 0}
