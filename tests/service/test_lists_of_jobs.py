"""Lists of jobs are narrowed down and sorted, and a job tells of its future."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from gigavqa.store import job_registry
from tests.service.datasets import write_town
from tests.service.gateways import MODEL, RunningGateway, problem_of
from tests.service.workers import play


def listed(gateway: RunningGateway, **params: object) -> list[str]:
    """Ids of the jobs that a list shows, in its order."""
    answer = gateway.client.get("/v1/jobs", params=params)  # type: ignore[arg-type]  # httpx takes lists
    assert answer.status_code == 200, answer.text
    return [job["id"] for job in answer.json()["data"]]


def test_jobs_are_narrowed_down_by_what_they_ask_and_by_notes(gateway: RunningGateway) -> None:
    """Every filter alone, two together, and one that fits nothing."""
    write_town(gateway.settings.data, name="village")
    mine = gateway.submit(metadata={"owner": "me", "run": "7=7"}).json()["id"]
    other = gateway.submit(dataset="village", models=[MODEL, "qwen3-vl-8b"], metadata={"owner": "you"}).json()["id"]
    assert listed(gateway, dataset="village") == listed(gateway, model="qwen3-vl-8b") == [other]
    assert listed(gateway, model=MODEL) == [other, mine]
    assert listed(gateway, metadata="owner=me") == listed(gateway, metadata=["owner=me", "run=7=7"]) == [mine]
    assert listed(gateway, metadata="owner=me", dataset="village") == []
    play(gateway.redis_url, max_bundles=1000)
    assert listed(gateway, status="completed", dataset="town") == [mine]
    problem_of(gateway.client.get("/v1/jobs?metadata=owner"), 422, "request-invalid")


def test_jobs_are_narrowed_down_by_time_and_sorted(gateway: RunningGateway) -> None:
    """Neither bound is part of what it bounds, and the oldest may come first, page by page."""
    jobs = [gateway.submit().json() for _ in range(3)]
    first, middle, last = (job["id"] for job in jobs)
    at = jobs[1]["created_at"]
    assert listed(gateway, created_after=at) == [last]
    assert listed(gateway, created_before=at) == [first]
    assert listed(gateway, created_before=at, order="oldest") == [first]
    assert listed(gateway, order="oldest") == [first, middle, last]
    page = gateway.client.get("/v1/jobs", params={"order": "oldest", "limit": 2}).json()
    assert page["has_more"] and listed(gateway, order="oldest", after=page["last_id"]) == [last]
    problem_of(gateway.client.get("/v1/jobs?created_after=2026-11-21T00:00:00"), 422, "request-invalid")


def test_a_time_that_is_a_number_is_refused(gateway: RunningGateway) -> None:
    """It may count seconds, milliseconds or days; the list would be empty, or whole."""
    problem = problem_of(gateway.client.get("/v1/jobs?created_before=0.5"), 422, "request-invalid")
    assert "2026-11-21T00:00:00Z" in problem["errors"][0]["detail"]


def test_looking_through_jobs_is_bounded(gateway: RunningGateway, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that found too little among as many as may be looked at says where to go on."""
    monkeypatch.setattr(job_registry, "_CHUNK", 2)
    monkeypatch.setattr(job_registry, "_MOST_LOOKED_AT", 2)
    wanted = gateway.submit(metadata={"owner": "me"}).json()["id"]
    others = [gateway.submit().json()["id"] for _ in range(2)]
    page = gateway.client.get("/v1/jobs?metadata=owner=me").json()
    assert (page["data"], page["has_more"], page["last_id"]) == ([], True, others[0])
    assert listed(gateway, metadata="owner=me", after=page["last_id"]) == [wanted]


def test_a_job_tells_when_it_is_deleted_and_how_long_it_will_take(start: Callable[..., RunningGateway]) -> None:
    """Nothing is foreseen before the first response and after the last; in between there is some time left."""
    gateway = start(retention_days=7.0)
    job = gateway.submit().json()
    told = gateway.job(job["id"])
    lifetime = datetime.fromisoformat(told["expires_at"]) - datetime.fromisoformat(told["created_at"])
    assert (lifetime, told["remaining_seconds"]) == (timedelta(days=7), None)
    play(gateway.redis_url, max_bundles=1)
    assert gateway.job(job["id"])["remaining_seconds"] >= 0
    play(gateway.redis_url)
    assert gateway.job(job["id"])["remaining_seconds"] is None
