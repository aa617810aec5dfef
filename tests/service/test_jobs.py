"""Jobs are listed, found, cancelled, retried and deleted."""

import json

import pytest

from gigavqa.contract.requests import InferenceRequest
from gigavqa.contract.responses import TurnResponse
from gigavqa.store.job_registry import JobRegistry
from tests.service.datasets import NAME, record, write_dataset
from tests.service.gateways import MODEL, RunningGateway, problem_of
from tests.service.workers import claim_all, play

BODY = {"dataset": NAME, "models": [MODEL], "cells": [{"protocol": "S0", "condition": "V2"}]}


def test_the_same_key_returns_the_same_job(gateway: RunningGateway) -> None:
    """A resubmission is answered 200 with the first job, and nothing is queued twice."""
    headers = {"Idempotency-Key": "run-7"}
    first = gateway.client.post("/v1/jobs", json=BODY, headers=headers)
    second = gateway.client.post("/v1/jobs", json=BODY, headers=headers)
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json()["id"] == second.json()["id"]
    assert len(claim_all(gateway.redis_url)) == 4


def test_of_two_calls_with_one_key_at_once_one_makes_the_job(
    gateway: RunningGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where neither finds the other's before it is checked."""

    async def find_nothing(*_: object) -> None:
        """Look too early."""

    monkeypatch.setattr(JobRegistry, "find", find_nothing)
    calls = [gateway.client.post("/v1/jobs", json=BODY, headers={"Idempotency-Key": "run-7"}) for _ in range(2)]
    assert [call.status_code for call in calls] == [201, 200]
    assert calls[0].json()["id"] == calls[1].json()["id"]


def test_the_same_key_with_another_job_is_a_conflict(gateway: RunningGateway) -> None:
    """A key stands for one specification."""
    headers = {"Idempotency-Key": "run-7"}
    assert gateway.client.post("/v1/jobs", json=BODY, headers=headers).status_code == 201
    response = gateway.client.post("/v1/jobs", json={**BODY, "seed": 1}, headers=headers)
    problem_of(response, 409, "idempotency-conflict")


@pytest.mark.parametrize("place", ["beside", "among the options"])
def test_options_are_taken_where_they_stood_before(gateway: RunningGateway, place: str) -> None:
    """`thumbnail` and `examples` may stand beside the other fields; the job shows them among its options."""
    options = {"thumbnail": 300, "examples": 1}
    body = {**BODY, **options} if place == "beside" else {**BODY, "options": options}
    job = gateway.client.post("/v1/jobs", json=body).raise_for_status().json()
    assert gateway.job(job["id"])["spec"]["options"] == options


def test_jobs_are_listed_newest_first_in_pages(gateway: RunningGateway) -> None:
    """`last_id` leads to the next page, and `has_more` ends with the last one."""
    ids = [gateway.submit().json()["id"] for _ in range(3)]
    first = gateway.client.get("/v1/jobs", params={"limit": 2}).json()
    assert [job["id"] for job in first["data"]] == [ids[2], ids[1]]
    assert first["has_more"]
    second = gateway.client.get("/v1/jobs", params={"limit": 2, "after": first["last_id"]}).json()
    assert [job["id"] for job in second["data"]] == [ids[0]]
    assert not second["has_more"]


def test_a_page_after_an_unknown_job_is_not_found(gateway: RunningGateway) -> None:
    """A page that would silently begin anew is refused."""
    problem_of(gateway.client.get("/v1/jobs", params={"after": "job_none"}), 404, "job-not-found")


def test_a_job_is_completed_when_all_its_requests_are_recorded(gateway: RunningGateway) -> None:
    """Answers and failures are counted apart, as OpenAI's batches count them."""
    job_id = gateway.submit().json()["id"]
    play(gateway.redis_url, lambda request: None if request.sample_id == "cctv-0001" else "A")
    job = gateway.job(job_id)
    assert job["status"] == "completed"
    assert job["request_counts"] == {"total": 4, "completed": 3, "failed": 1}


def test_a_cancelled_job_gives_no_more_work(gateway: RunningGateway) -> None:
    """What waits is dropped; cancelling again changes nothing."""
    job_id = gateway.submit().json()["id"]
    assert gateway.client.post(f"/v1/jobs/{job_id}/cancel").json()["status"] == "cancelled"
    assert claim_all(gateway.redis_url) == []
    assert gateway.client.post(f"/v1/jobs/{job_id}/cancel").json()["status"] == "cancelled"


def test_a_retry_asks_the_failed_requests_only(gateway: RunningGateway) -> None:
    """The answers that a job has stay; its failures are asked again and replaced."""
    job_id = gateway.submit().json()["id"]
    play(gateway.redis_url, lambda request: None if request.sample_id == "cctv-0001" else "A")
    job = gateway.client.post(f"/v1/jobs/{job_id}/retry").json()
    assert job["status"] == "in_progress"
    assert job["request_counts"] == {"total": 4, "completed": 3, "failed": 0}
    assert play(gateway.redis_url, lambda request: "B" if request.sample_id == "cctv-0001" else None) == 1
    assert gateway.job(job_id)["request_counts"] == {"total": 4, "completed": 4, "failed": 0}


def flawed(request: InferenceRequest) -> str | TurnResponse | None:
    """Of four samples one is answered, one is answered by nothing, one is broken off, and one is filtered."""
    reasons = {"cctv-0001": "stop", "cctv-0002": "error", "cctv-0003": "content_filter"}
    reason = reasons.get(request.sample_id)
    return TurnResponse(text="", finish_reason=reason) if reason else "A"


def test_a_retry_of_what_is_empty_asks_what_is_no_answer(gateway: RunningGateway) -> None:
    """Empty and broken off; what was answered and what was filtered stays. The new answers take their places."""
    job_id = gateway.submit().json()["id"]
    play(gateway.redis_url, flawed)
    refused = problem_of(gateway.client.post(f"/v1/jobs/{job_id}/retry"), 409, "job-state-conflict")
    assert f"2 of its replies are empty or broken off: `gigavqa retry {job_id} --empty`" in refused["detail"]
    job = gateway.client.post(f"/v1/jobs/{job_id}/retry", params={"empty": True}).raise_for_status().json()
    assert (job["status"], job["request_counts"]) == ("in_progress", {"total": 4, "completed": 2, "failed": 0})
    asked = [request.sample_id for request in claim_all(gateway.redis_url)]
    assert sorted(asked) == ["cctv-0001", "cctv-0002"]


def test_what_is_answered_by_nothing_again_can_be_asked_again(gateway: RunningGateway) -> None:
    """With what failed beside it, once each time, until there is an answer; then there is nothing to ask."""
    job_id = gateway.submit(samples=["cctv-0001", "cctv-0002"]).json()["id"]
    for second in (None, "A"):
        play(gateway.redis_url, lambda request, text=second: "" if request.sample_id == "cctv-0001" else text)
        assert gateway.client.post(f"/v1/jobs/{job_id}/retry?empty=true").status_code == 200
    assert play(gateway.redis_url) == 1
    assert gateway.job(job_id)["request_counts"] == {"total": 2, "completed": 2, "failed": 0}
    lines = gateway.client.get(f"/v1/jobs/{job_id}/results").text.splitlines()
    assert sorted(json.loads(line)["turns"][0]["text"] for line in lines) == ["A", "Final answer: A"]
    problem_of(gateway.client.post(f"/v1/jobs/{job_id}/retry?empty=true"), 409, "job-state-conflict")


def test_a_request_that_fails_again_can_be_retried_again(gateway: RunningGateway) -> None:
    """Each retry is new work, although it asks the same requests."""
    job_id = gateway.submit(samples=["cctv-0001"]).json()["id"]
    for _ in range(2):
        assert play(gateway.redis_url, lambda _: None) == 1
        assert gateway.client.post(f"/v1/jobs/{job_id}/retry").status_code == 200
    assert play(gateway.redis_url) == 1
    assert gateway.job(job_id)["request_counts"] == {"total": 1, "completed": 1, "failed": 0}


def test_a_retry_of_a_cancelled_job_asks_what_is_not_answered(gateway: RunningGateway) -> None:
    """Two requests of four were answered before; the other two are asked, also after a second cancellation."""
    job_id = gateway.submit().json()["id"]
    assert play(gateway.redis_url, lambda request: "A" if request.sample_id < "cctv-0002" else None) == 4
    assert gateway.client.post(f"/v1/jobs/{job_id}/retry").json()["request_counts"]["failed"] == 0
    for _ in range(2):
        assert gateway.client.post(f"/v1/jobs/{job_id}/cancel").json()["status"] == "cancelled"
        resumed = gateway.client.post(f"/v1/jobs/{job_id}/retry").json()
        assert resumed["status"] == "in_progress"
        assert resumed["request_counts"] == {"total": 4, "completed": 2, "failed": 0}
    assert sorted(request.sample_id for request in claim_all(gateway.redis_url)) == ["cctv-0002", "cctv-0003"]


def test_a_job_sums_up_what_its_responses_took(gateway: RunningGateway) -> None:
    """Failures are counted by type until they are asked again; views that show one raster are told from it."""
    job_id = gateway.submit().json()["id"]
    play(gateway.redis_url, lambda request: None if request.sample_id == "cctv-0001" else "A")
    job = gateway.job(job_id)
    assert (job["failures"], job["retryable"]) == ({"ImageUnreadableError": 1}, 0)
    assert (job["usage"]["views"], job["usage"]["rasters"]) == (4, 1)
    assert gateway.client.post(f"/v1/jobs/{job_id}/retry").json()["failures"] == {}


def test_a_job_without_failures_cannot_be_retried(gateway: RunningGateway) -> None:
    """Nothing failed, nothing to ask."""
    job_id = gateway.submit().json()["id"]
    play(gateway.redis_url)
    problem_of(gateway.client.post(f"/v1/jobs/{job_id}/retry"), 409, "job-state-conflict")


def test_a_job_in_progress_cannot_be_retried(gateway: RunningGateway) -> None:
    """Its failures may yet be more."""
    job_id = gateway.submit().json()["id"]
    problem_of(gateway.client.post(f"/v1/jobs/{job_id}/retry"), 409, "job-state-conflict")


def test_a_job_over_a_changed_data_set_cannot_be_retried(gateway: RunningGateway) -> None:
    """Other records would be other questions under the same names."""
    job_id = gateway.submit().json()["id"]
    play(gateway.redis_url, lambda _: None)
    write_dataset(gateway.settings.data, [record(number, question="Where?") for number in range(4)])
    problem_of(gateway.client.post(f"/v1/jobs/{job_id}/retry"), 409, "dataset-changed")


def test_a_final_job_is_deleted_with_its_responses(gateway: RunningGateway) -> None:
    """After a deletion neither the job nor its results are found."""
    job_id = gateway.submit().json()["id"]
    play(gateway.redis_url)
    assert gateway.client.delete(f"/v1/jobs/{job_id}").json() == {"id": job_id, "object": "job", "deleted": True}
    problem_of(gateway.client.get(f"/v1/jobs/{job_id}"), 404, "job-not-found")
    problem_of(gateway.client.get(f"/v1/jobs/{job_id}/results"), 404, "job-not-found")


def test_a_job_in_progress_cannot_be_deleted(gateway: RunningGateway) -> None:
    """It must be cancelled first."""
    job_id = gateway.submit().json()["id"]
    problem_of(gateway.client.delete(f"/v1/jobs/{job_id}"), 409, "job-active")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", ""),
        ("DELETE", ""),
        ("POST", "/cancel"),
        ("POST", "/retry"),
        ("GET", "/results"),
        ("GET", "/events"),
        ("GET", "/report"),
    ],
)
def test_an_unknown_job_is_not_found(gateway: RunningGateway, method: str, path: str) -> None:
    """Every operation on a job that does not exist ends in the same problem."""
    problem_of(gateway.client.request(method, f"/v1/jobs/job_none{path}"), 404, "job-not-found")


@pytest.mark.parametrize("suffix", [":events", ":results", "%3Abundles", "%00"])
def test_a_job_id_reaches_no_other_key(gateway: RunningGateway, suffix: str) -> None:
    """Ids that would name another of a job's keys are ids of no job."""
    job_id = gateway.submit().json()["id"]
    problem_of(gateway.client.get(f"/v1/jobs/{job_id}{suffix}"), 404, "job-not-found")
