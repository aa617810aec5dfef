"""Two tenants of one gateway: nothing of the one's is there for the other; operators see all."""

from collections.abc import Callable
from typing import NamedTuple

import pytest

from gigavqa.store.previews import PreviewStore
from tests.service.gateways import RunningGateway, problem_of
from tests.service.tenants import Tenant
from tests.service.workers import RASTER_KEY, play

CANARY = "canary-7f3e"


class Shared(NamedTuple):
    """A gateway, two of its tenants, its operator, and the ids of a job of each tenant that was played."""

    gateway: RunningGateway
    ada: Tenant
    bob: Tenant
    operator: Tenant
    adas: str
    bobs: str


@pytest.fixture
def shared(locked: RunningGateway) -> Shared:
    """What Ada made holds a word in every text of hers that Bob must never see."""
    gateway = locked
    PreviewStore(gateway.settings.results_uri).write(RASTER_KEY, b"\xff\xd8 a small picture")
    ada, bob, operator = Tenant(gateway, "ada"), Tenant(gateway, "bob"), Tenant(gateway, "root", "operate")
    adas = ada.submit(metadata={CANARY: CANARY}, headers={"Idempotency-Key": "same"}).json()["id"]
    play(gateway.redis_url, lambda _: f"{CANARY} A")
    bobs = bob.submit(headers={"Idempotency-Key": "same"}).json()["id"]
    play(gateway.redis_url)
    return Shared(gateway, ada, bob, operator, adas, bobs)


ON_A_JOB = [
    ("GET", "/v1/jobs/{}"),
    ("GET", "/v1/jobs/{}/results"),
    ("GET", "/v1/jobs/{}/results?follow=true"),
    ("GET", "/v1/jobs/{}/events"),
    ("GET", f"/v1/jobs/{{}}/previews/{RASTER_KEY}"),
    ("GET", "/v1/jobs/{}/report"),
    ("GET", "/v1/jobs/{}/report?format=html"),
    ("GET", "/v1/jobs/{}/verdicts"),
    ("GET", "/v1/reports?job={}"),
    ("GET", "/v1/verdicts?job={}"),
    ("GET", "/v1/jobs?after={}"),
    ("POST", "/v1/jobs/{}/cancel"),
    ("POST", "/v1/jobs/{}/retry"),
    ("PUT", "/v1/jobs/{}/webhook"),
    ("GET", "/v1/jobs/{}/labels"),
    ("PUT", "/v1/jobs/{}/labels"),
    ("DELETE", "/v1/jobs/{}"),
]
HERE = {"url": "http://127.0.0.1:9/", "secret": "whsec_" + "A" * 32}
"""A webhook that the gateway refuses to whoever may have one."""
SENT = {"/v1/jobs/{}/webhook": HERE, "/v1/jobs/{}/labels": {"kind": "mood", "request": "none"}}
"""What is sent with a PUT, and refused to whoever may send it."""


def test_every_operation_on_a_job_is_tried(shared: Shared) -> None:
    """No operation that takes a job's id is missing in the list below."""
    paths = shared.ada.get("/openapi.json").json()["paths"]
    there_are = {
        (method.upper(), path)
        for path, methods in paths.items()
        for method, operation in methods.items()
        if "{job_id}" in path or any(item["name"] == "job" for item in operation.get("parameters", ()))
    }
    tried = {
        (method, path.partition("?")[0].replace("{}", "{job_id}").replace(RASTER_KEY, "{key}"))
        for method, path in ON_A_JOB
    }
    assert there_are <= tried


def test_anothers_job_is_not_there(shared: Shared) -> None:
    """Every operation answers as for a job that never was, word for word; its owner is answered, and operators are."""
    for method, path in ON_A_JOB:
        told, never = shared.adas, "job_00000000000000000000"
        body = SENT[path] if method == "PUT" else None
        response = shared.bob.request(method, path.format(told), json=body)
        problem = problem_of(response, 404, "job-not-found")
        nothing = problem_of(shared.bob.request(method, path.format(never), json=body), 404, "job-not-found")
        assert str(problem["detail"]).replace(told, never) == nothing["detail"]
        assert CANARY not in response.text
    for method, path in ON_A_JOB:
        body, known = (SENT[path], {422}) if method == "PUT" else (None, {200, 409})
        for tenant in (shared.operator, shared.ada):
            status = tenant.request(method, path.format(shared.adas), json=body).status_code
            # The last one to ask finds the job deleted by the operator before.
            assert status in known or (method == "DELETE" and tenant is shared.ada), (method, path)


def test_a_report_over_ones_own_and_anothers_job_is_none(shared: Shared) -> None:
    """One job of another's among those that are named is enough."""
    for path in ("reports", "verdicts"):
        for ids in ((shared.bobs, shared.adas), (shared.adas, shared.bobs)):
            response = shared.bob.get(f"/v1/{path}", params={"job": list(ids)})
            problem_of(response, 404, "job-not-found")


def test_lists_show_ones_own_jobs(shared: Shared) -> None:
    """Whatever they are filtered by; operators are shown whose each is."""
    for query in ("", "?status=completed", "?limit=1"):
        for tenant, id_ in ((shared.ada, shared.adas), (shared.bob, shared.bobs)):
            page = tenant.get(f"/v1/jobs{query}").json()
            assert [(job["id"], job["owner"]) for job in page["data"]] == [(id_, tenant.owner)]
            assert page["has_more"] is False
    everything = shared.operator.get("/v1/jobs").json()["data"]
    assert {job["id"]: job["owner"] for job in everything} == {shared.adas: "ada", shared.bobs: "bob"}
    assert CANARY not in shared.bob.get("/v1/jobs").text
    assert shared.bob.delete(f"/v1/jobs/{shared.bobs}").status_code == 200
    assert shared.bob.get("/v1/jobs").json()["data"] == []


def test_an_idempotency_key_is_its_owners(shared: Shared) -> None:
    """The same word of another's stands for another job, neither returned nor in conflict."""
    assert shared.adas != shared.bobs
    again = shared.ada.submit(metadata={CANARY: CANARY}, headers={"Idempotency-Key": "same"})
    assert (again.status_code, again.json()["id"]) == (200, shared.adas)
    problem_of(shared.ada.submit(seed=2, headers={"Idempotency-Key": "same"}), 409, "idempotency-conflict")


def test_two_keys_of_an_owner_open_the_same(shared: Shared) -> None:
    """So that a key can be changed for a new one."""
    second = Tenant(shared.gateway, "ada", "read")
    assert second.get(f"/v1/jobs/{shared.adas}").status_code == 200


def test_jobs_of_before_there_were_keys_are_the_operators(start: Callable[..., RunningGateway]) -> None:
    """Nobody else is shown them; where keys are asked for no more, all are shown to all."""
    open_one = start()
    before = open_one.submit().json()["id"]
    locked = start(require_keys=True)
    ada, operator = Tenant(locked, "ada"), Tenant(locked, "root", "operate")
    assert ada.get(f"/v1/jobs/{before}").status_code == 404
    assert ada.get("/v1/jobs").json()["data"] == []
    assert operator.post(f"/v1/jobs/{before}/cancel").json()["owner"] is None
    adas = ada.submit().json()["id"]
    assert {job["id"] for job in open_one.client.get("/v1/jobs").json()["data"]} == {before, adas}


def test_what_is_shared_is_shown_to_all(shared: Shared) -> None:
    """Models with what waits for each, workers and data sets are the installation's, and name no owner and no job."""
    for path in ("/v1/models", "/v1/workers", "/v1/datasets", "/v1/datasets/town"):
        text = shared.bob.get(path).text
        assert text == shared.operator.get(path).text
        assert not any(word in text for word in (CANARY, shared.adas, '"ada"'))
